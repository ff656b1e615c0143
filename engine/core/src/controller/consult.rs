//! Judging a reply: what cannot be checked is not used.

use crate::identity::BatchId;
use crate::wire::lookup::{LookupReply, LookupRequest, LookupStatus, authenticate_reply};
use crate::wire::mac::{MacKey, Seal};

/// Why a reply cannot be used: every batch is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unusable {
    /// No answer within the budget.
    Timeout,
    /// The question breaks a limit: it was not sent.
    Question,
    /// Not a reply.
    Malformed,
    /// Of another question.
    OtherQuestion,
    /// Counts or bitmap do not fit the question.
    Inconsistent,
    /// The node said that it cannot help.
    Status,
    /// The question was sealed, and the reply is not sealed by a holder of the same key, for this
    /// question: forged, replayed, or of a node that has other keys.
    Forged,
}

/// A checked answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consultation {
    /// Excluded batches, in the order asked. A subset of what was asked.
    pub excluded: Vec<BatchId>,
    /// As the node counted.
    pub excluded_zone_map: u32,
    /// As the node counted.
    pub excluded_filter: u32,
    /// Candidates without a usable filter.
    pub no_filter: u32,
    /// Time inside the node, microseconds.
    pub micros: u32,
    /// The node ran out of time: what it had not looked at reads "found".
    pub timed_out: bool,
}

/// Checks reply bytes against the request they should answer.
///
/// The excluded ids are taken from the request, never from the reply, so that no reply can name a
/// batch that was not asked about.
pub fn check_reply(request: &LookupRequest, reply: &[u8]) -> Result<Consultation, Unusable> {
    let reply = LookupReply::parse(reply).map_err(|_| Unusable::Malformed)?;
    if reply.query_id != request.query_id {
        return Err(Unusable::OtherQuestion);
    }
    let timed_out = match reply.status {
        LookupStatus::Ok => false,
        LookupStatus::TimedOut => true,
        _ => return Err(Unusable::Status),
    };
    if !counts_agree(&reply, request.candidates.len()) {
        return Err(Unusable::Inconsistent);
    }
    let asked = request.candidates.iter().enumerate();
    let excluded = asked.filter(|(i, _)| reply.is_excluded(*i)).map(|(_, id)| id).collect();
    Ok(Consultation {
        excluded,
        excluded_zone_map: reply.excluded_zone_map,
        excluded_filter: reply.excluded_filter,
        no_filter: reply.no_filter,
        micros: reply.micros,
        timed_out,
    })
}

/// Checks the reply to a question that `key` sealed with `seal`: who wrote it first, then as
/// [`check_reply`] does.
///
/// An old reply fits no other question, since the tag covers that of the request. To the very
/// same question (equal to the query id) it says what it said: a batch never changes once it is
/// verified, and its id is never used again.
pub fn check_keyed_reply(
    request: &LookupRequest,
    reply: &[u8],
    key: &MacKey,
    seal: Seal,
) -> Result<Consultation, Unusable> {
    authenticate_reply(reply, key, seal).map_err(|_| Unusable::Forged)?;
    check_reply(request, reply)
}

fn counts_agree(reply: &LookupReply, asked: usize) -> bool {
    let sum = |a: u32, b: u32| u64::from(a) + u64::from(b);
    let excluded = sum(reply.excluded_zone_map, reply.excluded_filter);
    let set_bits: u64 = reply.excluded.iter().map(|b| u64::from(b.count_ones())).sum();
    // Bits past the last candidate are no candidate's: they must be zero.
    let last = reply.excluded.last().copied().unwrap_or(0);
    let past_the_end = if asked.is_multiple_of(8) { 0 } else { last >> (asked % 8) };
    reply.candidates as usize == asked
        && reply.excluded.len() == asked.div_ceil(8)
        && past_the_end == 0
        && sum(reply.evaluated, reply.no_filter) == asked as u64
        && excluded == set_bits
        && excluded <= u64::from(reply.evaluated)
}

#[cfg(test)]
mod tests;
