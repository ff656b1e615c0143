//! Many seeds, on some threads; those that once failed come first.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bloomrf_sim::{Failure, Faults, Plan, Tally, regressions, run_crash, run_seed};

use crate::report::{self, Progress};
use crate::{How, Power, Seeds};

/// What a command came to.
#[derive(Default)]
struct Sum {
    done: u64,
    failures: u64,
    events: u64,
    tally: Tally,
}

/// Runs seeds; returns how many failed.
pub(crate) fn seeds(faults: Faults, args: &Seeds) -> u64 {
    let (name, row, usual) = match faults {
        Faults::All => ("run", 11, 10_000),
        Faults::Links => ("links", 1, 5_000),
    };
    let steps = args.steps.unwrap_or(usual);
    let plan = Plan { faults, steps, canary: args.canary };
    let canary = args.canary.map(|canary| format!(" --canary {canary}")).unwrap_or_default();
    let mut kept = Vec::new();
    if args.canary.is_none() {
        kept.extend(regressions().into_iter().filter(|kept| kept.command == name));
    }
    let kept_count = kept.len() as u64;
    let job = |index: u64| {
        let before = kept.get(index as usize).map(|kept| (kept.seed, kept.steps));
        let (seed, steps) = before.unwrap_or_else(|| (args.first + index - kept_count, steps));
        let ended = run_seed(seed, &Plan { steps, ..plan });
        let repeat = format!("bloomrf-sim {name} --seeds 1 --first {seed} --steps {steps}{canary}");
        (format!("seed {seed}"), repeat, ended.map(|report| (report.events, report.tally)))
    };
    let started = Instant::now();
    let sum = all("seeds", kept_count + args.seeds, args.how, &job);
    let note = format!(
        "{} events in {:.1} s, {} kept seeds first; {}",
        sum.events,
        started.elapsed().as_secs_f64(),
        kept_count,
        sum.tally
    );
    report::campaign(row, sum.done, "seeds", sum.failures, &note);
    sum.failures
}

/// Runs crashes; returns how many left something wrong.
pub(crate) fn power(args: &Power) -> u64 {
    let canary = args.canary.map(|canary| format!(" --canary {canary}")).unwrap_or_default();
    let mut kept = Vec::new();
    if args.canary.is_none() {
        kept.extend(regressions().into_iter().filter(|kept| kept.command == "power"));
    }
    let kept_count = kept.len() as u64;
    let job = |index: u64| {
        let before = kept.get(index as usize).map(|kept| kept.seed);
        let seed = before.unwrap_or_else(|| args.first + index - kept_count);
        let ended = run_crash(seed, args.canary);
        let repeat = format!("bloomrf-sim power --crashes 1 --first {seed}{canary}");
        (format!("crash {seed}"), repeat, ended.map(|report| (report.events, report.tally)))
    };
    let sum = all("crashes", kept_count + args.crashes, args.how, &job);
    report::campaign(3, sum.done, "crashes", sum.failures, &sum.tally.to_string());
    sum.failures
}

type Ended = (String, String, Result<(u64, Tally), Box<Failure>>);

fn all(unit: &'static str, count: u64, how: How, job: &(dyn Fn(u64) -> Ended + Sync)) -> Sum {
    let next = AtomicU64::new(0);
    let sum = Mutex::new((Sum::default(), Progress::new(unit, count)));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            let (subject, repeat, ended) = job(index);
            let Ok(mut locked) = sum.lock() else { return };
            let (sum, progress) = &mut *locked;
            sum.done += 1;
            match ended {
                Ok((events, tally)) => {
                    sum.events += events;
                    sum.tally.merge(&tally);
                }
                Err(failure) => {
                    sum.failures += 1;
                    report::failure(&subject, &repeat, &failure, how.trace);
                }
            }
            progress.show(sum.done, sum.failures);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..how.jobs.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let sum = sum.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).0;
    if how.json {
        report::json(&sum.tally);
    }
    sum
}
