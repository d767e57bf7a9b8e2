//! One connected client: its session's decisions carried out in the lobby and at the tables.

use super::machine::{Said, Session, Step};
use super::registration::{Registration, ToldToken};
use crate::clock::{Arrival, Micros, Moment};
use crate::config::Limits;
use crate::lobby::{Bot, Hall, NotWelcome, Stay, Visitor, not_stored};
use crate::metrics::Login;
use crate::net::{Origin, Outlet};
use crate::referee::{GAME_OVER, Table, Told};
use crate::store::Claim;
use crate::time;
use modiar_protocol::client::{Hello, Move, decode};
use modiar_protocol::limits::WATCHES;
use modiar_protocol::server::Error;
use modiar_protocol::{BotName, ErrorCode, GameId, LineTooLong, Ref, ServerMessage};
use modiar_rules::Side;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use tracing::{debug, info};

/// A connection as the log names it: its number, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// Its number.
    pub visitor: Visitor,
    /// Its address; none where it is a bot within this process.
    pub peer: Option<SocketAddr>,
}

impl Caller {
    /// Whose attempts its own count as.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.ip()).into()
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.peer {
            Some(peer) => write!(f, "{} {peer}", self.visitor.0),
            None => f.write_str("inside"),
        }
    }
}

/// A connection, who it is, and what it watches.
#[derive(Debug)]
pub struct Client {
    caller: Caller,
    session: Session,
    outlet: Arc<Outlet>,
    hall: Arc<Hall>,
    bot: Option<Arc<Bot>>,
    /// Where it moved last: nearly always it moves there again.
    seat: Option<Seat>,
    /// When it was welcomed.
    welcomed: Moment,
    /// Whether it has said nothing since.
    silent: bool,
    watching: Vec<Arc<Table>>,
    /// Whether it made a move.
    moved: bool,
    /// The registration that it waits for.
    registration: Option<Box<Registration>>,
    /// The name that was registered for it, until it is sure that its token was read.
    told: Option<Box<ToldToken>>,
}

/// A seat at a table, which may be gone.
#[derive(Debug)]
struct Seat {
    game: GameId,
    side: Side,
    table: Weak<Table>,
}

impl Client {
    /// The client of a connection.
    #[must_use]
    pub fn new(caller: Caller, outlet: Arc<Outlet>, hall: Arc<Hall>) -> Self {
        hall.arrive(caller.visitor, &outlet);
        Self {
            caller,
            session: Session::new(time::now(), &hall.limits_of(&outlet)),
            outlet,
            hall,
            bot: None,
            seat: None,
            welcomed: Moment(0),
            silent: false,
            watching: Vec::new(),
            moved: false,
            registration: None,
            told: None,
        }
    }

    /// Whose connection it is, for the log.
    #[must_use]
    pub const fn caller(&self) -> Caller {
        self.caller
    }

