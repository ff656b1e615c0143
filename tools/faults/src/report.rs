//! What a row says of itself: one line that `cargo xtask campaign` reads, and each failure with
//! the command that repeats it.

use std::fmt::Display;
use std::process::ExitCode;

/// Counts of one row of the fault table.
#[derive(Debug)]
pub(crate) struct Report {
    row: u8,
    unit: &'static str,
    count: u64,
    failures: u64,
    note: String,
}

impl Report {
    /// Nothing done yet. `unit` is one word: what `count` counts.
    pub(crate) fn new(row: u8, unit: &'static str) -> Self {
        Report { row, unit, count: 0, failures: 0, note: String::new() }
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

    /// Done so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Gone wrong so far.
    pub(crate) fn failures(&self) -> u64 {
        self.failures
    }

    /// A remark at the end of the line.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.note = note.into();
    }

    /// The line.
    fn line(&self) -> String {
        let Report { row, unit, count, failures, note } = self;
        let line = format!("campaign row={row} count={count} unit={unit} failures={failures}");
        if note.is_empty() { line } else { format!("{line} note={}", note.replace('\n', " ")) }
    }

    /// Prints the line; the exit code of the program.
    pub(crate) fn finish(self) -> ExitCode {
        println!("{}", self.line());
        if self.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// A count as people write it: `100000`, `1e8`, `2.5e6`.
pub(crate) fn count(text: &str) -> Result<u64, String> {
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
        assert_eq!(report.line(), "campaign row=12 count=10 unit=lookups failures=0");
        report.fail("a key", "again");
        report.note("two\nlines");
        let line = "campaign row=12 count=10 unit=lookups failures=1 note=two lines";
        assert_eq!(report.line(), line);
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
