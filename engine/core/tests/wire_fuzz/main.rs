//! Random, truncated, bit-flipped and resealed input for the three parsers of the wire: an error
//! or a valid value, never a panic, and never more memory than the input warrants. And the node's
//! side of the verification stream against an SCC that is cut off at any byte.
//!
//! Every test prints its seed; `SEED=n cargo test -p bloomrf-engine --test wire_fuzz` replays it.
#![forbid(unsafe_code)]

mod frame;
mod lookup;
mod mutate;
mod random;
#[path = "../seeded/mod.rs"]
mod seeded;
mod session;
mod stream;
