//! Stored files: what is written is read, whatever the filter; what is not whole is refused.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "../format_world/ask.rs"]
mod ask;
mod chance;
#[path = "../format_world/damage.rs"]
mod damage;
mod document;
mod hostile;
mod refusals;
#[path = "../format_world/reseal.rs"]
mod reseal;
mod round_trip;
#[path = "../format_world/mod.rs"]
mod world;
