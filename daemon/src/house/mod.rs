//! The house bots: how each chooses its pit, and how it plays as any other bot does, on a connection within this process.

mod brain;
mod player;

pub use brain::Brain;
pub use player::Player;

use crate::dice::Dice;
use crate::lobby::{Hall, Visitor};
use crate::net::serve_inside;
use modiar_oracle::Table;
use std::sync::Arc;
use tokio_util::task::TaskTracker;
use tracing::info;
use uuid::Uuid;

/// The number of the first house bot's connection: those from outside count from 1 and do not come near it.
const FIRST_VISITOR: u64 = 1 << 63;

/// Has all house bots come to `hall`, each under `connections` and until it is sent away. Called within a runtime.
pub fn sit_down(hall: &Arc<Hall>, table: &Arc<Table>, connections: &TaskTracker) {
    for (number, brain) in (FIRST_VISITOR..).zip(Brain::ALL) {
        let (seed, _) = Uuid::new_v4().as_u64_pair();
        let player = Player::new(brain, Arc::clone(table), Dice::new(seed));
        connections.spawn(serve_inside(Visitor(number), Arc::clone(hall), player));
    }
    info!(bots = Brain::ALL.len(), "the house bots sit in the pools");
}
