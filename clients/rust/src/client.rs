//! The blocking client, for loops of one's own. It needs no thread: the link is looked after while a turn is waited for.

use crate::open::{OpenTurn, Table};
use crate::session::{CLOSE, CONNECT, LEAVE, NOT_READ, READ_BYTES, Session, WRITE};
use crate::settings::{Heard, check_quest};
use crate::{Error, Settings, Turn, interrupt};
use modiar_protocol::GameId;
use modiar_rules::Pit;
use std::cell::RefCell;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Where Ctrl-C is watched, at most so long is waited before it is looked for.
const GLANCE: Duration = Duration::from_millis(500);
/// Elsewhere there is no need to look up.
const LONG: Duration = Duration::from_secs(3600);

/// One bot's connection to a server. When the link is lost it comes back by itself, and its games with it, while
/// [`turns`](Self::turns) is waited for. Dropped, it says no bye: the server keeps its games, and their clocks run.
///
/// ```no_run
/// use modiar_client::{Client, Settings};
///
/// let client = Client::connect(Settings::new().ended(|ended| println!("{ended}")))?;
/// for turn in client.turns("practice", 3)? {
///     let turn = turn?;
///     turn.play(turn.legal[0])?;
/// }
/// client.close();
/// # Ok::<(), modiar_client::Error>(())
/// ```
pub struct Client {
    inner: RefCell<Inner>,
    ended: RefCell<Option<Heard>>,
}

struct Inner {
    session: Session,
    socket: Option<TcpStream>,
    /// Why the socket is of no more use.
    broken: Option<Option<String>>,
    buffer: Box<[u8]>,
    watched: bool,
}

impl Client {
    /// Connects, and waits until the bot is let in.
    ///
    /// # Errors
    /// [`Error::Setting`], [`Error::Connect`], [`Error::Auth`], [`Error::Protocol`] or [`Error::Goodbye`].
    pub fn connect(settings: Settings) -> Result<Self, Error> {
        Self::connect_watched(settings, false)
    }

    /// Where `watched`, Ctrl-C is [`Error::Closed`].
    pub(crate) fn connect_watched(settings: Settings, watched: bool) -> Result<Self, Error> {
        let (session, ended) = Session::new(settings.settle()?);
        let mut inner =
            Inner { session, socket: None, broken: None, buffer: vec![0; READ_BYTES].into_boxed_slice(), watched };
        while !inner.session.player.is_welcomed() {
            inner.step(Instant::now() + LONG)?;
            inner.heed()?;
        }
        Ok(Self { inner: RefCell::new(inner), ended: RefCell::new(ended) })
    }

    /// Seeks games in a pool, so many in all (0: without end), and yields each turn of the bot's until they are over. A game
    /// that the bot came back to counts as one of them. With several games at once turns may be answered in any order; one
    /// that is not runs out of time.
    ///
    /// # Errors
    /// [`Error::Setting`] for a pool or a number that cannot be. What is yielded last may be an error of
    /// [`connect`](Self::connect), or [`Error::Closed`].
    pub fn turns(&self, pool: &str, games: u64) -> Result<Turns<'_>, Error> {
        check_quest(pool, games)?;
        self.act(|session| session.player.seek(pool, games));
        Ok(Turns { client: self, over: false })
    }

    /// Says bye and waits for the server's, a second at most. Games that are not over go on, and their clocks run.
    pub fn close(self) {
        self.end(CLOSE, |session| session.player.close());
    }

    /// Stops seeking, resigns the bot's games and says bye, within two seconds.
    pub fn leave(self) {
        self.end(LEAVE, |session| session.player.leave());
    }

    fn end(self, wait: Duration, how: impl FnOnce(&mut Session)) {
        let until = Instant::now() + wait;
        self.act(how);
        loop {
            let mut inner = self.inner.borrow_mut();
            let over = inner.socket.is_none() || Instant::now() >= until || inner.step(until).is_err();
            drop(inner);
            self.tell();
            if over {
                return;
            }
        }
    }

    /// Does something, and says what comes of it.
    fn act<T>(&self, what: impl FnOnce(&mut Session) -> T) -> T {
        let mut inner = self.inner.borrow_mut();
        let done = what(&mut inner.session);
        inner.flush();
        done
    }

    /// Tells of the games that ended.
    fn tell(&self) {
        let ends = self.inner.borrow_mut().session.ends();
        if let Some(heard) = self.ended.borrow_mut().as_mut() {
            ends.iter().for_each(heard);
        }
    }

    fn next(&self) -> Result<Option<Turn>, Error> {
        loop {
            self.tell();
            let mut inner = self.inner.borrow_mut();
            inner.heed()?;
            if let Some(turn) = inner.session.player.next_turn() {
                return Ok(Some(turn));
            }
            if inner.session.player.finished() {
                return Ok(None);
            }
            let stepped = inner.step(Instant::now() + LONG);
            drop(inner);
            if stepped.is_err() {
                self.tell();
            }
            stepped?;
        }
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.inner.borrow().session.strict
    }

    pub(crate) fn log_error(&self, text: std::fmt::Arguments<'_>) {
        let log = self.inner.borrow().session.log().clone();
        log.error(text);
    }
}

