//! Sockets, and nothing but this module knows of them: accepting, reading, writing, the kernel's own delay.

mod admission;
mod arrival;
mod bell;
mod entrance;
mod farewell;
mod frames;
mod heard;
mod inside;
mod kernel;
mod layer;
mod listener;
mod outlet;
mod reader;
mod tls;

pub use admission::{Origin, WEB_CONNECTIONS};
pub use entrance::Entrance;
pub use frames::greeting;
pub use inside::{Resident, serve_inside};
pub use listener::{Backlog, bind, listen};
pub use outlet::Outlet;
pub use tls::Certificate;
