//! The hall after a restart: the games that ran, and those whose end may not have been read.

use super::bot::Bot;
use super::hall::{Hall, State};
use super::machine::Visitor;
use super::pairing::{Pairing, Sitter, Source};
use crate::config::Pool;
use crate::referee::{Link, OpenError, Seat, Table};
use crate::store::TokenHash;
use crate::store::journal::{Recovered, SavedGame, SavedSeat};
use modiar_protocol::server::{Ended, Openings};
use modiar_protocol::{BotName, Record};
use modiar_rules::BySide;
use std::sync::Arc;
use tracing::{error, info, warn};

/// What a start found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Games that go on.
    pub resumed: usize,
    /// Games that were stored already.
    pub stored: usize,
    /// Games that could not go on.
    pub lost: usize,
}

impl Hall {
    /// Sets the games up again that `recovered` has; of those that are `stored` only the end is told again. After a
    /// failure of power what was told may be gone: such games are aborted, never silently rewound (`session.kill`).
    pub fn restore(&self, recovered: Recovered, stored: impl Fn(&SavedGame) -> Option<Record>) -> Restored {
        let lost = recovered.games.iter().filter(|game| game.lost).count();
        if recovered.torn > 0 {
            warn!(bytes = recovered.torn, "the journal's end had not reached the disk; it was cut");
        }
        let mut restored = Restored::default();
        for saved in recovered.games {
            if let Some(record) = stored(&saved) {
                self.expect_guests(&saved);
                self.tell_later(&record);
                self.referee.told(saved.opening.slot);
                restored.stored += 1;
            } else if let Err(error) = self.restore_game(&saved) {
                error!(game = %saved.opening.game, %error, "a game could not go on");
                restored.lost += 1;
            } else {
                restored.resumed += 1;
            }
        }
        info!(
            resumed = restored.resumed,
            stored = restored.stored,
            lost = restored.lost,
            power_failed = lost,
            "games restored"
        );
        restored
    }

    /// A game whose end its bots may not have read: those who have a name to come back by will (`session.missed`).
    fn tell_later(&self, record: &Record) {
        let mut state = self.lock();
        for seat in [&record.south, &record.north] {
            let known = state.bots.get(&seat.name).cloned();
            let bot = match known {
                Some(bot) => bot,
                None if !seat.guest && self.accounts.owns(&seat.name) => state.know(Bot::new(seat.name.clone(), None)),
                None => continue,
            };
            bot.missed(ended(record));
        }
    }

    /// The guests of a game that is over may come back to hear of it (`session.guest-resume`).
    fn expect_guests(&self, saved: &SavedGame) {
        let mut state = self.lock();
        for seat in saved.opening.seats.iter().filter(|seat| seat.resume.is_some() && !self.accounts.owns(&seat.name)) {
            state.restore_seat(seat);
        }
    }

    /// Nobody is waited for any longer: the clocks run.
    pub fn start_clocks(&self) {
        let tables: Vec<Arc<Table>> = self.lock().tables.values().cloned().collect();
        for table in tables {
            table.start_clock();
        }
    }

    fn restore_game(&self, saved: &SavedGame) -> Result<(), OpenError> {
        let opening = &saved.opening;
        let mut state = self.lock();
        let [south, north] = &opening.seats;
        let seats = BySide::new(state.restore_seat(south), state.restore_seat(north));
        let sitter = |seat: &Seat| Sitter { bot: seat.bot.name.clone(), visitor: Visitor(0), seek: None };
        let pairing = Pairing {
            pool: 0, // not asked of a restored game: its pool may be gone
            seats: BySide::new(sitter(&seats.south), sitter(&seats.north)),
            rated: opening.rated,
            must_show: BySide::new(opening.must_show[0], opening.must_show[1]),
            source: Source::Restored,
            opening: Arc::default(), // the journal has it
        };
        let pool = Pool {
            name: opening.pool.clone(),
            time: opening.time,
            rated: opening.rated,
            openings: Openings::Start,
            rules: opening.rules,
        };
        let present =
            BySide::new((south.name.clone(), south.resume.is_some()), (north.name.clone(), north.resume.is_some()));
        let table = Table::restore(saved, pairing, pool, seats, Arc::clone(&self.referee))?;
        state.lobby.restore(&present);
        self.seat(&mut state, table);
        Ok(())
    }
}

impl State {
    fn restore_seat(&mut self, saved: &SavedSeat) -> Seat {
        let bot = match self.bots.get(&saved.name) {
            Some(bot) => Arc::clone(bot),
            None => self.know(Bot::new(saved.name.clone(), saved.resume.clone().map(TokenHash::stored))),
        };
        Seat { bot, version: saved.version.clone(), link: Link::absent() }
    }

    fn know(&mut self, bot: Bot) -> Arc<Bot> {
        // It has been away since the daemon stopped, and is not waited for without end.
        bot.left();
        let (name, bot): (BotName, _) = (bot.name.clone(), Arc::new(bot));
        self.bots.insert(name, Arc::clone(&bot));
        bot
    }
}

/// The end of a game as it was told, from its record.
fn ended(record: &Record) -> Ended {
    Ended {
        game: record.game,
        result: record.result,
        termination: record.termination,
        score: record.score,
        pits: record.pits,
        ply: u32::try_from(record.moves.len()).unwrap_or(u32::MAX),
        detail: record.detail.clone(),
        rating: None,
    }
}
