//! Why connections end.

use crate::metrics::Close;
use modiar_protocol::GoodbyeReason;
use std::fmt;
use tracing::info;

/// Why a connection ended. Each one passes [`Departure::note`] once: the place to count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Departure {
    /// The server closed it, with a goodbye or, for a slow reader, without.
    Closed(GoodbyeReason),
    /// The peer closed its end.
    Left,
    /// The link broke: a reset, or a peer that no longer answers the kernel.
    Lost,
    /// What came is not TLS, or not whole.
    Tls,
    /// There were too many connections.
    TooMany,
}

impl Departure {
    /// What it is counted as.
    pub(super) const fn close(self) -> Close {
        match self {
            Self::Closed(reason) => Close::Goodbye(reason),
            Self::Left => Close::Eof,
            Self::Lost => Close::Reset,
            Self::Tls => Close::Tls,
            Self::TooMany => Close::Refused,
        }
    }

    /// Notes it.
    pub(super) fn note(self) {
        info!(reason = %self, "connection ended");
    }
}

impl fmt::Display for Departure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(reason) => reason.fmt(formatter),
            Self::Left => formatter.write_str("left"),
            Self::Lost => formatter.write_str("lost"),
            Self::Tls => formatter.write_str("tls"),
            Self::TooMany => formatter.write_str("too_many_connections"),
        }
    }
}
