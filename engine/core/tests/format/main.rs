//! Stored files: what is written is read, whatever the filter; what is not whole is refused.
#![forbid(unsafe_code)]

mod round_trip;
#[path = "../format_world/mod.rs"]
mod world;
