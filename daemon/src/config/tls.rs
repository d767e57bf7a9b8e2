//! Where the certificate of the bots' port lies.

use serde::Deserialize;
use std::path::PathBuf;

/// A certificate chain and its key, both PEM (`transport.tls`). Read at the start and again at SIGHUP.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The certificate, then those that lead to one the bots know.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl TlsFiles {
    pub(super) fn check(&self) -> Result<(), String> {
        for (key, path) in [("certificate", &self.certificate), ("key", &self.key)] {
            if path.as_os_str().is_empty() {
                return Err(format!("[tls] names no {key}; name both a certificate and its key"));
            }
        }
        Ok(())
    }
}
