//! Row 2, live filters: a writer that is killed at every system call of its flushes and of the
//! opening after that. What it said to be durable must be there.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bloomrf_filter::file::{Asked, SourcePosition, StoredFilter, save};
use bloomrf_filter::live::{Live, LiveReader, MappedFilter};
use bloomrf_filter::{Build, Classic, Encoding, HashRule, Presence, Spec};
use bloomrf_report::Report;

use crate::calls::Call;
use crate::strace::{self, Fault, Life};

/// How much to kill.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Flushes of the life that is killed.
    #[arg(long, default_value_t = 3)]
    pub(crate) flushes: u64,
}

/// One life: opens the filter and flushes so often.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Child {
    /// The filter.
    #[arg(long)]
    path: PathBuf,
    /// Flushes.
    #[arg(long)]
    flushes: u64,
}

/// Kills a life at each of its calls, and judges what is left; each time a second life follows
/// that is killed in its recovery.
pub(crate) fn run(args: &Args) -> Report {
    let mut report = Report::new(2, "kills");
    if let Some(reason) = strace::missing() {
        report.note(reason);
        return report;
    }
    if let Err(reason) = kill_all(args.flushes, &mut report) {
        report.fail(reason, REPEAT);
    }
    report
}

fn kill_all(flushes: u64, report: &mut Report) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|why| format!("temporary folder: {why}"))?;
    let path = folder.path().join("a.blmf");
    let trace = folder.path().join("trace");
    let play = |fault: Fault<'_>, flushes: u64| -> Result<Life, String> {
        let (path, flushes) = (path.to_string_lossy(), flushes.to_string());
        let arguments = ["live-child", "--path", &path, "--flushes", &flushes];
        strace::run(&trace, fault, &arguments).map_err(|why| format!("no life: {why}"))
    };
    prepare(&path)?;
    let whole = play(Fault::None, flushes)?;
    if acknowledged(&whole) != Some(flushes) {
        return Err(format!("without any fault it ended so: {:?} {}", whole.said, whole.complaint));
    }
    for point in points(&whole.calls, &path) {
        prepare(&path)?;
        let fault = Fault::Kill { name: &point.name, nth: point.nth };
        let life = play(fault, flushes)?;
        report.add(1);
        let acknowledged = acknowledged(&life).unwrap_or(0);
        if !life.was_killed {
            report.fail(format!("not killed at {}", point.describe()), REPEAT);
            continue;
        }
        let judged = recover(&path, acknowledged, report, play)
            .and_then(|()| judge(&path, acknowledged, flushes));
        if let Err(reason) = judged {
            report.fail(format!("killed at {}: {reason}", point.describe()), REPEAT);
        }
    }
    Ok(())
}

