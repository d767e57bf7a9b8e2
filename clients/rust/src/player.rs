//! One bot over all its connections: what it says to each message. There is no input or output here and no clock: what it wants
//! done stands in `out`, `hang_up` and `alarms`, and what its owner is to hear in `turns` and `ends`.
//!
//! ```text
//!            open          welcome          bye said, or a failure
//!  ┌──────┐ ─────▶ ┌─────┐ ─────▶ ┌────────┐ ─────▶ ┌──────┐
//!  │ away │        │ met │        │ let in │        │ gone │
//!  └──────┘ ◀───── └─────┘ ◀───── └────────┘        └──────┘
//!            lost           lost
//! ```

use crate::log::Log;
use crate::settings::Settled;
use crate::{Ended, Error, Position, Turn};
use modiar_protocol::client::{Hello, Move};
use modiar_protocol::limits::MISSED_GAMES;
use modiar_protocol::server::{self, Started, Welcome};
use modiar_protocol::{BotName, ClientMessage, GameId, GoodbyeReason, Incoming, PROTOCOL, Ref, Secret, ServerMessage};
use modiar_rules::{Pit, Setup, Side};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

mod away;
mod refused;
mod seeking;
#[cfg(test)]
mod tests;

/// The library, as hello tells it.
const CLIENT: &str = concat!("modiar-rust/", env!("CARGO_PKG_VERSION"));
/// How long a server may take to answer hello.
const WELCOME: Duration = Duration::from_secs(15);
/// Ended games of which a second telling is known.
const OVER_KEPT: usize = 4 * MISSED_GAMES;
/// The longest time that is waited or told.
const MOST_MS: u64 = 10 * 365 * 86_400_000;

/// What an error is about, by its mark.
const HELLO: &str = "hello";

/// When something came, by both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) at: Instant,
    pub(crate) unix_ms: u64,
}

impl Moment {
    pub(crate) fn now() -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { at: Instant::now(), unix_ms: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX) }
    }
}

/// So many milliseconds later, or as late as can be told.
fn later(at: Instant, ms: u64) -> Instant {
    at + Duration::from_millis(ms.min(MOST_MS))
}

/// The machine.
pub(crate) struct Player {
    /// Where the server is, for people.
    address: String,
    log: Log,
    version: Option<String>,
    at_once: u64,
    token: Option<Secret>,
    /// Of welcome: who comes back without one is somebody else.
    name: Option<BotName>,
    resume: Option<Secret>,
    /// Once at least.
    welcomed: bool,
    games: BTreeMap<GameId, Game>,
    /// Ended games, the newest last.
    over: VecDeque<GameId>,
    quest: Option<seeking::Quest>,
    /// No more games are wanted, and bye follows the last.
    leaving: bool,
    bye: bool,
    /// Why there is nothing to come back for.
    failure: Option<Error>,
    /// Tries to come back since the last welcome, and since a link that was of use.
    tries: u32,
    pauses: u32,
    /// Of hello, one after the other.
    refusals: u32,
    link: Link,
    pub(crate) out: Vec<Incoming>,
    pub(crate) hang_up: bool,
    alarms: Vec<(Instant, Alarm)>,
    turns: VecDeque<Turn>,
    pub(crate) ends: Vec<Ended>,
}

/// What ends with its connection.
#[derive(Debug, Default)]
struct Link {
    open: bool,
    /// When it was.
    welcomed: Option<Instant>,
    /// A move of the bot has counted.
    moved: bool,
    seeking: bool,
    /// An alarm will seek.
    paused: bool,
    draining: bool,
}

