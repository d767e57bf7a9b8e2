//! What all tables share.

use super::flags::Flags;
use super::game::Played;
use super::table::Table;
use crate::clock::{Micros, Moment};
use crate::ladder::Ratings;
use crate::lobby::Bot;
use crate::metrics::Metrics;
use crate::net::Outlet;
use crate::store::journal::{Journal, Opening, SavedPly, Slot};
use crate::store::{StoreError, StoreHandle};
use crate::time::{now, ran_since};
use modiar_protocol::limits::{MISSED_WINDOW, TOLD_GAMES};
use modiar_protocol::{BotName, GameId};
use modiar_rules::Side;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

/// Games that are taken out of the journal at once.
const GROUP: usize = 1024;

/// Who is told that a game is over and stored.
pub trait Host: std::fmt::Debug + Send + Sync {
    /// The result of the game at `table` is durable: whoever keeps the tables counts the game no longer, has the table
    /// [conclude](Table::conclude), and only then does what follows.
    fn finished(&self, table: &Arc<Table>);
}

/// The store, the journal and the flags, for all tables.
#[derive(Debug)]
pub struct Referee {
    pub(super) store: StoreHandle,
    pub(super) journal: Arc<Journal>,
    pub(super) flags: Arc<Flags>,
    pub(super) node: String,
    /// What is counted of all that happens.
    pub metrics: Arc<Metrics>,
    /// Cancelled where the disk has failed: the daemon must stop.
    failed: CancellationToken,
    host: OnceLock<Weak<dyn Host>>,
    /// The tables that wait for space on the disk.
    stalled: Mutex<Vec<Weak<Table>>>,
    /// The games that were told of as over, and when: the journal holds them a while longer.
    told: Mutex<VecDeque<Told>>,
}

/// A game that was told of as over.
#[derive(Debug)]
struct Told {
    at: Moment,
    slot: Slot,
    game: GameId,
    readers: Vec<Reader>,
    /// How much of what is unread must be stored before the journal may forget the game; none before it was looked at.
    awaits: Option<u64>,
}

/// A registered bot that has to hear of an end.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) side: Side,
    pub(super) name: BotName,
    /// Where it was told to it in this process.
    pub(super) link: Option<(Arc<Bot>, Weak<Outlet>)>,
}

impl Referee {
    /// A referee who keeps results in `store` and running games in `journal`.
    #[must_use]
    pub fn new(
        store: StoreHandle,
        journal: Arc<Journal>,
        flags: Arc<Flags>,
        node: String,
        failed: CancellationToken,
        metrics: Arc<Metrics>,
    ) -> Arc<Self> {
        let host = OnceLock::new();
        let (stalled, told) = (Mutex::default(), Mutex::default());
        Arc::new(Self { store, journal, flags, node, metrics, failed, host, stalled, told })
    }

    /// Names who is told of finished games, once.
    pub fn report_to(&self, host: &Arc<dyn Host>) {
        self.host.get_or_init(|| Arc::downgrade(host));
    }

    /// Where finished games are kept.
    #[must_use]
    pub const fn store(&self) -> &StoreHandle {
        &self.store
    }

    /// How all bots stand.
    #[must_use]
    pub const fn ratings(&self) -> &Arc<Ratings> {
        self.store.ratings()
    }

