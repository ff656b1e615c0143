//! Rows of the fault table that run against the libraries, or against a whole node: a subcommand
//! each, with a line for `cargo xtask campaign` at its end. Exit code 1 where anything failed.
#![forbid(unsafe_code)]

mod fpr;
mod report;

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
    /// Row 13: false-positive rates against the model.
    Fpr(fpr::Args),
}

fn main() -> ExitCode {
    match Cli::parse().row {
        Row::Fpr(args) => fpr::run(&args),
    }
}
