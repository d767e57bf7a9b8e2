//! Who of those who seek in a pool meets whom at this moment, and what the others wait for (`ladder.pairing`).

use super::balance::Balance;
use super::machine::{Effect, Lobby, Now};
use super::pairing::{Half, Sitter, Source, seated};
use super::presence::Presence;
use super::queue::Seek;
use crate::clock::{Micros, Moment};
use crate::store::Owner;
use modiar_ladder::pairing::{self, ANYBODY_MS, HOUSE_MS, Meeting, RECENT, Waiting, is_within_reach, pair};
use modiar_protocol::BotName;
use modiar_protocol::server::Openings;
use modiar_rules::{BySide, Side};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Where more than so many wait, and so may not meet each other, nobody looks at all of them at each seek and each end of a
/// game, but only when time has passed.
const AT_ONCE: usize = 64;

/// One who waits, as the lobby knows it.
struct Candidate<'a> {
    seek: &'a Seek,
    bot: &'a Presence,
}

/// What the meeting of two is.
struct Match {
    half: Half,
    /// How long those waited who are not of the house.
    waited: Vec<Micros>,
    /// Since when both wait for further games.
    since: [Moment; 2],
}

impl Lobby {
    /// Pairs who has waited long enough by now; to be called some times a second.
    pub fn pair_waiting(&mut self, now: Now) -> Vec<Effect> {
        let mut effects = Vec::new();
        for at in 0..self.pools.len() {
            self.pair_in(at, now.moment, &mut effects);
        }
        effects
    }

    /// Pairs the bots that wait, in every pool.
    pub(super) fn pair_all(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        for at in 0..self.pools.len() {
            self.pair(at, now, effects);
        }
    }

    /// Pairs the bots of a pool that wait.
    pub(super) fn pair(&mut self, at: usize, now: Moment, effects: &mut Vec<Effect>) {
        if self.queues[at].waiting() <= AT_ONCE {
            self.pair_in(at, now, effects);
        }
    }

    fn pair_in(&mut self, at: usize, now: Moment, effects: &mut Vec<Effect>) {
        // Who plays several games at once may be paired again.
        while !self.draining && !self.held {
            let made = effects.len();
            for [one, other] in self.matches(at, now) {
                self.meet(at, [one, other], now, effects);
            }
            if effects.len() == made {
                return;
            }
        }
    }

    fn candidates<'a>(&'a self, seeks: impl Iterator<Item = &'a Seek>) -> Vec<Candidate<'a>> {
        seeks.filter_map(|seek| self.candidate(seek)).collect()
    }

    fn candidate<'a>(&'a self, seek: &'a Seek) -> Option<Candidate<'a>> {
        Some(Candidate { seek, bot: self.bots.get(&seek.bot)? })
    }

