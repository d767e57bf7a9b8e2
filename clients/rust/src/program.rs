//! A whole program of one bot.

use crate::OpenTurn;
use crate::interrupt::Watch;
use crate::{Client, Ended, Error, Settings, Turn};
use modiar_rules::Pit;
use std::any::Any;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// Exit statuses, the same as the daemon's own commands.
const DONE: u8 = 0;
const USAGE: u8 = 2;
const COULD_NOT: u8 = 3;
const INTERRUPTED: u8 = 130;

/// Who plays. A closure from a turn to a pit is one.
pub trait Bot {
    /// One of `turn.legal`. A panic gives the game up, and so does an illegal pit.
    fn choose(&mut self, turn: &Turn) -> Pit;
}

impl<F: FnMut(&Turn) -> Pit> Bot for F {
    fn choose(&mut self, turn: &Turn) -> Pit {
        self(turn)
    }
}

/// Connects, plays so many games in a pool (0: without end), prints each result on stdout and tells people the rest on
/// stderr. Ctrl-C resigns and leaves.
///
/// The status is 0 when every game was played, 2 where a setting is wrong, 3 where the server was not reached, refused the bot
/// or hung up for good, 130 after Ctrl-C.
#[must_use]
pub fn run(bot: impl Bot, pool: &str, games: u64) -> ExitCode {
    run_with(Settings::new(), bot, pool, games)
}

/// [`run`] with settings that do not come from the environment.
#[must_use]
pub fn run_with(settings: Settings, mut bot: impl Bot, pool: &str, games: u64) -> ExitCode {
    let _watch = Watch::new();
    status(play(settings, &mut bot, pool, games)).into()
}

/// Tells what went wrong.
pub(crate) fn status(played: Result<(), Error>) -> u8 {
    let status = match &played {
        Ok(()) => return DONE,
        Err(Error::Closed) => return INTERRUPTED,
        Err(Error::Setting(_)) => USAGE,
        Err(_) => COULD_NOT,
    };
    if let Err(error) = played {
        eprintln!("{error}");
    }
    status
}

/// Results on stdout, one line a game.
pub(crate) fn told(settings: Settings) -> Settings {
    settings.log_to_stderr().ended_first(print)
}

fn print(ended: &Ended) {
    let mut stdout = std::io::stdout().lock();
    // Who reads no more of it does not end the games.
    writeln!(stdout, "{ended}").and_then(|()| stdout.flush()).unwrap_or_default();
    if let Some(detail) = &ended.detail {
        let legal: Vec<String> = detail.legal.0.iter().map(|pit| pit.to_string()).collect();
        eprintln!("pit {} breaks {}; legal were {}", detail.pit, detail.clause, legal.join(" "));
    }
}

fn play(settings: Settings, bot: &mut impl Bot, pool: &str, games: u64) -> Result<(), Error> {
    crate::settings::check_quest(pool, games)?;
    let client = Client::connect_watched(told(settings), true)?;
    let played = client.turns(pool, games)?.try_for_each(|turn| answer(&client, bot, &turn?));
    match played {
        Ok(()) => client.close(),
        Err(_) => client.leave(),
    }
    played
}

fn answer(client: &Client, bot: &mut impl Bot, turn: &OpenTurn<'_>) -> Result<(), Error> {
    let chosen = catch_unwind(AssertUnwindSafe(|| bot.choose(turn))).map_err(|panic| panic_text(&*panic));
    let fault = match chosen.map(|pit| turn.play(pit)) {
        Ok(Ok(()) | Err(Error::GameOver)) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic,
    };
    let fault = failed(turn, &fault);
    client.log_error(format_args!("{fault}"));
    if client.is_strict() {
        return Err(Error::Bot(fault));
    }
    turn.resign().or(Ok(()))
}

/// What a person has to know of a bot that failed.
pub(crate) fn failed(turn: &Turn, fault: &str) -> String {
    let Turn { game, ply, position, .. } = turn;
    format!("the bot failed in game {game} at ply {ply}, position {position}: {fault}; the game is given up")
}

/// What the panic said; where it was, the standard library has told.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".to_owned())
}
