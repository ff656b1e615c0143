//! Builds the programs once, runs rows two at a time (those that measure by themselves), prints
//! one line a row.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::Size;
use super::part::{self, Outcome, State};
use super::rows::Row;
use crate::run::cargo;

/// A row with what came of its parts.
pub(super) struct RowResult {
    pub(super) row: &'static Row,
    pub(super) outcomes: Vec<Outcome>,
}

/// Runs the rows; results in the order of the table.
pub(super) fn run(rows: &[&'static Row], size: Size) -> Result<Vec<RowResult>, String> {
    build(rows)?;
    let (alone, together): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.alone);
    let results = Mutex::new(Vec::new());
    at_a_time(WORKERS, &together, size, &results);
    at_a_time(1, &alone, size, &results);
    let mut results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.sort_by_key(|result| result.row.number);
    Ok(results)
}

fn at_a_time(workers: usize, rows: &[&'static Row], size: Size, results: &Mutex<Vec<RowResult>>) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcomes =
                        row.parts.iter().map(|part| part::run(row.number, part, size)).collect();
                    let result = RowResult { row, outcomes };
                    println!("{}", result.line());
                    if let Ok(mut results) = results.lock() {
                        results.push(result);
                    }
                }
            });
        }
    });
}

/// All programs in one build: they share most of their crates.
fn build(rows: &[&'static Row]) -> Result<(), String> {
    let parts = rows.iter().flat_map(|row| row.parts);
    let binaries: BTreeSet<_> = parts.filter_map(|p| part::binary(&p.program)).collect();
    if binaries.is_empty() {
        return Ok(());
    }
    let mut args = vec!["build", "--locked", "--profile", "campaign"];
    for (package, name) in &binaries {
        args.extend(["--package", package, "--bin", name]);
    }
    cargo(&args)
}

/// Once more, in order, with why where a row did not pass.
pub(super) fn print_table(results: &[RowResult]) {
    println!("\nfault campaign, row by row (docs/FAULTS.md):");
    for result in results {
        println!("{}", result.line());
        for outcome in &result.outcomes {
            if let State::Failed(tail) = &outcome.state {
                println!("    `{}` failed; the end of its output:", outcome.command);
                tail.lines().for_each(|line| println!("    | {line}"));
            }
        }
    }
}

/// An error where a row failed or stayed below its count.
pub(super) fn verdict(results: &[RowResult]) -> Result<(), String> {
    let names = |wanted: fn(&State) -> bool| -> Vec<String> {
        let rows = results.iter().filter(|r| r.outcomes.iter().any(|o| wanted(&o.state)));
        rows.map(|r| r.row.number.to_string()).collect()
    };
    let failed = names(|state| matches!(state, State::Failed(_)));
    let below = names(|state| matches!(state, State::Below));
    let missing = names(|state| matches!(state, State::Missing(_)));
    if !missing.is_empty() {
        println!("missing here: rows {}", missing.join(", "));
    }
    if failed.is_empty() && below.is_empty() {
        println!("campaign: {} rows, none failed", results.len());
        return Ok(());
    }
    let (failed, below) = (failed.join(", "), below.join(", "));
    Err(format!("rows failed: [{failed}]; below their count: [{below}]"))
}

impl RowResult {
    /// `number  fault  counts  result  seconds  notes`.
    pub(super) fn line(&self) -> String {
        let seconds: f64 = self.outcomes.iter().map(|o| o.seconds).sum();
        let counts: Vec<String> = self.outcomes.iter().map(Outcome::counted).collect();
        let words: Vec<String> = self.outcomes.iter().map(|o| o.state.word()).collect();
        let word = words.iter().find(|word| *word != "ok").or(words.first());
        // Why a part is missing is its word already.
        let ran = self.outcomes.iter().filter(|o| !matches!(o.state, State::Missing(_)));
        let notes: Vec<&str> = ran.flat_map(|o| &o.notes).map(String::as_str).collect();
        let (number, fault) = (self.row.number, self.row.fault);
        let word = word.map_or("nothing ran", String::as_str);
        let line =
            format!("row {number:>2}  {fault:<56} {:<34} {word} {seconds:.0} s", counts.join(", "));
        let notes: String = notes.join("; ").chars().take(NOTE_CHARS_MAX).collect();
        if notes.is_empty() { line } else { format!("{line}  ({notes})") }
    }
}

impl Outcome {
    /// `1,000 of 1,000 seeds`.
    pub(super) fn counted(&self) -> String {
        format!("{} of {} {}", grouped(self.count), grouped(self.least), self.unit)
    }
}

impl State {
    pub(super) fn word(&self) -> String {
        match self {
            State::Passed => "ok".to_owned(),
            State::Below => "BELOW ITS COUNT".to_owned(),
            State::Failed(_) => "FAILED".to_owned(),
            State::Missing(why) => format!("missing: {why}"),
        }
    }
}

/// 1234567 as 1,234,567.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Longest note of a line; the result file has all of it.
const NOTE_CHARS_MAX: usize = 240;
/// Rows that run at the same time.
const WORKERS: usize = 2;

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
