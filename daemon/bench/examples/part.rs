//! Does one part of a ply so many times, for a counter of instructions: `part NAME TIMES`; the names without any.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // what is counted is known to be good; names are data

#[path = "../benches/parts/mod.rs"]
mod parts;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, times] = &arguments[..] else {
        return parts::PARTS.iter().for_each(|(name, _)| println!("{name}"));
    };
    let (_, part) = parts::PARTS.into_iter().find(|(known, _)| known == name).unwrap();
    part(times.parse().unwrap());
}
