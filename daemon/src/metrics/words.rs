//! Counters of a closed list of words: each made at the start, so that counting looks nothing up.

use modiar_protocol::{ErrorCode, GoodbyeReason, Termination};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// A counter for each word of a list.
#[derive(Debug)]
pub(super) struct Words(Vec<Counter>);

impl Words {
    /// Registers them; the order of `words` is that of [`Self::inc`].
    pub(super) fn register(
        registry: &mut Registry,
        name: &str,
        help: &str,
        label: &'static str,
        words: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        let family = Family::<[(&'static str, &'static str); 1], Counter>::default();
        let counters = words.into_iter().map(|word| family.get_or_create_owned(&[(label, word)])).collect();
        registry.register(name, help, family);
        Self(counters)
    }

    /// Counts the word at this place of the list.
    pub(super) fn inc(&self, at: usize) {
        if let Some(counter) = self.0.get(at) {
            counter.inc();
        }
    }
}

pub(super) fn terminations() -> impl Iterator<Item = &'static str> {
    Termination::ALL.iter().map(|word| word.as_str())
}

pub(super) fn codes() -> impl Iterator<Item = &'static str> {
    ErrorCode::ALL.iter().map(|word| word.as_str())
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// The server said so.
    Goodbye(GoodbyeReason),
    /// The peer ended it in order.
    Eof,
    /// It broke.
    Reset,
    /// It was one too many, and never served.
    Refused,
    /// What came was not TLS, where TLS is spoken, or an alert of a peer that speaks it: it rejected the certificate.
    Tls,
    /// What came was no frame of WebSocket, where that is spoken.
    WebSocket,
}

impl Close {
    pub(super) fn all() -> impl Iterator<Item = &'static str> {
        GoodbyeReason::ALL.iter().map(|word| word.as_str()).chain(["eof", "reset", "refused", "tls", "websocket"])
    }

    /// Its label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Goodbye(reason) => reason.as_str(),
            Self::Eof => "eof",
            Self::Reset => "reset",
            Self::Refused => "refused",
            Self::Tls => "tls",
            Self::WebSocket => "websocket",
        }
    }

    pub(super) const fn place(self) -> usize {
        let goodbyes = GoodbyeReason::ALL.len();
        match self {
            Self::Goodbye(reason) => reason as usize,
            Self::Eof => goodbyes,
            Self::Reset => goodbyes + 1,
            Self::Refused => goodbyes + 2,
            Self::Tls => goodbyes + 3,
            Self::WebSocket => goodbyes + 4,
        }
    }
}

/// What must never be, and is watched on live games all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invariant {
    /// Board and captures together hold 42 seeds after each ply.
    Seeds,
    /// A game ends once: one record, and one `ended` to each side.
    OneEnd,
    /// Nothing of a game is told after its `ended`.
    Silence,
    /// No code of a game panics.
    NoPanic,
}

impl Invariant {
    /// All of them.
    const ALL: &'static [Self] = &[Self::Seeds, Self::OneEnd, Self::Silence, Self::NoPanic];

    /// Its label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Seeds => "seeds",
            Self::OneEnd => "one_end",
            Self::Silence => "silence",
            Self::NoPanic => "no_panic",
        }
    }

    pub(super) fn all() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|word| word.as_str())
    }
}

/// What became of an attempt to register over the wire (`session.register`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registration {
    /// It was stored.
    Made,
    /// It was taken back, for nobody had read the token.
    Untold,
    /// Too many came from that address.
    Limited,
    /// Another had the name, the host allows none, or a field was wrong.
    Refused,
    /// The disk was full, slow or failed.
    Failed,
}

impl Registration {
    pub(super) fn all() -> impl Iterator<Item = &'static str> {
        ["made", "untold", "limited", "refused", "failed"].into_iter()
    }
}

/// Why a hello with a token was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// The name and the token do not belong together.
    Wrong,
    /// Too many wrong ones came from that address: it was not looked at.
    Limited,
    /// The host keeps the bot out.
    Banned,
}

impl Login {
    pub(super) fn all() -> impl Iterator<Item = &'static str> {
        ["wrong", "limited", "banned"].into_iter()
    }
}

/// What became of a configuration that was read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// What can change while the daemon runs has changed.
    Done,
    /// It cannot be used, and nothing has changed.
    Refused,
}

impl Reading {
    pub(super) fn all() -> impl Iterator<Item = &'static str> {
        ["done", "refused"].into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counting goes by place: the places must be those of the lists.
    #[test]
    fn a_words_place_is_its_place_in_the_list() {
        for (at, code) in ErrorCode::ALL.iter().enumerate() {
            assert_eq!(*code as usize, at);
        }
        for (at, termination) in Termination::ALL.iter().enumerate() {
            assert_eq!(*termination as usize, at);
        }
        for (at, invariant) in Invariant::ALL.iter().enumerate() {
            assert_eq!(*invariant as usize, at);
        }
        let closes = GoodbyeReason::ALL.iter().map(|reason| Close::Goodbye(*reason));
        let others = [Close::Eof, Close::Reset, Close::Refused, Close::Tls, Close::WebSocket];
        let closes: Vec<Close> = closes.chain(others).collect();
        assert_eq!(closes.iter().map(|close| close.place()).collect::<Vec<_>>(), (0..closes.len()).collect::<Vec<_>>());
        assert!(Close::all().eq(closes.iter().map(|close| close.as_str())));
    }
}
