//! Who is here, who wants to play whom: the pure [`Lobby`], and the [`Hall`] that carries out what it decides.

mod after;
mod attempts;
mod balance;
mod bot;
mod challenges;
mod challenging;
mod conduct;
mod door;
mod hall;
mod host;
mod load;
mod machine;
mod matching;
mod meetings;
mod pairing;
mod presence;
mod queue;
mod registration;
mod restore;
mod summon;

pub use bot::Bot;
pub use conduct::{Conduct, Stay};
pub use door::NotWelcome;
pub use hall::{Hall, Setup};
pub use load::Load;
pub use machine::{Effect, Lobby, Now, Visitor};
pub use pairing::{Fate, Half, Pairing, Sitter, Source};
pub use presence::{Entrant, Kind};
pub use registration::{Claimed, not_stored};
pub use restore::Restored;
pub use summon::{Summoned, Summons};

#[cfg(test)]
mod owner_tests;
#[cfg(test)]
mod scenes;
