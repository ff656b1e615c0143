//! Rows 2 and 4 of the fault table: a process that publishes filters is killed at every system
//! call, or has every system call fail, and what it leaves behind is judged. Needs `strace`.
//!
//! The child is this program again ([`cycle`]), on a real folder, with the code that a node runs.
//! It says on its output what it has done; by that alone the parent knows what must be in the
//! folder ([`ledger`]), and makes the same batches again to compare them ([`world`]).
#![forbid(unsafe_code)]

mod calls;
mod cycle;
mod errors;
mod judge;
mod kill;
mod ledger;
mod live;
mod order;
mod prepare;
mod shelf;
mod stage;
mod strace;
mod words;
mod world;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Kills and failing system calls at every step of a publish cycle and of recovery.
#[derive(Parser)]
#[command(name = "bloomrf-crash", version)]
struct Cli {
    #[command(subcommand)]
    row: Row,
}

#[derive(Subcommand)]
enum Row {
    /// Row 2: SIGKILL at every call, and with --deep at every call of the recovery after it.
    Kill(kill::Args),
    /// Row 2, live filters: SIGKILL at every call of flushes, and of the opening after each kill.
    Live(live::Args),
    /// Row 4: EIO, ENOSPC, EMFILE, EINTR at every call; short writes; no space.
    Errors(errors::Args),
    /// One life, started by the others under strace.
    #[command(hide = true)]
    Child(cycle::Child),
    /// One life of a live filter.
    #[command(hide = true)]
    LiveChild(live::Child),
}

fn main() -> ExitCode {
    match Cli::parse().row {
        Row::Kill(args) => kill::run(&args).finish(),
        Row::Errors(args) => errors::run(&args).finish(),
        Row::Live(args) => live::run(&args).finish(),
        Row::Child(child) => ended(cycle::run(&child)),
        Row::LiveChild(child) => ended(live::live(&child)),
    }
}

fn ended(life: Result<(), String>) -> ExitCode {
    match life {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("child: {reason}");
            ExitCode::FAILURE
        }
    }
}
