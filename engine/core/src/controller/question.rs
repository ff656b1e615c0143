//! From a request to the bytes to send, and over which transport.

use crate::identity::BatchId;
use crate::limits::{CANDIDATES_MAX, LOOKUP_BYTES_MAX};
use crate::wire::lookup::{Candidates, IdRange, LookupError, LookupRequest, PREFIX_BYTES};
use crate::wire::mac::{MacKey, Seal};
use crate::wire::predicate;

/// Which socket a question goes to; the port is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// UDP: one datagram each way.
    Datagram,
    /// TCP: the bytes begin with the length prefix.
    Stream,
}

/// A question that the node will accept, ready to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// How.
    pub transport: Transport,
    /// What, as it is.
    pub bytes: Vec<u8>,
}

/// Encodes a request: padded to the length of its reply where that fits a datagram of
/// `datagram_bytes_max` bytes (`DATAGRAM_BYTES_MAX`, or the value for IPv6), else for TCP.
/// An error says which limit the request breaks; the answer is then to read every batch.
pub fn question(
    request: &LookupRequest,
    datagram_bytes_max: usize,
) -> Result<Question, LookupError> {
    let encode = |bytes: &mut Vec<u8>, pad| request.encode(bytes, pad);
    encoded(request, datagram_bytes_max, encode).map(|(question, ())| question)
}

/// The same, sealed with `key`, for nodes that answer to holders of keys. The reply is checked
/// with [`super::check_keyed_reply`] against the seal.
pub fn keyed_question(
    request: &LookupRequest,
    datagram_bytes_max: usize,
    key: &MacKey,
) -> Result<(Question, Seal), LookupError> {
    let encode = |bytes: &mut Vec<u8>, pad| request.encode_keyed(bytes, pad, key);
    encoded(request, datagram_bytes_max, encode)
}

/// The question, and what `encode` returned for the bytes that it holds.
fn encoded<T>(
    request: &LookupRequest,
    datagram_bytes_max: usize,
    encode: impl Fn(&mut Vec<u8>, bool) -> T,
) -> Result<(Question, T), LookupError> {
    check_candidates(&request.candidates)?;
    predicate::check(&request.predicate)?;
    let mut bytes = Vec::new();
    let padded = encode(&mut bytes, true);
    if bytes.len() <= datagram_bytes_max {
        return Ok((Question { transport: Transport::Datagram, bytes }, padded));
    }
    bytes.clear();
    bytes.resize(PREFIX_BYTES, 0);
    let bare = encode(&mut bytes, false);
    let message_bytes = bytes.len() - PREFIX_BYTES;
    if message_bytes > LOOKUP_BYTES_MAX {
        return Err(LookupError::Length);
    }
    bytes[..PREFIX_BYTES].copy_from_slice(&(message_bytes as u32).to_le_bytes());
    Ok((Question { transport: Transport::Stream, bytes }, bare))
}

fn check_candidates(candidates: &Candidates) -> Result<(), LookupError> {
    if candidates.len() > CANDIDATES_MAX {
        return Err(LookupError::Limit);
    }
    let fits = |first: BatchId, count: u32| first.checked_add(u64::from(count)).is_some();
    let all_fit = match candidates {
        Candidates::Range { first, count } => fits(*first, *count),
        Candidates::Ranges(ranges) => {
            ranges.iter().all(|IdRange { first, count }| fits(*first, *count))
        }
        Candidates::List(_) => true,
    };
    if all_fit { Ok(()) } else { Err(LookupError::Candidates) }
}

#[cfg(test)]
mod tests;
