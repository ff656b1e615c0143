//! The lookup request and its reply: the same bytes over UDP (one datagram) and TCP (length
//! prefix of four bytes).
//!
//! Hot path: one allocation per list that a message really carries, no lock, no syscall. Every
//! count is compared with its limit and with the bytes present before memory is reserved for it.
//! A reply to n candidates is [`reply_bytes`]`(n)` long; the bare "too short" is no longer than
//! any request, so that over UDP no reply need be longer than its request. A keyed message ends
//! with a seal before its CRC, and so does its answer: both are longer by the same bytes.

mod candidates;
mod keyed;
mod reply;
mod request;

pub use candidates::{Candidates, IdRange};
pub use keyed::{authenticate_reply, authenticate_request, is_keyed};
pub use reply::{LookupReply, LookupStatus, REPLY_BYTES_MIN, reply_bytes};
pub use request::{LookupRequest, REQUEST_BYTES_MIN};

use super::cursor::{Reader, Short, Writer};
use super::mac::{self, Context, KEYED, MacKey, SEAL_BYTES, Seal};
use crate::limits::LOOKUP_BYTES_MAX;

/// First four bytes of every lookup message.
pub const MAGIC: [u8; 4] = *b"BRFL";
/// Version of the layout.
pub const VERSION: u8 = 1;
/// Bytes of the length that precedes a message over TCP.
pub const PREFIX_BYTES: usize = 4;

const REQUEST: u8 = 0x00;
const REPLY: u8 = 0x80;
const FLAGS_AT: usize = 7;
const CRC_BYTES: usize = 4;

/// Why a lookup message was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LookupError {
    /// Shorter or longer than it says, or longer than `LOOKUP_BYTES_MAX`.
    Length,
    /// Not ours.
    Magic,
    /// A version, flag, float order or status that this build does not speak.
    Version,
    /// CRC32C does not match.
    Checksum,
    /// A reply where a request was expected, or the reverse.
    Direction,
    /// A count above its limit, or above what the bytes of the message can hold.
    Limit,
    /// A candidate range past the last id, or a malformed list.
    Candidates,
    /// A malformed predicate.
    Predicate,
}

impl From<Short> for LookupError {
    fn from(Short: Short) -> Self {
        Self::Length
    }
}

/// Checks the length prefix of a message over TCP, before anything is buffered for it.
pub fn message_bytes(prefix: [u8; PREFIX_BYTES]) -> Result<usize, LookupError> {
    let bytes = u32::from_le_bytes(prefix) as usize;
    if (REPLY_BYTES_MIN..=LOOKUP_BYTES_MAX).contains(&bytes) {
        Ok(bytes)
    } else {
        Err(LookupError::Length)
    }
}

/// Checks what every message has: length, magic, version, direction, and the CRC32C at its end.
/// Returns a reader behind the direction byte, without the CRC and the seal of a keyed message.
fn open(bytes: &[u8], bytes_min: usize, direction: u8) -> Result<Reader<'_>, LookupError> {
    if bytes.len() < CRC_BYTES || bytes.len() > LOOKUP_BYTES_MAX {
        return Err(LookupError::Length);
    }
    let (message, crc) = bytes.split_at(bytes.len() - CRC_BYTES);
    let mut r = Reader::new(message);
    if r.array()? != MAGIC {
        return Err(LookupError::Magic);
    }
    if r.u8()? != VERSION {
        return Err(LookupError::Version);
    }
    if r.u8()? != direction {
        return Err(LookupError::Direction);
    }
    if bytes.len() < bytes_min {
        return Err(LookupError::Length);
    }
    if Reader::new(crc).u32()? != crc32c::crc32c(message) {
        return Err(LookupError::Checksum);
    }
    if is_keyed(message) {
        let body_bytes = r.len().checked_sub(SEAL_BYTES).ok_or(LookupError::Length)?;
        return Ok(Reader::new(r.take(body_bytes)?));
    }
    Ok(r)
}

/// The flags byte of a message, which says whether it is keyed and nothing else.
fn check_flags(flags: u8) -> Result<(), LookupError> {
    if flags & !KEYED == 0 { Ok(()) } else { Err(LookupError::Version) }
}

/// Ends a message with its CRC.
fn finish(mut w: Writer<'_>) {
    let crc = crc32c::crc32c(w.written());
    w.u32(crc);
}

/// Ends a keyed message: seal, then CRC.
fn finish_keyed(mut w: Writer<'_>, key: &MacKey, context: Context) -> Seal {
    let seal = mac::seal(&mut w, key, context);
    finish(w);
    seal
}
