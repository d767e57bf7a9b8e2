//! Referees finished games again, by the rules and arithmetic alone: none of the code that played them is used.

use super::chain::Chain;
use super::form::{is_instant, is_server};
use super::rated::verify_rated;
use super::shape::misshapen;
use super::{counted, fault_of_line, quoted};
use crate::store::{self, line_hash};
use modiar_protocol::limits::FIRST_PLY;
use modiar_protocol::{GameId, GameResult, Record, Sides, Termination, ZERO_HASH};
use modiar_rules::{BySide, Line, Pit, Position, Side, parse_moves};
use std::collections::HashSet;
use std::fmt::Write as _;

/// What is wrong with a record, and at which ply if it is one ply's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The ply.
    pub ply: Option<u32>,
    /// What.
    pub what: String,
}

/// Findings that a report tells: who has more of them sees from the first what is wrong.
const TOLD: usize = 10_000;

/// What was found in a run of records.
#[derive(Debug, Default)]
pub struct Findings {
    games: u64,
    plies: u64,
    /// The number of the line, in a store the place.
    lines: u64,
    /// Of many the first [`TOLD`].
    told: Vec<String>,
    found: u64,
    /// What was looked at, where that is not plain.
    notes: Vec<String>,
    /// Places between 1 and the newest at which no record was, from and to.
    gaps: Vec<(u64, u64)>,
    /// Whether no game may lack, as none does in a store.
    complete: bool,
    /// The record before.
    before: Option<Before>,
    /// Lines since that are no record: each has a place.
    unreadable: u64,
    /// In a file; a store has a game once.
    games_seen: HashSet<GameId>,
    /// In a file, the ratings from game to game; a store's are folded.
    ratings: Chain,
}

/// What the next record names, or ought to.
#[derive(Debug)]
struct Before {
    seq: u64,
    game: GameId,
    hash: String,
}

impl Findings {
    /// For the records of a whole store: a missing one is a finding too.
    #[must_use]
    pub fn of_a_store() -> Self {
        Self { complete: true, ..Self::default() }
    }

    /// Whether no record was there, nor anything that should have been one.
    #[must_use]
    pub const fn saw_nothing(&self) -> bool {
        self.games == 0 && self.found == 0
    }

