//! The entries of the journal: a frame of fixed form around a few bytes.
//!
//! ```text
//! crc u32 | length u16 | kind u8 | payload        all little-endian; crc over all that follows it
//! ```
//!
//! An opening is JSON, for it is rare and has texts; a ply is binary, for it is neither.

use crate::clock::Micros;
use jiff::Timestamp;
use modiar_protocol::{BotName, GameId, GameRules, TimeControl};
use modiar_rules::{BySide, Pit, Side};
use serde::{Deserialize, Serialize};

/// The bytes before a payload.
pub(super) const FRAME: usize = 7;
/// The kind of a ply's entry, the size of its payload and of all of it, in bytes.
const PLY: u8 = 2;
const PLY_PAYLOAD: u16 = 25;
pub(super) const PLY_BYTES: usize = FRAME + PLY_PAYLOAD as usize;
/// The largest payload: an opening with two long names and versions is far below it.
const MOST: usize = u16::MAX as usize;

/// A game's number in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Slot(pub u64);

/// A game as it began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// Its number.
    pub slot: Slot,
    /// Its id.
    pub game: GameId,
    /// The pool's name.
    pub pool: String,
    /// The time control.
    pub time: TimeControl,
    /// The rules.
    pub rules: GameRules,
    /// Whether it counts.
    pub rated: bool,
    /// The pits played for the bots.
    pub opening: String,
    /// South and North.
    pub seats: [SavedSeat; 2],
    /// When.
    pub started: Timestamp,
}

/// A bot at a game, as it comes back after a restart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSeat {
    /// Its name.
    pub name: BotName,
    /// The hash of a guest's resume token; a registered bot has its token.
    pub resume: Option<String>,
    /// Its build.
    pub version: Option<String>,
}

impl SavedSeat {
    /// Whether the bot has an account.
    #[must_use]
    pub fn is_registered(&self) -> bool {
        self.resume.is_none() && !self.name.is_house()
    }
}

/// A ply as it was accepted. What it was charged follows from the time control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedPly {
    /// The pit.
    pub pit: Pit,
    /// From the turn's writing to the arrival, own delay taken off.
    pub elapsed: Micros,
    /// The own delay.
    pub own: Micros,
}

/// One entry. The large one is rare, and none is kept.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A game begins.
    Opened(Box<Opening>),
    /// A ply stands.
    Ply(Slot, SavedPly),
    /// An illegal pit of a side was forgiven.
    Forgiven(Slot, Side),
    /// The game's result is stored.
    Over(Slot),
    /// Everything before this place of the segment is on the disk.
    Synced(u64),
    /// The daemon stopped in order.
    Stopped,
    /// The games follow that ran at a start; whatever stands before is void.
    Snapshot,
    /// Power failed while the games so far ran: what was told of them may be gone.
    Lost,
    /// The journal goes on in the next segment.
    Continued,
    /// The game runs as this segment begins.
    Runs(Slot),
    /// The bot of a side is no longer who has its name: nobody is to hear of the game there.
    Disowned(Slot, Side),
}

