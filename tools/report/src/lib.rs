//! What a row of the fault campaign says of itself: one line that `cargo xtask campaign` reads, and
//! each failure with the command that repeats it. Shared by all programs that try rows, so that
//! there is one writer of what `tools/xtask/src/campaign/part.rs` reads.
#![forbid(unsafe_code)]

use std::fmt::{self, Display};
use std::io::IsTerminal as _;
use std::process::ExitCode;

/// Counts of one row of the fault table. Shown, it is the line.
#[derive(Debug)]
pub struct Report {
    row: u8,
    unit: &'static str,
    count: u64,
    failures: u64,
    notes: Vec<String>,
}

impl Report {
    /// Nothing done yet. `unit` is one word: what `count` counts.
    #[must_use]
    pub fn new(row: u8, unit: &'static str) -> Self {
        Report { row, unit, count: 0, failures: 0, notes: Vec::new() }
    }

    /// So many more were done.
    pub fn add(&mut self, count: u64) {
        self.count += count;
    }

    /// One went wrong: `what`, and the command that shows it again. Only the first ones are
    /// printed; all are counted.
    pub fn fail(&mut self, what: impl Display, repeat: impl Display) {
        self.failures += 1;
        if self.failures <= PRINTED_MAX {
            println!("FAILURE row {}: {what}\n  repeat: {repeat}", self.row);
        }
    }

    /// So many went wrong that were told already.
    pub fn add_failures(&mut self, failures: u64) {
        self.failures += failures;
    }

    /// Done so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Gone wrong so far.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures
    }

    /// A remark at the end of the line; the same one stands there once. One that begins with
    /// `missing: ` says that the row cannot be tried here, and why.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into().replace('\n', " ");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// How far it is, for people who look on.
    pub fn progress(&self, what: &str) {
        if std::io::stderr().is_terminal() {
            let Report { row, unit, count, failures, .. } = self;
            eprintln!("row {row}: {what}, {count} {unit}, {failures} failures");
        }
    }

    /// Prints the line; the exit code of the program.
    pub fn finish(self) -> ExitCode {
        println!("{self}");
        if self.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { row, unit, count, failures, notes } = self;
        write!(f, "campaign row={row} count={count} unit={unit} failures={failures}")?;
        match notes.is_empty() {
            true => Ok(()),
            false => write!(f, " note={}", notes.join("; ")),
        }
    }
}

/// A count as people write it: `100000`, `1e8`, `2.5e6`.
pub fn count(text: &str) -> Result<u64, String> {
    let expected = || format!("{text}: expected a whole number such as 100000 or 1e8");
    if let Ok(count) = text.replace('_', "").parse::<u64>() {
        return Ok(count);
    }
    let count: f64 = text.parse().map_err(|_| expected())?;
    let is_whole = count >= 0.0 && count < 2f64.powi(63) && count.fract() == 0.0;
    if is_whole { Ok(count as u64) } else { Err(expected()) }
}

/// Failures that are printed.
const PRINTED_MAX: u64 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_fields_that_the_campaign_reads() {
        let mut report = Report::new(12, "lookups");
        report.add(10);
        assert_eq!(report.to_string(), "campaign row=12 count=10 unit=lookups failures=0");
        report.fail("a key", "again");
        report.add_failures(2);
        report.note("two\nlines");
        report.note("more");
        report.note("more");
        let line = "campaign row=12 count=10 unit=lookups failures=3 note=two lines; more";
        assert_eq!(report.to_string(), line);
        assert_eq!((report.count(), report.failures()), (10, 3));
        assert_eq!(report.finish(), ExitCode::FAILURE);
    }

    #[test]
    fn counts_are_read_as_people_write_them() {
        assert_eq!(count("1e8"), Ok(100_000_000));
        assert_eq!(count("2.5e6"), Ok(2_500_000));
        assert_eq!(count("1_000"), Ok(1_000));
        for wrong in ["", "many", "-1", "1.5", "1e30", "NaN"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }
}
