//! The same for programs on tokio: [`run`], or a [`Client`] and a loop of one's own.

use crate::open::Table;
use crate::program::{failed, panic_text, status, told};
use crate::session::{CLOSE, CONNECT, LEAVE, NOT_READ, READ_BYTES, Session, WRITE};
use crate::settings::{Heard, check_quest};
use crate::{Error, Settings, Turn};
use modiar_protocol::GameId;
use modiar_rules::Pit;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::{sleep_until, timeout, timeout_at};

/// What waits for nothing else looks up after so long.
const LONG: Duration = Duration::from_secs(3600);

/// Who plays. A closure from a turn to the future of a pit is one.
pub trait Bot {
    /// One of `turn.legal`. A panic gives the game up, and so does an illegal pit.
    fn choose(&mut self, turn: &Turn) -> impl Future<Output = Pit> + Send;
}

impl<F: FnMut(&Turn) -> C, C: Future<Output = Pit> + Send> Bot for F {
    fn choose(&mut self, turn: &Turn) -> impl Future<Output = Pit> + Send {
        self(turn)
    }
}

/// As [`crate::run`].
pub async fn run(bot: impl Bot, pool: &str, games: u64) -> ExitCode {
    run_with(Settings::new(), bot, pool, games).await
}

/// As [`crate::run_with`].
pub async fn run_with(settings: Settings, mut bot: impl Bot, pool: &str, games: u64) -> ExitCode {
    status(play(settings, &mut bot, pool, games).await).into()
}

async fn play(settings: Settings, bot: &mut impl Bot, pool: &str, games: u64) -> Result<(), Error> {
    check_quest(pool, games)?;
    let mut interrupt = pin!(tokio::signal::ctrl_c());
    let client = tokio::select! {
        connected = Client::connect(told(settings)) => connected?,
        _ = &mut interrupt => return Err(Error::Closed),
    };
    let played = tokio::select! {
        played = play_all(&client, bot, pool, games) => played,
        _ = &mut interrupt => Err(Error::Closed),
    };
    let parting = async {
        match played {
            Ok(()) => client.close().await,
            Err(_) => client.leave().await,
        }
    };
    tokio::select! {
        () = parting => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    played
}

async fn play_all(client: &Client, bot: &mut impl Bot, pool: &str, games: u64) -> Result<(), Error> {
    let mut turns = client.turns(pool, games)?;
    while let Some(turn) = turns.next().await? {
        answer(client, bot, &turn).await?;
    }
    Ok(())
}

async fn answer(client: &Client, bot: &mut impl Bot, turn: &OpenTurn<'_>) -> Result<(), Error> {
    let fault = match chosen(bot, turn).await.map(|pit| turn.play(pit)) {
        Ok(Ok(()) | Err(Error::GameOver)) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic,
    };
    let fault = failed(turn, &fault);
    let inner = client.inner();
    inner.session.log().error(format_args!("{fault}"));
    if inner.session.strict {
        return Err(Error::Bot(fault));
    }
    drop(inner);
    turn.resign().or(Ok(()))
}

/// What the bot chooses, or what its panic said.
async fn chosen(bot: &mut impl Bot, turn: &Turn) -> Result<Pit, String> {
    // It is called at the first poll.
    let mut choice = pin!(async { bot.choose(turn).await });
    let polled = poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| choice.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic_text(&*panic))),
    });
    polled.await
}

/// As [`crate::Client`]; its methods may be called from several tasks, [`turns`](Self::turns) from one at a time. It is looked
/// after while a turn is waited for.
///
/// ```no_run
/// # async fn example() -> Result<(), modiar_client::Error> {
/// use modiar_client::{Settings, aio::Client};
///
/// let client = Client::connect(Settings::new()).await?;
/// let mut turns = client.turns("practice", 3)?;
/// while let Some(turn) = turns.next().await? {
///     turn.play(turn.legal[0])?;
/// }
/// drop(turns);
/// client.close().await;
/// # Ok(())
/// # }
/// ```
pub struct Client {
    inner: Mutex<Inner>,
    ended: Mutex<Option<Heard>>,
}

struct Inner {
    session: Session,
    socket: Option<Arc<TcpStream>>,
    /// Why the socket is of no more use.
    broken: Option<Option<String>>,
    /// Since when nothing could be written.
    stuck: Option<Instant>,
    buffer: Box<[u8]>,
}

