//! `cargo xtask campaign`: the fault campaign, row by row of docs/FAULTS.md, against the counts
//! that CI or a release asks for. A row below its count, or with a failure, fails the command; a
//! row that cannot run here says why and counts as missing.

mod kernels;
mod part;
mod record;
mod rows;
mod schedule;

use clap::{Args, Subcommand};

/// Options of `cargo xtask campaign`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct Campaign {
    #[command(subcommand)]
    alone: Option<Alone>,
    /// The counts of CI: some ten minutes on two cores.
    #[arg(long)]
    quick: bool,
    /// Only these rows, like 5,6.
    #[arg(long, value_delimiter = ',')]
    rows: Vec<u8>,
    /// So many times the counts of a full campaign (two hours on two cores); 12 for a day.
    #[arg(long, default_value_t = 1, conflicts_with = "quick")]
    times: u64,
    /// Keeps the result as docs/campaigns/DATE-(quick|full).md; with --rows, beside the rows that
    /// the day's file has already.
    #[arg(long)]
    record: bool,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask campaign --quick              what CI runs, some ten minutes
  cargo xtask campaign --quick --rows 2,4   two rows of it
  cargo xtask campaign --record             everything with a result file, two hours on two cores
  cargo xtask campaign --record --rows 5,6  the same in parts, into the day's file
  cargo xtask campaign kernels --seconds 60 the kernels by themselves";

/// Parts that have a command of their own.
#[derive(Subcommand)]
enum Alone {
    /// Every operation of every kernel set against the reference; prints cases per operation and
    /// set. A failure prints the line that repeats it.
    Kernels(kernels::KernelsArgs),
}

/// How much is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    /// The counts of CI.
    Quick,
    /// So many times the counts of a full campaign.
    Full(u64),
}

pub(crate) fn run(command: &Campaign) -> Result<(), String> {
    if let Some(Alone::Kernels(args)) = &command.alone {
        return kernels::run(args);
    }
    let size = if command.quick { Size::Quick } else { Size::Full(command.times.max(1)) };
    let asked = |number: u8| command.rows.is_empty() || command.rows.contains(&number);
    let chosen: Vec<_> = rows::ROWS.iter().filter(|row| asked(row.number)).collect();
    if chosen.is_empty() {
        return Err(format!("no row among {:?}: rows are 1 to {}", command.rows, rows::ROWS.len()));
    }
    let results = schedule::run(&chosen, size)?;
    schedule::print_table(&results);
    if command.record {
        println!("kept as {}", record::keep(&results, size)?);
    }
    schedule::verdict(&results)
}

/// What CI runs behind the tests: every row, with the counts of CI.
pub(crate) fn quick() -> Result<(), String> {
    let chosen: Vec<_> = rows::ROWS.iter().collect();
    let results = schedule::run(&chosen, Size::Quick)?;
    schedule::print_table(&results);
    schedule::verdict(&results)
}
