//! Records of random games, for what reads many of them.
#![allow(clippy::unwrap_used, dead_code)] // what is made here is known to be good; each user takes what it needs

use modiar_protocol::{GameId, GameRules, Record, RecordSeat, Sides, Termination, TimeControl};
use modiar_rules::{EndRules, Line, Pit, Position, moves_text};
use uuid::Uuid;

/// Numbers that look like chance.
#[derive(Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// The bots of these games.
const BOTS: [&str; 8] = ["ada", "barbara", "dorothy", "edsger", "grace", "john", "katherine", "margaret"];

/// A random game by the default rules.
pub fn line(dice: &mut Dice) -> Line {
    let mut line = Line::new(EndRules::default());
    while !line.legal().is_empty() {
        let pits: Vec<Pit> = line.legal().into_iter().collect();
        let at = usize::try_from(dice.below(pits.len() as u64)).unwrap();
        line.play(pits[at]).unwrap();
    }
    line
}

/// The record of a random game, `number` being its place.
pub fn record(number: u64, dice: &mut Dice) -> Record {
    let line = line(dice);
    record_of(number, &line, dice)
}

/// The record of a game, between bots by chance.
pub fn record_of(number: u64, line: &Line, dice: &mut Dice) -> Record {
    let position: Position = line.position();
    let elapsed_us: Vec<u64> = line.moves().iter().map(|_| 50 << dice.below(14)).collect();
    let south = dice.below(8);
    let north = (south + 1 + dice.below(7)) % 8;
    let seat = |bot: u64| RecordSeat {
        name: BOTS[usize::try_from(bot).unwrap()].to_owned().try_into().unwrap(),
        guest: false,
        version: Some("1".to_owned()),
        rating: Some(1500.0),
        rd: Some(60.0),
        volatility: Some(0.06),
    };
    let grace = 50_000;
    Record {
        record: 1,
        seq: number,
        prev: "0".repeat(64),
        game: GameId::new(Uuid::from_u128(u128::from(number))),
        pool: "blitz".to_owned(),
        rated: false,
        started: "2026-11-30T12:00:00.000000Z".to_owned(),
        ended: "2026-11-30T12:00:01.000000Z".to_owned(),
        time: TimeControl { base_ms: 30_000, increment_ms: 200, grace_ms: 50, move_ms: None },
        rules: GameRules::new(EndRules::default(), 0),
        south: seat(south),
        north: seat(north),
        opening: String::new(),
        moves: moves_text(line.moves()).to_string(),
        own_us: vec![0; elapsed_us.len()],
        charged_us: elapsed_us.iter().map(|us| us.saturating_sub(grace)).collect(),
        elapsed_us,
        remaining_us: Sides { south: 30_000_000, north: 30_000_000 },
        unfinished_turn: None,
        result: modiar_protocol::GameResult::by_score(line.score()),
        termination: Termination::from(line.ending().unwrap()),
        detail: None,
        score: line.score().into(),
        pits: position.pits(),
        rating_after: None,
        node: "local".to_owned(),
        server: "modiar/0.1.0".to_owned(),
    }
}

/// Records of so many plies or a few more.
pub fn records(plies: usize) -> impl Iterator<Item = Record> {
    let (mut dice, mut left) = (Dice(1), plies);
    (1..).map_while(move |number| {
        (left > 0).then(|| {
            let record = record(number, &mut dice);
            left = left.saturating_sub(record.moves.len());
            record
        })
    })
}