/// The lock is never held over a panic, nor over an await.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Client {
    /// Connects, and waits until the bot is let in.
    ///
    /// # Errors
    /// As [`crate::Client::connect`].
    pub async fn connect(settings: Settings) -> Result<Self, Error> {
        let (session, ended) = Session::new(settings.settle()?);
        let buffer = vec![0; READ_BYTES].into_boxed_slice();
        let inner = Inner { session, socket: None, broken: None, stuck: None, buffer };
        let client = Self { inner: Mutex::new(inner), ended: Mutex::new(ended) };
        while !client.inner().session.player.is_welcomed() {
            client.step().await?;
        }
        Ok(client)
    }

    /// As [`crate::Client::turns`].
    ///
    /// # Errors
    /// [`Error::Setting`] for a pool or a number that cannot be.
    pub fn turns(&self, pool: &str, games: u64) -> Result<Turns<'_>, Error> {
        check_quest(pool, games)?;
        self.act(|session| session.player.seek(pool, games));
        Ok(Turns { client: self })
    }

    /// Says bye and waits for the server's, a second at most. Games that are not over go on, and their clocks run.
    pub async fn close(self) {
        self.end(CLOSE, |session| session.player.close()).await;
    }

    /// Stops seeking, resigns the bot's games and says bye, within two seconds.
    pub async fn leave(self) {
        self.end(LEAVE, |session| session.player.leave()).await;
    }

    async fn end(&self, wait: Duration, how: impl FnOnce(&mut Session)) {
        self.act(how);
        let last_lines = async {
            while self.inner().socket.is_some() && self.step().await.is_ok() {
                self.tell();
            }
        };
        // Whether they came in time makes no difference.
        timeout(wait, last_lines).await.unwrap_or_default();
        self.tell();
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// Does something, and says what comes of it.
    fn act<T>(&self, what: impl FnOnce(&mut Session) -> T) -> T {
        let mut inner = self.inner();
        let done = what(&mut inner.session);
        inner.flush();
        done
    }

    /// Tells of the games that ended.
    fn tell(&self) {
        let ends = self.inner().session.ends();
        if let Some(heard) = lock(&self.ended).as_mut() {
            ends.iter().for_each(heard);
        }
    }

    /// Waits until something happens, and sees to it. Nothing is lost where the future is dropped before.
    async fn step(&self) -> Result<(), Error> {
        let (socket, back_at) = {
            let mut inner = self.inner();
            if let Some(cause) = inner.broken.take() {
                return inner.lost(cause.as_deref());
            }
            (inner.socket.clone(), inner.session.back_at)
        };
        let Some(socket) = socket else {
            sleep_until(back_at.into()).await;
            return self.come_back().await;
        };
        let (until, interest) = self.inner().awaited();
        let ready = timeout_at(until.into(), socket.ready(interest)).await;
        let mut inner = self.inner();
        match ready {
            Ok(Ok(_)) => inner.read(),
            Ok(Err(error)) => inner.broken = Some(Some(error.to_string())),
            Err(_) => {}
        }
        inner.session.player.tick(Instant::now());
        inner.flush();
        if inner.session.player.hang_up {
            return inner.lost(Some("the link was given up"));
        }
        Ok(())
    }

    async fn come_back(&self) -> Result<(), Error> {
        let (host, port) = self.inner().session.address.clone();
        let dialled = timeout(CONNECT, TcpStream::connect((host, port))).await;
        let mut inner = self.inner();
        // A move is one small packet, which else would wait on the bot's own clock.
        match dialled
            .unwrap_or_else(|late| Err(late.into()))
            .and_then(|socket| socket.set_nodelay(true).map(|()| socket))
        {
            Ok(socket) => {
                inner.socket = Some(Arc::new(socket));
                inner.session.connected()?;
                inner.flush();
                Ok(())
            }
            Err(error) => inner.session.lost(Some(&error.to_string())),
        }
    }
}

impl Inner {
    /// Until when the socket is waited for, and for what.
    fn awaited(&self) -> (Instant, Interest) {
        let now = Instant::now();
        let due = self.session.player.due().unwrap_or(now + LONG);
        match self.stuck {
            Some(since) => (due.min(since + WRITE), Interest::READABLE | Interest::WRITABLE),
            None => (due, Interest::READABLE),
        }
    }

    fn lost(&mut self, cause: Option<&str>) -> Result<(), Error> {
        self.socket = None;
        self.broken = None;
        self.stuck = None;
        self.session.lost(cause)
    }

    fn read(&mut self) {
        let Some(socket) = &self.socket else { return };
        match socket.try_read(&mut self.buffer) {
            Ok(count) => self.broken = self.session.received(&self.buffer[..count]).err(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => self.broken = Some(Some(error.to_string())),
        }
    }

    /// Writes what goes at once; `step` sees to the rest.
    fn flush(&mut self) {
        let Some(socket) = self.socket.as_ref().filter(|_| self.broken.is_none()) else { return };
        let out = match self.session.outgoing() {
            Ok(out) => out,
            Err(cause) => {
                self.broken = Some(cause);
                return;
            }
        };
        while !out.is_empty() {
            match socket.try_write(out) {
                Ok(count) => {
                    out.drain(..count);
                    self.stuck = None;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.stuck.get_or_insert_with(Instant::now).elapsed() >= WRITE {
                        self.broken = Some(Some(NOT_READ.to_owned()));
                    }
                    return;
                }
                // Of other faults the reader hears, behind what the server said before.
                Err(_) => out.clear(),
            }
        }
        self.stuck = None;
    }
}

/// The turns of a bot, as they come. Dropped, it takes the seek back; games that go on do so.
pub struct Turns<'c> {
    client: &'c Client,
}

impl<'c> Turns<'c> {
    /// Waits for the next turn; none where every game was played. Nothing is lost where the future is dropped before.
    ///
    /// # Errors
    /// As [`crate::Client::turns`].
    pub async fn next(&mut self) -> Result<Option<OpenTurn<'c>>, Error> {
        let client = self.client;
        loop {
            client.tell();
            if let Some(turn) = client.inner().session.player.next_turn() {
                return Ok(Some(OpenTurn { turn, client }));
            }
            if client.inner().session.player.finished() {
                return Ok(None);
            }
            let stepped = client.step().await;
            if stepped.is_err() {
                client.tell();
            }
            stepped?;
        }
    }
}

impl Drop for Turns<'_> {
    fn drop(&mut self) {
        self.client.act(|session| session.player.stop());
    }
}

/// A turn that waits for its answer.
pub type OpenTurn<'c> = crate::OpenTurn<'c, Client>;

impl Table for Client {
    fn play(&self, turn: &Turn, pit: Pit) -> Result<(), Error> {
        self.act(|session| session.player.play(turn, pit))
    }

    fn resign(&self, game: GameId) -> Result<(), Error> {
        self.act(|session| session.player.resign(game))
    }
}
