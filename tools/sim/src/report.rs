//! What is printed: progress, failures with the command that repeats them, the campaign line.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use bloomrf_report::Report;
use bloomrf_sim::{Failure, Tally};

/// Progress on a terminal, at most ten times a second.
pub(crate) struct Progress {
    what: &'static str,
    count: u64,
    shown: Instant,
    is_terminal: bool,
}

impl Progress {
    pub(crate) fn new(what: &'static str, count: u64) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Progress { what, count, shown: Instant::now(), is_terminal }
    }

    /// `done` are done, `failures` of them failed.
    pub(crate) fn show(&mut self, done: u64, failures: u64) {
        let is_last = done == self.count;
        if self.is_terminal && (is_last || self.shown.elapsed() > Duration::from_millis(100)) {
            self.shown = Instant::now();
            let (what, count) = (self.what, self.count);
            let end = if is_last { "\n" } else { "" };
            let mut stderr = std::io::stderr();
            let _ = write!(stderr, "\r{done} of {count} {what}, {failures} failed {end}");
        }
    }
}

/// Tells of a failure.
pub(crate) fn failure(subject: &str, repeat: &str, failure: &Failure, lines: usize) {
    println!("{subject} failed {failure}");
    let skipped = failure.trace.len().saturating_sub(lines);
    for line in failure.trace.iter().skip(skipped) {
        println!("  {line}");
    }
    println!("  repeat: {repeat} --trace");
}

/// What happened, as JSON.
pub(crate) fn json(tally: &Tally) {
    let parts: Vec<String> = tally.iter().map(|(what, n)| format!("\"{what}\": {n}")).collect();
    println!("{{{}}}", parts.join(", "));
}

/// The line that the campaign reads.
pub(crate) fn campaign(row: u8, count: u64, unit: &'static str, failures: u64, note: &str) {
    let mut report = Report::new(row, unit);
    report.add(count);
    report.add_failures(failures);
    report.note(note);
    report.finish();
}
