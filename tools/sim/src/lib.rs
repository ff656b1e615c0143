//! The seeded world: senders, links, an SCC, a node with its disk, and lookups, in one thread and
//! virtual time. The oracle is a plain set of records.
//!
//! A run is a function of its seed: the same seed gives the same events, to the last bit of the
//! trace's digest. Everything that the real node takes from outside comes from here: time, chance,
//! datagrams, the SCC, the disk.
#![forbid(unsafe_code)]

mod agenda;
mod canary;
mod disk;
mod epoch;
mod node;
mod power;
mod records;
mod regressions;
mod run;
mod scc;
mod settings;
mod shared;
mod tally;
mod trace;
mod weather;
mod world;

pub use canary::Canary;
pub use disk::{DiskFaults, Lies, SimDisk};
pub use power::run_crash;
pub use regressions::{Kept, regressions};
pub use run::{Failure, Plan, Report, run_seed};
pub use settings::Faults;
pub use tally::Tally;
pub use trace::Line;
