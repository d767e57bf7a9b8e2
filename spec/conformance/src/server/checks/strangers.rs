//! Peers that speak something else on the bots' port.

use super::Row;
use crate::report::Step;
use crate::search::Dice;
use crate::server::desk::{Desk, HANDSHAKE};

const CLAUSES: &[&str] = &["session.hello-attempts", "session.hello-deadline", "session.goodbye"];
const ADVICE: &str = "Whatever bytes come before a hello: answer bad lines by errors, see the third or a silent peer off by goodbye handshake, a line too long by goodbye line_too_long, and serve the others.";

pub(super) const ROWS: &[Row] = &[
    Row::new("http-request", "A browser on the bots' port is seen off", CLAUSES, ADVICE, |at| {
        seen_off(at, b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: modiar\r\nAccept: */*\r\n\r\n")
    }),
    Row::new("ssh-banner", "An SSH client on the bots' port is seen off", CLAUSES, ADVICE, |at| {
        seen_off(at, b"SSH-2.0-OpenSSH_9.9\r\n")
    })
    .slow(),
    Row::new("tls-hello", "A TLS client on the plain port is seen off", CLAUSES, ADVICE, |at| {
        seen_off(at, &[&b"\x16\x03\x01\x01\xfc\x01\x00\x01\xf8\x03\x03"[..], &[7; 500]].concat())
    })
    .slow(),
    Row::new("random-bytes", "Bytes without sense are seen off", CLAUSES, ADVICE, |at| {
        let mut dice = Dice(17);
        [60_000, 400, 3].into_iter().try_for_each(|count| {
            let noise = dice.bytes(count);
            seen_off(at, &noise)
        })
    })
    .slow(),
];

fn seen_off(at: &mut Desk<'_>, bytes: &[u8]) -> Step {
    let stranger = at.connect()?;
    at.say_bytes(stranger, bytes);
    at.expect_goodbye(stranger, &["handshake", "line_too_long"], HANDSHAKE + at.patience)?;
    let bot = at.guest()?;
    at.quiet(bot)
}
