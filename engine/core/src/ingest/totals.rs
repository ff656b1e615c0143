//! The totals of a batch as its CLOSE frame states them, in fixed memory.
//!
//! Hot path: no allocation; a copy of at most `LANES_MAX` totals per CLOSE frame.

use crate::limits::LANES_MAX;
use crate::verify::HashAlgorithm;
use crate::wire::frame::LaneTotal;

/// What a CLOSE frame says. Two of one batch must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchTotals {
    hash: HashAlgorithm,
    lanes: u8,
    totals: [LaneTotal; LANES_MAX],
}

impl BatchTotals {
    /// Totals in lane order; any past `LANES_MAX` are cut off (a parsed frame has none).
    #[must_use]
    pub fn new(hash: HashAlgorithm, lanes: impl Iterator<Item = LaneTotal>) -> Self {
        let mut out = BatchTotals { hash, lanes: 0, totals: [LaneTotal::default(); LANES_MAX] };
        for (slot, total) in out.totals.iter_mut().zip(lanes) {
            *slot = total;
            out.lanes += 1;
        }
        out
    }

    /// Elected hash.
    #[must_use]
    pub fn hash(&self) -> HashAlgorithm {
        self.hash
    }

    /// Number of lanes.
    #[must_use]
    pub fn lanes(&self) -> u8 {
        self.lanes
    }

    /// Totals in lane order.
    #[must_use]
    pub fn per_lane(&self) -> &[LaneTotal] {
        &self.totals[..usize::from(self.lanes)]
    }

    /// DATA frames of all lanes.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.per_lane().iter().map(|t| u64::from(t.frames)).sum()
    }

    /// Records of all lanes; saturates, for what a sender may claim.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.per_lane().iter().fold(0, |sum, t| sum.saturating_add(t.records))
    }
}
