//! The journal's files, read and altered from outside, as a disk or a failure of power might.

use std::fs;
use std::path::{Path, PathBuf};

/// Where a segment's entries begin.
const HEADER: usize = 64;
/// The bytes of an entry before its payload: checksum, length, kind.
const FRAME: usize = 7;
/// The kind of an entry that is a ply.
pub const PLY: u8 = 2;
/// The kind of an entry that tells how much is on the disk.
const MARK: u8 = 5;

/// An entry's place in its segment.
pub struct Place {
    pub start: usize,
    pub end: usize,
    pub kind: u8,
}

/// The segments of a data directory, oldest first.
pub fn segments(data: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(data.join("journal")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
    paths.sort();
    paths
}

/// The newest segment.
pub fn newest(data: &Path) -> PathBuf {
    segments(data).pop().unwrap()
}

/// The entries of a segment.
pub fn entries(bytes: &[u8]) -> Vec<Place> {
    let (mut places, mut start) = (Vec::new(), HEADER);
    while bytes[start + 6] != 0 {
        let length = usize::from(u16::from_le_bytes([bytes[start + 4], bytes[start + 5]]));
        places.push(Place { start, end: start + FRAME + length, kind: bytes[start + 6] });
        start += FRAME + length;
    }
    places
}

/// Alters a segment.
pub fn alter(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// Gives an entry that was altered the checksum that belongs to it.
pub fn seal(bytes: &mut [u8], place: &Place) {
    let checksum = crc32fast::hash(&bytes[place.start + 4..place.end]);
    bytes[place.start..place.start + 4].copy_from_slice(&checksum.to_le_bytes());
}

/// Has the game of the newest ply go on by its last `cycle` plies again and again, until a segment of the games that run
/// has `left` bytes left, or as many more as another round takes.
pub fn lengthen(data: &Path, cycle: usize, left: usize) {
    alter(&newest(data), |bytes| {
        let text = |place: &Place| bytes[place.start..place.end].to_vec();
        let mut kept = entries(bytes);
        kept.retain(|place| place.kind != MARK);
        let mut content = Vec::from_iter(kept.iter().flat_map(text));
        kept.retain(|place| place.kind == PLY);
        let cycle = Vec::from_iter(kept[kept.len() - cycle..].iter().flat_map(text));
        let room = bytes.len() - HEADER - left - content.len();
        content.extend(cycle.repeat(room / cycle.len()));
        bytes[HEADER..].fill(0);
        bytes[HEADER..HEADER + content.len()].copy_from_slice(&content);
    });
}

/// As if the machine had been started anew since: another boot id in every segment.
pub fn reboot(data: &Path) {
    for path in segments(data) {
        alter(&path, |bytes| {
            bytes[16..20].copy_from_slice(b"gone");
            let checksum = crc32fast::hash(&bytes[..HEADER - 4]);
            bytes[HEADER - 4..HEADER].copy_from_slice(&checksum.to_le_bytes());
        });
    }
}

/// Copies the journal's files to `folder`, which is made.
pub fn copy(data: &Path, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for path in segments(data) {
        fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
}

/// Puts an earlier copy in the place of the journal.
pub fn put_back(data: &Path, folder: &Path) {
    fs::remove_dir_all(data.join("journal")).unwrap();
    fs::rename(folder, data.join("journal")).unwrap();
}
