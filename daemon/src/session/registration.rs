//! A hello that waits for its name to be registered (`session.register-wait`).

use crate::lobby::Claimed;
use crate::store::Claim;
use modiar_protocol::Ref;
use modiar_protocol::client::Hello;
use modiar_protocol::limits::REGISTRATION;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::oneshot;
use tokio::time::{Timeout, timeout};

/// The hello, and what comes of it. Dropped, nobody waits for that any more, and the name is taken back.
#[derive(Debug)]
pub(super) struct Registration {
    pub(super) hello: Hello,
    pub(super) reference: Option<Ref>,
    claimed: Pin<Box<Timeout<oneshot::Receiver<Claimed>>>>,
}

/// A token that was told.
#[derive(Debug)]
pub(super) struct ToldToken {
    pub(super) claim: Claim,
    /// Where that ends in all that was said on the connection.
    pub(super) said: u64,
}

impl Registration {
    pub(super) fn new(hello: Hello, reference: Option<Ref>, claimed: oneshot::Receiver<Claimed>) -> Self {
        Self { hello, reference, claimed: Box::pin(timeout(REGISTRATION, claimed)) }
    }

    /// What comes of it; `None` where that takes too long, or nothing ever will.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Claimed>> {
        self.claimed.as_mut().poll(context).map(|claimed| claimed.ok().and_then(Result::ok))
    }
}
