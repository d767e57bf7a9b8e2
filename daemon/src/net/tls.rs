//! TLS on the bots' port: the certificate, and one connection's cipher. It does no input or output of its own: bytes go
//! through it on their way between the socket and the lines, so that moments are taken below it (`transport.tls`).

use super::layer::Opened;
use crate::config::TlsFiles;
use crate::metrics::Close;
use anyhow::{Context as _, anyhow, bail};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::{ServerConfig, ServerConnection};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The certificate that new connections are shown.
#[derive(Debug)]
pub struct Certificate {
    current: Mutex<Arc<ServerConfig>>,
}

impl Certificate {
    /// Reads a certificate and its key.
    ///
    /// # Errors
    /// A file that cannot be read, holds no PEM, or does not fit the other.
    pub fn load(files: &TlsFiles) -> anyhow::Result<Self> {
        Ok(Self { current: Mutex::new(read(files)?) })
    }

    /// Shows what `new` shows to the connections to come; those that are there keep what they have.
    pub fn renew(&self, new: Self) {
        let new = new.current.into_inner().unwrap_or_else(PoisonError::into_inner);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = new;
    }

    /// The cipher of a new connection.
    pub(super) fn cipher(&self) -> Result<Cipher, rustls::Error> {
        let config = Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner));
        let mut connection = ServerConnection::new(config)?;
        // What waits is bounded by the outlet: here nothing stays but a refusal said before the handshake is over.
        connection.set_buffer_limit(None);
        Ok(Cipher(connection))
    }
}

/// What the head of a key with a password has.
const ENCRYPTED: &[u8] = b"ENCRYPTED";

fn read(files: &TlsFiles) -> anyhow::Result<Arc<ServerConfig>> {
    let chain = open("certificate", &files.certificate)?;
    let chain = CertificateDer::pem_slice_iter(&chain).collect::<Result<Vec<_>, _>>().unwrap_or_default();
    if chain.is_empty() {
        bail!("{}: it holds no certificate in PEM, or one that is damaged", whole(&files.certificate));
    }
    let key = open("key", &files.key)?;
    if key.windows(ENCRYPTED.len()).any(|part| part == ENCRYPTED) {
        bail!(
            "{}: the key is encrypted, and nobody is asked for its password; name one that is not",
            whole(&files.key)
        );
    }
    let key = PrivateKeyDer::from_pem_slice(&key)
        .map_err(|_| anyhow!("{}: it holds no private key in PEM, or one that is damaged", whole(&files.key)))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .with_context(|| format!("{} and {} do not fit", whole(&files.certificate), whole(&files.key)))?;
    // A bot connects once a day, not once a page.
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(Arc::new(config))
}

/// Reads a file that is one: a pipe or a device would be waited for without end.
fn open(key: &str, path: &Path) -> anyhow::Result<Vec<u8>> {
    let cannot = || format!("{key} = {} cannot be opened", whole(path));
    let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let mut file = opened.with_context(cannot)?;
    if !file.metadata().with_context(cannot)?.is_file() {
        bail!("{key} = {} is no regular file; name one", whole(path));
    }
    let mut text = Vec::new();
    file.read_to_end(&mut text).with_context(cannot)?;
    Ok(text)
}

/// The whole path: a relative one says nothing to who does not know where it is counted from.
fn whole(path: &Path) -> String {
    std::path::absolute(path).as_deref().unwrap_or(path).display().to_string()
}

/// One connection's state of TLS.
#[derive(Debug)]
pub(crate) struct Cipher(ServerConnection);

impl Cipher {
    /// Whether the handshake is not over yet.
    pub(super) fn is_handshaking(&self) -> bool {
        self.0.is_handshaking()
    }

    /// Opens what came from the socket, and lays its text behind `text`. There may be something to [`Self::take`] then.
    pub(super) fn open(&mut self, mut sealed: &[u8], text: &mut Vec<u8>) -> Opened {
        while !sealed.is_empty() {
            if self.0.read_tls(&mut sealed).is_err() {
                return Opened::Broken(Close::Tls);
            }
            let Ok(state) = self.0.process_new_packets() else { return Opened::Broken(Close::Tls) };
            let had = text.len();
            text.resize(had + state.plaintext_bytes_to_read(), 0);
            if self.0.reader().read_exact(&mut text[had..]).is_err() {
                return Opened::Broken(Close::Tls);
            }
            if state.peer_has_closed() {
                return Opened::Closed;
            }
        }
        Opened::Open
    }

    /// Seals these lines; while the handshake goes on they wait for its end.
    pub(super) fn seal(&mut self, lines: &[u8]) -> io::Result<Vec<u8>> {
        self.0.writer().write_all(lines)?;
        self.take()
    }

    /// What the peer is to be sent.
    pub(super) fn take(&mut self) -> io::Result<Vec<u8>> {
        let mut sealed = Vec::new();
        while self.0.wants_write() {
            self.0.write_tls(&mut sealed)?;
        }
        Ok(sealed)
    }

    /// The last that the peer is sent.
    pub(super) fn close(&mut self) -> io::Result<Vec<u8>> {
        self.0.send_close_notify();
        self.take()
    }
}