    /// Whether all was right.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.found == 0
    }

    /// Adds a finding.
    pub fn found(&mut self, finding: String) {
        if self.told.len() < TOLD {
            self.told.push(finding);
        }
        self.found += 1;
    }

    /// Adds what the report is to say beside the findings.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Verifies the next line of a file; a blank one is passed over.
    pub fn verify(&mut self, line: &[u8]) {
        self.lines += 1;
        self.verify_line(line);
    }

    fn place_of_line(&self) -> String {
        let what = if self.complete { "game at place" } else { "line" };
        format!("{what} {}", self.lines)
    }

    fn verify_line(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let record: Record = match serde_json::from_slice(line) {
            Ok(record) => record,
            Err(error) => {
                self.unreadable += 1;
                return self.found(format!("{}: no record: {}", self.place_of_line(), fault_of_line(&error)));
            }
        };
        self.games += 1;
        self.plies += record.moves.len() as u64;
        self.verify_link(&record);
        if let Some(part) = misshapen(line, &record) {
            self.found(format!("game {}: {part} has not the form that a record's has", record.game));
        }
        if let Err(Fault { ply, what }) = verify_record(&record) {
            let at = ply.map_or_else(String::new, |ply| format!(" ply {ply}"));
            self.found(format!("game {}{at}: {what}", record.game));
        }
        if !self.complete {
            if !self.games_seen.insert(record.game) {
                self.found(format!("game {}: it stands here more than once", record.game));
            }
            for fault in self.ratings.check(&record) {
                self.found(format!("game {}: {fault}", record.game));
            }
        }
        self.unreadable = 0;
        self.before = Some(Before { seq: record.seq, game: record.game, hash: line_hash(line) });
    }

    /// Verifies the next line of a store, which keeps beside it the hash that it had: no game follows the newest one to
    /// tell that it was changed.
    pub fn verify_stored(&mut self, line: &store::Line) {
        if line_hash(&line.text) != line.hash {
            self.found(format!(
                "game at place {}: its hash in the database is another: one of the two was changed",
                line.seq
            ));
        }
        // Blank lines are nobody's in a file.
        if line.text.trim_ascii().is_empty() || line.text.contains('\n') {
            self.found(format!("game at place {}: its record is not one line", line.seq));
        }
        self.lines = line.seq;
        self.verify_line(line.text.as_bytes());
    }

    /// A rating in a store does not follow from the games before it.
    pub fn misrated(&mut self, game: Option<GameId>, what: &str) {
        self.found(game.map_or_else(|| format!("the ladder: {what}"), |game| format!("game {game}: {what}")));
    }

    /// A stored game is found by something else than its record says.
    pub fn misfiled(&mut self, seq: i64, column: &str) {
        self.found(format!("game at place {seq}: the database's column {column} is not what its record says"));
    }

    /// What was found, a line each, a summary, and what was looked at.
    #[must_use]
    pub fn report(&self) -> String {
        let mut report = String::new();
        for finding in &self.told {
            // Writing to a String cannot fail.
            let _ = writeln!(report, "{finding}");
        }
        if self.found > self.told.len() as u64 {
            let _ = writeln!(report, "and {} more", self.found - self.told.len() as u64);
        }
        let verdict = match (self.found, &self.gaps[..]) {
            (0, []) if self.games == 0 => "nothing to verify".to_owned(),
            (0, []) => "all good".to_owned(),
            (0, _) => "each is good by itself".to_owned(),
            (found, _) => counted(found, "finding", "findings"),
        };
        let (games, plies) = (counted(self.games, "game", "games"), counted(self.plies, "ply", "plies"));
        let _ = writeln!(report, "{games}, {plies}: {verdict}");
        let none = (self.games == 0 && !self.is_empty())
            .then(|| "no line is a record; those that `modiar games export` writes without --out are".to_owned());
        for note in self.chain().iter().chain(&self.ratings.note()).chain(&none).chain(&self.notes) {
            let _ = writeln!(report, "{note}");
        }
        report
    }

    /// How far the hashes tie the records together; nothing of a chain that is broken, which is a finding.
    fn chain(&self) -> Option<String> {
        /// Gaps that are told one by one.
        const TOLD: usize = 5;
        let Before { seq: last, hash, .. } = self.before.as_ref()?;
        let range = |(from, to): &(u64, u64)| if from == to { from.to_string() } else { format!("{from}-{to}") };
        match &self.gaps[..] {
            [] if self.is_empty() => Some(format!("seq {}, chain whole, newest hash {hash}", range(&(1, *last)))),
            [] => None,
            [gap] if gap.0 == gap.1 => Some(format!("seq {} is missing: the chain is not checked across it", gap.0)),
            gaps => {
                let told: Vec<String> = gaps.iter().take(TOLD).map(range).collect();
                let more = gaps.len().checked_sub(TOLD + 1).map_or_else(String::new, |left| {
                    let (_, to) = gaps[gaps.len() - 1];
                    format!(", and {} more such up to {to}", left + 1)
                });
                Some(format!("seq {}{more} are missing: the chain is not checked across them", told.join(", ")))
            }
        }
    }

    /// A record names the hash of the one before it. Where games between two were left out, as an export by bot does, no
    /// link can be tested.
    fn verify_link(&mut self, record: &Record) {
        let next = self.before.as_ref().map_or(1, |before| before.seq.saturating_add(1));
        // What stood between and is no record was told.
        let expected = next.saturating_add(self.unreadable);
        if record.seq > expected {
            self.gaps.push((expected, record.seq - 1));
        }
        if record.seq > next {
            self.ratings.interrupted(record.seq);
        }
        let fault = match &self.before {
            _ if record.seq == 0 => Some("places begin at 1".to_owned()),
            _ if self.complete && record.seq > expected => {
                Some(format!("{} before it", missing(expected, record.seq - 1)))
            }
            Some(Before { seq, .. }) if record.seq <= *seq => {
                Some(format!("its place {} does not follow {seq}", record.seq))
            }
            Some(Before { seq, game, hash }) if record.seq == next && record.prev != *hash => Some(format!(
                "its prev is not the hash of the record before it, of game {game} at place {seq}: one of the two was changed"
            )),
            None if record.seq == 1 && record.prev != ZERO_HASH => {
                Some("it is the first and names one before it".to_owned())
            }
            _ => None,
        };
        if let Some(fault) = fault {
            self.found(format!("game {}: {fault}", record.game));
        }
    }
}

/// That the games at these places are not there.
pub(super) fn missing(first: u64, last: u64) -> String {
    if first == last {
        format!("the game at place {first} is missing")
    } else {
        format!("the games at places {first} to {last} are missing")
    }
}

/// Referees one game again.
///
/// # Errors
/// The first thing that does not hold.
pub fn verify_record(record: &Record) -> Result<(), Fault> {
    ensure(record.record == 1, || format!("record {} is of another version", record.record))?;
    let moves = moves(&record.moves)?;
    ensure(record.moves.starts_with(&record.opening), || "the moves do not begin with the opening".into())?;
    let line = replay(record, &moves)?;
    verify_form(record)?;
    verify_clocks(record, moves.len())?;
    verify_unfinished(record, line.position().ply())?;
    verify_end(record, &line)?;
    verify_rated(record)
}

