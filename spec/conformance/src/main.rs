//! `modiar-conformance HOST:PORT [FILE…]`: plays the transcripts, or those files, against a live server.
#![allow(clippy::print_stdout)] // a line for each transcript is what it is for

use modiar_conformance::{LoadError, Transcript};
use std::net::TcpStream;
use std::path::Path;
use std::process::ExitCode;

const FINDINGS: u8 = 1;
const WRONG_USAGE: u8 = 2;
const COULD_NOT: u8 = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((address, files)) = arguments.split_first().filter(|(address, _)| address.contains(':')) else {
        eprintln!("usage: modiar-conformance HOST:PORT [FILE…]");
        return WRONG_USAGE.into();
    };
    let transcripts = match load(files) {
        Ok(transcripts) => transcripts,
        Err(error) => {
            eprintln!("{error}");
            return COULD_NOT.into();
        }
    };
    if let Err(error) = TcpStream::connect(address) {
        eprintln!("{address}: {error}; start the server first");
        return COULD_NOT.into();
    }
    let mut failed = 0_usize;
    for transcript in &transcripts {
        match transcript.play(address) {
            Ok(()) => println!("ok      {}: {}", transcript.name, transcript.title),
            Err(failure) => {
                failed += 1;
                println!("FAILED  {}, line {}: {}", failure.transcript, failure.line, transcript.title);
                eprintln!("{failure}");
            }
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { FINDINGS.into() }
}

fn load(files: &[String]) -> Result<Vec<Transcript>, LoadError> {
    if files.is_empty() {
        return Transcript::load_all();
    }
    files.iter().map(|file| Transcript::load(Path::new(file))).collect()
}
