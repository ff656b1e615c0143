//! `cargo xtask bench kernels | netio | report | criterion`: measured, kept in `bench/record/`, and
//! told in `docs/PERFORMANCE.md`.

mod figures;
mod kernels;
mod links;
pub(crate) mod machine;
mod netio;
mod records;
mod report;
mod tables;

use clap::Subcommand;

use crate::run;

/// What to measure or to tell.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Our kernels and their peers, interleaved in one process; sliced groups, ingest, pipeline.
    /// The record goes to `bench/record/<cpu>/<date>-*`.
    Kernels(kernels::KernelsArgs),
    /// Every link beside what it is held against, and the whole node, interleaved in one process.
    /// With `--record` the record goes to `bench/record/<cpu>/<date>-netio.*`.
    Netio(netio::NetioArgs),
    /// Writes `docs/PERFORMANCE.md` from the records.
    Report,
    /// The criterion benches: all, or those whose name contains the filter.
    #[command(trailing_var_arg = true, allow_hyphen_values = true)]
    Criterion {
        /// Passed to criterion, e.g. `range` or `--quick`.
        args: Vec<String>,
    },
}

/// Runs one of them.
pub(crate) fn run(command: &Bench) -> Result<(), String> {
    match command {
        Bench::Kernels(args) => kernels::run(args),
        Bench::Netio(args) => netio::run(args),
        Bench::Report => report::write(&run::root()),
        Bench::Criterion { args } => run::criterion(args),
    }
}

pub(crate) use report::findings;
