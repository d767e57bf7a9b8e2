//! The control socket: only the owner of the data directory reaches it.

use super::tournaments::Hands;
use super::{AdminError, Answer, Command, perform};
use crate::store::{Accounts, DataDir};
use crate::tournament::Desk;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream as BlockingStream;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// The longest command or answer, in bytes.
const LINE: u64 = 16 * 1024 * 1024;
/// How long one command may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Listens on the directory's control socket. The claim to the directory is held, so that what a killed daemon left
/// there is nobody's.
///
/// # Errors
/// The socket cannot be made; a path above 107 bytes is one reason.
pub fn listen(data: &DataDir) -> io::Result<UnixListener> {
    let path = data.control();
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let socket = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    Ok(socket)
}

/// Answers commands until `stop`.
pub async fn serve(socket: UnixListener, accounts: Arc<Accounts>, desk: Arc<Desk>, stop: CancellationToken) {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = socket.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let (accounts, desk) = (Arc::clone(&accounts), Arc::clone(&desk));
                tokio::spawn(async move {
                    if let Err(error) = answer(stream, accounts, desk).await {
                        warn!(%error, "a command on the control socket failed");
                    }
                });
            }
            Err(error) => {
                warn!(%error, "the control socket failed");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn answer(mut stream: UnixStream, accounts: Arc<Accounts>, desk: Arc<Desk>) -> io::Result<()> {
    let mut line = String::new();
    timeout(PATIENCE, tokio::io::BufReader::new((&mut stream).take(LINE)).read_line(&mut line)).await??;
    // Asked of the kernel: what tokio knows may be older.
    if matches!(rustix::io::read(&stream, &mut [0; 1]), Ok(0)) {
        // It was told that it has no answer, and may not count on anything.
        return Err(io::Error::other("whoever asked waited no longer: it was not done"));
    }
    let answer = match serde_json::from_str::<Command>(&line) {
        Ok(command) => perform_in_time(accounts, desk, command).await,
        Err(error) => Answer::Refused(format!("the daemon does not know that command: {error}; use the same version")),
    };
    let answer = format!("{}\n", serde_json::to_string(&answer)?);
    timeout(PATIENCE, stream.write_all(answer.as_bytes())).await?
}

/// What was begun is done whole, however long that takes: half of it, in the store and not in memory, would be worse.
async fn perform_in_time(accounts: Arc<Accounts>, desk: Arc<Desk>, command: Command) -> Answer {
    let is_tournament = matches!(command, Command::Tournament { .. });
    let work = tokio::spawn(async move { perform(&accounts, Hands::Desk(&desk), command).await });
    match timeout(PATIENCE, work).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Answer::Refused("a fault of the daemon, which its log tells".into()),
        Err(_) if is_tournament => Answer::Refused(
            "the daemon's disk is full or slow, and has not done it within 10 s; it is done as soon as it can be: see \
             `modiar tournament list`"
                .into(),
        ),
        Err(_) => Answer::Refused(
            "the daemon's disk is full or slow, and has not done it within 10 s; it is done as soon as it can be, and a token \
             that is made then is told to nobody: see `modiar bot list`, and ask for another token"
                .into(),
        ),
    }
}

/// Asks the daemon that runs on the directory; `None` where nobody listens.
///
/// # Errors
/// The daemon is not reached, or does not answer.
pub(super) fn ask(data: &DataDir, command: &Command) -> Result<Option<Answer>, AdminError> {
    let path = data.control();
    let mut stream = match BlockingStream::connect(&path) {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(AdminError::Control { path, error });
        }
        Err(_) => return Ok(None),
    };
    let answer = exchange(&mut stream, command).map_err(|error| AdminError::Unanswered { path, error })?;
    Ok(Some(answer))
}

fn exchange(stream: &mut BlockingStream, command: &Command) -> io::Result<Answer> {
    stream.set_read_timeout(Some(PATIENCE * 2))?;
    stream.write_all(format!("{}\n", serde_json::to_string(command)?).as_bytes())?;
    let mut line = String::new();
    match BufReader::new(stream.take(LINE)).read_line(&mut line) {
        Ok(0) => Err(io::Error::other("it has ended")),
        Ok(_) => Ok(serde_json::from_str(&line)?),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(io::Error::other(format!("it has said nothing for {} s", 2 * PATIENCE.as_secs())))
        }
        Err(error) => Err(error),
    }
}
