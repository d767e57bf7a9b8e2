//! Sockets, and nothing but this module knows of them: accepting, reading, writing, the kernel's own delay.

mod arrival;
mod kernel;
mod listener;
mod outlet;
mod reader;

pub use listener::{Listener, bind};
pub use outlet::Outlet;
