//! Names and who may claim them: over the wire (`session.register`), and by the host.

use super::attempts::Attempts;
use super::hall::{Hall, State};
use crate::metrics::{Login, Registration};
use crate::net::Origin;
use crate::store::{AccountError, Claim};
use crate::time::now;
use modiar_protocol::client::Hello;
use modiar_protocol::server::Error;
use modiar_protocol::{BotName, ErrorCode, Secret};
use std::borrow::Cow;
use std::sync::{Arc, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tracing::{error, info};

/// What comes of a registration: the name with its token, or what the bot reads instead.
pub type Claimed = Result<Claim, Box<Error>>;

fn refuse<T>(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Result<T, Box<Error>> {
    Err(Box::new(Error::new(code, message)))
}

impl Hall {
    /// Begins to register the name of a hello from `origin`. What it comes to is the store's, which takes its time and holds no
    /// lock; who no longer waits for it then has the registration taken back.
    ///
    /// # Errors
    /// What the bot reads where it cannot begin.
    pub fn register(self: &Arc<Self>, origin: Origin, hello: &Hello) -> Result<oneshot::Receiver<Claimed>, Box<Error>> {
        let begun = self.may_register(origin, hello);
        let name = begun.inspect_err(|error| {
            let limited = error.code == ErrorCode::RateLimited;
            let outcome = if limited { Registration::Limited } else { Registration::Refused };
            self.metrics().registration(outcome);
        })?;
        let (tell, told) = oneshot::channel();
        let (hall, resume) = (Arc::clone(self), hello.resume.clone());
        tokio::spawn(async move {
            let is_free = |name: &BotName| hall.make_way(name, resume.as_ref());
            let (accounts, metrics) = (Arc::clone(&hall.accounts), Arc::clone(hall.metrics()));
            let claim = Claim::make(accounts, metrics, name.clone(), is_free).await;
            // A claim that nobody waits for comes back, and is dropped.
            drop(tell.send(claim.map_err(|error| hall.not_registered(origin, &name, &error))));
        });
        Ok(told)
    }

    /// The name that a hello may claim.
    fn may_register(&self, origin: Origin, hello: &Hello) -> Result<BotName, Box<Error>> {
        let current = self.current();
        let name = hello.name.as_ref();
        if name.is_some_and(BotName::is_house) {
            return refuse(ErrorCode::BadName, "names beginning house- belong to the server; choose another");
        }
        if let Some(name) =
            name.filter(|name| self.accounts.owns(name) || !self.lock().is_free(name, hello.resume.as_ref()))
        {
            return Err(taken(name));
        }
        if !current.registration {
            return refuse(
                ErrorCode::RegistrationClosed,
                "this host registers no bots over the wire; ask the host for a name and a token",
            );
        }
        let Some(name) = name else {
            let error = Error::new(ErrorCode::BadField, "name is missing; register claims the name of the same hello");
            return Err(Box::new(Error { field: Some("name".into()), ..error }));
        };
        let (most, mut attempts) = (current.limits.registrations_per_hour, self.attempts());
        if attempts.registrations.is_full(origin, most, now()) {
            let message = format!("{most} names were registered from your address within an hour; register fewer");
            return refuse(ErrorCode::RateLimited, message);
        }
        // Noted before it is done: of many at once no more may begin.
        attempts.registrations.note(origin, now());
        Ok(name.clone())
    }

    fn not_registered(&self, origin: Origin, name: &BotName, why: &AccountError) -> Box<Error> {
        self.attempts().registrations.take_back(origin);
        let (outcome, told) = match why {
            AccountError::Taken(_) | AccountError::InUse(_) | AccountError::House | AccountError::Unknown(_) => {
                info!(bot = %name, %why, "not registered");
                (Registration::Refused, taken(name))
            }
            AccountError::Full | AccountError::Chance(_) | AccountError::Store(_) => {
                error!(bot = %name, %why, "not registered");
                (Registration::Failed, not_stored())
            }
        };
        self.metrics().registration(outcome);
        told
    }

    /// A token from `origin` was wrong, and that is the `error`; the one that its bot reads (`limits.failed-logins`).
    pub fn login_failed(&self, origin: Origin, error: Box<Error>) -> Box<Error> {
        let (most, now) = (self.current().limits.failed_logins_per_minute, now());
        let failed = &mut self.attempts().failed_logins;
        if !failed.is_full(origin, most, now) {
            self.metrics().login_refused(Login::Wrong);
            failed.note(origin, now);
            return error;
        }
        self.metrics().login_refused(Login::Limited);
        let message =
            format!("{most} wrong tokens came from your address within a minute; see that yours is right, and wait");
        Box::new(Error::new(ErrorCode::RateLimited, message))
    }

    /// Makes way for a new owner of a name that nobody owns: whether no guest is here by it but the one who has `resume`, and
    /// no game runs of whoever had it. Then what was known of him is forgotten.
    #[must_use]
    pub fn make_way(&self, name: &BotName, resume: Option<&Secret>) -> bool {
        self.change(|state| {
            let free = state.is_free(name, resume);
            if free {
                self.replace(state, name);
                state.bots.remove(name);
                self.referee.forget(name);
            }
            free
        })
    }

    fn attempts(&self) -> MutexGuard<'_, Attempts> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether somebody may own the name that nobody does.
    fn is_free(&self, name: &BotName, resume: Option<&Secret>) -> bool {
        let plays = self.bots.get(name).is_some_and(|bot| !bot.tables().is_empty());
        let own = resume.is_some_and(|token| self.recognise_guest(Some(name), token).is_some());
        !plays && (own || !self.lobby.is_guest(name))
    }
}

/// What a bot reads whose name another has.
pub(super) fn taken(name: &BotName) -> Box<Error> {
    let advice = "choose another, or none; who played by it comes back with its token or resume token";
    Box::new(Error::new(ErrorCode::NameTaken, format!("the name '{name}' is in use; {advice}")))
}

/// What a bot reads whose registration the disk has not taken, or not in time.
pub fn not_stored() -> Box<Error> {
    let message = "the name could not be stored, and is not registered; the host's log tells why: try again later";
    Box::new(Error::new(ErrorCode::Internal, message))
}