    fn matches(&self, at: usize, now: Moment) -> Vec<[Sitter; 2]> {
        let queue = &self.queues[at];
        if queue.waiting() == 0 || queue.waiting() == 1 && queue.houses().next().is_none() {
            return Vec::new();
        }
        let (line, houses) = (self.candidates(queue.line()), self.candidates(queue.houses()));
        let waiting = as_waiting(&line, at, now);
        let ratings: Vec<f64> = houses.iter().map(|house| house.bot.rating(at).rating).collect();
        let others = queue.playing() > 0 || queue.may_come_back(now);
        let may_meet = |one: usize, other: usize| self.meeting(at, &line[one], &line[other], now);
        let may_sit = |one: usize, house: usize| met_lately(at, &line[one], &houses[house], 1);
        let sitter = |candidate: &Candidate<'_>| Sitter {
            bot: candidate.seek.bot.clone(),
            visitor: candidate.seek.visitor,
            seek: Some(candidate.seek.number),
        };
        let matches = pair(&waiting, &ratings, others, may_meet, may_sit).into_iter();
        let two = matches.map(|two| match two {
            pairing::Match::Each([one, other]) => [&line[one], &line[other]],
            pairing::Match::House(one, house) => [&line[one], &houses[house]],
        });
        two.map(|two| two.map(sitter)).collect()
    }

    fn meeting(&self, at: usize, one: &Candidate<'_>, other: &Candidate<'_>, now: Moment) -> Meeting {
        let left = self.left(at, one, other, now);
        let half = self.half(at, [one, other], left);
        if left == 0 || seatings(one.bot, other.bot, half).next().is_none() {
            Meeting::Never
        } else {
            met_lately(at, one, other, self.recent(at))
        }
    }

    /// So many opponents that a bot met last are no fresh ones: not all, where there are few.
    fn recent(&self, at: usize) -> usize {
        let queue = &self.queues[at];
        ((queue.waiting() + queue.playing()).saturating_sub(1) / 2).clamp(1, RECENT)
    }

    /// The games that a day has left for the two (`ladder.cap`).
    fn left(&self, at: usize, one: &Candidate<'_>, other: &Candidate<'_>, now: Moment) -> u64 {
        let had = || self.meetings[at].of_the_day(&one.seek.bot, &other.seek.bot, now);
        if self.cap == 0 { u64::MAX } else { self.cap.saturating_sub(had()) }
    }

    /// Whether these two, who have so many games left, begin a pair or play one alone (`session.pairs`): a pair also where
    /// either side of a single game would be the last that one of them may lean.
    fn half(&self, at: usize, [one, other]: [&Candidate<'_>; 2], left: u64) -> Half {
        let lean = || both_lean(one.bot, other.bot) || seatings(one.bot, other.bot, Half::Single).next().is_none();
        let in_pairs = self.pools[at].openings == Openings::Balanced || lean();
        let has_two = left >= 2 && one.seek.lacks(2) && other.seek.lacks(2);
        if has_two && in_pairs { Half::First } else { Half::Single }
    }

    /// Has two play, where both still can: a house bot may have been given all that it has room for.
    fn meet(&mut self, at: usize, two: [Sitter; 2], now: Moment, effects: &mut Vec<Effect>) {
        let Some(Match { half, waited, since }) = self.look_at(at, &two, now) else { return };
        self.waits.extend(waited);
        let games = if half == Half::First { 2 } else { 1 };
        for (sitter, since) in two.iter().zip(since) {
            self.queues[at].started(sitter.visitor, games, since);
        }
        let [one, other] = two;
        self.remember(at, [&one, &other], games, now);
        let side = self.side_of(at, &one, &other, half);
        let opening = self.meetings[at].next(&one.bot, &other.bot);
        let rated = self.is_rated(at, [&one, &other]);
        let seats = seated(one, side, other);
        effects.push(self.start(at, seats, rated, Source::Seeks(half), opening, now));
    }

    /// What the meeting of two is, where both have room for it.
    fn look_at(&self, at: usize, two: &[Sitter; 2], now: Moment) -> Option<Match> {
        let seek = |sitter: &Sitter| self.queues[at].of(sitter.visitor);
        let [Some(first), Some(second)] = [seek(&two[0]), seek(&two[1])] else { return None };
        let (first, second) = (self.candidate(first)?, self.candidate(second)?);
        if !first.bot.has_room() || !second.bot.has_room() {
            return None;
        }
        let half = self.half(at, [&first, &second], self.left(at, &first, &second, now));
        let (bots, with_house) = ([&first, &second], first.bot.is_house() || second.bot.is_house());
        let waited = bots.into_iter().filter(|candidate| !candidate.bot.is_house());
        let waited = waited.map(|candidate| candidate.seek.waited(now)).collect();
        // Who meets a house bot has found nobody else, for its further games neither.
        let since = bots.map(|candidate| if with_house { candidate.seek.since() } else { now });
        Some(Match { half, waited, since })
    }

    fn remember(&mut self, at: usize, [one, other]: [&Sitter; 2], games: u64, now: Moment) {
        for (bot, met) in [(one, other), (other, one)] {
            if let Some(presence) = self.bots.get_mut(&bot.bot) {
                presence.meet(at, &met.bot);
            }
        }
        // A guest's name is gone tomorrow (`ladder.cap`).
        if self.cap > 0 && !self.is_guest(&one.bot) && !self.is_guest(&other.bot) {
            self.meetings[at].count(&one.bot, &other.bot, games, now);
        }
    }

    /// Counts the sides of a game from a pool that starts; the server's own bots take the side that is left.
    pub(super) fn sit(&mut self, at: usize, seats: &BySide<Sitter>, half: Half) {
        self.balance(seats, |balance, side| balance.start(side, half));
        self.lean(at, &seats.south.bot, &seats.north.bot);
    }

    /// A game from a pool is over, the first of a pair without a second to follow; one that does not count was on no side.
    pub(super) fn rise(&mut self, at: usize, seats: &BySide<Sitter>, half: Half, counts: bool) {
        self.balance(seats, |balance, side| balance.end(side, half, counts));
        if !counts {
            self.lean(at, &seats.north.bot, &seats.south.bot);
        }
    }

    pub(super) fn balance(&mut self, seats: &BySide<Sitter>, change: impl Fn(&mut Balance, Side)) {
        for side in Side::ALL {
            if let Some(presence) = self.bots.get_mut(&seats[side].bot).filter(|presence| !presence.is_house()) {
                change(&mut presence.balance, side);
            }
        }
    }

    fn lean(&mut self, at: usize, south: &BotName, north: &BotName) {
        if !self.is_guest(south) && !self.is_guest(north) {
            self.meetings[at].single(south, north);
        }
    }

    /// The side of the first of two bots: South for who has been South less, of all its single games and of those of the two;
    /// by chance where that is level (`ladder.sides`).
    fn side_of(&mut self, at: usize, one: &Sitter, other: &Sitter, half: Half) -> Side {
        if let [Some(first), Some(second)] = [one, other].map(|sitter| self.bots.get(&sitter.bot)) {
            let mut sides = seatings(first, second, half);
            if let (Some(side), None) = (sides.next(), sides.next()) {
                return side;
            }
        }
        let southward = |sitter: &Sitter| {
            let balance = self.bots.get(&sitter.bot).map(|presence| presence.balance).unwrap_or_default();
            if half == Half::Single { balance.singles() } else { balance.all() }
        };
        let lead = southward(one) - southward(other) + 2 * self.meetings[at].southward(&one.bot, &other.bot);
        let south = match lead.cmp(&0) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => self.dice.coin(),
        };
        if south { Side::South } else { Side::North }
    }

    /// What a seek that was not paired waits for, for people; nothing where it will be paired at once.
    pub(super) fn reason(&self, at: usize, seek: &Seek, now: Moment) -> Option<String> {
        let queue = &self.queues[at];
        if self.held {
            return Some("the server starts no games at present: it is overloaded, or its disk is full".into());
        }
        if seek.is_busy() {
            return Some("waiting for one of your games to end".into());
        }
        let others = queue.line().filter(|other| other.visitor != seek.visitor).take(AT_ONCE);
        let (own, others) = (self.candidates(std::iter::once(seek)), self.candidates(others));
        let own = own.first()?;
        let what = if others.is_empty() { "an opponent" } else { self.obstacle(at, own, &others, now)? };
        let is_alone = others.is_empty() && queue.playing() == 0;
        Some(match queue.houses().next() {
            Some(_) if is_alone => {
                format!("waiting for {what}; else a house bot sits down with you after 2 s, or 5 s where others come")
            }
            Some(_) => format!("waiting for {what}; else a house bot sits down with you after 5 s"),
            None => format!("waiting for {what}"),
        })
    }

    /// Why none of those who wait is an opponent; nothing where one is.
    fn obstacle(&self, at: usize, own: &Candidate<'_>, others: &[Candidate<'_>], now: Moment) -> Option<&'static str> {
        let may =
            |other: &&Candidate<'_>| !own.bot.is_kin(other.bot) && self.meeting(at, own, other, now) != Meeting::Never;
        let may_meet: Vec<&Candidate<'_>> = others.iter().filter(may).collect();
        let recent = self.recent(at);
        let fresh = |other: &&&Candidate<'_>| met_lately(at, own, other, recent) == Meeting::Fresh;
        let [waiting] = as_waiting(std::slice::from_ref(own), at, now).try_into().ok()?;
        let near = |other: &&Candidate<'_>| {
            as_waiting(std::slice::from_ref(*other), at, now).iter().any(|other| is_within_reach(&waiting, other))
        };
        if may_meet.is_empty() {
            let mut foreign = others.iter().filter(|other| !own.bot.is_kin(other.bot)).peekable();
            if foreign.peek().is_none() {
                return Some("an opponent: those who wait are of your owner");
            }
            let is_capped = foreign.any(|other| self.left(at, own, other, now) == 0);
            return Some(if is_capped {
                "an opponent: those who wait are of your owner, or have met you often enough for a day"
            } else {
                "an opponent: who waits has been on the same side as you too often"
            });
        }
        let fresh: Vec<&&Candidate<'_>> = may_meet.iter().filter(fresh).collect();
        if fresh.is_empty() {
            return Some("an opponent that you have not met lately, for 2 s at most");
        }
        let far = !fresh.iter().any(|other| near(other));
        far.then_some("an opponent nearer to your rating, for 4 s at most")
    }

    /// How many wait and how long the first of them has, in all pools; and how long those waited who were paired since the
    /// last call.
    pub fn take_waits(&mut self, now: Moment) -> (usize, Micros, Vec<Micros>) {
        let waiting = self.queues.iter().map(super::queue::Queue::waiting).sum();
        let longest = self.queues.iter().map(|queue| queue.longest_wait(now)).max().unwrap_or_default();
        (waiting, longest, std::mem::take(&mut self.waits))
    }
}

