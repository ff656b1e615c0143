//! The lookup request and its reply: the same bytes over UDP (one datagram) and TCP (length
//! prefix of four bytes).

use crate::identity::{BatchId, ClusterId, Fingerprint};
use crate::predicate::{FloatOrder, Predicate};

/// The batches a lookup asks about, in the order sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// `first .. first + count`.
    Range {
        /// First id.
        first: BatchId,
        /// Number of ids; `first + count` does not overflow.
        count: u32,
    },
    /// Any ids, any order, duplicates allowed (delta-coded on the wire).
    List(Vec<BatchId>),
}

impl Candidates {
    /// Number of candidates.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Range { count, .. } => *count as usize,
            Self::List(ids) => ids.len(),
        }
    }

    /// True where nothing is asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ids in the order sent.
    pub fn iter(&self) -> impl Iterator<Item = BatchId> + '_ {
        (0..self.len()).map(move |i| match self {
            Self::Range { first, .. } => first + i as u64,
            Self::List(ids) => ids[i],
        })
    }
}

/// One question.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupRequest {
    /// Chosen by the asker; repeated in the reply.
    pub query_id: u64,
    /// Cluster whose batches are meant.
    pub cluster: ClusterId,
    /// Schema that the ordinals refer to.
    pub fingerprint: Fingerprint,
    /// Time allowed inside the node, microseconds; 0: the node's own budget. Never above it.
    pub budget_us: u32,
    /// How the asker orders NaN.
    pub float_order: FloatOrder,
    /// Batches asked about.
    pub candidates: Candidates,
    /// The predicate.
    pub predicate: Predicate,
}

/// How a lookup went as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupStatus {
    /// Every candidate was looked at.
    Ok,
    /// The time budget ran out: the rest reads "found".
    TimedOut,
    /// The schema or cluster is another one: nothing is excluded.
    OtherSchema,
    /// UDP: the request was shorter than its reply would be; nothing is excluded. Pad it.
    TooShort,
    /// The node is not ready: nothing is excluded.
    NotReady,
}

/// One answer. `excluded` bit i (LSB first) is set when the i-th candidate *as sent* cannot match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupReply {
    /// From the request.
    pub query_id: u64,
    /// How it went.
    pub status: LookupStatus,
    /// Candidates asked; `excluded` has `ceil(candidates / 8)` bytes (none for `TooShort`).
    pub candidates: u32,
    /// Candidates with a usable filter.
    pub evaluated: u32,
    /// Candidates without; `evaluated + no_filter == candidates`.
    pub no_filter: u32,
    /// Excluded because the zone map alone settles the whole tree.
    pub excluded_zone_map: u32,
    /// Excluded with the help of a filter.
    pub excluded_filter: u32,
    /// Time used inside the node, microseconds.
    pub micros: u32,
    /// The bitmap.
    pub excluded: Vec<u8>,
}

/// Why a lookup message was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LookupError {
    /// Shorter or longer than it says.
    Length,
    /// Not ours.
    Magic,
    /// A version that this build does not speak.
    Version,
    /// CRC32C does not match.
    Checksum,
    /// A reply where a request was expected, or the reverse.
    Direction,
    /// A count above its limit.
    Limit,
    /// A candidate range past the last id, or a malformed list.
    Candidates,
    /// A malformed predicate.
    Predicate,
}

/// Bytes of a reply to `candidates` candidates.
#[must_use]
pub fn reply_bytes(candidates: usize) -> usize {
    let _ = candidates;
    todo!("wire")
}

impl LookupRequest {
    /// Appends the request; with `pad`, zero padding up to the length of its reply (UDP).
    pub fn encode(&self, out: &mut Vec<u8>, pad: bool) {
        let _ = (out, pad);
        todo!("wire")
    }

    /// Parses a whole message. Allocates no more than the input warrants.
    pub fn parse(bytes: &[u8]) -> Result<Self, LookupError> {
        let _ = bytes;
        todo!("wire")
    }
}

impl LookupReply {
    /// Appends the reply.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let _ = out;
        todo!("wire")
    }

    /// Parses a whole message.
    pub fn parse(bytes: &[u8]) -> Result<Self, LookupError> {
        let _ = bytes;
        todo!("wire")
    }

    /// Whether the i-th candidate is excluded.
    #[must_use]
    pub fn is_excluded(&self, i: usize) -> bool {
        self.excluded.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 == 1)
    }
}