/// A game that goes on.
#[derive(Default)]
struct Game {
    side: Option<Side>,
    started: Option<Started>,
    /// The newest.
    turn: Option<Turn>,
    /// The ply that the owner has before him.
    open: Option<u32>,
    /// What was chosen last, and for which ply.
    answered: Option<(u32, Pit)>,
    resigned: bool,
    /// The newest move or resignation, and how often it was limited.
    said: Option<ClientMessage>,
    limited: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alarm {
    /// No welcome came.
    Welcome,
    /// The pause is over.
    Seek,
    /// A limited message of this game may be said again.
    Again(GameId),
}

impl Player {
    pub(crate) fn new(settings: &Settled) -> Self {
        Self {
            address: settings.address(),
            log: settings.log.clone(),
            version: settings.version.clone(),
            at_once: settings.games,
            token: settings.token.clone(),
            name: settings.name.clone(),
            resume: None,
            welcomed: false,
            games: BTreeMap::new(),
            over: VecDeque::new(),
            quest: None,
            leaving: false,
            bye: false,
            failure: None,
            tries: 0,
            pauses: 0,
            refusals: 0,
            link: Link::default(),
            out: Vec::new(),
            hang_up: false,
            alarms: Vec::new(),
            turns: VecDeque::new(),
            ends: Vec::new(),
        }
    }

    /// A new connection stands.
    pub(crate) fn open(&mut self, now: Instant) {
        self.link = Link { open: true, ..Link::default() };
        let hello = Hello {
            protocol: PROTOCOL,
            name: self.name.clone(),
            token: self.token.clone(),
            register: false,
            resume: self.resume.clone(),
            client: Some(CLIENT.to_owned()),
            version: self.version.clone(),
            games: self.at_once,
            updates: false,
        };
        self.say_marked(ClientMessage::Hello(Box::new(hello)), HELLO);
        self.alarms.push((now + WELCOME, Alarm::Welcome));
    }

    /// Whether the bot was let in, once at least.
    pub(crate) fn is_welcomed(&self) -> bool {
        self.welcomed
    }

    /// Answers one message.
    pub(crate) fn hear(&mut self, message: ServerMessage, now: Moment) {
        match message {
            ServerMessage::Welcome(welcome) => self.welcome(*welcome, now.at),
            ServerMessage::Seeking { pool, reason, .. } => {
                self.log.info(format_args!("in {pool}: {}", reason.as_deref().unwrap_or("seeking")));
            }
            ServerMessage::SeekEnded { reason, until_ms, message, reference, .. } => {
                self.seek_ended(reason, until_ms, message.as_deref(), reference.as_ref(), now);
            }
            ServerMessage::Started(started) => self.started(*started),
            ServerMessage::Turn(turn) => self.turn(turn, now.at),
            ServerMessage::Ended(ended) => self.ended(*ended),
            ServerMessage::Error(refusal) => self.refused(&refusal, now.at),
            ServerMessage::Notice { message, .. } => {
                // There is but one, draining.
                self.log.warn(format_args!("{message}"));
                self.link.draining = true;
            }
            ServerMessage::Goodbye { reason, message, .. } => self.goodbye(reason, &message),
            // What only spectators, challengers and those who ping are told.
            _ => {}
        }
    }

    /// When the next alarm is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.alarms.iter().map(|(at, _)| *at).min()
    }

    /// Does what is due.
    pub(crate) fn tick(&mut self, now: Instant) {
        let (due, later) = std::mem::take(&mut self.alarms).into_iter().partition(|(at, _)| *at <= now);
        self.alarms = later;
        let due: Vec<(Instant, Alarm)> = due;
        for (_, alarm) in due {
            match alarm {
                Alarm::Welcome if self.link.welcomed.is_some() => {}
                Alarm::Welcome if self.welcomed => self.hang_up = true,
                Alarm::Welcome => {
                    let cause = "no welcome in 15 s; MODIAR_PORT may be no port for bots";
                    self.fail(self.unreachable(cause));
                }
                Alarm::Seek => {
                    self.link.paused = false;
                    self.go_on();
                }
                Alarm::Again(game) => self.say_again(game),
            }
        }
    }

    /// Takes the turn that has waited longest.
    pub(crate) fn next_turn(&mut self) -> Option<Turn> {
        let turn = self.turns.pop_front()?;
        self.games.entry(turn.game).or_default().open = Some(turn.ply);
        Some(turn)
    }

