//! A name that was registered over the wire, until its token has reached somebody.

use super::{AccountError, Accounts};
use crate::metrics::{Metrics, Registration};
use modiar_protocol::{BotName, Secret};
use std::sync::Arc;
use tokio::runtime::Handle;
use tracing::{info, warn};

/// A registered name whose token nobody has read yet. Where it is dropped so, wherever that is, the registration is taken back:
/// a name that nobody can use is not left behind.
#[derive(Debug)]
pub struct Claim {
    name: BotName,
    token: Secret,
    accounts: Arc<Accounts>,
    metrics: Arc<Metrics>,
    kept: bool,
}

impl Claim {
    /// Registers a name, where nobody else plays by it.
    ///
    /// # Errors
    /// As [`Accounts::add`].
    pub async fn make(
        accounts: Arc<Accounts>,
        metrics: Arc<Metrics>,
        name: BotName,
        is_free: impl FnOnce(&BotName) -> bool,
    ) -> Result<Self, AccountError> {
        let token = accounts.add(name.clone(), None, is_free).await?;
        metrics.registration(Registration::Made);
        Ok(Self { name, token, accounts, metrics, kept: false })
    }

    /// The token to tell.
    #[must_use]
    pub const fn token(&self) -> &Secret {
        &self.token
    }

    /// The token has reached its bot.
    pub fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        self.metrics.registration(Registration::Untold);
        let (name, token, accounts) = (self.name.clone(), self.token.clone(), Arc::clone(&self.accounts));
        let Ok(runtime) = Handle::try_current() else { return not_taken_back(&name, "the server ends") };
        runtime.spawn(async move {
            match accounts.take_back(&name, &token).await {
                Ok(()) => info!(bot = %name, "registration taken back: its token was read by nobody"),
                Err(error) => not_taken_back(&name, &error.to_string()),
            }
        });
    }
}

/// The host is told, for nobody else can do anything about it.
fn not_taken_back(name: &BotName, why: &str) {
    warn!(bot = %name, why, "registered, but its token was read by nobody; `modiar bot remove` frees the name");
}