    /// What a connection may take.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.hall.current().limits
    }

    /// Whether a hello was accepted.
    #[must_use]
    pub fn is_welcome(&self) -> bool {
        self.session.is_welcome()
    }

    /// Hears one line.
    pub fn hear(&mut self, line: Result<&[u8], LineTooLong>, arrival: &dyn Arrival) {
        self.note_reading(arrival.received());
        if let Ok(line) = line
            && self.plays()
        {
            self.outlet.note_heard(arrival.received(), line);
        }
        let said = match line {
            Ok([]) => Said::Empty,
            Ok(line) => decode(line).map_or_else(Said::Bad, Said::Message),
            Err(error) => Said::TooLong(error),
        };
        self.tell_session(said, arrival);
    }

    /// Whether its bot plays, or has played on this connection.
    fn plays(&self) -> bool {
        self.seat.is_some() || self.bot.as_ref().is_some_and(|bot| bot.plays())
    }

    /// What a bot says after its welcome shows that it has read that; what came before it, along with hello, does not.
    fn note_reading(&mut self, received: Moment) {
        if self.silent && self.welcomed < received {
            self.silent = false;
            self.hall.has_read(self.caller.visitor);
            if let Some(told) = self.told.take() {
                told.claim.keep();
            }
        }
    }

    /// The server stood still so long before it read what it hears now.
    pub fn make_up(&mut self, stopped: Micros, now: Moment) {
        self.session.make_up(stopped, now);
    }

    /// The handshake took longer than so long.
    pub fn handshake_expired(&mut self, limit: Micros) {
        let step = self.session.hear(Said::HandshakeExpired(limit.ms()), time::now());
        self.end(step);
    }

    /// All that the bot had sent by `asked` was judged: confirms the flags that had fallen by then.
    pub fn check_flags(&self, asked: Moment) {
        for (table, side) in self.bot.iter().flat_map(|bot| bot.tables()) {
            table.confirm_flag(side, asked);
        }
    }

    /// The connection is gone: what belongs to it ends with it (`session.connection-scope`); its games go on.
    pub fn leave(&mut self) {
        for table in self.watching.drain(..) {
            table.unwatch(&self.outlet);
        }
        self.bot = None;
        self.seat = None;
        // After a bye, or where it was sent away, the outlet is no longer live.
        let fruitful = self.moved || !self.outlet.is_live();
        self.hall.leave(self.caller.visitor, Stay { lasted: time::now().since(self.welcomed), fruitful });
    }

    fn tell_session(&mut self, said: Said, arrival: &dyn Arrival) {
        let step = self.session.hear(said, arrival.received());
        self.act(step, arrival);
    }

    fn act(&mut self, step: Step, arrival: &dyn Arrival) {
        match step {
            Step::Nothing => {}
            Step::Move { wanted, limited, reference } => self.play(wanted, limited, reference, arrival),
            Step::Reply(error) => self.reply(error),
            Step::Enter(hello, reference) => self.greet(*hello, reference, arrival),
            Step::Seek(pool, games, reference) => self.hall.seek(self.caller.visitor, &pool, games, reference),
            Step::Unseek(pool, reference) => self.hall.unseek(self.caller.visitor, pool.as_deref(), reference),
            Step::Challenge(challenge, reference) => self.hall.challenge(self.caller.visitor, *challenge, reference),
            Step::Accept(challenge, reference) => self.hall.accept(self.caller.visitor, challenge, reference),
            Step::Decline(challenge, reference) => self.hall.decline(self.caller.visitor, challenge, reference),
            Step::Resign(game, reference) => self.resign(game, reference, arrival),
            Step::Watch(game, reference) => self.watch(game, reference),
            Step::Unwatch(game, reference) => self.unwatch(game, reference),
            Step::Pong(reference) => self.outlet.tell(&ServerMessage::Pong { time_ms: time::unix_ms(), reference }),
            step @ Step::Goodbye(..) => self.end(step),
        }
    }

    fn end(&self, step: Step) {
        if let Step::Goodbye(error, reason, message, reference) = step {
            if let Some(error) = error {
                self.reply(error);
            }
            self.outlet.goodbye(reason, message, reference);
        }
    }

    fn reply(&self, error: Error) {
        // Not the message: it may repeat what the client said, and clients say tokens where they do not belong.
        debug!(caller = %self.caller, code = %error.code, field = error.field.as_deref(), "refused");
        self.outlet.tell(&ServerMessage::Error(Box::new(error)));
    }

    /// Lets a bot in by what its hello proves; one that wants a name registered is heard no further until that is done.
    fn greet(&mut self, hello: Hello, reference: Option<Ref>, arrival: &dyn Arrival) {
        let origin = self.caller.origin();
        if hello.register && hello.token.is_none() {
            match self.hall.register(origin, &hello) {
                Ok(claimed) => self.registration = Some(Box::new(Registration::new(hello, reference, claimed))),
                Err(error) => self.refuse(hello.name.as_ref(), Error { reference, ..*error }, arrival),
            }
        } else {
            self.enter(hello, reference, arrival, None);
        }
    }

    /// Whether it waits for a registration: what comes meanwhile is not heard.
    #[must_use]
    pub const fn is_registering(&self) -> bool {
        self.registration.is_some()
    }

    /// Ready when the registration that it waits for is done, or not to be done, and the bot was told so.
    pub fn poll_registration(&mut self, context: &mut Context<'_>, arrival: &dyn Arrival) -> Poll<()> {
        let Some(registration) = &mut self.registration else { return Poll::Ready(()) };
        let claimed = ready!(registration.poll(context)).unwrap_or_else(|| Err(not_stored()));
        if let Some(registration) = self.registration.take() {
            let Registration { hello, reference, .. } = *registration;
            match claimed {
                Ok(claim) => self.enter(hello, reference, arrival, Some(claim)),
                Err(error) => self.refuse(hello.name.as_ref(), Error { reference, ..*error }, arrival),
            }
        }
        Poll::Ready(())
    }

    /// The connection is over, and its peer's kernel has taken so many bytes of what was said.
    pub fn seen_off(&mut self, taken: u64) {
        if let Some(told) = self.told.take().filter(|told| told.said <= taken) {
            told.claim.keep();
        }
    }

    fn enter(&mut self, hello: Hello, reference: Option<Ref>, arrival: &dyn Arrival, claim: Option<Claim>) {
        let (name, client, version) = (hello.name.clone(), hello.client.clone(), hello.version.clone());
        let guessed = hello.token.is_some();
        let (visitor, outlet) = (self.caller.visitor, &self.outlet);
        match self.hall.enter(visitor, outlet, hello, reference.clone(), arrival, claim.as_ref()) {
            Ok(bot) => {
                let (client, version) = (client.as_deref(), version.as_deref());
                info!(caller = %self.caller, bot = %bot.name, client, version, claimed = claim.is_some(), "welcome");
                self.bot = Some(bot);
                self.told = claim.zip(outlet.said()).map(|(claim, said)| Box::new(ToldToken { claim, said }));
                (self.welcomed, self.silent) = (time::now(), true);
                self.tell_session(Said::Welcomed, arrival);
            }
            Err(NotWelcome::Error(error)) => {
                let wrong = guessed && error.code == ErrorCode::AuthFailed;
                let error = if wrong { self.hall.login_failed(self.caller.origin(), error) } else { error };
                self.refuse(name.as_ref(), Error { reference, ..*error }, arrival);
            }
            Err(NotWelcome::Banned(reason)) => {
                info!(caller = %self.caller, bot = name.as_ref().map(BotName::as_str), "refused: the bot is banned");
                self.hall.metrics().login_refused(Login::Banned);
                self.tell_session(Said::Banned(reason.told()), arrival);
            }
        }
    }

    fn refuse(&mut self, name: Option<&BotName>, error: Error, arrival: &dyn Arrival) {
        info!(caller = %self.caller, bot = name.map(BotName::as_str), code = %error.code, "refused");
        self.tell_session(Said::HelloRefused(error), arrival);
    }

    fn play(&mut self, wanted: Move, limited: bool, reference: Option<Ref>, arrival: &dyn Arrival) {
        let said = match self.seat_to_move(wanted.game) {
            Ok((table, side)) => match table.play(side, wanted, limited, reference.clone(), arrival) {
                Told::Accepted => {
                    self.moved = true;
                    return;
                }
                Told::Later | Told::Nothing => Said::MoveRefused(None),
                Told::Limited => Said::MoveLimited(reference),
                Told::Error(error) => Said::MoveRefused(Some(*error)),
            },
            Err(_) if limited => Said::MoveLimited(reference),
            Err(error) => Said::MoveRefused(Some(Error { reference, ..*error })),
        };
        self.tell_session(said, arrival);
    }

    fn resign(&self, game: GameId, reference: Option<Ref>, arrival: &dyn Arrival) {
        match self.seat(game) {
            Ok((table, side)) => table.resign(side, reference, arrival),
            Err(error) => self.reply(Error { reference, ..*error }),
        }
    }

    /// As [`Self::seat`], but where the last move was made no lock is taken and nothing searched.
    fn seat_to_move(&mut self, game: GameId) -> Result<(Arc<Table>, Side), Box<Error>> {
        let last = self.seat.as_ref().filter(|seat| seat.game == game);
        if let Some((table, side)) = last.and_then(|seat| Some((seat.table.upgrade()?, seat.side))) {
            return Ok((table, side));
        }
        let (table, side) = self.seat(game)?;
        self.seat = Some(Seat { game, side, table: Arc::downgrade(&table) });
        Ok((table, side))
    }

    /// The running game of this bot, or the error of `verdict.wrong-game` and `verdict.game-over`.
    fn seat(&self, game: GameId) -> Result<(Arc<Table>, Side), Box<Error>> {
        let bot = self.bot.as_ref();
        bot.and_then(|bot| bot.seat(game)).ok_or_else(|| {
            let over = bot.is_some_and(|bot| bot.remembers(game));
            let error =
                if over { Error::new(ErrorCode::GameOver, GAME_OVER) } else { wrong_game(game, "game of yours") };
            Box::new(Error { game: told(game), ..error })
        })
    }

    fn watch(&mut self, game: GameId, reference: Option<Ref>) {
        let plays = self.bot.as_ref().is_some_and(|bot| bot.seat(game).is_some());
        let table = self.hall.table(game).filter(|_| !plays);
        let error = match table {
            None => wrong_game(game, "running game of others"),
            Some(table) if self.watching.iter().any(|watched| watched.id() == game) => {
                match table.watch(&self.outlet, reference.clone()) {
                    Ok(()) => return,
                    Err(error) => *error,
                }
            }
            Some(_) if self.watching.len() >= WATCHES => {
                self.watching.retain(|table| table.is_running());
                if self.watching.len() < WATCHES {
                    return self.watch(game, reference);
                }
                Error::new(ErrorCode::GamesLimit, format!("{WATCHES} games are watched already; unwatch one"))
            }
            Some(table) => match table.watch(&self.outlet, reference.clone()) {
                Ok(()) => return self.watching.push(table),
                Err(error) => *error,
            },
        };
        self.reply(Error { reference, game: told(game), ..error });
    }

    /// Nothing of the game follows, whether it was watched or not (`session.unwatch`).
    fn unwatch(&mut self, game: GameId, reference: Option<Ref>) {
        if game == GameId::NOWHERE {
            return self.reply(Error { reference, ..wrong_game(game, "game") });
        }
        if let Some(at) = self.watching.iter().position(|table| table.id() == game) {
            self.watching.swap_remove(at).unwatch(&self.outlet);
        }
        self.outlet.tell(&ServerMessage::Unwatched { game, reference });
    }
}

/// Also where its task panicked: nobody may seem to be here who is not.
impl Drop for Client {
    fn drop(&mut self) {
        self.leave();
    }
}

/// An id, or what stood in its place, that is of no such game.
fn wrong_game(game: GameId, what: &str) -> Error {
    let message = match told(game) {
        Some(game) => format!("{game} is no {what}; `started` tells the ids of games"),
        None => "that is no id of a game; `started` tells them".to_owned(),
    };
    Error::new(ErrorCode::WrongGame, message)
}

/// The game as an error names it: a text that is no id is not repeated (`errors.fields`).
fn told(game: GameId) -> Option<GameId> {
    Some(game).filter(|game| *game != GameId::NOWHERE)
}
