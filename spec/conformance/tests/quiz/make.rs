//! How `spec/vectors/quiz.jsonl` is made: positions of random games from a seed, each taken where just one thing is to be known.

use crate::board::{Board, Fault};
use modiar_rules::{BySide, Pit, PitSet, Position, Side};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// What a question turns on: a board with this fault gets it wrong, and boards with the faults of other checks do not.
pub struct Kind {
    pub fault: Fault,
    pub check: &'static str,
    pub clause: &'static str,
    pub reason: &'static str,
    /// As many questions from each seat; of each of the first two plies there is one.
    pub each: usize,
}

const fn kind(fault: Fault, check: &'static str, clause: &'static str, each: usize, reason: &'static str) -> Kind {
    Kind { fault, check, clause, reason, each }
}

impl Kind {
    /// The first plies are asked about themselves alone.
    fn is_of(&self, ply: u32) -> bool {
        (self.check == "first-ply") == (ply <= 2)
    }
}

/// In the order of the file.
pub const KINDS: [Kind; 29] = [
    kind(Fault::Side, "plain", "rules.turn.south-first", 9, "nothing rare: no capture, no lap, no ban"),
    kind(Fault::FirstPly, "first-ply", "rules.capture.first-ply", 1, "the first ply captures nothing"),
    kind(Fault::SecondPly, "first-ply", "rules.capture.first-ply", 1, "the second ply captures like any other"),
    kind(Fault::Singleton, "singleton", "rules.move.singleton", 20, "a single seed may not move"),
    kind(Fault::Lap, "laps", "rules.sow.every-pit", 7, "7 to 11 seeds: the origin gets a second one"),
    kind(Fault::Laps, "laps", "rules.sow.every-pit", 5, "12 to 18 seeds: the origin is not passed over"),
    kind(
        Fault::ThirdLap,
        "laps",
        "rules.sow.every-pit",
        4,
        "19 to 24 seeds: the origin gets one in the fourth lap too",
    ),
    kind(Fault::FourthLap, "laps", "rules.sow.every-pit", 4, "25 seeds or more: the origin gets one in every lap"),
    kind(Fault::LapCapture, "lap-capture", "rules.capture.even", 12, "the last seed of a lap captures"),
    kind(Fault::LapChain, "lap-capture", "rules.capture.chain", 8, "the chain after a lap takes the origin too"),
    kind(Fault::Two, "capture", "rules.capture.even", 5, "the last seed makes 2"),
    kind(Fault::Four, "capture", "rules.capture.even", 5, "the last seed makes 4"),
    kind(Fault::Six, "capture", "rules.capture.even", 5, "the last seed makes 6"),
    kind(Fault::OwnRow, "capture", "rules.capture.either-side", 5, "the last seed captures in the mover's own row"),
    kind(Fault::Three, "no-capture", "rules.capture.even", 10, "the last seed makes 3, which is not captured"),
    kind(
        Fault::Eight,
        "no-capture",
        "rules.capture.even",
        10,
        "the last seed makes an even number above 6, which is not captured",
    ),
    kind(Fault::Short, "chain", "rules.capture.chain", 20, "the pits before the last one are captured too"),
    kind(Fault::RowEnd, "chain-wraps", "rules.capture.chain", 5, "the chain goes on from pit 3 to pit 2"),
    kind(Fault::RingEnd, "chain-wraps", "rules.capture.chain", 15, "the chain goes on from pit 0 to pit 5"),
    kind(
        Fault::Over,
        "chain-stops",
        "rules.capture.chain",
        12,
        "a pit stops the chain, what lies behind it is not captured",
    ),
    kind(Fault::EvenOver, "chain-stops", "rules.capture.chain", 8, "an even number above 6 stops the chain"),
    kind(Fault::Duty, "feeding", "rules.feed.must", 10, "the other row is empty: who can feed it must"),
    kind(Fault::FedBySingletons, "feeding", "rules.feed.must", 4, "the other row has single seeds: no duty to feed"),
    kind(
        Fault::Unable,
        "feeding",
        "rules.feed.if-able",
        6,
        "the other row is empty and cannot be fed: the game goes on",
    ),
    kind(Fault::Slam, "slam", "rules.slam.banned", 14, "a grand slam is banned beside other moves"),
    kind(Fault::SlamOwnRow, "slam", "rules.slam.own-row", 6, "a grand slam that captures in the own row too is banned"),
    kind(Fault::Immobile, "immobile", "rules.end.immobile", 10, "only empty pits and single seeds: the game is over"),
    kind(Fault::SlamLast, "immobile", "rules.slam.banned", 10, "only a grand slam is left: the game is over"),
    kind(Fault::Score, "score", "rules.end.scoop", 20, "the mover's row is empty: the other side takes its own"),
];

/// The lines of the file.
pub fn made() -> Vec<String> {
    let found = Search::new().found();
    let cases = KINDS.iter().flat_map(|kind| found.get(&kind.fault).into_iter().flatten().map(move |at| (kind, at)));
    cases.enumerate().map(|(index, (kind, position))| line(index + 1, kind, *position)).collect()
}

