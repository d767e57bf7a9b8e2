//! The one binary: see `modiar --help`.

use std::process::ExitCode;
use tikv_jemallocator::Jemalloc;

/// By measurement (`bench/README.md`): games are freed by other threads than made them, which costs the system's more.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    modiar::cli::run()
}
