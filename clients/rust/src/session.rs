//! A player and its present connection, without the socket: bytes in, bytes out. Both clients are loops around it.

use crate::player::{Moment, Player};
use crate::settings::{Encryption, Heard, Settled};
use crate::{Decoder, Ended, Error, encode};
use modiar_protocol::limits::{GOODBYE, WRITE_DEADLINE};
use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

/// How long a connection may take to be made.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);
/// How long a write may make no progress.
pub(crate) const WRITE: Duration = WRITE_DEADLINE;
/// The cause where that is over.
pub(crate) const NOT_READ: &str = "the server has read nothing for 10 s";
/// How long the server may take for its last lines: after bye, and after games were resigned.
pub(crate) const CLOSE: Duration = GOODBYE;
pub(crate) const LEAVE: Duration = Duration::from_secs(2);
/// Bytes that are read at once.
pub(crate) const READ_BYTES: usize = 16 * 1024;

/// What the answer of a port that speaks TLS to one who does not begins with; no line does.
const TLS_ALERT: u8 = 0x15;

/// One bot's dealings with one server.
pub(crate) struct Session {
    pub(crate) player: Player,
    pub(crate) address: (String, u16),
    pub(crate) strict: bool,
    log: crate::log::Log,
    encryption: Encryption,
    link: Option<Link>,
    /// Before this no new connection is made.
    pub(crate) back_at: Instant,
}

/// A connection, without the socket.
struct Link {
    decoder: Decoder,
    cipher: Cipher,
    out: Vec<u8>,
    fresh: bool,
}

enum Cipher {
    None,
    #[cfg(feature = "tls")]
    Tls(crate::tls::Cipher),
}

impl Session {
    /// Nothing is connected yet; and who hears of games that ended.
    pub(crate) fn new(settings: Settled) -> (Self, Option<Heard>) {
        let player = Player::new(&settings);
        let Settled { host, port, encryption, strict, log, ended, .. } = settings;
        let back_at = Instant::now();
        (Self { player, address: (host, port), strict, log, encryption, link: None, back_at }, ended)
    }

    /// The socket stands.
    pub(crate) fn connected(&mut self) -> Result<(), Error> {
        let cipher = match &self.encryption {
            Encryption::None => Cipher::None,
            #[cfg(feature = "tls")]
            Encryption::Tls(trust) => Cipher::Tls(trust.cipher()?),
        };
        let decoder = Decoder::with_log(self.log.clone());
        self.link = Some(Link { decoder, cipher, out: Vec::new(), fresh: true });
        self.player.open(Instant::now());
        Ok(())
    }

    /// The socket is gone, or could not be made: when to make the next is in `back_at`. `cause` is none where the server
    /// closed it.
    ///
    /// # Errors
    /// There is nothing to come back for.
    pub(crate) fn lost(&mut self, cause: Option<&str>) -> Result<(), Error> {
        self.link = None;
        let chance = RandomState::new().hash_one(0);
        let now = Instant::now();
        self.back_at = now + self.player.lost(cause, now, chance)?;
        Ok(())
    }

    /// Bytes came; none are the end. The error tells why the connection is of no more use, as `lost` takes it.
    pub(crate) fn received(&mut self, bytes: &[u8]) -> Result<(), Option<String>> {
        let now = Moment::now();
        let Some(link) = self.link.as_mut().filter(|_| !bytes.is_empty()) else { return Err(None) };
        for message in link.receive(bytes)? {
            self.player.hear(message, now);
        }
        Ok(())
    }

    /// What has to be written next; taken from it is what was. The error is as that of `received`.
    pub(crate) fn outgoing(&mut self) -> Result<&mut Vec<u8>, Option<String>> {
        let link = self.link.as_mut().ok_or(None)?;
        for message in std::mem::take(&mut self.player.out) {
            link.say(&encode(&message))?;
        }
        link.seal()?;
        Ok(&mut link.out)
    }

    /// Takes the ends that nobody was told of.
    pub(crate) fn ends(&mut self) -> Vec<Ended> {
        std::mem::take(&mut self.player.ends)
    }

    pub(crate) fn log(&self) -> &crate::log::Log {
        &self.log
    }
}

impl Link {
    fn receive(&mut self, bytes: &[u8]) -> Result<Vec<modiar_protocol::ServerMessage>, String> {
        let fresh = std::mem::replace(&mut self.fresh, false);
        let heard = match &mut self.cipher {
            Cipher::None if fresh && bytes.starts_with(&[TLS_ALERT]) => {
                return Err("the port may speak TLS; set MODIAR_TLS=1".to_owned());
            }
            Cipher::None => self.decoder.feed(bytes),
            #[cfg(feature = "tls")]
            Cipher::Tls(cipher) => self.decoder.feed(&cipher.open(bytes)?),
        };
        heard.map_err(|error| error.to_string())
    }

    fn say(&mut self, line: &[u8]) -> Result<(), String> {
        match &mut self.cipher {
            Cipher::None => self.out.extend_from_slice(line),
            #[cfg(feature = "tls")]
            Cipher::Tls(cipher) => cipher.say(line)?,
        }
        Ok(())
    }

    /// Brings what the cipher has to say, its handshake too, to `out`.
    fn seal(&mut self) -> Result<(), String> {
        match &mut self.cipher {
            Cipher::None => Ok(()),
            #[cfg(feature = "tls")]
            Cipher::Tls(cipher) => cipher.seal(&mut self.out),
        }
    }
}