/// The position as the other board has it.
pub fn board(position: Position) -> Board {
    Board {
        pits: position.pits(),
        captured: Side::ALL.map(|side| position.captured()[side]),
        mover: usize::from(position.side() == Side::North),
        ply: position.ply().into(),
    }
}

/// A position's question and its right answer, by the rules of the referee.
fn line(number: usize, kind: &Kind, position: Position) -> String {
    let Kind { check, clause, reason, .. } = kind;
    let (pits, captured, side, ply) =
        (json!(position.pits()), by_side(position.captured()), position.side(), position.ply());
    let answer = answer(position);
    format!(
        "{{\"question\":{number},\"check\":\"{check}\",\"clause\":\"{clause}\",\"reason\":\"{reason}\",\"position\":\"{position}\",\"pits\":{pits},\"captured\":{captured},\"side\":\"{side}\",\"ply\":{ply},\"answer\":{answer}}}"
    )
}

fn by_side(BySide { south, north }: BySide<u8>) -> String {
    format!("{{\"south\":{south},\"north\":{north}}}")
}

/// What `modiar-rules` says of it.
fn answer(position: Position) -> String {
    let legal: Vec<u8> = position.legal().iter().map(Pit::index).collect();
    let after: Vec<String> = position.legal().iter().map(|pit| after(position.play(pit).unwrap().position)).collect();
    let score = if legal.is_empty() { format!(",\"score\":{}", by_side(position.scoop())) } else { String::new() };
    format!("{{\"legal\":{},\"after\":[{}]{score}}}", json!(legal), after.join(","))
}

fn after(position: Position) -> String {
    let (pits, captured, side) = (json!(position.pits()), by_side(position.captured()), position.side());
    format!("{{\"pits\":{pits},\"captured\":{captured},\"side\":\"{side}\"}}")
}

/// The faults that show in a position, if all are of one check; of several the last of the list, which is the rarest.
pub fn turns_on(position: Position) -> Option<&'static Kind> {
    let board = board(position);
    let right = board.answer(None);
    let mut found: Option<&Kind> = None;
    for kind in KINDS.iter().filter(|kind| kind.fault != Fault::Side && kind.is_of(position.ply())) {
        if board.answer(Some(kind.fault)) != right {
            if found.is_some_and(|found| found.check != kind.check) {
                return None;
            }
            found = Some(kind);
        }
    }
    // What no fault changes shows only that of plain positions.
    let found = found.or(KINDS.first()).filter(|kind| kind.is_of(position.ply()));
    found.filter(|kind| kind.fault != Fault::Side || !right.legal.is_empty())
}

struct Search {
    found: BTreeMap<Fault, Vec<Position>>,
    seen: BTreeSet<([u8; 6], [u8; 2], bool)>,
    random: u64,
}

impl Search {
    fn new() -> Self {
        Self { found: BTreeMap::new(), seen: BTreeSet::new(), random: SEED }
    }

    fn found(mut self) -> BTreeMap<Fault, Vec<Position>> {
        self.take(Position::START);
        for pit in Position::START.legal() {
            self.take(Position::START.play(pit).unwrap().position);
        }
        let wanted: usize = KINDS.iter().map(|kind| kind.each * 2).sum::<usize>() - 2;
        while self.found.values().map(Vec::len).sum::<usize>() < wanted {
            self.play();
        }
        self.found
    }

    /// One random game, of which one position is taken at most.
    fn play(&mut self) {
        let mut position = Position::START;
        let mut taken = false;
        while let Some(pit) = self.pick(position.legal()) {
            position.play_unchecked(pit);
            taken = taken || self.wants(position) && self.take(position);
        }
    }

    /// Whether any more questions are wanted from this seat, of a game that is over or of one that goes on.
    fn wants(&self, position: Position) -> bool {
        let is_over = position.legal().is_empty();
        let of = KINDS.iter().filter(|kind| matches!(kind.check, "immobile" | "score") == is_over);
        of.into_iter().any(|kind| self.count(kind.fault, position.side()) < kind.each)
    }

    fn count(&self, fault: Fault, side: Side) -> usize {
        self.found.get(&fault).into_iter().flatten().filter(|position| position.side() == side).count()
    }

    /// Keeps the position if there is one wanted of its kind, and not the same one yet.
    fn take(&mut self, position: Position) -> bool {
        let Some(kind) = turns_on(position) else { return false };
        if self.count(kind.fault, position.side()) == kind.each {
            return false;
        }
        let BySide { south, north } = position.captured();
        let is_new = self.seen.insert((position.pits(), [south, north], position.side() == Side::South));
        if is_new {
            self.found.entry(kind.fault).or_default().push(position);
        }
        is_new
    }

    /// One of the pits.
    fn pick(&mut self, pits: PitSet) -> Option<Pit> {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let nth = ((self.random >> 32) * pits.len() as u64) >> 32;
        pits.iter().nth(usize::try_from(nth).unwrap())
    }
}
