//! A house bot as a client: it reads what every bot reads, and says what any bot could say.
//!
//! It remembers nothing of its games: a `turn` tells all that it needs. So it plays any number of them at once, and comes
//! back to them after a restart without ado.

use super::brain::Brain;
use crate::config::Pool;
use crate::dice::Dice;
use crate::net::Resident;
use modiar_oracle::Table;
use modiar_protocol::client::{Hello, Move};
use modiar_protocol::limits::HOUSE_GAMES;
use modiar_protocol::server::{SeekEnd, Turn};
use modiar_protocol::{BotName, ClientMessage, PROTOCOL, ServerMessage};
use modiar_rules::{Pit, Position, Setup};
use std::collections::HashSet;
use std::sync::Arc;
use tracing::warn;

/// The number of the brains' definition: one that plays otherwise than before begins a new line of its bot's history.
const DEFINITION: u32 = 1;

/// One house bot.
pub struct Player {
    brain: Brain,
    table: Arc<Table>,
    dice: Dice,
    /// The pools in which it has not to seek any more.
    sought: HashSet<String>,
}

impl Player {
    /// The bot of `brain`, which has said nothing yet.
    #[must_use]
    pub fn new(brain: Brain, table: Arc<Table>, dice: Dice) -> Self {
        Self { brain, table, dice, sought: HashSet::new() }
    }

    /// Its build: what it plays by.
    fn version(&self) -> String {
        match self.brain {
            Brain::Random | Brain::Greedy => format!("brain {DEFINITION}"),
            Brain::Level(_) | Brain::Perfect => format!("brain {DEFINITION}, {}", modiar_oracle::NAME),
        }
    }

