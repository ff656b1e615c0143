//! Whether the seal of a request or reply is right.
//!
//! Hot path: no allocation; one pass over the message, after a few bytes of it were looked at.
//! Asked before the message is parsed, so that nobody without a key has a predicate read.

use super::{CRC_BYTES, FLAGS_AT};
use crate::wire::cursor::Short;
use crate::wire::mac::{self, Context, KEYED, KeyRing, MacError, MacKey, Seal};

/// Whether a message says that it carries a seal.
#[must_use]
pub fn is_keyed(message: &[u8]) -> bool {
    message.get(FLAGS_AT).is_some_and(|flags| flags & KEYED != 0)
}

/// The seal of a whole request, if it is that of a known key.
pub fn authenticate_request(message: &[u8], keys: &KeyRing) -> Result<Seal, MacError> {
    let (covered, seal) = split(message)?;
    keys.find(seal.key)?.check(seal, Context::None, &[covered])?;
    Ok(seal)
}

/// Whether `message` is a reply that a holder of `key` wrote to the request that `request` sealed.
pub fn authenticate_reply(message: &[u8], key: &MacKey, request: Seal) -> Result<(), MacError> {
    let (covered, seal) = split(message)?;
    key.check(seal, Context::Answer(request), &[covered])
}

fn split(message: &[u8]) -> Result<(&[u8], Seal), MacError> {
    let end = message.len().checked_sub(CRC_BYTES).filter(|_| is_keyed(message));
    let message = end.and_then(|end| message.get(..end)).ok_or(MacError::Unkeyed)?;
    mac::split(message).map_err(|Short| MacError::Unkeyed)
}
