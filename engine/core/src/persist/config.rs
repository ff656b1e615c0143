//! What a data folder is held to.

use std::sync::Arc;

use crate::format::Origin;
use crate::schema::Schema;

/// Settings of persistence.
#[derive(Clone, Debug)]
pub struct PersistConfig {
    /// Cluster and schema: files of others are removed at start.
    pub origin: Origin,
    /// The schema itself.
    pub schema: Arc<Schema>,
    /// `FERMIHDI_BLOOMRF_RETAIN_BATCHES`: a start loads the newest, and removes the others.
    pub retain_batches: usize,
    /// `FERMIHDI_SEASTAR_MEMORY`: a start loads no more bytes of filters.
    pub arena_bytes: usize,
    /// Hash seed of filters that are made from now on; files that were loaded keep theirs.
    pub seed: u64,
    /// Pause after the first failure of the disk, doubled with each one that follows.
    pub retry_ns: u64,
    /// Longest pause.
    pub retry_max_ns: u64,
    /// Every file is looked at once in this time, and one a minute at least; 0: none is.
    pub scrub_ns: u64,
}

impl PersistConfig {
    /// The usual pauses: 100 ms up to 30 s after failures, all files within 24 hours.
    #[must_use]
    pub fn new(
        origin: Origin,
        schema: Arc<Schema>,
        retain_batches: usize,
        arena_bytes: usize,
        seed: u64,
    ) -> Self {
        PersistConfig {
            origin,
            schema,
            retain_batches,
            arena_bytes,
            seed,
            retry_ns: 100_000_000,
            retry_max_ns: 30_000_000_000,
            scrub_ns: 24 * 3_600 * 1_000_000_000,
        }
    }
}
