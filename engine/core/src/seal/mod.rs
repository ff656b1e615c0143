//! From partials to a sealed batch: collect every queue's share, prove that nothing is missing,
//! merge, compute the batch hash, fold. What is missing is asked for again, within bounds.

mod lanes;
mod repair;
mod sealed;
mod sealer;
mod union;

pub use lanes::LaneStats;
pub use repair::{RepairFailure, RepairStats};
pub use sealed::SealedBatch;
pub use sealer::{IncompleteReason, SealAction, Sealer, SealerConfig};