/// Kills the opening after a kill at each of its calls, where there is something to recover.
fn recover(
    path: &Path,
    acknowledged: u64,
    report: &mut Report,
    play: impl Fn(Fault<'_>, u64) -> Result<Life, String>,
) -> Result<(), String> {
    let files = [path.to_owned(), path.with_extension("blmf.log")];
    let kept = files.clone().map(|file| fs::read(file).unwrap_or_default());
    if kept[1].is_empty() {
        return Ok(());
    }
    let restore = || -> Result<(), String> {
        files.iter().zip(&kept).try_for_each(|(file, bytes)| fs::write(file, bytes)).map_err(text)
    };
    let whole = play(Fault::None, 0)?;
    for point in points(&whole.calls, path) {
        restore()?;
        let life = play(Fault::Kill { name: &point.name, nth: point.nth }, 0)?;
        report.add(1);
        if !life.was_killed {
            return Err(format!("the opening was not killed at {}", point.describe()));
        }
        judge(path, acknowledged, acknowledged + 1)
            .map_err(|why| format!("and its opening at {}: {why}", point.describe()))?;
    }
    restore()
}

/// What a life said to be durable last.
fn acknowledged(life: &Life) -> Option<u64> {
    life.said.iter().rev().find_map(|line| line.strip_prefix("durable ")?.parse().ok())
}

/// Its calls on the filter and its log.
fn points(calls: &[Call], path: &Path) -> Vec<Call> {
    let path = path.to_string_lossy();
    calls.iter().filter(|call| call.arguments.contains(&*path)).cloned().collect()
}

/// A reader, then a writer, find a whole flush, none older than what was said to be durable.
fn judge(path: &Path, acknowledged: u64, most: u64) -> Result<(), String> {
    // As the kill left it: no map in the midst of a flush, else one that has what is durable.
    let is_marked = fs::read(path).map_err(text)?.get(128..144).is_none_or(|mark| mark != [0; 16]);
    let left = if is_marked { None } else { Some(map(path)?) };
    let reader = LiveReader::open(path, &Asked::default()).map_err(|why| why.to_string())?;
    if let Some(left) = &left {
        judge_map("a map of what was left", left, acknowledged)?;
    }
    let live = Live::open(path, &Asked::default()).map_err(|why| why.to_string())?;
    for (who, stored) in [("a reader", reader.stored()), ("a writer", live.stored())] {
        let generation = stored.stamp.generation;
        if !(acknowledged..=most.max(acknowledged)).contains(&generation) {
            return Err(format!("{who} finds flush {generation}, {acknowledged} was durable"));
        }
        if stored.source != source(generation) {
            return Err(format!("{who} finds flush {generation} with source {:?}", stored.source));
        }
        if let Some(lost) =
            (0..generation * ITEMS).find(|i| !stored.filter.contains(RULE.hash(&i.to_le_bytes())))
        {
            return Err(format!("{who} finds flush {generation} without item {lost}"));
        }
    }
    let flushes = live.durable_generation();
    let new = map(path)?;
    for (who, map) in [("a new map", Some(&new)), ("the map of what was left", left.as_ref())] {
        map.map_or(Ok(()), |map| judge_map(who, map, flushes))?;
    }
    Ok(())
}

fn map(path: &Path) -> Result<MappedFilter, String> {
    MappedFilter::open(path, &Asked::default()).map_err(text)
}

/// A map finds every item of `flushes` flushes, and says *no* to others.
fn judge_map(who: &str, map: &MappedFilter, flushes: u64) -> Result<(), String> {
    let is_found = |i: &u64| map.contains(RULE.hash(&i.to_le_bytes()));
    match (0..flushes * ITEMS).find(|i| !is_found(i)) {
        Some(lost) => Err(format!("{who} has no item {lost} of flush {flushes}")),
        None if (1 << 40..(1 << 40) + 100).all(|i| is_found(&i)) => {
            Err(format!("{who} says that it may have anything"))
        }
        None => Ok(()),
    }
}

fn prepare(path: &Path) -> Result<(), String> {
    let _ = fs::remove_file(path.with_extension("blmf.log"));
    let filter = Classic::build(&Spec { items: 2_000, fpr: 0.01 }).map_err(text)?;
    let mut stored = StoredFilter::new(filter, RULE, Encoding::U64Le);
    stored.stamp.uuid = 77;
    stored.source = source(0);
    save(path, &stored).map_err(text)
}

/// The life of a child.
pub(crate) fn live(child: &Child) -> Result<(), String> {
    let mut live = Live::open(&child.path, &Asked::default()).map_err(text)?;
    for _ in 0..child.flushes {
        let first = live.durable_generation() * ITEMS;
        (first..first + ITEMS).for_each(|i| {
            live.insert(RULE.hash(&i.to_le_bytes()));
        });
        let generation = live.flush(source(first / ITEMS + 1)).map_err(text)?;
        let mut out = std::io::stdout();
        writeln!(out, "durable {generation}").and_then(|()| out.flush()).map_err(text)?;
    }
    Ok(())
}

fn source(flush: u64) -> Option<SourcePosition> {
    Some(SourcePosition::Database { name: "items".to_owned(), lsn: flush * ITEMS })
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

const RULE: HashRule = HashRule::Native { seed: 11 };
/// Items of a flush.
const ITEMS: u64 = 300;
const REPEAT: &str = "bloomrf-crash live";
