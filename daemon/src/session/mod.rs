//! What one connection may say, and when: the pure [`Session`], and the [`Client`] that acts on what it decides.

mod client;
mod machine;
mod rate;
mod registration;

pub use client::{Caller, Client};
pub use machine::{Said, Session, Step};
pub use rate::{Rate, RateVerdict};

#[cfg(test)]
mod machine_tests;
