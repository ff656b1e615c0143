//! Filter files: what is written is read, whatever the kind; what is not whole, or not what was
//! asked for, is refused.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod chains;
mod chance;
mod document;
mod hostile;
mod independent;
mod refusals;
#[path = "../../../core/tests/format_world/reseal.rs"]
mod reseal;
mod round_trip;
mod save;
mod world;