pub(super) fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault { ply: None, what: what() }) }
}

fn ensure_at(ply: u32, holds: bool, what: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault { ply: Some(ply), what: what() }) }
}

fn moves(text: &str) -> Result<Vec<Pit>, Fault> {
    parse_moves(text).map_err(|error| Fault { ply: None, what: error.to_string() })
}

fn replay(record: &Record, moves: &[Pit]) -> Result<Line, Fault> {
    Line::replay(record.rules.ends(), moves.iter().copied()).map_err(|error| Fault {
        ply: Some(error.ply),
        what: format!("pit {} may not be played: {}", error.pit, error.refusal),
    })
}

/// What no part of the game follows from has its form all the same (`record.schema`).
fn verify_form(record: &Record) -> Result<(), Fault> {
    let is_hash = record.prev.len() == 64 && record.prev.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    ensure(is_hash, || format!("prev {} is no hash of 64 digits 0-9 a-f", quoted(&record.prev)))?;
    ensure(is_server(&record.server), || format!("server {} is not as modiar/0.1.0", quoted(&record.server)))?;
    for (name, text) in [("pool", &record.pool), ("node", &record.node)] {
        ensure((1..=64).contains(&text.chars().count()), || {
            format!("{name} {} has not 1 to 64 characters", quoted(text))
        })?;
    }
    for (name, text) in [("started", &record.started), ("ended", &record.ended)] {
        ensure(is_instant(text), || format!("{name} {} is no time as 2026-11-30T12:00:00.000000Z", quoted(text)))?;
    }
    Ok(())
}

/// Each ply's charge, and that what remains is what the charges leave (`record.identity`).
fn verify_clocks(record: &Record, plies: usize) -> Result<(), Fault> {
    let played = plies - record.opening.len();
    for (name, column) in
        [("elapsed_us", &record.elapsed_us), ("own_us", &record.own_us), ("charged_us", &record.charged_us)]
    {
        ensure(column.len() == played, || format!("{name} has {} entries for {played} plies", column.len()))?;
    }
    let time = record.time;
    let mut remaining = BySide::new(micros(time.base_ms), micros(time.base_ms));
    let grace = micros(time.grace_ms);
    for (at, (elapsed, own)) in record.elapsed_us.iter().zip(&record.own_us).enumerate() {
        verify_own(record, ply_number(record.opening.len() + at), *elapsed, *own)?;
    }
    for (at, (elapsed, charged)) in record.elapsed_us.iter().zip(&record.charged_us).enumerate() {
        let ply = ply_number(record.opening.len() + at);
        let side = Side::on_ply(ply);
        let due = elapsed.saturating_sub(grace);
        ensure_at(ply, *charged == due, || {
            format!("{charged} us were charged, {elapsed} us elapsed with {} ms grace make {due}", time.grace_ms)
        })?;
        let most = allowance(record, remaining[side], at < 2);
        ensure_at(ply, *charged <= most, || format!("{charged} us were charged where {most} were left"))?;
        remaining[side] = (remaining[side] - charged).saturating_add(micros(time.increment_ms));
    }
    let left: BySide<u64> = record.remaining_us.into();
    for side in Side::ALL {
        ensure(left[side] == remaining[side], || {
            format!("{side} has {} us left in the record, {} by its charges", left[side], remaining[side])
        })?;
    }
    Ok(())
}

/// Within the grace nobody asks what was the server's own (`clock.own-grace`).
fn verify_own(record: &Record, ply: u32, elapsed: u64, own: u64) -> Result<(), Fault> {
    ensure_at(ply, own == 0 || elapsed.saturating_add(own) > micros(record.time.grace_ms), || {
        format!("{own} us are the server's own, where all of it is within the grace")
    })
}

/// The turn that was running is charged as any other (`record.unfinished`).
fn verify_unfinished(record: &Record, ply: u32) -> Result<(), Fault> {
    let Some(turn) = record.unfinished_turn else { return Ok(()) };
    let due = turn.elapsed_us.saturating_sub(micros(record.time.grace_ms));
    ensure_at(ply, turn.charged_us == due, || {
        format!("{} us were charged, {} us elapsed make {due}", turn.charged_us, turn.elapsed_us)
    })?;
    verify_own(record, ply, turn.elapsed_us, turn.own_us)
}

/// Milliseconds as microseconds; a record may say anything.
const fn micros(ms: u64) -> u64 {
    ms.saturating_mul(1000)
}

