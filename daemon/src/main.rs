//! The one binary: see `modiar --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    modiar::cli::run()
}
