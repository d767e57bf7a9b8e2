//! Logs: to stderr, for people or for programs; stdout is for data.

use crate::config::{ConfigError, LogFormat};
use crate::records::printable;
use std::io::{IsTerminal as _, Write as _, stderr};
use tracing::error;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::fmt::format::FmtSpan;

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
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).with_span_events(FmtSpan::NONE);
    // A log that goes to a full disk, or to nobody, is no reason to stop: else the fault would be told there, and panic.
    let builder = builder.log_internal_errors(false);
    let started = match format {
        LogFormat::Text => builder.with_ansi(stderr().is_terminal()).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!(error))?;
    log_panics();
    Ok(())
}

/// A word for a person on stderr, after the program's name; where that takes none nobody hears it.
pub(crate) fn note(text: &str) {
    let _ = writeln!(stderr(), "modiar: {}", printable(text));
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
