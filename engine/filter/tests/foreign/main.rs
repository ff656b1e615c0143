//! Filters of other systems, against files that those systems wrote.
//!
//! The files lie in `../shared/golden` beside the repository and are read in place; where they
//! are not, the tests say "skipped: no data".
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod bits;
mod dablooms;
mod damage;
mod golden;
mod guava;
mod live;
mod parquet;
mod redisbloom;
mod redisson;