    fn seek(&mut self, pool: String, say: &mut Vec<u8>) {
        if self.sought.insert(pool.clone()) {
            ClientMessage::Seek { pool, games: 0 }.write(say);
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
                self.sought.clear();
                for pool in welcome.pools {
                    self.seek(pool.name, say);
                }
            }
            // Not at once: where a seek is refused for a while, asking again and again would bring nothing.
            Ok(ServerMessage::SeekEnded { pool, reason, .. }) if reason != SeekEnd::Draining => {
                self.sought.remove(&pool);
            }
            Ok(_) => {}
            Err(error) => warn!(bot = self.brain.name(), %error, "a house bot cannot read a line"),
        }
    }

    fn remember(&mut self, pools: &[Pool], say: &mut Vec<u8>) {
        for pool in pools {
            self.seek(pool.name.clone(), say);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use modiar_oracle::solve;
    use modiar_protocol::client::decode;
    use modiar_protocol::server::{ChallengeSide, Challenged, Challenger};
    use modiar_protocol::{ChallengeId, GameId, PitList, Sides};
    use modiar_rules::{PitSet, Side};
    use std::sync::LazyLock;
    use uuid::Uuid;

    static TABLE: LazyLock<Arc<Table>> = LazyLock::new(|| Arc::new(solve()));

    fn player(brain: Brain) -> Player {
        Player::new(brain, Arc::clone(&TABLE), Dice::new(1))
    }

    /// What it answers, as a server understands it.
    fn answers(player: &mut Player, message: &ServerMessage) -> Vec<ClientMessage> {
        let mut said = Vec::new();
        player.read(&message.to_line(), &mut said);
        understood(&said)
    }

    fn understood(said: &[u8]) -> Vec<ClientMessage> {
        said.split_inclusive(|byte| *byte == b'\n').map(|line| decode(line.trim_ascii_end()).unwrap().message).collect()
    }

    fn turn(ply: u32, side: Side, pits: [u8; 6], legal: &[u8]) -> ServerMessage {
        let set = legal.iter().filter_map(|pit| Pit::new(*pit)).collect::<PitSet>();
        ServerMessage::Turn(Turn {
            game: GameId::new(Uuid::from_u128(7)),
            ply,
            side,
            pits,
            captured: Sides { south: 0, north: 0 },
            legal: PitList(set),
            remaining_ms: Sides { south: 1, north: 1 },
            last: None,
        })
    }

    #[test]
    fn it_says_who_it_is_and_seeks_in_every_pool() {
        let mut player = player(Brain::Level(3));
        let mut said = Vec::new();
        player.enter(&mut said);
        let [ClientMessage::Hello(hello)] = &understood(&said)[..] else { panic!("{said:?}") };
        assert_eq!(hello.name.as_ref().unwrap().as_str(), "house-level3");
        assert_eq!((hello.version.as_deref(), hello.games), (Some("brain 1, modiar-oracle 1"), HOUSE_GAMES));
        let line = br#"{"type":"welcome","protocol":1,"server":"m","bot":{"name":"house-level3","guest":false,"ratings":{}},"pools":[{"name":"blitz","time":{"base_ms":1,"increment_ms":0,"grace_ms":0},"rated":true,"openings":"start","rules":{"name":"modiar","repetition":3,"quiet_plies":200,"majority":false,"illegal_moves":0}}],"limits":{"line_bytes":4096,"messages_per_s":1,"games":4096},"games":[],"missed":[]}"#;
        said.clear();
        player.read(line, &mut said);
        let seek = ClientMessage::Seek { pool: "blitz".into(), games: 0 };
        assert_eq!(understood(&said), std::slice::from_ref(&seek));
        let mut pools = Config::default().pools;
        let names = ["blitz", "rapid"];
        pools.iter_mut().zip(names).for_each(|(pool, name)| pool.name = name.into());
        pools.truncate(2);
        // Again once some time has passed, but not when the server stops.
        for (reason, again) in [(SeekEnd::Penalised, vec![seek]), (SeekEnd::Draining, vec![])] {
            let ended = ServerMessage::SeekEnded {
                pool: "blitz".into(),
                reason,
                until_ms: None,
                message: None,
                reference: None,
            };
            assert_eq!(answers(&mut player, &ended), []);
            said.clear();
            player.remember(&pools[..1], &mut said);
            assert_eq!(understood(&said), again);
        }
        // A pool that has come since.
        said.clear();
        player.remember(&pools, &mut said);
        assert_eq!(understood(&said), [ClientMessage::Seek { pool: "rapid".into(), games: 0 }]);
    }

    #[test]
    fn a_turn_is_answered_from_what_stands_in_it() {
        let game = GameId::new(Uuid::from_u128(7));
        let mut perfect = player(Brain::Perfect);
        let at_start = answers(&mut perfect, &turn(1, Side::South, [7; 6], &[0, 1, 2]));
        assert_eq!(at_start, [ClientMessage::Move(Move { game, pit: Pit::new(2).unwrap(), ply: Some(1) })]);
        // A position that no game leads to is none of its rules' either: it plays what the server says it may.
        let strange = answers(&mut perfect, &turn(2, Side::North, [1; 6], &[4]));
        assert_eq!(strange, [ClientMessage::Move(Move { game, pit: Pit::new(4).unwrap(), ply: Some(2) })]);
        assert_eq!(answers(&mut perfect, &turn(2, Side::North, [1; 6], &[])), []);
    }

    #[test]
    fn a_challenge_is_accepted_and_what_is_no_message_of_the_server_s_is_left_alone() {
        let challenge = ChallengeId::new(Uuid::from_u128(8));
        let challenged = ServerMessage::Challenged(Box::new(Challenged {
            challenge,
            from: Challenger { name: BotName::new("dice").unwrap(), rating: None },
            pool: "blitz".into(),
            side: ChallengeSide::Random,
            rated: false,
            games: 3,
            expires_ms: 60_000,
        }));
        let mut random = player(Brain::Random);
        assert_eq!(answers(&mut random, &challenged), [ClientMessage::Accept { challenge }]);
        for line in [&b""[..], b"\n", b"{}\n", b"{\"type\":\"turn\"}\n", b"\xff\n"] {
            let mut said = Vec::new();
            random.read(line, &mut said);
            assert!(said.is_empty(), "{line:?}");
        }
    }
}
