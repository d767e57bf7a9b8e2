//! TLS, without the socket: bytes go through it on their way between the socket and the lines (`transport.tls`).

use crate::Error;
use crate::settings::wrong;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, InvalidMessage, RootCertStore};
use std::io::{ErrorKind, Read as _, Write as _};
use std::sync::Arc;

/// Where systems keep the certificates that they trust.
const SYSTEM: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
];

/// Whom to trust, and who the server has to be.
#[derive(Clone)]
pub(crate) struct Trust {
    config: Arc<ClientConfig>,
    server: ServerName<'static>,
}

impl Trust {
    /// Trusts the certificates of a file, or those of the system.
    pub(crate) fn new(ca: Option<&str>, host: &str) -> Result<Self, Error> {
        let roots = match ca {
            Some(file) => certificates(file)
                .or_else(|fault| wrong("MODIAR_CA", file, &format!("{fault}; name a file of certificates in PEM")))?,
            None => system()?,
        };
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Setting(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        match ServerName::try_from(host.to_owned()) {
            Ok(server) => Ok(Self { config: Arc::new(config), server }),
            Err(_) => wrong("MODIAR_HOST", host, "set it to the name or address that the certificate has"),
        }
    }

    /// The cipher of a new connection.
    pub(crate) fn cipher(&self) -> Result<Cipher, Error> {
        let connection = ClientConnection::new(Arc::clone(&self.config), self.server.clone());
        connection.map(|connection| Cipher(Box::new(connection))).map_err(|error| Error::Setting(error.to_string()))
    }
}

fn certificates(file: &str) -> Result<RootCertStore, String> {
    let text = std::fs::read(file).map_err(|error| error.to_string())?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() { Err("it has no certificate".to_owned()) } else { Ok(roots) }
}

/// A system's file may have certificates that are read no more: those are left out.
fn system() -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    for text in SYSTEM.iter().filter_map(|file| std::fs::read(file).ok()).take(1) {
        roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&text).filter_map(Result::ok));
    }
    if roots.is_empty() {
        return wrong("MODIAR_TLS", "1", "no certificates were found on this system; name a file of them by MODIAR_CA");
    }
    Ok(roots)
}

/// One connection's.
pub(crate) struct Cipher(Box<ClientConnection>);

impl Cipher {
    /// What the bytes say.
    pub(crate) fn open(&mut self, mut bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut plain = Vec::new();
        while !bytes.is_empty() {
            self.0.read_tls(&mut bytes).map_err(|error| error.to_string())?;
            self.0.process_new_packets().map_err(|error| told(&error))?;
            match self.0.reader().read_to_end(&mut plain) {
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.to_string()),
                // All that there is now, or the end, which the socket tells too.
                _ => {}
            }
        }
        Ok(plain)
    }

    /// Takes a line to be sealed.
    pub(crate) fn say(&mut self, line: &[u8]) -> Result<(), String> {
        self.0.writer().write_all(line).map_err(|error| error.to_string())
    }

    /// Appends what is to be written.
    pub(crate) fn seal(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        while self.0.wants_write() {
            self.0.write_tls(out).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

fn told(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the port speaks no TLS; unset MODIAR_TLS and MODIAR_CA".to_owned()
        }
        other => other.to_string(),
    }
}
