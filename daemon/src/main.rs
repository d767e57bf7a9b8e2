//! The one binary: see `modiar --help`.

use std::process::ExitCode;

/// By measurement (`bench/README.md`): games are freed by other threads than made them, which costs the system's more.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    modiar::cli::run()
}
