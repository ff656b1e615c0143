//! Row 17: clocks that jump, settings at their limits and one past, peers of other versions. All is
//! refused with a named reason, or right.

mod clock;
mod settings;
mod versions;

use std::process::ExitCode;

use bloomrf_report::Report;

/// What to try.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// One setting only, as KEY=VALUE: a node runs with it, in this process.
    #[arg(long, hide = true)]
    one: Option<String>,
}

/// Tries everything.
pub(crate) fn run(args: &Args) -> ExitCode {
    if let Some(setting) = &args.one {
        return settings::run_one(setting);
    }
    let mut report = Report::new(17, "cases");
    settings::run(&mut report);
    clock::run(&mut report);
    versions::run(&mut report);
    report.finish()
}

/// Counts a case; an error is a failure.
fn case(report: &mut Report, name: &str, outcome: Result<(), String>) {
    report.add(1);
    if let Err(reason) = outcome {
        report.fail(format!("{name}: {reason}"), "bloomrf-faults surroundings");
    }
}
