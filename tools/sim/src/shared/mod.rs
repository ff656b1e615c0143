//! What the engine's own tests use as well: typed values, random trees, and the one place where
//! the engine's schema and predicates become the oracle's.
#![allow(dead_code, reason = "the simulation uses its own part")]
#![allow(clippy::unwrap_used, reason = "test support, on values of its own making")]

#[path = "../../../../engine/core/tests/lookup_world/domain.rs"]
pub(crate) mod domain;
#[path = "../../../../engine/core/tests/seeded/mod.rs"]
pub(crate) mod seeded;
#[path = "../../../../engine/core/tests/lookup_world/trees.rs"]
pub(crate) mod trees;
#[path = "../../../../engine/core/tests/truth/mod.rs"]
pub(crate) mod truth;

pub(crate) use seeded::Splitmix;

impl bloomrf_engine::env::Rng for Splitmix {
    fn next_u64(&mut self) -> u64 {
        self.next()
    }
}
