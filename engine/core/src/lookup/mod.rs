//! From a predicate and a snapshot to "these batches cannot match".
//!
//! [`normal`] turns the stated predicate into negation normal form over ranges of keys (or "no
//! opinion"); [`plan`] hashes it once; [`evaluate`] walks the chunks, eight at a time: zone maps
//! first, then filters (bit-sliced groups side by side, plain ones one after the other), masks of
//! 64 slots each handed from leaf to leaf. Every doubt reads "found".
//!
//! Hot path: no lock, no syscall beyond the clock; work bounded by candidates x leaves x probes.

pub mod evaluate;
pub mod explain;
pub mod normal;
pub mod plan;
mod walk;
mod window;
mod zone;

pub use evaluate::{Evaluator, LookupConfig};
pub use explain::{BatchExplain, LeafExplain, Outcome};
pub use normal::{NoOpinion, NoOpinionCounts, Normal};
