//! The data folder: filters of verified batches, written as they are verified, read at start.
//!
//! Losing the folder costs selectivity, never an answer. A file is whole and of this cluster,
//! schema and name, or it is no filter.

mod publish;

pub use publish::{TEMPORARY_PREFIX, publish};