const _: () = assert!(ANYBODY_MS == 4000 && HOUSE_MS[0] == 5000 && HOUSE_MS[1] == 2000, "the texts above tell it");

/// As the pairing needs them: an owner is a number there.
fn as_waiting<'a>(line: &[Candidate<'a>], at: usize, now: Moment) -> Vec<Waiting> {
    let mut owners: HashMap<&'a Owner, usize> = HashMap::new();
    let mut waiting = Vec::with_capacity(line.len());
    for Candidate { seek, bot } in line {
        let count = owners.len();
        let rating = bot.rating(at);
        waiting.push(Waiting {
            rating: rating.rating,
            rd: rating.rd,
            waited_ms: seek.waited(now).ms(),
            owner: bot.owner().map(|owner| *owners.entry(owner).or_insert(count)),
        });
    }
    waiting
}

/// The sides of the first of two on which it may sit, the other opposite (`ladder.sides`).
fn seatings<'a>(one: &'a Presence, other: &'a Presence, half: Half) -> impl Iterator<Item = Side> + use<'a> {
    Side::ALL.into_iter().filter(move |side| one.may_sit(*side, half) && other.may_sit(side.other(), half))
}

/// Whether two lean to the same side: then a single game would be the last that one of them may play there.
fn both_lean(one: &Presence, other: &Presence) -> bool {
    Side::ALL.into_iter().any(|side| one.balance.leans(side) && other.balance.leans(side))
}

/// Whether the two were paired with each other lately: of the opponents that either met last, `recent` many.
fn met_lately(at: usize, one: &Candidate<'_>, other: &Candidate<'_>, recent: usize) -> Meeting {
    let ago = [one.bot.ago(at, &other.seek.bot), other.bot.ago(at, &one.seek.bot)];
    match ago.into_iter().flatten().min() {
        Some(ago) if ago <= recent => Meeting::Again(ago),
        _ => Meeting::Fresh,
    }
}
