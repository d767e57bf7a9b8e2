//! A house bot as a client: it reads what every bot reads, and says what any bot could say.
//!
//! It remembers nothing of its games: a `turn` tells all that it needs. So it plays any number of them at once, and comes
//! back to them after a restart without ado.

use super::brain::Brain;
use crate::dice::Dice;
use crate::net::Resident;
use modiar_oracle::Table;
use modiar_protocol::client::{Hello, Move};
use modiar_protocol::limits::HOUSE_GAMES;
use modiar_protocol::server::{SeekEnd, Turn};
use modiar_protocol::{BotName, ClientMessage, PROTOCOL, ServerMessage};
use modiar_rules::{Pit, Position, Setup};
use std::sync::Arc;
use tracing::warn;

/// The number of the brains' definition: one that plays otherwise than before begins a new line of its bot's history.
const DEFINITION: u32 = 1;

/// One house bot.
pub struct Player {
    brain: Brain,
    table: Arc<Table>,
    dice: Dice,
    /// The pools in which it is still to seek.
    owed: Vec<String>,
}

impl Player {
    /// The bot of `brain`, which has said nothing yet.
    #[must_use]
    pub const fn new(brain: Brain, table: Arc<Table>, dice: Dice) -> Self {
        Self { brain, table, dice, owed: Vec::new() }
    }

    /// Its build: what it plays by.
    fn version(&self) -> String {
        match self.brain {
            Brain::Random | Brain::Greedy => format!("brain {DEFINITION}"),
            Brain::Level(_) | Brain::Perfect => format!("brain {DEFINITION}, {}", modiar_oracle::NAME),
        }
    }

    fn answer(&mut self, turn: &Turn) -> Option<ClientMessage> {
        let Turn { game, ply, side, pits, captured, .. } = *turn;
        let setup = Setup { pits, captured: captured.into(), side, ply };
        let position = Position::try_from(setup).ok();
        let chosen: Option<Pit> =
            position.and_then(|position| self.brain.choose(&self.table, &position, &mut self.dice));
        let pit = chosen.or_else(|| turn.legal.0.first())?;
        Some(ClientMessage::Move(Move { game, pit, ply: Some(ply) }))
    }
}

impl Resident for Player {
    fn enter(&mut self, say: &mut Vec<u8>) {
        let hello = Hello {
            protocol: PROTOCOL,
            name: BotName::new(&self.brain.name()).ok(),
            token: None,
            register: false,
            resume: None,
            client: None,
            version: Some(self.version()),
            games: HOUSE_GAMES,
            updates: false,
        };
        ClientMessage::Hello(Box::new(hello)).write(say);
    }

    fn read(&mut self, line: &[u8], say: &mut Vec<u8>) {
        match ServerMessage::read(line) {
            Ok(ServerMessage::Turn(turn)) => {
                if let Some(answer) = self.answer(&turn) {
                    answer.write(say);
                }
            }
            Ok(ServerMessage::Challenged(challenged)) => {
                ClientMessage::Accept { challenge: challenged.challenge }.write(say);
            }
            Ok(ServerMessage::Welcome(welcome)) => {
                self.owed = welcome.pools.into_iter().map(|pool| pool.name).collect();
                self.remember(say);
            }
            // Not at once: where a seek is refused for a while, asking again and again would bring nothing.
            Ok(ServerMessage::SeekEnded { pool, reason, .. }) if reason != SeekEnd::Draining => self.owed.push(pool),
            Ok(_) => {}
            Err(error) => warn!(bot = self.brain.name(), %error, "a house bot cannot read a line"),
        }
    }

    fn remember(&mut self, say: &mut Vec<u8>) {
        for pool in self.owed.drain(..) {
            ClientMessage::Seek { pool, games: 0 }.write(say);
        }
    }
}
