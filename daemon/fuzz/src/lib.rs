//! What no input may break. Each target takes any bytes at all and panics where something does not hold; a fuzzer finds
//! the bytes. `tests/bounded.rs` runs them on stable Rust; `libfuzzer/` is for `cargo fuzz`.

#![allow(clippy::panic, clippy::unwrap_used)] // to panic is to report what was found

mod codec;
mod lines;
mod machines;
mod mutate;
mod texts;

pub use mutate::Mutator;

/// A target and its name.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 4] =
    [("codec", codec::target), ("lines", lines::target), ("texts", texts::target), ("machines", machines::target)];

/// Runs the target of that name.
///
/// # Panics
/// What the target holds does not, or there is none of that name.
pub fn run(name: &str, input: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    target.unwrap_or_else(|| panic!("there is no target {name}")).1(input);
}
