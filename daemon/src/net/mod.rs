//! Sockets, and nothing but this module knows of them: accepting, reading, writing, the kernel's own delay.

mod admission;
mod arrival;
mod bell;
mod farewell;
mod heard;
mod inside;
mod kernel;
mod listener;
mod outlet;
mod reader;
mod tls;

pub use admission::{Origin, WEB_CONNECTIONS};
pub use inside::{Resident, serve_inside};
pub use listener::{Backlog, Listener, bind};
pub use outlet::Outlet;
pub use tls::Certificate;
