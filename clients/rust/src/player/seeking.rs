//! What the owner wants played, and the seeks that come of it.

use super::{Alarm, Moment, Player, is_mark, later};
use modiar_protocol::server::SeekEnd;
use modiar_protocol::{ClientMessage, GameResult, Ref};
use std::time::Instant;

/// What an error or the end of a seek is about, by its mark.
pub(super) const SEEK: &str = "seek";
const UNSEEK: &str = "unseek";

/// After so long a seek that came to nothing is said again.
pub(super) const AGAIN_MS: u64 = 1000;

/// After a pause so much more: clocks differ.
const SLACK_MS: u64 = 1000;

/// Games wanted in a pool; 0 has no end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Quest {
    pool: String,
    games: u64,
    played: u64,
    cancelled: bool,
}

impl Quest {
    fn is_complete(&self) -> bool {
        self.games > 0 && self.played >= self.games
    }
}

impl Player {
    /// Sets out for new games.
    pub(crate) fn seek(&mut self, pool: &str, games: u64) {
        self.quest = Some(Quest { pool: pool.to_owned(), games, played: 0, cancelled: false });
        self.go_on();
    }

    /// Takes the seek back; games that go on do so.
    pub(crate) fn stop(&mut self) {
        if let Some(quest) = self.quest.take()
            && self.link.seeking
        {
            self.say_marked(ClientMessage::Unseek { pool: Some(quest.pool) }, UNSEEK);
        }
    }

    /// Whether nothing of the quest is left.
    pub(crate) fn finished(&self) -> bool {
        let over = |quest: &Quest| quest.is_complete() || quest.cancelled;
        self.games.is_empty() && !self.link.seeking && self.quest.as_ref().is_none_or(over)
    }

    /// An aborted game is not counted in a seek either.
    pub(super) fn count(&mut self, result: GameResult) {
        if let Some(quest) = self.quest.as_mut().filter(|_| result != GameResult::None) {
            quest.played += 1;
        }
    }

    /// Where nothing is played and nothing sought: seeks what is left, or leaves.
    pub(super) fn go_on(&mut self) {
        if self.link.welcomed.is_none() || self.link.seeking || !self.games.is_empty() || self.bye {
            return;
        }
        if self.leaving {
            self.close();
            return;
        }
        let held = self.link.paused || self.link.draining;
        let Some(quest) = self.quest.as_ref().filter(|quest| !held && !quest.cancelled && !quest.is_complete()) else {
            return;
        };
        // Of a quest without end nothing is subtracted.
        let seek = ClientMessage::Seek { pool: quest.pool.clone(), games: quest.games.saturating_sub(quest.played) };
        self.link.seeking = true;
        self.say_marked(seek, SEEK);
    }

    pub(super) fn seek_ended(
        &mut self,
        reason: SeekEnd,
        until_ms: Option<u64>,
        message: Option<&str>,
        reference: Option<&Ref>,
        now: Moment,
    ) {
        self.link.seeking = false;
        match reason {
            // Taken back by `stop`; there may be a new quest already.
            SeekEnd::Cancelled if is_mark(reference, UNSEEK) => {}
            SeekEnd::Cancelled => self.quest.iter_mut().for_each(|quest| quest.cancelled = true),
            SeekEnd::Done if self.quest.as_ref().is_none_or(Quest::is_complete) => {}
            SeekEnd::Done => {
                self.log.warn(format_args!("the seek ended before all is played; the next comes in 1 s"));
                self.pause(now.at, AGAIN_MS);
            }
            SeekEnd::Draining => {
                self.log.warn(format_args!("the server stops; this bot waits until it is back"));
                self.link.draining = true;
            }
            SeekEnd::Penalised => {
                let ms = until_ms.unwrap_or_default().saturating_sub(now.unix_ms);
                let message = message.unwrap_or("the bot has to pause");
                self.log.warn(format_args!("penalised: {message}; the next seek comes in {} s", ms.div_ceil(1000)));
                self.pause(now.at, ms.saturating_add(SLACK_MS));
            }
        }
        self.go_on();
    }

    /// Seeks in so many milliseconds.
    pub(super) fn pause(&mut self, at: Instant, ms: u64) {
        self.link.seeking = false;
        self.link.paused = true;
        self.alarms.push((later(at, ms), Alarm::Seek));
    }
}
