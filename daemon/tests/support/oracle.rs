//! The oracle's table for the daemons of tests: solved once, for all of them.

use modiar_oracle::solve;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Puts the table into a data directory to be, as an earlier start would have, where a pool has balanced openings.
pub fn lend(data: &Path, config: &str) {
    let pools = config.matches("[[pool]]").count();
    if pools > 0 && pools == config.matches("openings = \"start\"").count() {
        return;
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(data).unwrap();
    // Where there is one already, or on another file system, the daemon helps itself.
    let _ = fs::hard_link(shared(), data.join("oracle.table"));
}

/// Where it lies, made by the first who asks.
fn shared() -> &'static Path {
    static SHARED: OnceLock<PathBuf> = OnceLock::new();
    SHARED.get_or_init(|| {
        let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle.table");
        if !shared.exists() {
            // The program of another test may do the same: the file appears whole, and either will do.
            let own = shared.with_extension(std::process::id().to_string());
            solve().write(&own).unwrap();
            fs::rename(own, &shared).unwrap();
        }
        shared
    })
}
