//! The Rust types and spec/schema held to each other: examples, shapes, and words.
#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod client_samples;
mod examples;
mod server_samples;
mod shapes;
mod spec;
mod words;
