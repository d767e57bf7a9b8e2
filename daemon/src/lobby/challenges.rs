//! The challenges that stand.

use super::machine::Visitor;
use crate::clock::{Micros, Moment};
use modiar_protocol::client::Challenge;
use modiar_protocol::limits::CHALLENGE_AGAIN;
use modiar_protocol::{BotName, ChallengeId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// From so many on those who were turned down long ago are looked for and forgotten.
const TURNED_DOWN: usize = 4096;
/// So often a bot may be turned down by another before it has to leave it alone.
const TIMES: u32 = 3;

/// A challenge between two connections.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Who challenged.
    pub from: Visitor,
    /// Who was challenged.
    pub to: Visitor,
    /// What for.
    pub terms: Challenge,
    /// The pool's place in the list.
    pub pool: usize,
    /// When it lapses.
    pub until: Moment,
}

impl Standing {
    /// Whether `visitor` is one of the two.
    #[must_use]
    pub fn concerns(&self, visitor: Visitor) -> bool {
        self.from == visitor || self.to == visitor
    }

    /// Whether `visitor` is the one to answer.
    #[must_use]
    pub fn awaits(&self, visitor: Visitor) -> bool {
        self.to == visitor
    }
}

/// All challenges that stand. There may be hundreds of thousands: nothing here looks through them all.
#[derive(Clone, Debug, Default)]
pub struct Challenges {
    standing: BTreeMap<ChallengeId, Standing>,
    /// In the order in which they lapse, which is that of their making: all stand equally long.
    line: BTreeSet<(Moment, ChallengeId)>,
    /// Those of each connection that has any, made and received.
    open: BTreeMap<Visitor, BTreeSet<ChallengeId>>,
    /// Who was turned down, by whom.
    turned_down: HashMap<(BotName, BotName), TurnedDown>,
}

/// How often a bot was turned down by another, and until when that counts.
#[derive(Clone, Copy, Debug, Default)]
struct TurnedDown {
    times: u32,
    until: Moment,
}

impl Challenges {
    /// A challenge now stands.
    pub fn stand(&mut self, id: ChallengeId, standing: Standing) {
        self.line.insert((standing.until, id));
        for visitor in [standing.from, standing.to] {
            self.open.entry(visitor).or_default().insert(id);
        }
        self.standing.insert(id, standing);
    }

    /// Takes out the one of that id if `visitor` may: the first to accept, decline or take back has it
    /// (`session.challenge-first`).
    pub fn take(
        &mut self,
        id: ChallengeId,
        visitor: Visitor,
        may: impl Fn(&Standing, Visitor) -> bool,
    ) -> Option<Standing> {
        self.standing.get(&id).filter(|standing| may(standing, visitor))?;
        self.remove(id)
    }

    /// Takes out those of a connection, oldest id first.
    pub fn take_of(&mut self, visitor: Visitor) -> Vec<(ChallengeId, Standing)> {
        let ids = self.open.get(&visitor).cloned().unwrap_or_default();
        ids.into_iter().filter_map(|id| Some((id, self.remove(id)?))).collect()
    }

    /// Takes out one whose time is over at `now`, the oldest first.
    pub fn take_lapsed(&mut self, now: Moment) -> Option<(ChallengeId, Standing)> {
        let (_, id) = *self.line.first().filter(|(until, _)| *until <= now)?;
        Some((id, self.remove(id)?))
    }

    /// `to` has turned `from` down, or has not answered.
    pub fn turn_down(&mut self, from: BotName, to: BotName, now: Moment) {
        let holds = |turned: &TurnedDown| turned.until > now;
        if self.turned_down.len() >= TURNED_DOWN {
            self.turned_down.retain(|_, turned| holds(turned));
        }
        let turned = self.turned_down.entry((from, to)).or_default();
        let times = if holds(turned) { turned.times + 1 } else { 1 };
        *turned = TurnedDown { times, until: now + CHALLENGE_AGAIN.into() };
    }

    /// How long `from` has to leave the bot of that name alone (`session.challenge-again`).
    #[must_use]
    pub fn wait(&self, from: &BotName, to: &str, now: Moment) -> Option<Micros> {
        let turned = self.turned_down.get(&(from.clone(), BotName::new(to).ok()?))?;
        Some(turned.until.since(now)).filter(|wait| turned.times >= TIMES && *wait > Micros(0))
    }

    /// Takes all out, oldest first.
    pub fn take_all(&mut self) -> Vec<(ChallengeId, Standing)> {
        let Self { mut standing, line, .. } = std::mem::take(self);
        line.into_iter().filter_map(|(_, id)| Some((id, standing.remove(&id)?))).collect()
    }

    /// How many stand that concern `visitor`.
    #[must_use]
    pub fn count(&self, visitor: Visitor) -> usize {
        self.open.get(&visitor).map_or(0, BTreeSet::len)
    }

    /// When the next one lapses.
    #[must_use]
    pub fn next_lapse(&self) -> Option<Moment> {
        self.line.first().map(|(until, _)| *until)
    }

    fn remove(&mut self, id: ChallengeId) -> Option<Standing> {
        let standing = self.standing.remove(&id)?;
        self.line.remove(&(standing.until, id));
        for visitor in [standing.from, standing.to] {
            if let Some(open) = self.open.get_mut(&visitor) {
                open.remove(&id);
                if open.is_empty() {
                    self.open.remove(&visitor);
                }
            }
        }
        Some(standing)
    }
}
