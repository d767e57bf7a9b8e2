//! The challenges that stand.

use super::machine::Visitor;
use crate::clock::Moment;
use modiar_protocol::ChallengeId;
use modiar_protocol::client::Challenge;
use std::collections::BTreeMap;

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

/// All challenges that stand; ids sort by age.
#[derive(Clone, Debug, Default)]
pub struct Challenges(BTreeMap<ChallengeId, Standing>);

impl Challenges {
    /// A challenge now stands.
    pub fn stand(&mut self, id: ChallengeId, standing: Standing) {
        self.0.insert(id, standing);
    }

    /// Takes out the one of that id if `visitor` may: the first to accept, decline or take back has it
    /// (`session.challenge-first`).
    pub fn take(
        &mut self,
        id: ChallengeId,
        visitor: Visitor,
        may: impl Fn(&Standing, Visitor) -> bool,
    ) -> Option<Standing> {
        self.0.get(&id).filter(|standing| may(standing, visitor))?;
        self.0.remove(&id)
    }

    /// Takes out those that `which` picks.
    pub fn take_where(&mut self, which: impl Fn(&Standing) -> bool) -> Vec<(ChallengeId, Standing)> {
        let ids: Vec<ChallengeId> = self.0.iter().filter(|(_, standing)| which(standing)).map(|(id, _)| *id).collect();
        ids.into_iter().filter_map(|id| Some((id, self.0.remove(&id)?))).collect()
    }

    /// How many stand that concern `visitor`.
    #[must_use]
    pub fn count(&self, visitor: Visitor) -> usize {
        self.0.values().filter(|standing| standing.concerns(visitor)).count()
    }

    /// When the next one lapses.
    #[must_use]
    pub fn next_lapse(&self) -> Option<Moment> {
        self.0.values().map(|standing| standing.until).min()
    }
}