    /// Answers a turn, once.
    pub(crate) fn play(&mut self, turn: &Turn, pit: Pit) -> Result<(), Error> {
        let game = self.games.get_mut(&turn.game).filter(|game| !game.resigned).ok_or(Error::GameOver)?;
        if game.open != Some(turn.ply) {
            return Err(Error::Played);
        }
        game.open = None;
        game.answered = Some((turn.ply, pit));
        self.say_move(turn.game, turn.ply, pit);
        Ok(())
    }

    /// Gives a game up.
    pub(crate) fn resign(&mut self, id: GameId) -> Result<(), Error> {
        let game = self.games.get_mut(&id).ok_or(Error::GameOver)?;
        game.resigned = true;
        self.unturn(id);
        self.say_of(id, ClientMessage::Resign { game: id });
        Ok(())
    }

    /// Takes the seek back and resigns what is played; bye follows when the server has told the end of all that.
    pub(crate) fn leave(&mut self) {
        self.stop();
        self.leaving = true;
        let games: Vec<GameId> = self.games.keys().copied().collect();
        for game in games {
            // It is there.
            self.resign(game).unwrap_or_default();
        }
        self.go_on();
    }

    /// Says bye; games go on without the bot.
    pub(crate) fn close(&mut self) {
        if !std::mem::replace(&mut self.bye, true) {
            self.hang_up |= self.link.welcomed.is_none();
            self.say(ClientMessage::Bye);
        }
    }

    fn welcome(&mut self, welcome: Welcome, at: Instant) {
        let Welcome { bot, server, resume, games, missed, .. } = welcome;
        if self.welcomed {
            self.log.info(format_args!("back as {}", bot.name));
            missed.into_iter().for_each(|ended| self.ended(ended));
        } else {
            self.log.info(format_args!("playing as {} on {server}", bot.name));
            // What a registered bot missed before this program started is none of its games.
            for ended in &missed {
                self.remember(ended.game);
            }
        }
        self.name = Some(bot.name);
        self.resume = resume;
        (self.tries, self.refusals) = (0, 0);
        self.welcomed = true;
        self.link.welcomed = Some(at);
        self.games.retain(|id, _| games.contains(id));
        self.turns.retain(|turn| games.contains(&turn.game));
        for id in games {
            // `started` follows for each.
            self.games.entry(id).or_default();
        }
        self.go_on();
    }

    fn started(&mut self, started: Started) {
        let Some(side) = started.side else { return };
        let id = started.game;
        let opponent = if side == Side::South { &started.north } else { &started.south };
        let verb = if started.resumed { "back in" } else { "in" };
        self.log.info(format_args!("{verb} game {id} as {side} against {}, pool {}", opponent.name, started.pool));
        // A turn that waits was told on an older link; if it still is one, it is told again.
        self.unturn(id);
        let game = self.games.entry(id).or_default();
        game.side = Some(side);
        game.started = Some(started);
        if self.leaving || game.resigned {
            self.resign(id).unwrap_or_default();
        }
    }

    fn turn(&mut self, told: server::Turn, at: Instant) {
        let id = told.game;
        let game = self.games.entry(id).or_default();
        game.side = Some(told.side);
        let (before, answered) = (game.turn.as_ref().map(|turn| turn.ply), game.answered.map(|(ply, _)| ply));
        self.link.moved |= answered.is_some() && answered == before && answered != Some(told.ply);
        match game.answered {
            _ if self.leaving || game.resigned => self.resign(id).unwrap_or_default(),
            Some((ply, pit)) if ply == told.ply => self.say_move(id, ply, pit),
            _ if game.open == Some(told.ply) => {}
            _ => match turn_of(game, told, at) {
                Some(turn) => self.ask(turn),
                None => self.log.warn(format_args!("skipped a turn that is none: game {id}, ply {}", told.ply)),
            },
        }
    }

