//! What the unit tests of the controller share.

use crate::identity::{ClusterId, Fingerprint};
use crate::predicate::{FloatOrder, Predicate};
use crate::wire::lookup::{Candidates, LookupRequest};

/// Query 5 about `candidates`.
pub(super) fn request(candidates: Candidates) -> LookupRequest {
    LookupRequest {
        query_id: 5,
        cluster: ClusterId(1),
        fingerprint: Fingerprint(2),
        budget_us: 0,
        float_order: FloatOrder::Unstated,
        candidates,
        predicate: Predicate::IsNull { column: 0 },
    }
}
