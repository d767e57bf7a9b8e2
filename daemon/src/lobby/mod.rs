//! Who is here, who wants to play whom: the pure [`Lobby`], and the [`Hall`] that carries out what it decides.

mod bot;
mod challenges;
mod dice;
mod hall;
mod machine;
mod presence;
mod queue;

pub use bot::Bot;
pub use hall::{Hall, Setup};
pub use machine::{Effect, Lobby, Now, Pairing, Source, Visitor};
pub use presence::Conduct;

#[cfg(test)]
mod machine_tests;
