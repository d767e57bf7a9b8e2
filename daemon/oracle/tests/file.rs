//! The table in a file: read as it was written, or refused.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod common;

use common::table;
use modiar_oracle::{FileError, Table};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

#[test]
fn what_is_read_is_what_was_written() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("oracle.table");
    table().write(&path).unwrap();
    assert_eq!(Table::read(&path).unwrap(), *table());
    // Over an older one, and nothing else is left beside it.
    table().write(&path).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_damaged_or_foreign_file_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("oracle.table");
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        Table::read(&path).unwrap_err()
    };
    table().write(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    for at in [16, 47, 48, whole.len() / 2, whole.len() - 1] {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        assert!(matches!(refused(&changed), FileError::Damaged(_)), "byte {at}");
    }
    for length in [17, 48, 49, whole.len() / 2, whole.len() - 1] {
        assert!(matches!(refused(&whole[..length]), FileError::Damaged(_)), "{length} bytes");
    }
    assert!(matches!(refused(&[&whole[..], b"more"].concat()), FileError::Damaged(_)));
    for foreign in [&b""[..], b"modiar-oracle 0\n", b"SQLite format 3\0", &[0xff; 64]] {
        assert!(matches!(refused(foreign), FileError::Foreign(_)), "{foreign:?}");
    }
    fs::remove_file(&path).unwrap();
    assert!(matches!(Table::read(&path).unwrap_err(), FileError::Io { .. }));
    // A directory, a device, or a pipe, which would be waited for, is neither read nor replaced.
    fs::create_dir(&path).unwrap();
    for other in [&*path, Path::new("/dev/null")] {
        assert!(matches!(Table::read(other).unwrap_err(), FileError::Foreign(_)), "{other:?}");
    }
    assert!(matches!(table().write(&path).unwrap_err(), FileError::Io { .. }));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(matches!(table().write(&folder.path().join("absent/oracle.table")).unwrap_err(), FileError::Io { .. }));
}
