//! The question: header, candidates, predicate, padding, CRC32C.
//!
//! Hot path: allocates only the lists and the tree that the message carries.

use super::candidates::Candidates;
use super::reply::{REPLY_BYTES_MIN, reply_bytes};
use super::{
    CRC_BYTES, LookupError, MAGIC, REQUEST, VERSION, check_flags, finish, finish_keyed, open,
};
use crate::identity::{ClusterId, Fingerprint};
use crate::predicate::{FloatOrder, Predicate};
use crate::wire::cursor::{Writer, saturated_u32};
use crate::wire::mac::{Context, KEYED, MacKey, Seal};
use crate::wire::predicate;

const HEADER_BYTES: usize = 64;
const CANDIDATE_BYTES_AT: usize = 52;
const PREDICATE_BYTES_AT: usize = 56;
const PADDING_BYTES_AT: usize = 60;

/// Bytes of the shortest request that can be parsed: no candidates, a predicate of one bare node.
pub const REQUEST_BYTES_MIN: usize = HEADER_BYTES + predicate::NODE_BYTES_MIN + CRC_BYTES;

// A bare TooShort reply fits every request, whatever its padding.
const _: () = assert!(REPLY_BYTES_MIN <= REQUEST_BYTES_MIN);

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

impl LookupRequest {
    /// Appends the request; with `pad`, zero padding up to the length of its reply (UDP).
    ///
    /// A request above the limits is encoded so that every reader refuses it.
    pub fn encode(&self, out: &mut Vec<u8>, pad: bool) {
        let mut w = Writer::new(out);
        self.encode_body(&mut w, pad, 0);
        finish(w);
    }

    /// The same, sealed with `key`. The reply is checked against the seal.
    pub fn encode_keyed(&self, out: &mut Vec<u8>, pad: bool, key: &MacKey) -> Seal {
        let mut w = Writer::new(out);
        self.encode_body(&mut w, pad, KEYED);
        finish_keyed(w, key, Context::None)
    }

    fn encode_body(&self, w: &mut Writer<'_>, pad: bool, flags: u8) {
        w.bytes(&MAGIC);
        w.u8(VERSION);
        w.u8(REQUEST);
        w.u8(float_order_code(self.float_order));
        w.u8(flags);
        w.u64(self.query_id);
        w.u128(self.cluster.0);
        w.u64(self.fingerprint.0);
        w.u32(self.budget_us);
        w.u8(self.candidates.kind());
        w.zeros(3);
        w.u32(saturated_u32(self.candidates.len()));
        w.zeros(12);
        debug_assert_eq!(w.len(), HEADER_BYTES);
        self.candidates.encode(w);
        let candidate_bytes = w.len() - HEADER_BYTES;
        predicate::encode_node(w, &self.predicate);
        let predicate_bytes = w.len() - HEADER_BYTES - candidate_bytes;
        // A seal makes request and reply longer by the same bytes.
        let bare = w.len() + CRC_BYTES;
        let wanted = if pad { reply_bytes(self.candidates.len()) } else { 0 };
        let padding_bytes = wanted.saturating_sub(bare);
        w.zeros(padding_bytes);
        w.patch_u32(CANDIDATE_BYTES_AT, saturated_u32(candidate_bytes));
        w.patch_u32(PREDICATE_BYTES_AT, saturated_u32(predicate_bytes));
        w.patch_u32(PADDING_BYTES_AT, saturated_u32(padding_bytes));
    }

    /// Parses a whole message. Allocates no more than the input warrants: 8 bytes per id, each of
    /// which took a byte at least, and the tree as [`predicate::parse`] states.
    pub fn parse(bytes: &[u8]) -> Result<Self, LookupError> {
        let mut r = open(bytes, REQUEST_BYTES_MIN, REQUEST)?;
        let float_order = float_order_of(r.u8()?).ok_or(LookupError::Version)?;
        check_flags(r.u8()?)?;
        let query_id = r.u64()?;
        let cluster = ClusterId(r.u128()?);
        let fingerprint = Fingerprint(r.u64()?);
        let budget_us = r.u32()?;
        let kind = r.u8()?;
        if r.array()? != [0; 3] {
            return Err(LookupError::Version);
        }
        let count = r.u32()?;
        let candidate_bytes = r.u32()? as usize;
        let predicate_bytes = r.u32()? as usize;
        let padding_bytes = r.u32()? as usize;
        let candidate_section = r.take(candidate_bytes)?;
        let predicate_section = r.take(predicate_bytes)?;
        let padding = r.rest();
        if padding.len() != padding_bytes || padding.iter().any(|b| *b != 0) {
            return Err(LookupError::Length);
        }
        let candidates = Candidates::parse(kind, count, candidate_section)?;
        let predicate = predicate::parse(predicate_section)?;
        Ok(LookupRequest {
            query_id,
            cluster,
            fingerprint,
            budget_us,
            float_order,
            candidates,
            predicate,
        })
    }
}

fn float_order_code(order: FloatOrder) -> u8 {
    match order {
        FloatOrder::Unstated => 0,
        FloatOrder::Ieee => 1,
        FloatOrder::Total => 2,
    }
}

fn float_order_of(code: u8) -> Option<FloatOrder> {
    match code {
        0 => Some(FloatOrder::Unstated),
        1 => Some(FloatOrder::Ieee),
        2 => Some(FloatOrder::Total),
        _ => None,
    }
}