impl Entry {
    /// Appends the entry to `out`.
    ///
    /// # Errors
    /// An opening that is too large.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        framed(out, |out| self.write_payload(out))
    }

    fn write_payload(&self, out: &mut Vec<u8>) -> Result<u8, serde_json::Error> {
        let mut number = |number: u64| out.extend_from_slice(&number.to_le_bytes());
        Ok(match self {
            Self::Opened(opening) => write_opening_payload(opening, out)?,
            Self::Ply(slot, ply) => {
                out.extend_from_slice(&ply_payload(*slot, ply));
                PLY
            }
            Self::Forgiven(Slot(slot), side) => {
                number(*slot);
                out.push(side_byte(*side));
                3
            }
            Self::Over(Slot(slot)) => {
                number(*slot);
                4
            }
            Self::Synced(length) => {
                number(*length);
                5
            }
            Self::Stopped => 6,
            Self::Snapshot => 7,
            Self::Lost => 8,
            Self::Continued => 9,
            Self::Runs(Slot(slot)) => {
                number(*slot);
                10
            }
            Self::Disowned(Slot(slot), side) => {
                number(*slot);
                out.push(side_byte(*side));
                11
            }
        })
    }

    /// Reads the entry at the front of `bytes` and tells how long it is; `None` where there is none that is whole.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let (frame, rest) = bytes.split_at_checked(FRAME)?;
        let crc = u32::from_le_bytes(frame[..4].try_into().ok()?);
        let length = usize::from(u16::from_le_bytes(frame[4..6].try_into().ok()?));
        let payload = rest.get(..length)?;
        let whole = &bytes[4..FRAME + length];
        // Preallocated space is zeroes, whose checksum would not be zero: no special case.
        if crc32fast::hash(whole) != crc {
            return None;
        }
        Some((Self::read_payload(frame[6], payload)?, FRAME + length))
    }

    fn read_payload(kind: u8, payload: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u64::from_le_bytes(payload.get(at..at + 8)?.try_into().ok()?));
        Some(match kind {
            1 => Self::Opened(serde_json::from_slice(payload).ok()?),
            PLY => {
                let ply = SavedPly {
                    pit: Pit::new(*payload.get(24)?)?,
                    elapsed: Micros(number(8)?),
                    own: Micros(number(16)?),
                };
                Self::Ply(Slot(number(0)?), ply)
            }
            3 => Self::Forgiven(Slot(number(0)?), side_of(*payload.get(8)?)),
            4 => Self::Over(Slot(number(0)?)),
            5 => Self::Synced(number(0)?),
            6 => Self::Stopped,
            7 => Self::Snapshot,
            8 => Self::Lost,
            9 => Self::Continued,
            10 => Self::Runs(Slot(number(0)?)),
            11 => Self::Disowned(Slot(number(0)?), side_of(*payload.get(8)?)),
            _ => return None,
        })
    }
}

fn side_byte(side: Side) -> u8 {
    u8::from(side == Side::North)
}

const fn side_of(byte: u8) -> Side {
    if byte == 1 { Side::North } else { Side::South }
}

/// A ply's entry, whole: it comes so often that it is made before the journal is locked, and without allocating.
pub(super) fn ply_bytes(slot: Slot, ply: &SavedPly) -> [u8; PLY_BYTES] {
    let mut bytes = [0; PLY_BYTES];
    bytes[FRAME..].copy_from_slice(&ply_payload(slot, ply));
    seal(&mut bytes, PLY, PLY_PAYLOAD);
    bytes
}

fn ply_payload(Slot(slot): Slot, ply: &SavedPly) -> [u8; PLY_PAYLOAD as usize] {
    let mut payload = [0; PLY_PAYLOAD as usize];
    payload[..8].copy_from_slice(&slot.to_le_bytes());
    payload[8..16].copy_from_slice(&ply.elapsed.0.to_le_bytes());
    payload[16..24].copy_from_slice(&ply.own.0.to_le_bytes());
    payload[24] = ply.pit.index();
    payload
}

/// Fills in the frame before a payload.
fn seal(entry: &mut [u8], kind: u8, length: u16) {
    entry[4..6].copy_from_slice(&length.to_le_bytes());
    entry[6] = kind;
    let crc = crc32fast::hash(&entry[4..]);
    entry[..4].copy_from_slice(&crc.to_le_bytes());
}

/// Appends an [`Entry::Opened`] to `out` without having one: openings have many texts.
///
/// # Errors
/// It is too large.
pub(super) fn write_opening(opening: &Opening, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    framed(out, |out| write_opening_payload(opening, out))
}

fn write_opening_payload(opening: &Opening, out: &mut Vec<u8>) -> Result<u8, serde_json::Error> {
    serde_json::to_writer(out, opening)?;
    Ok(1)
}

/// Appends the frame around what `write` appends; that tells its kind.
fn framed(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<u8, serde_json::Error>,
) -> Result<(), serde_json::Error> {
    let start = out.len();
    out.extend_from_slice(&[0; FRAME]);
    let kind = write(out)?;
    let length = out.len() - start - FRAME;
    let Ok(length) = u16::try_from(length) else {
        out.truncate(start);
        return Err(serde::ser::Error::custom(format_args!("an entry of {length} bytes is above {MOST}")));
    };
    seal(&mut out[start..], kind, length);
    Ok(())
}

/// A game that was running, as the journal has it.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedGame {
    /// How it began.
    pub opening: Opening,
    /// What was played after its opening.
    pub plies: Vec<SavedPly>,
    /// Illegal pits forgiven.
    pub forgiven: BySide<u16>,
    /// Whose bot is no longer who has its name.
    pub disowned: BySide<bool>,
    /// Power failed since: what was told may be gone.
    pub lost: bool,
}
