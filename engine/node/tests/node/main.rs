//! A whole node over loopback: frames in over UDP, verdicts from a tiny SCC, lookups out.
#![allow(clippy::unwrap_used, reason = "a test may panic; its support code, too")]

mod chain;
mod deploy;
mod faults;
mod groups;
mod hardened;
mod http;
mod links;
mod logs;
mod lookup;
mod persist;
mod repair;
mod scc;
mod stall;
mod start;
mod strays;
mod tap;
mod verify;
mod ways;
mod world;
