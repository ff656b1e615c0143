//! Row 4: every call of a publish cycle fails once, with each of the errors that disks and systems
//! give. The process must live, answer rightly, count the error, take no failed sync for a good
//! one, and have everything on disk in the end.

use bloomrf_report::Report;

use crate::calls::Call;
use crate::judge::judge;
use crate::order;
use crate::stage::{Stage, of_the_path};
use crate::strace::{Fault, Life, missing};
use crate::words::Word;

/// What to let fail.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Workloads, each with all its calls.
    #[arg(long, default_value_t = 1)]
    pub(crate) workloads: u64,
    /// Of the first workload.
    #[arg(long, env = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Only this many calls of each workload, spread over it.
    #[arg(long)]
    pub(crate) calls: Option<usize>,
}

/// Errors that a call may give, and of how many more calls of its name that follow it.
fn errors_of(call: &Call) -> Vec<(&'static str, usize)> {
    let mut errors = vec![("EIO", 0), ("EINTR", 0), ("EIO", 3)];
    match call.name.as_str() {
        "openat" | "open" => errors.extend([("EMFILE", 0), ("ENOSPC", 0)]),
        "write" | "fsync" | "rename" | "mkdir" => errors.push(("ENOSPC", 0)),
        _ => {}
    }
    errors
}

/// Lets calls fail, and judges what came of it.
pub(crate) fn run(args: &Args) -> Report {
    let mut report = Report::new(4, "points");
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
    let calls = stage.rehearse(&stage.before(), &["--may-fail"])?;
    let calls = of_the_node(&calls);
    let stride = args.calls.map_or(1, |few| calls.len().div_ceil(few.max(1)).max(1));
    for bytes_max in FILE_BYTES_MAX {
        report.add(1);
        let outcome = short_writes(&stage, bytes_max);
        if let Err(reason) = outcome {
            report.fail(format!("files of at most {bytes_max} B: {reason}"), repeat(seed));
        }
    }
    for call in calls.into_iter().step_by(stride) {
        for (error, more) in errors_of(call) {
            report.add(1);
            if let Err(reason) = one(&stage, call, error, more) {
                let times = if more > 0 { format!(" and {more} more") } else { String::new() };
                let what = format!("{error} at {}{times}: {reason}", call.describe());
                report.fail(what, repeat(seed));
            }
        }
    }
    Ok(())
}

/// The calls from the first word on that are neither words nor the test's own doing.
fn of_the_node(calls: &[Call]) -> Vec<&Call> {
    let mut is_own = false;
    let is_of_node = |call: &&Call| {
        if let Some(word) = call.word() {
            is_own = matches!(word, Word::Rotting(_)) || is_own && word != Word::Rotten;
            return false;
        }
        !is_own
    };
    of_the_path(calls).iter().filter(is_of_node).collect()
}

fn one(stage: &Stage, call: &Call, error: &str, more: usize) -> Result<(), String> {
    let fault = Fault::Error { name: &call.name, nth: call.nth, more, error };
    let life = stage.play(&stage.before(), fault, &["--may-fail"])?;
    let failed = life.calls.iter().filter(|call| call.result.contains("INJECTED")).count();
    if failed == 0 {
        let Life { said, complaint, .. } = life;
        return Err(format!("the call was not made: {said:?} {complaint}"));
    }
    judge_life(stage, &life, is_noticed(call, error))
}

/// A life in which no file can be longer: what is longer is written in part, then not at all.
fn short_writes(stage: &Stage, bytes_max: u64) -> Result<(), String> {
    let limit = bytes_max.to_string();
    let options = ["--may-fail", "--file-bytes-max", &limit];
    let life = stage.play(&stage.before(), Fault::None, &options)?;
    let written = life.calls.iter().filter(|call| call.name == "write" && !call.is_speech());
    if !written.into_iter().any(|call| call.result.contains("EFBIG")) {
        return Err("no write was too long: the case shows nothing".to_owned());
    }
    judge_life(stage, &life, true)
}

/// Lengths of files at which writes end: nothing, the probe only, parts of a batch.
const FILE_BYTES_MAX: [u64; 7] = [0, 1, 9, 255, 4_096, 8_192, 20_000];

/// Whether the error of a call must be heard of: not where the library below us tries again by
/// itself, nor where nothing hangs on the call.
fn is_noticed(call: &Call, error: &str) -> bool {
    let counts = match call.name.as_str() {
        "fsync" | "fdatasync" | "rename" | "renameat" | "renameat2" | "unlink" | "unlinkat" => true,
        "write" | "pwrite64" => true,
        "openat" => call.arguments.contains("O_CREAT") || call.arguments.contains("O_DIRECTORY"),
        _ => false,
    };
    counts && error != "EINTR"
}

/// A life with failures: it went on to its end, or was refused at its start.
pub(crate) fn judge_life(stage: &Stage, life: &Life, is_noticed: bool) -> Result<(), String> {
    if !life.is_well {
        return Err(format!("it did not live: {}", life.complaint));
    }
    order::check(of_the_path(&life.calls), &stage.folder().to_string_lossy())?;
    let mut ledger = stage.ledger.clone();
    let words = ledger.hear_all(&life.said)?;
    match words.last() {
        Some(Word::End) => {}
        Some(Word::Refused(_)) if !words.contains(&Word::Recovered) => {}
        last => return Err(format!("it ended with {last:?}")),
    }
    let errors: u64 = words.iter().map(|w| if let Word::Errors(n) = w { *n } else { 0 }).sum();
    let was_refused = matches!(words.last(), Some(Word::Refused(_)));
    if is_noticed && errors == 0 && !was_refused {
        return Err("the error was counted nowhere".to_owned());
    }
    judge(&stage.folder(), &stage.world, &ledger)
}

fn repeat(seed: u64) -> String {
    format!("bloomrf-crash errors --seed {seed}")
}
