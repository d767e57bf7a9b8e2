//! A disk as a failure of power would leave it, at its worst: of each file only what was written before a sync that had
//! come back. Made again from what a process did, system call by system call.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The calls that a trace must have, with every string in hex.
pub const STRACE: [&str; 6] =
    ["-y", "-xx", "-s", "1000000", "-e", "trace=pwrite64,write,sendto,fsync,fdatasync,ftruncate,unlink"];

/// One file.
#[derive(Default)]
struct File {
    durable: Vec<u8>,
    /// What was done since the last sync.
    pending: Vec<Change>,
}

enum Change {
    Write(usize, Vec<u8>),
    Cut(usize),
}

/// All files, by name.
#[derive(Default)]
pub struct Disk {
    files: HashMap<String, File>,
    /// The syncs that have begun: by process, the file and how many changes they cover.
    syncing: HashMap<String, (String, usize)>,
}

impl Disk {
    /// That of a process that has been running: what stands in `folder` is on the disk.
    pub fn of(folder: &Path, names: &[&str]) -> Self {
        let mut disk = Self::default();
        for name in names {
            let file = File { durable: fs::read(folder.join(name)).unwrap_or_default(), pending: Vec::new() };
            disk.files.insert((*name).to_owned(), file);
        }
        disk
    }

    /// Follows one line of a trace; what it said to somebody, if that is what it did.
    pub fn follow(&mut self, line: &str) -> Option<Vec<u8>> {
        let (process, call) = line.split_once(' ')?;
        let call = call.trim_start();
        if let Some(resumed) = call.strip_prefix("<... ") {
            if resumed.contains("sync resumed>") && resumed.ends_with("= 0") {
                self.synced(process);
            }
            return None;
        }
        let (name, arguments) = call.split_once('(')?;
        let mut parts = arguments.splitn(3, '"');
        let head = parts.next()?;
        let path = head.split_once('<').and_then(|(_, path)| path.split_once('>'));
        let file = path.map(|(path, _)| path_name(path)).unwrap_or_default();
        match name {
            "unlink" => drop(self.files.remove(&path_name(parts.next()?))),
            "fsync" | "fdatasync" => {
                let covers = self.files.entry(file.clone()).or_default().pending.len();
                self.syncing.insert(process.to_owned(), (file, covers));
                if arguments.ends_with("= 0") {
                    self.synced(process);
                }
            }
            "ftruncate" => {
                let length = number(arguments.rsplit_once(", ")?.1);
                self.files.entry(file).or_default().pending.push(Change::Cut(length));
            }
            "pwrite64" => {
                let bytes = unhex(parts.next()?);
                let place = number(parts.next()?.rsplit_once(", ")?.1);
                self.files.entry(file).or_default().pending.push(Change::Write(place, bytes));
            }
            // Of these two no file of the store is written.
            "write" | "sendto" => return Some(unhex(parts.next()?)),
            _ => {}
        }
        None
    }

    /// A sync of that process has come back.
    fn synced(&mut self, process: &str) {
        let Some((name, covers)) = self.syncing.remove(process) else { return };
        let file = self.files.entry(name).or_default();
        for change in file.pending.drain(..covers) {
            match change {
                Change::Cut(length) => file.durable.resize(length, 0),
                Change::Write(place, bytes) => {
                    let end = place + bytes.len();
                    file.durable.resize(file.durable.len().max(end), 0);
                    file.durable[place..end].copy_from_slice(&bytes);
                }
            }
        }
    }

    /// Writes what is left of these files after a failure of power to `folder`.
    pub fn fail(&self, folder: &Path, names: &[&str]) {
        fs::create_dir_all(folder).unwrap();
        for name in names {
            if let Some(file) = self.files.get(*name).filter(|file| !file.durable.is_empty()) {
                fs::write(folder.join(name), &file.durable).unwrap();
            }
        }
    }
}

/// The number at the front of a text.
fn number(text: &str) -> usize {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

fn path_name(hex: &str) -> String {
    let path = String::from_utf8(unhex(hex)).unwrap();
    path.rsplit('/').next().unwrap().to_owned()
}

/// `\x6d\x6f`; what is not written so is taken as it is.
fn unhex(text: &str) -> Vec<u8> {
    if !text.starts_with("\\x") {
        return text.as_bytes().to_vec();
    }
    text.split("\\x").skip(1).map(|byte| u8::from_str_radix(&byte[..2], 16).unwrap()).collect()
}
