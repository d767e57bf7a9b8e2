//! What a program tells about itself, apart from its results.

use std::fmt;
use std::sync::Arc;

/// How much a line of the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For who looks for a fault in the library: unknown types and fields.
    Debug,
    /// What goes on.
    Info,
    /// What does not go as it should, and is seen to.
    Warn,
    /// What cost a game.
    Error,
}

/// Who is told; nobody at first.
#[derive(Clone, Default)]
pub(crate) struct Log(Option<Arc<Told>>);

type Told = dyn Fn(Level, &str) + Send + Sync;

impl Log {
    pub(crate) fn new(told: impl Fn(Level, &str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(told)))
    }

    /// Lines for people on stderr.
    pub(crate) fn stderr() -> Self {
        Self::new(|level, text| {
            if level > Level::Debug {
                eprintln!("{text}");
            }
        })
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.0.is_none()
    }

    fn tell(&self, level: Level, text: fmt::Arguments<'_>) {
        if let Some(told) = &self.0 {
            told(level, &text.to_string());
        }
    }

    pub(crate) fn debug(&self, text: fmt::Arguments<'_>) {
        self.tell(Level::Debug, text);
    }

    pub(crate) fn info(&self, text: fmt::Arguments<'_>) {
        self.tell(Level::Info, text);
    }

    pub(crate) fn warn(&self, text: fmt::Arguments<'_>) {
        self.tell(Level::Warn, text);
    }

    pub(crate) fn error(&self, text: fmt::Arguments<'_>) {
        self.tell(Level::Error, text);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_silent() { "silent" } else { "told" })
    }
}
