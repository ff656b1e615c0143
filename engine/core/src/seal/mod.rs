//! From partials to a sealed batch: collect every queue's share, prove that nothing is missing,
//! merge, compute the batch hash, fold.

mod sealed;
mod sealer;
mod union;

pub use sealed::SealedBatch;
pub use sealer::{IncompleteReason, SealAction, Sealer, SealerConfig};
