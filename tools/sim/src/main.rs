//! `bloomrf-sim`: runs of the seeded world, by the thousand.
#![forbid(unsafe_code)]

mod campaign;
mod report;

use std::process::ExitCode;

use bloomrf_sim::{Canary, Faults};
use clap::{Args, Parser, Subcommand};

/// The whole node in one thread and virtual time, by a seed.
#[derive(Parser)]
#[command(name = "bloomrf-sim", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything goes wrong: links, SCC, crashes, disk, schema (row 11).
    Run(Seeds),
    /// Only links go wrong; every datagram is accounted for (row 1).
    Links(Seeds),
    /// Crashes at every step of writing and recovery, un-synced bytes lost or torn (row 3).
    Power(Power),
}

/// Which seeds, and how.
#[derive(Args)]
struct Seeds {
    /// How many.
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// The first one.
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// Events of each, before the calm that ends it [default: 10000; links: 5000].
    #[arg(long)]
    steps: Option<u64>,
    #[command(flatten)]
    how: How,
    /// Plants a bug: the seeds must find it.
    #[arg(long)]
    canary: Option<Canary>,
}

/// How many crashes, and how.
#[derive(Args)]
struct Power {
    /// How many.
    #[arg(long, default_value_t = 10_000)]
    crashes: u64,
    /// Seed of the first.
    #[arg(long, default_value_t = 1)]
    first: u64,
    #[command(flatten)]
    how: How,
    /// Plants a bug: the crashes must find it.
    #[arg(long)]
    canary: Option<Canary>,
}

/// What all runs have in common.
#[derive(Args, Clone, Copy)]
struct How {
    /// Threads, each with seeds of its own.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Prints so many events before a failure.
    #[arg(long, num_args = 0..=1, default_value_t = 12, default_missing_value = "4096")]
    trace: usize,
    /// Prints what happened, by name, as JSON.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let failures = match Cli::parse().command {
        Command::Run(seeds) => campaign::seeds(Faults::All, &seeds),
        Command::Links(seeds) => campaign::seeds(Faults::Links, &seeds),
        Command::Power(power) => campaign::power(&power),
    };
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
