//! The answer: header, bitmap, CRC32C.
//!
//! Hot path: one allocation on parsing, none on encoding into a warm buffer.

use super::{
    CRC_BYTES, LookupError, MAGIC, REPLY, VERSION, check_flags, finish, finish_keyed, open,
};
use crate::limits::CANDIDATES_MAX;
use crate::wire::cursor::{Writer, saturated_u32};
use crate::wire::mac::{Context, KEYED, MacKey, Seal};

const HEADER_BYTES: usize = 44;

/// Bytes of a reply without a bitmap.
pub const REPLY_BYTES_MIN: usize = HEADER_BYTES + CRC_BYTES;

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

/// Bytes of a reply to `candidates` candidates.
#[must_use]
pub fn reply_bytes(candidates: usize) -> usize {
    REPLY_BYTES_MIN + candidates.div_ceil(8)
}

impl LookupReply {
    /// A reply that excludes nothing: every candidate reads "no filter".
    #[must_use]
    pub fn nothing_excluded(query_id: u64, status: LookupStatus, candidates: usize) -> Self {
        LookupReply {
            query_id,
            status,
            candidates: saturated_u32(candidates),
            evaluated: 0,
            no_filter: saturated_u32(candidates),
            excluded_zone_map: 0,
            excluded_filter: 0,
            micros: 0,
            excluded: vec![0; bitmap_bytes(status, candidates)],
        }
    }

    /// Appends the reply.
    ///
    /// # Panics
    /// Where the bitmap's length does not follow from status and candidates: our own mistake.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut w = Writer::new(out);
        self.encode_body(&mut w, 0);
        finish(w);
    }

    /// Appends the reply to a request that `key` sealed with `request`.
    ///
    /// # Panics
    /// As [`LookupReply::encode`].
    pub fn encode_keyed(&self, out: &mut Vec<u8>, key: &MacKey, request: Seal) {
        let mut w = Writer::new(out);
        self.encode_body(&mut w, KEYED);
        finish_keyed(w, key, Context::Answer(request));
    }

    fn encode_body(&self, w: &mut Writer<'_>, flags: u8) {
        let wanted = bitmap_bytes(self.status, self.candidates as usize);
        assert_eq!(self.excluded.len(), wanted, "bitmap of another question");
        w.bytes(&MAGIC);
        w.u8(VERSION);
        w.u8(REPLY);
        w.u8(status_code(self.status));
        w.u8(flags);
        w.u64(self.query_id);
        w.u32(self.candidates);
        w.u32(self.evaluated);
        w.u32(self.no_filter);
        w.u32(self.excluded_zone_map);
        w.u32(self.excluded_filter);
        w.u32(self.micros);
        w.u32(saturated_u32(self.excluded.len()));
        debug_assert_eq!(w.len(), HEADER_BYTES);
        w.bytes(&self.excluded);
    }

    /// Parses a whole message. Whether it fits a question is for the asker to check
    /// ([`crate::controller::check_reply`]).
    pub fn parse(bytes: &[u8]) -> Result<Self, LookupError> {
        let mut r = open(bytes, REPLY_BYTES_MIN, REPLY)?;
        let status = status_of(r.u8()?).ok_or(LookupError::Version)?;
        check_flags(r.u8()?)?;
        let query_id = r.u64()?;
        let candidates = r.u32()?;
        let evaluated = r.u32()?;
        let no_filter = r.u32()?;
        let excluded_zone_map = r.u32()?;
        let excluded_filter = r.u32()?;
        let micros = r.u32()?;
        let stated = r.u32()? as usize;
        if candidates as usize > CANDIDATES_MAX {
            return Err(LookupError::Limit);
        }
        let bitmap = r.rest();
        if bitmap.len() != stated || stated != bitmap_bytes(status, candidates as usize) {
            return Err(LookupError::Length);
        }
        Ok(LookupReply {
            query_id,
            status,
            candidates,
            evaluated,
            no_filter,
            excluded_zone_map,
            excluded_filter,
            micros,
            excluded: bitmap.to_vec(),
        })
    }

    /// Whether the i-th candidate is excluded.
    #[must_use]
    pub fn is_excluded(&self, i: usize) -> bool {
        self.excluded.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 == 1)
    }
}

fn bitmap_bytes(status: LookupStatus, candidates: usize) -> usize {
    match status {
        LookupStatus::TooShort => 0,
        _ => candidates.div_ceil(8),
    }
}

fn status_code(status: LookupStatus) -> u8 {
    match status {
        LookupStatus::Ok => 0,
        LookupStatus::TimedOut => 1,
        LookupStatus::OtherSchema => 2,
        LookupStatus::TooShort => 3,
        LookupStatus::NotReady => 4,
    }
}

fn status_of(code: u8) -> Option<LookupStatus> {
    match code {
        0 => Some(LookupStatus::Ok),
        1 => Some(LookupStatus::TimedOut),
        2 => Some(LookupStatus::OtherSchema),
        3 => Some(LookupStatus::TooShort),
        4 => Some(LookupStatus::NotReady),
        _ => None,
    }
}
