//! What a row says of itself: one line that `cargo xtask campaign` reads, and each failure with
//! the command that repeats it.

use std::fmt::Display;
use std::io::IsTerminal as _;
use std::process::ExitCode;

/// Counts of one row of the fault table.
#[derive(Debug)]
pub(crate) struct Report {
    row: u8,
    unit: &'static str,
    count: u64,
    failures: u64,
    notes: Vec<String>,
}

impl Report {
    /// Nothing done yet. `unit` is one word: what `count` counts.
    pub(crate) fn new(row: u8, unit: &'static str) -> Self {
        Report { row, unit, count: 0, failures: 0, notes: Vec::new() }
    }

    /// So many more were done.
    pub(crate) fn add(&mut self, count: u64) {
        self.count += count;
    }

    /// One went wrong: `what`, and the command that shows it again. Only the first ones are
    /// printed; all are counted.
    pub(crate) fn fail(&mut self, what: impl Display, repeat: impl Display) {
        self.failures += 1;
        if self.failures <= PRINTED_MAX {
            println!("FAILURE row {}: {what}\n  repeat: {repeat}", self.row);
        }
    }

    /// A remark at the end of the line.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Done and gone wrong so far.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.count, self.failures)
    }

    /// How far it is, for people who look on.
    pub(crate) fn progress(&self, what: &str) {
        if std::io::stderr().is_terminal() {
            let Report { row, unit, count, failures, .. } = self;
            eprintln!("row {row}: {what}, {count} {unit}, {failures} failures");
        }
    }

    /// The line.
    fn line(&self) -> String {
        let Report { row, unit, count, failures, notes } = self;
        let line = format!("campaign row={row} count={count} unit={unit} failures={failures}");
        if notes.is_empty() {
            return line;
        }
        format!("{line} note={}", notes.join("; ").replace('\n', " "))
    }

    /// Prints the line; the exit code of the program.
    pub(crate) fn finish(self) -> ExitCode {
        println!("{}", self.line());
        if self.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Failures that are printed.
const PRINTED_MAX: u64 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_fields_that_the_campaign_reads() {
        let mut report = Report::new(2, "points");
        report.add(10);
        assert_eq!(report.line(), "campaign row=2 count=10 unit=points failures=0");
        report.fail("a file", "again");
        report.note("two\nlines");
        report.note("more");
        let line = "campaign row=2 count=10 unit=points failures=1 note=two lines; more";
        assert_eq!(report.line(), line);
        assert_eq!((report.counts(), report.finish()), ((10, 1), ExitCode::FAILURE));
    }
}
