//! Why a batch is excluded, or why not.

use super::NoOpinion;
use crate::identity::BatchId;

/// The outcome for one candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The zone map alone settles the tree.
    ExcludedZoneMap,
    /// A filter proved absence.
    ExcludedFilter,
    /// Evaluated, and something may match.
    MayMatch,
    /// Not excluded for want of an opinion.
    NoOpinion(NoOpinion),
}

/// One candidate, explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchExplain {
    /// Batch.
    pub batch: BatchId,
    /// Outcome.
    pub outcome: Outcome,
    /// One line per leaf: the leaf as WHERE text, and what zone map and filter said.
    pub leaves: Vec<LeafExplain>,
}

/// One leaf of the predicate, for one batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafExplain {
    /// The normalised leaf, for people.
    pub leaf: String,
    /// What decided it: "zone map", "filter", "no opinion: ...".
    pub by: String,
    /// Whether the leaf may match in this batch.
    pub may_match: bool,
}
