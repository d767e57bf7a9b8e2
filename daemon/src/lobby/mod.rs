//! Who is here, who wants to play whom: the pure [`Lobby`], and the [`Hall`] that carries out what it decides.

mod after;
mod attempts;
mod bot;
mod challenges;
mod door;
mod hall;
mod load;
mod machine;
mod openings;
mod pairing;
mod presence;
mod queue;
mod registration;
mod restore;

pub use bot::Bot;
pub use door::NotWelcome;
pub use hall::{Hall, Setup};
pub use load::Load;
pub use machine::{Effect, Lobby, Now, Visitor};
pub use pairing::{Half, Pairing, Sitter, Source};
pub use presence::Conduct;
pub use registration::{Claimed, not_stored};
pub use restore::Restored;

#[cfg(test)]
mod machine_tests;
#[cfg(test)]
mod owner_tests;
