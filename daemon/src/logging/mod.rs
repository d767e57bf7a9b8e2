//! Logs: to stderr, for people or for programs; stdout is for data.

mod lines;

use crate::config::{ConfigError, LogFormat};
use crate::records::printable;
use lines::Lines;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::sync::OnceLock;
use tracing::error;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::fmt::format::FmtSpan;

/// The log, once it is started.
static LOG: OnceLock<Lines> = OnceLock::new();

/// Starts logging, as `RUST_LOG` says, else from `info` up.
///
/// # Errors
/// `RUST_LOG` is not understood, or logging runs already.
pub fn start(format: LogFormat) -> anyhow::Result<()> {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env().map_err(|error| {
        let value = std::env::var(EnvFilter::DEFAULT_ENV).unwrap_or_default();
        let message = format!("{error}; write info, debug, or modiar=debug,warn and the like");
        ConfigError::Environment { variable: EnvFilter::DEFAULT_ENV.to_owned(), value, message }
    })?;
    let started = Lines::start(stderr())?;
    let lines = LOG.get_or_init(|| started);
    let writer = || lines.clone();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_span_events(FmtSpan::NONE);
    let started = match format {
        LogFormat::Text => builder.with_ansi(stderr().is_terminal()).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!(error))?;
    log_panics();
    Ok(())
}

/// Waits a moment for the last lines.
pub(crate) fn flush() {
    if let Some(lines) = LOG.get() {
        lines.flush();
    }
}

/// A word for a person on stderr, after the program's name; where that takes none nobody hears it.
pub(crate) fn note(text: &str) {
    let line = format!("modiar: {}\n", printable(text));
    match LOG.get() {
        Some(lines) => {
            let _ = lines.clone().write_all(line.as_bytes());
            lines.flush();
        }
        None => drop(stderr().write_all(line.as_bytes())),
    }
}

/// A panic is a line of the log like any other, in the form that was chosen.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let at = panic.location().map(ToString::to_string).unwrap_or_default();
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let what = text.unwrap_or("a value that is no text");
        error!(at, what, "a panic: this is a bug in the server");
    }));
}
