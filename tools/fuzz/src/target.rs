//! The targets by name.

use crate::foreign::{bits, dablooms, guava, parquet, redis_dump, redisbloom, redisson};

/// One function that any bytes may be given to; a panic is a finding.
pub struct Target {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    /// Row of the fault table that it counts for.
    pub row: u8,
    /// Tries one input.
    pub run: fn(&[u8]),
    /// Inputs to start from, made by our own encoders.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "frame", row: 7, run: crate::frame::run, seeds: crate::frame::seeds },
    Target { name: "frames", row: 7, run: crate::frames::run, seeds: crate::frames::seeds },
    #[cfg(target_os = "linux")]
    Target { name: "block", row: 7, run: crate::block::run, seeds: crate::block::seeds },
    Target { name: "lookup", row: 7, run: crate::lookup::run, seeds: crate::lookup::seeds },
    Target { name: "stream", row: 7, run: crate::stream::run, seeds: crate::stream::seeds },
    Target { name: "node", row: 7, run: crate::node::run, seeds: crate::node::seeds },
    Target { name: "stored", row: 6, run: crate::stored::run, seeds: crate::stored::seeds },
    Target { name: "guava", row: 6, run: guava::run, seeds: guava::seeds },
    Target { name: "dablooms", row: 6, run: dablooms::run, seeds: dablooms::seeds },
    Target { name: "redisbloom", row: 6, run: redisbloom::run, seeds: redisbloom::seeds },
    Target { name: "redis_dump", row: 6, run: redis_dump::run, seeds: redis_dump::seeds },
    Target { name: "redisson", row: 6, run: redisson::run, seeds: redisson::seeds },
    Target { name: "parquet", row: 6, run: parquet::run, seeds: parquet::seeds },
    Target { name: "bits", row: 6, run: bits::run, seeds: bits::seeds },
];