impl Inner {
    /// Ctrl-C, where it is watched.
    fn heed(&self) -> Result<(), Error> {
        if self.watched && interrupt::heard() { Err(Error::Closed) } else { Ok(()) }
    }

    /// Waits until something happens, and sees to it; `until` is the latest.
    fn step(&mut self, until: Instant) -> Result<(), Error> {
        let glance = if self.watched { GLANCE } else { LONG };
        let until = until.min(Instant::now() + glance);
        if let Some(cause) = self.broken.take() {
            return self.lost(cause.as_deref());
        }
        if self.socket.is_none() {
            return self.come_back(until);
        }
        let until = self.session.player.due().map_or(until, |due| due.min(until));
        self.read(until);
        self.session.player.tick(Instant::now());
        self.flush();
        if self.session.player.hang_up {
            return self.lost(Some("the link was given up"));
        }
        Ok(())
    }

    /// Waits for the time to come back, and connects.
    fn come_back(&mut self, until: Instant) -> Result<(), Error> {
        let now = Instant::now();
        sleep(self.session.back_at.min(until).saturating_duration_since(now));
        if self.session.back_at > until {
            return Ok(());
        }
        match dial(&self.session.address) {
            Ok(socket) => {
                self.socket = Some(socket);
                self.session.connected()?;
                self.flush();
                Ok(())
            }
            Err(error) => self.session.lost(Some(&error.to_string())),
        }
    }

    fn lost(&mut self, cause: Option<&str>) -> Result<(), Error> {
        self.socket = None;
        self.broken = None;
        self.session.lost(cause)
    }

    fn read(&mut self, until: Instant) {
        let Some(socket) = &mut self.socket else { return };
        // A timeout of nothing would be none.
        let wait = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let read = socket.set_read_timeout(Some(wait)).and_then(|()| socket.read(&mut self.buffer));
        self.broken = match read {
            Ok(count) => self.session.received(&self.buffer[..count]).err(),
            Err(error) if is_nothing(&error) => None,
            Err(error) => Some(Some(error.to_string())),
        };
    }

    fn flush(&mut self) {
        let Some(socket) = self.socket.as_mut().filter(|_| self.broken.is_none()) else { return };
        match self.session.outgoing() {
            Ok(out) => {
                let written = socket.write_all(out);
                out.clear();
                // Of other faults the reader hears, behind what the server said before.
                if written.is_err_and(|error| is_nothing(&error)) {
                    self.broken = Some(Some(NOT_READ.to_owned()));
                }
            }
            Err(cause) => self.broken = Some(cause),
        }
    }
}

/// Whether a read was only woken, or waited in vain.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Tries each address of the host.
fn dial((host, port): &(String, u16)) -> io::Result<TcpStream> {
    let mut fault = io::Error::new(ErrorKind::NotFound, "the host has no address");
    for address in (host.as_str(), *port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(socket) => {
                // A move is one small packet, which else would wait on the bot's own clock.
                socket.set_nodelay(true)?;
                socket.set_write_timeout(Some(WRITE))?;
                return Ok(socket);
            }
            Err(error) => fault = error,
        }
    }
    Err(fault)
}

/// The turns of a bot, as they come. Dropped, it takes the seek back; games that go on do so.
pub struct Turns<'c> {
    client: &'c Client,
    over: bool,
}

impl<'c> Iterator for Turns<'c> {
    type Item = Result<OpenTurn<'c>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let next = self.client.next().map(|turn| turn.map(|turn| OpenTurn { turn, client: self.client })).transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl Drop for Turns<'_> {
    fn drop(&mut self) {
        self.client.act(|session| session.player.stop());
    }
}

impl Table for Client {
    fn play(&self, turn: &Turn, pit: Pit) -> Result<(), Error> {
        self.act(|session| session.player.play(turn, pit))
    }

    fn resign(&self, game: GameId) -> Result<(), Error> {
        self.act(|session| session.player.resign(game))
    }
}
