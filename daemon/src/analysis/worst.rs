//! The plies that lost most.

use super::bot::seat;
use super::{GameAnalysis, JudgedPly};
use modiar_protocol::{BotName, GameId, Record};

/// So many are kept.
const KEPT: usize = 20;

/// A ply that lost seeds.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Mistake {
    pub game: GameId,
    /// The line of the file, or the place in the store, on which its game stands.
    pub place: u64,
    pub bot: BotName,
    pub ply: JudgedPly,
}

/// The worst, the worst first; of equal ones the earlier.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Worst(Vec<Mistake>);

impl Worst {
    pub(super) fn add(&mut self, place: u64, record: &Record, game: &GameAnalysis) {
        for ply in game.plies.iter().filter(|ply| !ply.served) {
            if ply.loss() > self.bar() {
                let bot = seat(record, ply.position.side()).name.clone();
                self.insert(Mistake { game: record.game, place, bot, ply: *ply });
            }
        }
    }

    /// What a loss must exceed to be kept.
    fn bar(&self) -> u8 {
        self.0.get(KEPT - 1).map_or(0, |last| last.ply.loss())
    }

    fn insert(&mut self, mistake: Mistake) {
        let at = self.0.partition_point(|kept| kept.ply.loss() >= mistake.ply.loss());
        if at < KEPT {
            self.0.insert(at, mistake);
            self.0.truncate(KEPT);
        }
    }

    /// Takes those of later games.
    pub(super) fn merge(&mut self, later: Self) {
        later.0.into_iter().for_each(|mistake| self.insert(mistake));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Mistake> {
        self.0.iter()
    }
}
