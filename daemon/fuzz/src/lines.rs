//! A stream of bytes, cut into reads in two ways and by hand.

use modiar_protocol::limits::CLIENT_LINE_BYTES;
use modiar_protocol::{LineTooLong, Lines};

type Cut = Vec<Result<Vec<u8>, LineTooLong>>;

/// However the network cut the stream, the same lines come out. The first byte says how many of the next are cuts; a byte
/// of 255 in the stream stands for a thousand of `x`.
pub(crate) fn target(input: &[u8]) {
    let Some((count, rest)) = input.split_first() else { return };
    let (cuts, rest) = rest.split_at(usize::from(*count % 16).min(rest.len()));
    let stream: Vec<u8> =
        rest.iter().flat_map(|byte| if *byte == 255 { vec![b'x'; 1000] } else { vec![*byte] }).collect();
    let by_hand = by_hand(&stream);
    assert_eq!(cut(&[&stream]), by_hand);
    assert_eq!(cut(&stream.chunks(1).collect::<Vec<_>>()), by_hand);
    let mut places: Vec<usize> = cuts.iter().map(|cut| stream.len() * usize::from(*cut) / 256).collect();
    places.sort_unstable();
    let (mut reads, mut from) = (Vec::new(), 0);
    for place in places {
        reads.push(&stream[from..place]);
        from = place;
    }
    reads.push(&stream[from..]);
    assert_eq!(cut(&reads), by_hand);
}

fn cut(reads: &[&[u8]]) -> Cut {
    let (mut lines, mut out) = (Lines::default(), Vec::new());
    for read in reads {
        let mut input = *read;
        while let Some(line) = lines.next(&mut input) {
            out.push(line.map(<[u8]>::to_vec));
        }
    }
    out
}

fn by_hand(stream: &[u8]) -> Cut {
    let (mut out, mut line) = (Vec::new(), Vec::new());
    for byte in stream {
        line.push(*byte);
        if line.len() >= CLIENT_LINE_BYTES && *byte != b'\n' {
            out.push(Err(LineTooLong));
            break;
        }
        if *byte == b'\n' {
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            out.push(Ok(std::mem::take(&mut line)));
        }
    }
    out
}
