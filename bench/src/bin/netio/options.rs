//! The command line of the program; `cargo xtask bench netio` passes it on.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::cores::Cores;
use crate::turn::Plan;

/// Every link, and what it is held against, in one interleaved run.
#[derive(Debug, Parser)]
#[command(name = "netio")]
pub(crate) struct Options {
    /// A run of seconds that shows that everything works; its numbers mean nothing.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only these parts.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Rounds through everything [default: 5].
    #[arg(long)]
    rounds: Option<usize>,
    /// Seconds of a turn [default: 2].
    #[arg(long)]
    seconds: Option<f64>,
    /// Packets per second over the veth pair, the same for all.
    #[arg(long, default_value_t = 300_000)]
    pub(crate) rate: u64,
    /// Write the rows to this file.
    #[arg(long)]
    pub(crate) csv: Option<PathBuf>,
}

/// Parts of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// DPDK's loop and ours on a device that makes frames of nothing.
    Dpdk,
    /// Sockets and rings over a veth pair; as root.
    Veth,
    /// Links without a kernel or a device.
    Memory,
    /// The whole node.
    Pipeline,
}

impl Part {
    pub(crate) const ALL: [Part; 4] = [Part::Dpdk, Part::Veth, Part::Memory, Part::Pipeline];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Part::Dpdk => "dpdk",
            Part::Veth => "veth",
            Part::Memory => "memory",
            Part::Pipeline => "pipeline",
        }
    }
}

impl Options {
    /// How turns are taken.
    pub(crate) fn plan(&self, cores: Cores) -> Plan {
        Plan { rounds: self.rounds(), length: self.length(), core: cores.receiver }
    }

    pub(crate) fn runs(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 1 } else { 5 }).clamp(1, 100)
    }

    /// Of one turn.
    fn length(&self) -> Duration {
        let seconds = self.seconds.unwrap_or(if self.quick { 0.1 } else { 2.0 });
        Duration::from_secs_f64(seconds.clamp(0.01, 60.0))
    }

    /// Batches through the whole node in a turn.
    pub(crate) fn batches(&self) -> u64 {
        if self.quick { 2 } else { 40 }
    }
}
