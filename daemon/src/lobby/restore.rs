//! The hall after a restart: the games that ran, and those whose end may not have been read.

use super::bot::Bot;
use super::hall::{Hall, State};
use super::machine::Visitor;
use super::pairing::{Pairing, Sitter, Source};
use super::presence::Kind;
use crate::config::Pool;
use crate::ladder::change;
use crate::net::Outlet;
use crate::referee::{Link, OpenError, Seat, Table};
use crate::store::journal::{Recovered, SavedGame, SavedSeat};
use crate::store::{TokenHash, Untold};
use modiar_protocol::server::{Ended, Openings};
use modiar_protocol::{BotName, Record, Termination};
use modiar_rules::{BySide, Side};
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
    pub fn restore(&self, recovered: &Recovered, untold: Untold) -> Restored {
        let lost = recovered.games.iter().filter(|game| game.lost).count();
        if recovered.torn > 0 {
            warn!(bytes = recovered.torn, "the journal's end had not reached the disk; it was cut");
        }
        let place = |saved: &SavedGame| untold.stored.get(&saved.opening.game).map(|record| record.seq);
        let (mut over, running): (Vec<&SavedGame>, Vec<&SavedGame>) =
            recovered.games.iter().partition(|saved| place(saved).is_some());
        // In the order of their ends, and before what ends now: the oldest are the first to be let go.
        over.sort_by_key(|saved| place(saved));
        for saved in &over {
            self.referee.told_earlier(&saved.opening);
        }
        let mut restored = Restored { stored: over.len(), ..Restored::default() };
        // First: a name is that of who plays, before it is that of who played.
        for saved in running {
            if let Err(error) = self.restore_game(saved) {
                error!(game = %saved.opening.game, %error, "a game could not go on");
                restored.lost += 1;
            } else {
                restored.resumed += 1;
            }
        }
        self.tell_later(&over, untold);
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
    fn tell_later(&self, over: &[&SavedGame], Untold { stored, recent, unread }: Untold) {
        let mut state = self.lock();
        let mut untold: Vec<(Arc<Bot>, &Record)> = Vec::new();
        // The newest first, for the last who had a guest's name is who may come back by it.
        for saved in over.iter().rev() {
            let Some(record) = stored.get(&saved.opening.game) else { continue };
            for (side, seat) in Side::ALL.into_iter().zip(&saved.opening.seats) {
                let bot = match seat.resume {
                    Some(_) => self.known_guest(&mut state, seat),
                    None if saved.disowned[side] => None,
                    None => self.known_owner(&mut state, &seat.name),
                };
                untold.extend(bot.map(|bot| (bot, record)));
            }
        }
        let played = recent.iter().flat_map(|record| [&record.south, &record.north].map(|seat| (seat, record)));
        let played = played.filter(|(seat, _)| !seat.guest).map(|(seat, record)| (&seat.name, record));
        for (name, record) in played.chain(unread.iter().map(|(name, record)| (name, record))) {
            untold.extend(self.known_owner(&mut state, name).map(|bot| (bot, record)));
        }
        untold.sort_by_key(|(_, record)| record.seq);
        for (bot, record) in untold {
            bot.missed(ended(record, &bot.name));
        }
        for bot in state.bots.values() {
            self.referee.keep_unread(bot);
        }
    }

    /// The registered bot of that name.
    fn known_owner(&self, state: &mut State, name: &BotName) -> Option<Arc<Bot>> {
        if !self.accounts.owns(name) {
            return None;
        }
        let known = state.bots.get(name).filter(|bot| !bot.is_guest()).cloned();
        Some(known.unwrap_or_else(|| state.know(Bot::new(name.clone(), None))))
    }

    /// The guest of a game that is over, who may come back to hear of it (`session.guest-resume`), where nobody has had the
    /// name since.
    fn known_guest(&self, state: &mut State, seat: &SavedSeat) -> Option<Arc<Bot>> {
        seat.resume.as_ref().filter(|_| !self.accounts.owns(&seat.name))?;
        match state.bots.get(&seat.name) {
            Some(bot) => is_of(seat, bot).then(|| Arc::clone(bot)),
            None => Some(state.know(bot_of(seat))),
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
            rated: opening.rated && self.is_rated(&opening.pool),
            must_show: BySide::default(), // no-shows from before the start are forgotten (`forfeit.forgotten`)
            source: Source::Restored,
            opening: Arc::default(), // the journal has it
        };
        let pool = Pool {
            name: opening.pool.clone(),
            time: opening.time,
            rated: self.is_rated(&opening.pool),
            openings: Openings::Start,
            rules: opening.rules,
        };
        let kind = |seat: &SavedSeat| match &seat.resume {
            Some(_) => Kind::Guest,
            None if seat.name.is_house() => Kind::House,
            None => Kind::Registered(None),
        };
        let present = BySide::new((south.name.clone(), kind(south)), (north.name.clone(), kind(north)));
        let table = Table::restore(saved, pairing, pool, seats, Arc::clone(&self.referee))?;
        let opened = Some(&*opening.pool).filter(|_| !opening.opening.is_empty());
        state.lobby.restore(&present, opened);
        self.seat(&mut state, Arc::clone(&table));
        if !self.house && opening.seats.iter().any(|seat| seat.name.is_house()) {
            // Nobody will come back to that side, and its opponent is not to win or lose by that (`session.house-left-out`).
            table.abort(Termination::Aborted);
        }
        Ok(())
    }
}

impl State {
    fn restore_seat(&mut self, saved: &SavedSeat) -> Seat {
        let bot = match self.bots.get(&saved.name) {
            Some(bot) if is_of(saved, bot) => Arc::clone(bot),
            _ => self.know(bot_of(saved)),
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

fn bot_of(seat: &SavedSeat) -> Bot {
    Bot::new(seat.name.clone(), seat.resume.clone().map(TokenHash::stored))
}

/// Whether it is the same bot, and not another of its name.
fn is_of(seat: &SavedSeat, bot: &Bot) -> bool {
    bot.resume.as_ref().map(TokenHash::as_str) == seat.resume.as_deref()
}

/// The end of a game as it was told to one of its two, from its record.
fn ended(record: &Record, reader: &BotName) -> Ended {
    let side = if record.south.name == *reader { Side::South } else { Side::North };
    Ended {
        game: record.game,
        result: record.result,
        termination: record.termination,
        score: record.score,
        pits: record.pits,
        ply: u32::try_from(record.moves.len()).unwrap_or(u32::MAX),
        detail: record.detail.clone(),
        rating: change(record, side),
    }
}
