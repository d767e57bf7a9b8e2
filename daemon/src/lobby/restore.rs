//! The hall after a restart: the games that ran, and those whose end may not have been read.

use super::bot::Bot;
use super::hall::{Hall, State};
use super::machine::Visitor;
use super::pairing::{Pairing, Sitter, Source};
use crate::config::Pool;
use crate::net::Outlet;
use crate::referee::{Link, OpenError, Seat, Table};
use crate::store::journal::{Recovered, SavedGame, SavedSeat};
use crate::store::{TokenHash, Untold};
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
    /// Sets the games up again that `recovered` has; of those that are stored only the end is told again, and of what else is
    /// `untold`. After a failure of power what was told may be gone: such games are aborted, never silently rewound
    /// (`session.kill`).
    pub fn restore(&self, recovered: Recovered, untold: Untold) -> Restored {
        let lost = recovered.games.iter().filter(|game| game.lost).count();
        if recovered.torn > 0 {
            warn!(bytes = recovered.torn, "the journal's end had not reached the disk; it was cut");
        }
        let Untold { stored, unread } = untold;
        let mut restored = Restored { stored: stored.len(), ..Restored::default() };
        for saved in &recovered.games {
            if stored.contains_key(&saved.opening.game) {
                self.expect_guests(saved);
                self.referee.told(saved.opening.slot, saved.opening.game);
            } else if let Err(error) = self.restore_game(saved) {
                error!(game = %saved.opening.game, %error, "a game could not go on");
                restored.lost += 1;
            } else {
                restored.resumed += 1;
            }
        }
        self.tell_later(stored.into_values().collect(), unread);
        info!(
            resumed = restored.resumed,
            stored = restored.stored,
            lost = restored.lost,
            power_failed = lost,
            "games restored"
        );
        restored
    }

    /// Games whose end their bots may not have read: those who have a name to come back by will (`session.missed`).
    fn tell_later(&self, stored: Vec<Record>, unread: Vec<(BotName, Record)>) {
        let sides =
            |record: Record| [record.south.name.clone(), record.north.name.clone()].map(|name| (name, record.clone()));
        let mut untold: Vec<(BotName, Record)> = stored.into_iter().flat_map(sides).chain(unread).collect();
        untold.sort_by_key(|(_, record)| record.seq);
        let mut state = self.lock();
        for (name, record) in untold {
            if let Some(bot) = self.known_bot(&mut state, &name, &record) {
                bot.missed(ended(&record));
            }
        }
        for bot in state.bots.values() {
            self.referee.keep_unread(bot);
        }
    }

    /// Who of that name played that game, if he can come back.
    fn known_bot(&self, state: &mut State, name: &BotName, record: &Record) -> Option<Arc<Bot>> {
        let seat = [&record.south, &record.north].into_iter().find(|seat| seat.name == *name)?;
        let known = state.bots.get(name).cloned();
        known.or_else(|| {
            let is_registered = !seat.guest && self.accounts.owned(name, &record.ended);
            is_registered.then(|| state.know(Bot::new(name.clone(), None)))
        })
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
        bot.left(&Outlet::closed());
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
