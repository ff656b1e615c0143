//! Rows of the fault table that run against the libraries, or against a whole node: a subcommand
//! each, with a line for `cargo xtask campaign` at its end. Exit code 1 where anything failed.
#![forbid(unsafe_code)]

mod chance;
mod cluster;
mod exhaustion;
mod fpr;
mod frozen;
mod intake;
mod lookups;
mod overload;
mod relay;
mod stored;
mod surroundings;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Rows of the fault table that run against the libraries, or against a whole node.
#[derive(Parser)]
#[command(name = "bloomrf-faults", version)]
struct Cli {
    #[command(subcommand)]
    row: Row,
}

#[derive(Subcommand)]
enum Row {
    /// Row 15: buffers run out, threads stand still, the disk is full.
    Exhaustion(exhaustion::Args),
    /// Row 17: clocks, settings at their limits, other versions.
    Surroundings(surroundings::Args),
    /// Row 12: every ingested key is looked up while it lives.
    Lookups(lookups::Args),
    /// Row 13: false-positive rates against the model.
    Fpr(fpr::Args),
    /// Row 16: overload, forged sources, malformed and reflected datagrams.
    Overload(overload::Args),
    /// Row 1: a relay that loses, repeats, reorders, corrupts and truncates.
    Relay(relay::Args),
    /// Row 5: every bit and every length of a stored file.
    Stored(stored::Args),
}

fn main() -> ExitCode {
    match Cli::parse().row {
        Row::Exhaustion(args) => exhaustion::run(&args),
        Row::Surroundings(args) => surroundings::run(&args),
        Row::Lookups(args) => lookups::run(&args),
        Row::Fpr(args) => fpr::run(&args),
        Row::Overload(args) => overload::run(&args),
        Row::Relay(args) => relay::run(&args),
        Row::Stored(args) => stored::run(&args),
    }
}
