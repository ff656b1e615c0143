//! Building a lookup and judging its reply.

use crate::identity::BatchId;
use crate::wire::lookup::LookupRequest;

/// `FERMIHDI_BLOOMRF_MODE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The node is not asked.
    Off,
    /// Asked, and its answer only recorded as `would_exclude`.
    #[default]
    Passive,
    /// Excluded batches are not read.
    Active,
}

/// Why a reply cannot be used: every batch is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unusable {
    /// No answer within the budget.
    Timeout,
    /// Not a reply.
    Malformed,
    /// Of another question.
    OtherQuestion,
    /// Counts or bitmap do not fit the question.
    Inconsistent,
    /// The node said that it cannot help.
    Status,
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
}

/// Checks reply bytes against the request they should answer.
pub fn check_reply(request: &LookupRequest, reply: &[u8]) -> Result<Consultation, Unusable> {
    let _ = (request, reply);
    todo!("controller")
}
