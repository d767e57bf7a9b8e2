//! SIGHUP: the configuration is read again, and what can change while the daemon runs does.

use super::place::Place;
use super::serve::{Serve, prepare_openings};
use crate::config::{Config, ConfigError, Difference, Reloadable, Reloaded};
use crate::lobby::Hall;
use crate::metrics::Reading;
use crate::net::Certificate;
use crate::store::DataDir;
use std::sync::Arc;
use tokio::signal::unix::Signal;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

/// What a daemon was started with, and what holds of it.
#[derive(Debug)]
pub(super) struct Reload {
    serve: Serve,
    place: Place,
    /// What holds.
    pub(super) config: Config,
    /// The certificate of the bots' port, where it has one.
    pub(super) certificate: Option<Arc<Certificate>>,
}

impl Reload {
    /// Of a daemon with these flags, which have led to this configuration.
    pub(super) fn new(serve: Serve, place: Place, config: Config, certificate: Option<Certificate>) -> Self {
        Self { serve, place: place.fixed(), config, certificate: certificate.map(Arc::new) }
    }

    /// Reads the same file, the environment and the flags again at every SIGHUP, until `stop`. What cannot be used changes
    /// nothing.
    pub(super) async fn run(mut self, hall: Arc<Hall>, data: DataDir, mut hangup: Signal, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = hangup.recv() => {}
            }
            // A disk that does not answer keeps neither the connections nor the stop waiting.
            let (serve, place) = (self.serve.clone(), self.place.clone());
            let reading = spawn_blocking(move || place.check_file().and_then(|()| serve.configure(&place)));
            let read = tokio::select! {
                () = stop.cancelled() => return,
                read = reading => read,
            };
            let applied = match read {
                Ok(read) => read.and_then(|(config, certificate)| self.apply(&config, certificate, &hall, &data)),
                Err(panic) => Err(ConfigError::Value(panic.to_string())),
            };
            hall.metrics().reload(if applied.is_ok() { Reading::Done } else { Reading::Refused });
            if let Err(error) = applied {
                // As a text, which stays one line.
                let error = error.to_string();
                error!(error, "the configuration cannot be used: nothing is changed, and the old certificate stays");
            }
        }
    }

    fn apply(
        &mut self,
        new: &Config,
        certificate: Option<Certificate>,
        hall: &Arc<Hall>,
        data: &DataDir,
    ) -> Result<(), ConfigError> {
        let Reloaded { config, changed, needs_restart } = self.config.reload(new)?;
        hall.reload(Reloadable::from(&config));
        self.config = config;
        let certificate = match (&self.certificate, certificate) {
            (Some(shown), Some(new)) => {
                shown.renew(new);
                Some("read again")
            }
            _ => None,
        };
        // Those of a pool that is new.
        tokio::spawn(prepare_openings(Arc::clone(hall), data.clone()));
        let (changed, restart) = (listed(&changed), listed(&needs_restart));
        if restart.is_some() {
            warn!(changed, needs_a_restart = restart, certificate, "the configuration was read again");
        } else {
            info!(changed, certificate, "the configuration was read again");
        }
        Ok(())
    }
}

/// Keys with their old and new values, none where there are none.
fn listed(differences: &[Difference]) -> Option<String> {
    let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}
