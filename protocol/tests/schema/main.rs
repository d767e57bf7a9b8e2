//! The Rust types and spec/schema held to each other: examples, shapes, and words.

mod client_samples;
mod examples;
mod server_samples;
mod shapes;
mod spec;
mod words;
