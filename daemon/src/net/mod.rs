//! Sockets, and nothing but this module knows of them: accepting, reading, writing, the kernel's own delay.

mod admission;
mod arrival;
mod farewell;
mod kernel;
mod listener;
mod outlet;
mod reader;
mod tls;

pub use admission::{Origin, WEB_CONNECTIONS};
pub use listener::{Backlog, Listener, bind};
pub use outlet::Outlet;
pub use tls::Certificate;
