//! A small bot that does all that `modiar check bot` asks for; and, with `--fault NAME`, one that gets just what the check of
//! that name looks for wrong. With them the tests show that each check finds its fault, and no other check does.
//!
//! `twin [--games N] [--fault NAME]`; who it is and where it plays it takes from the environment. `twin --rules [--fault NAME]`
//! answers the questions of the quiz in the same way.

mod board;
mod bot;
mod lines;
mod quiz;

use bot::Bot;
use std::env;
use std::process::ExitCode;

const USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let Some(("--rules", rest)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return quiz::run(rest);
    }
    let (mut games, mut fault) = (2, None);
    for pair in arguments.chunks(2) {
        match pair {
            [option, value] if option == "--games" => match value.parse() {
                Ok(number) => games = number,
                Err(_) => return USAGE.into(),
            },
            [option, value] if option == "--fault" => fault = Some(value.clone()),
            _ => return USAGE.into(),
        }
    }
    let setting = |name| env::var(name).ok();
    let (host, port) = (setting("MODIAR_HOST"), setting("MODIAR_PORT"));
    let Some(address) = host.zip(port).map(|(host, port)| format!("{host}:{port}")) else { return USAGE.into() };
    Bot::new(address, setting("MODIAR_NAME"), setting("MODIAR_TOKEN"), games, fault).run().into()
}