fn ply_number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

fn allowance(record: &Record, remaining: u64, first_ply: bool) -> u64 {
    let most = record.time.move_ms.map_or(remaining, |most| remaining.min(micros(most)));
    let first = u64::try_from(FIRST_PLY.as_micros()).unwrap_or(u64::MAX);
    if first_ply { most.min(first) } else { most }
}

fn verify_end(record: &Record, line: &Line) -> Result<(), Fault> {
    let position = line.position();
    ensure(record.pits == position.pits(), || {
        format!("it ends on {:?} in the record, on {:?} by its moves", record.pits, position.pits())
    })?;
    let score = if line.ending().is_some() { line.score() } else { position.captured() };
    ensure(BySide::from(record.score) == score, || {
        let Sides { south, north } = record.score;
        format!("the score is {south} : {north} in the record, {} : {} by its moves", score.south, score.north)
    })?;
    let by_rules = line.ending().map(Termination::from);
    ensure(record.detail.is_none() || record.termination == Termination::IllegalMove, || {
        format!("the detail of an illegal move stands on a game that ended by {}", record.termination)
    })?;
    match record.termination {
        end @ (Termination::Immobile | Termination::Repetition | Termination::QuietPlies | Termination::Majority) => {
            ensure(by_rules == Some(end), || format!("its moves do not end it by {end}"))?;
            ensure(record.unfinished_turn.is_none(), || format!("a turn was unfinished, and {end} ended it by a ply"))?;
            verify_result(record, GameResult::by_score(score))
        }
        end => {
            ensure(by_rules.is_none(), || {
                format!("its moves end it by {}, not by {end}", by_rules.map_or("", Termination::as_str))
            })?;
            verify_forfeit(record, &position, line)
        }
    }
}

fn verify_result(record: &Record, result: GameResult) -> Result<(), Fault> {
    ensure(record.result == result, || format!("the result is {} in the record, {result} by its end", record.result))
}

fn verify_forfeit(record: &Record, position: &Position, line: &Line) -> Result<(), Fault> {
    let winner = GameResult::win(position.side().other());
    match record.termination {
        Termination::Resignation => {
            ensure(matches!(record.result, GameResult::South | GameResult::North), || {
                "nobody wins by resignation".into()
            })?;
            // The other side may resign while a flag is about to fall; the mover may not after it fell.
            if record.result == winner { verify_in_time(record, position) } else { Ok(()) }
        }
        Termination::TimeForfeit => {
            verify_result(record, winner)?;
            verify_overstep(record, position)
        }
        Termination::IllegalMove => {
            verify_result(record, winner)?;
            verify_in_time(record, position)?;
            verify_illegal(record, line)
        }
        _ => verify_result(record, GameResult::None),
    }
}

/// A flag fell only if the unfinished turn was charged more than was left.
fn verify_overstep(record: &Record, position: &Position) -> Result<(), Fault> {
    let ply = position.ply();
    let Some(turn) = record.unfinished_turn else {
        return ensure_at(ply, false, || "lost on time without an unfinished turn".into());
    };
    let most = left(record, position.side());
    ensure_at(ply, turn.charged_us > most, || {
        format!("lost on time with {} us charged where {most} were left", turn.charged_us)
    })
}

/// What ended the game came from the side to move, and before its flag fell.
fn verify_in_time(record: &Record, position: &Position) -> Result<(), Fault> {
    let charged = record.unfinished_turn.map_or(0, |turn| turn.charged_us);
    let most = left(record, position.side());
    ensure_at(position.ply(), charged <= most, || {
        format!("{} came after the flag: {charged} us charged where {most} were left", record.termination)
    })
}

/// Most that the unfinished turn of `side` may be charged.
fn left(record: &Record, side: Side) -> u64 {
    let remaining: BySide<u64> = record.remaining_us.into();
    allowance(record, remaining[side], record.elapsed_us.len() < 2)
}

fn verify_illegal(record: &Record, line: &Line) -> Result<(), Fault> {
    let ply = line.position().ply();
    let Some(detail) = &record.detail else {
        return ensure_at(ply, false, || "lost by an illegal move that is not told".into());
    };
    let clause = line.position().check(detail.pit).err().map(modiar_rules::Illegal::clause);
    ensure_at(ply, clause == Some(&*detail.clause), || {
        format!(
            "pit {} breaks {} in the record, {} by the rules",
            detail.pit,
            detail.clause,
            clause.unwrap_or("nothing")
        )
    })?;
    ensure_at(ply, detail.legal.0 == line.legal(), || {
        format!("pits {} were legal, not {}", line.legal(), detail.legal.0)
    })
}
