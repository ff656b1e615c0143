//! Row 2: a process killed at every call of a publish cycle, and of the recovery that follows.

use std::path::Path;

use bloomrf_report::Report;

use crate::calls::Call;
use crate::judge::judge;
use crate::ledger::Ledger;
use crate::order;
use crate::stage::{Stage, of_the_path};
use crate::strace::{Fault, Life, missing};

/// What to kill.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Workloads, each with all its points.
    #[arg(long, default_value_t = 1)]
    pub(crate) workloads: u64,
    /// Also kill the recovery after a kill, at each of its calls: after one kill in so many.
    #[arg(long, num_args = 0..=1, default_missing_value = "32")]
    pub(crate) deep: Option<usize>,
    /// Of the first workload.
    #[arg(long, env = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Only this many points of each workload, spread over it.
    #[arg(long)]
    pub(crate) points: Option<usize>,
}

/// Kills, and judges what was left.
pub(crate) fn run(args: &Args) -> Report {
    let mut report = Report::new(2, "points");
    if let Some(reason) = missing() {
        report.note(reason);
        return report;
    }
    for seed in args.seed..args.seed + args.workloads {
        if let Err(reason) = workload(args, seed, &mut report) {
            report.fail(reason, repeat(seed));
        }
        report.progress(&format!("workload {seed}"));
    }
    report
}

fn workload(args: &Args, seed: u64, report: &mut Report) -> Result<(), String> {
    let stage = Stage::new(seed)?;
    let calls = stage.rehearse(&stage.before(), &[])?;
    if let Err(reason) = order::check(of_the_path(&calls), &stage.folder().to_string_lossy()) {
        report.fail(reason, repeat(seed));
    }
    let points = of_the_path(&calls);
    let stride = args.points.map_or(1, |few| points.len().div_ceil(few.max(1)).max(1));
    for (index, point) in points.iter().enumerate().step_by(stride) {
        let Some(ledger) = kill(&stage, &stage.before(), &stage.ledger, point, &[], report) else {
            continue;
        };
        let is_deep = args.deep.is_some_and(|every| index % every.max(1) == 0);
        if !is_deep {
            judged(&stage, &ledger, point, None, report);
            continue;
        }
        let kept = stage.keep()?;
        judged(&stage, &ledger, point, None, report);
        deeper(&stage, &kept, &ledger, point, report)?;
    }
    Ok(())
}

/// Kills the recovery of a folder at each of its calls.
fn deeper(
    stage: &Stage,
    kept: &Path,
    ledger: &Ledger,
    first: &Call,
    report: &mut Report,
) -> Result<(), String> {
    let recovery = ["--recovery-only"];
    let calls = stage.rehearse(kept, &recovery)?;
    order::check(of_the_path(&calls), &stage.folder().to_string_lossy())?;
    for point in of_the_path(&calls) {
        if let Some(ledger) = kill(stage, kept, ledger, point, &recovery, report) {
            judged(stage, &ledger, first, Some(point), report);
        }
    }
    Ok(())
}

/// One point: a life that ends there; what its folder must hold.
fn kill(
    stage: &Stage,
    from: &Path,
    before: &Ledger,
    point: &Call,
    options: &[&str],
    report: &mut Report,
) -> Option<Ledger> {
    report.add(1);
    let fault = Fault::Kill { name: &point.name, nth: point.nth };
    let life = match stage.play(from, fault, options) {
        Ok(life) => life,
        Err(reason) => {
            report.fail(reason, repeat(stage.seed));
            return None;
        }
    };
    let last = life.calls.last();
    if !life.was_killed
        || last.is_none_or(|last| (&last.name, last.nth) != (&point.name, point.nth))
    {
        let Life { said, complaint, .. } = life;
        let what = format!("not killed at {}: {said:?} {complaint}", point.describe());
        report.fail(what, repeat(stage.seed));
        return None;
    }
    let mut ledger = before.clone();
    match ledger.hear_all(&life.said) {
        Ok(_) => Some(ledger),
        Err(reason) => {
            report.fail(reason, repeat(stage.seed));
            None
        }
    }
}

fn judged(
    stage: &Stage,
    ledger: &Ledger,
    point: &Call,
    second: Option<&Call>,
    report: &mut Report,
) {
    if let Err(reason) = judge(&stage.folder(), &stage.world, ledger) {
        let then = second.map(|call| format!(", then at {} in recovery", call.describe()));
        let what = format!("killed at {}{}: {reason}", point.describe(), then.unwrap_or_default());
        report.fail(what, repeat(stage.seed));
    }
}

fn repeat(seed: u64) -> String {
    format!("bloomrf-crash kill --seed {seed} --deep 1")
}
