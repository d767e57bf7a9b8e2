//! A bot as the lobby sees it.

use super::balance::Balance;
use super::conduct::Conduct;
use super::machine::Visitor;
use super::pairing::Half;
use crate::store::Owner;
use modiar_ladder::Rating;
use modiar_ladder::pairing::RECENT;
use modiar_protocol::BotName;
use modiar_rules::Side;

/// Who comes in.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// Its name.
    pub name: BotName,
    /// What it is to the house.
    pub kind: Kind,
    /// Most games at once.
    pub limit: u64,
    /// Its rating in each pool, in their order.
    pub ratings: Vec<Rating>,
}

/// What a bot is to the house.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It plays without a registered name.
    Guest,
    /// It is registered; of one owner, where somebody is named.
    Registered(Option<Owner>),
    /// One of the server's own.
    House,
}

/// One bot, connected or with games running.
#[derive(Clone, Debug)]
pub struct Presence {
    /// Its connection.
    pub visitor: Option<Visitor>,
    /// What it is.
    pub kind: Kind,
    /// Most games at once.
    pub limit: u32,
    /// Games running.
    pub playing: u32,
    /// Whether it is wanted for a game of a tournament: none of another kind starts before.
    pub called: bool,
    /// On which sides it plays in the pools.
    pub balance: Balance,
    /// Its rating in each pool; none of a guest, or of one that only games of before a restart are known of.
    pub ratings: Box<[Rating]>,
    met: Box<[Met]>,
    /// How it behaves.
    pub conduct: Conduct,
}

/// Whom a bot was paired with lately in a pool, the last first.
#[derive(Clone, Copy, Debug)]
struct Met {
    /// The pool's place.
    pool: usize,
    bots: [u32; RECENT],
}

/// What is kept of a name here; 0 is nobody's. That two names share one is as good as never.
fn mark(name: &BotName) -> u32 {
    let fold = |hash: u32, byte: u8| (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193);
    name.as_str().bytes().fold(0x811c_9dc5, fold).max(1)
}

impl Presence {
    /// A bot that is not connected and plays nothing.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        let (ratings, met, conduct) = (Box::default(), Box::default(), Conduct::default());
        Self {
            visitor: None,
            kind,
            limit: 1,
            playing: 0,
            called: false,
            balance: Balance::default(),
            ratings,
            met,
            conduct,
        }
    }

    /// Whether it and `other` are known to be of one owner.
    #[must_use]
    pub fn is_kin(&self, other: &Self) -> bool {
        self.owner().is_some() && self.owner() == other.owner()
    }

    /// It comes in, for the first time or again.
    pub fn enter(&mut self, visitor: Visitor, entrant: Entrant) {
        let Entrant { kind, limit, ratings, .. } = entrant;
        self.limit = u32::try_from(limit).unwrap_or(u32::MAX);
        (self.visitor, self.kind, self.ratings) = (Some(visitor), kind, ratings.into());
    }

    /// Whether it plays without a registered name.
    #[must_use]
    pub fn is_guest(&self) -> bool {
        self.kind == Kind::Guest
    }

    /// Whether it is one of the server's own.
    #[must_use]
    pub fn is_house(&self) -> bool {
        self.kind == Kind::House
    }

    /// Its owner, where one is named.
    #[must_use]
    pub fn owner(&self) -> Option<&Owner> {
        match &self.kind {
            Kind::Registered(owner) => owner.as_ref(),
            Kind::Guest | Kind::House => None,
        }
    }

    /// Its rating in a pool is another one now; a guest has none.
    pub fn rate(&mut self, pool: usize, rating: Rating) {
        if self.is_guest() {
            return;
        }
        if pool >= self.ratings.len() {
            let mut ratings = std::mem::take(&mut self.ratings).into_vec();
            ratings.resize(pool + 1, Rating::default());
            self.ratings = ratings.into();
        }
        self.ratings[pool] = rating;
    }

    /// It is paired with another in a pool.
    pub fn meet(&mut self, pool: usize, other: &BotName) {
        let at = self.met.iter().position(|met| met.pool == pool).unwrap_or_else(|| {
            // One more than there were, and no room for others: there are many bots, and few pools.
            let known = std::mem::take(&mut self.met).into_iter();
            self.met = known.chain([Met { pool, bots: [0; RECENT] }]).collect();
            self.met.len() - 1
        });
        let bots = &mut self.met[at].bots;
        bots.rotate_right(1);
        bots[0] = mark(other);
    }

    /// How many opponents ago it was paired with another in a pool, where that was lately; 1 is the last.
    #[must_use]
    pub fn ago(&self, pool: usize, other: &BotName) -> Option<usize> {
        let met = self.met.iter().find(|met| met.pool == pool)?;
        let mark = mark(other);
        met.bots.iter().position(|bot| *bot == mark).map(|at| at + 1)
    }

    /// Its rating in a pool.
    #[must_use]
    pub fn rating(&self, pool: usize) -> Rating {
        self.ratings.get(pool).copied().unwrap_or_default()
    }

    /// Whether nothing is lost by forgetting it: of a registered bot it is remembered how it behaved, and whom and on which
    /// side it played.
    #[must_use]
    pub fn is_forgettable(&self) -> bool {
        let blank = self.conduct == Conduct::default() && self.balance == Balance::default() && self.met.is_empty();
        self.visitor.is_none() && self.playing == 0 && (self.is_guest() || blank)
    }

    /// Whether one more game from a pool may have it on this side (`ladder.sides`); the server's own bots take what is left.
    #[must_use]
    pub fn may_sit(&self, side: Side, half: Half) -> bool {
        self.is_house() || self.balance.has_room(side, half, self.limit)
    }

    /// Whether it may start one more game.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.visitor.is_some() && self.playing + (self.called as u32) < self.limit
    }
}