    /// Whether there is space for new games.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.journal.has_room() && !self.store.is_full()
    }

    /// Brings the journal to the disk every [`crate::store::journal::SYNC_EVERY`] until `stop`, on a thread of its own:
    /// a disk may be slow.
    pub fn keep_journal(self: Arc<Self>, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            std::thread::sleep(crate::store::journal::SYNC_EVERY);
            let began = now();
            let synced = self.journal.sync();
            if let Ok(true) = synced {
                self.metrics.journal_sync.time(now().since(began));
            }
            if let Err(error) = synced.and_then(|_| self.forget_told()) {
                return self.fail(&error);
            }
            let stalled = std::mem::take(&mut *self.stalled.lock().unwrap_or_else(PoisonError::into_inner));
            for table in stalled.iter().filter_map(Weak::upgrade) {
                table.go_on();
            }
        }
    }

    /// A game's end was told. The journal keeps the game as long as its guests may not have read that: should the daemon
    /// be killed, they are known again and hear of it (`session.missed`).
    pub(super) fn told(&self, slot: Slot, game: GameId, readers: Vec<Reader>) {
        self.lock_told().push_back(Told { at: now(), slot, game, readers, awaits: None });
    }

    /// The same before this process began.
    pub fn told_earlier(&self, opening: &Opening) {
        let registered = Side::ALL.into_iter().zip(&opening.seats).filter(|(_, seat)| seat.is_registered());
        let readers = registered.map(|(side, seat)| Reader { side, name: seat.name.clone(), link: None }).collect();
        self.told(opening.slot, opening.game, readers);
    }

    fn lock_told(&self) -> MutexGuard<'_, VecDeque<Told>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was told to a registered bot of that name is nobody's any more: somebody else is to have the name.
    pub fn forget(&self, name: &BotName) {
        let mut told = self.lock_told();
        let its = |told: &mut Told| {
            let reader = told.readers.extract_if(.., |reader| reader.name == *name).next();
            reader.map(|reader| (told.slot, reader.side))
        };
        let sides: Vec<(Slot, Side)> = told.iter_mut().filter_map(its).collect();
        if let Err(error) = self.journal.disowned(&sides) {
            warn!(%error, bot = %name, "its last ends stay in the journal");
        }
    }

    /// Keeps what a registered bot has still to hear of, where that has changed: it outlasts a restart.
    pub fn keep_unread(&self, bot: &Bot) {
        bot.keep_unread(|games| self.store.keep_unread(bot.name.clone(), games));
    }

    /// Takes out of the journal the games that were told of long enough ago, what is unread of them being stored; where the
    /// disk is full, later.
    fn forget_told(&self) -> Result<(), StoreError> {
        let mut told = self.lock_told();
        let many = told.len().saturating_sub(TOLD_GAMES);
        let due = |place: usize, told: &Told| place < many || ran_since(told.at) >= Micros::from(MISSED_WINDOW);
        let stored = self.store.unread_stored();
        let mut slots = Vec::new();
        for (place, told) in told.iter_mut().enumerate() {
            if !due(place, told) {
                break;
            }
            match told.awaits {
                Some(awaited) if awaited <= stored && slots.len() == place => slots.push(told.slot),
                Some(_) => {}
                None => {
                    self.keep_untaken(told);
                    told.awaits = Some(self.store.unread_asked());
                }
            }
        }
        for group in slots.chunks(GROUP) {
            match self.journal.over(group) {
                Err(error) if error.is_full() => break,
                over => over?,
            }
            told.drain(..group.len());
        }
        Ok(())
    }

    /// What a bot's system has not taken yet is kept for it as what is told while it is away.
    fn keep_untaken(&self, told: &Told) {
        for (bot, outlet) in told.readers.iter().filter_map(|reader| reader.link.as_ref()) {
            // Where that is gone the bot has left, and what it has still to hear of is kept already.
            if outlet.upgrade().is_some_and(|outlet| bot.holds_back(told.game, &outlet)) {
                self.keep_unread(bot);
            }
        }
    }

    pub(super) fn host(&self) -> Option<Arc<dyn Host>> {
        self.host.get().and_then(Weak::upgrade)
    }

    /// What cannot be kept must not be told: the daemon stops.
    pub(super) fn fail(&self, error: &dyn std::error::Error) {
        if !self.failed.is_cancelled() {
            error!(%error, "the disk failed");
        }
        self.failed.cancel();
    }

    /// Whether the disk has failed, so that the daemon stops.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_cancelled()
    }

    /// Brings the beginning of a game to the journal.
    pub(super) fn keep_opening(&self, opening: &mut Opening) -> Result<(), StoreError> {
        self.watch(self.journal.opened(opening)).map(drop)
    }

    /// Brings to the journal that an illegal pit was forgiven.
    pub(super) fn keep_forgiven(&self, slot: Slot, side: Side) -> Result<(), StoreError> {
        self.watch(self.journal.forgiven(slot, side))
    }

    /// What could not be kept for want of space may be kept later; where the disk failed the daemon stops.
    fn watch<T>(&self, kept: Result<T, StoreError>) -> Result<T, StoreError> {
        kept.inspect_err(|error| {
            if !error.is_full() {
                self.fail(error);
            }
        })
    }

    /// Whether a ply is in the journal; where it is not, `table` is asked again when there may be space.
    pub(super) fn keep_ply(&self, slot: Slot, played: &Played, table: &Arc<Table>) -> bool {
        let ply = SavedPly { pit: played.pit, elapsed: played.charge.elapsed, own: played.charge.own };
        let Err(error) = self.watch(self.journal.ply(slot, ply)) else { return true };
        if error.is_full() {
            self.stalled.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(table));
        }
        false
    }
}
