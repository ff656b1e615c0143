//! A whole node over loopback: frames in over UDP, verdicts from a tiny SCC, lookups out.

mod faults;
mod http;
mod lookup;
mod scc;
mod start;
mod verify;
mod world;