    /// Puts a turn before the owner.
    fn ask(&mut self, turn: Turn) {
        self.unturn(turn.game);
        let game = self.games.entry(turn.game).or_default();
        game.open = None;
        game.turn = Some(turn.clone());
        self.turns.push_back(turn);
    }

    /// Takes back a turn that waits.
    fn unturn(&mut self, id: GameId) {
        self.turns.retain(|turn| turn.game != id);
    }

    fn ended(&mut self, ended: server::Ended) {
        let game = self.games.remove(&ended.game).unwrap_or_default();
        let side = game.side;
        self.link.moved |= game.answered.is_some();
        self.unturn(ended.game);
        if self.remember(ended.game) {
            self.count(ended.result);
            let server::Ended { game, result, termination, score, detail, rating, .. } = ended;
            self.ends.push(Ended { game, result, termination, score: score.into(), side, detail, rating });
        }
        self.go_on();
    }

    /// Keeps the id of an ended game; false where it is known.
    fn remember(&mut self, id: GameId) -> bool {
        let new = !self.over.contains(&id);
        if new {
            self.over.push_back(id);
            self.over.drain(..self.over.len().saturating_sub(OVER_KEPT));
        }
        new
    }

    fn goodbye(&mut self, reason: GoodbyeReason, message: &str) {
        use GoodbyeReason::{Banned, Flood, Handshake, LineTooLong, Replaced};
        self.hang_up = true;
        if self.bye && reason == GoodbyeReason::Bye {
            return;
        }
        self.log.warn(format_args!("goodbye {reason}: {message}"));
        if !self.welcomed || matches!(reason, Banned | Replaced | Flood | Handshake | LineTooLong) {
            self.fail(Error::Goodbye { reason, message: message.to_owned() });
        }
    }

    /// Ends it all; the first failure is the one.
    fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
        self.hang_up = true;
    }

    fn say_move(&mut self, game: GameId, ply: u32, pit: Pit) {
        self.say_of(game, ClientMessage::Move(Move { game, pit, ply: Some(ply) }));
    }

    /// Says a move or a resignation.
    fn say_of(&mut self, id: GameId, message: ClientMessage) {
        if let Some(game) = self.games.get_mut(&id) {
            game.said = Some(message.clone());
            game.limited = 0;
        }
        self.say(message);
    }

    fn say(&mut self, message: ClientMessage) {
        self.push(Incoming { message, reference: None });
    }

    fn say_marked(&mut self, message: ClientMessage, mark: &str) {
        self.push(Incoming { message, reference: Some(Ref::Text(mark.into())) });
    }

    /// Where there is no connection nothing is kept: a turn comes again.
    fn push(&mut self, message: Incoming) {
        if self.link.open {
            self.out.push(message);
        }
    }
}

fn is_mark(reference: Option<&Ref>, mark: &str) -> bool {
    matches!(reference, Some(Ref::Text(text)) if **text == *mark)
}

/// The turn as its owner reads it; none where it is not lawful, or nothing may be played.
fn turn_of(game: &Game, told: server::Turn, at: Instant) -> Option<Turn> {
    let server::Turn { game: id, ply, side, pits, captured, legal, remaining_ms, last } = told;
    let position = Position::try_from(Setup { pits, captured: captured.into(), side, ply }).ok()?;
    let remaining_ms: modiar_rules::BySide<u64> = remaining_ms.into();
    let started = game.started.as_ref();
    let a_move = started.and_then(|started| started.time.move_ms).unwrap_or(u64::MAX);
    let opponent = started.map(|started| if side == Side::South { &started.north } else { &started.south });
    let turn = Turn {
        game: id,
        ply,
        side,
        position,
        legal: legal.0.iter().collect(),
        remaining_ms,
        deadline: later(at, remaining_ms[side].min(a_move)),
        opponent: opponent.map(|opponent| opponent.name.clone()),
        rated: started.is_some_and(|started| started.rated),
        pool: started.map(|started| started.pool.clone()).unwrap_or_default(),
        last,
    };
    (!turn.legal.is_empty()).then_some(turn)
}
