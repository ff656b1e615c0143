//! The dated result file of a campaign: docs/campaigns/DATE-(quick|full).md.

use std::fmt::Write as _;
use std::fs;

use super::Size;
use super::part::{Outcome, State};
use super::schedule::{RowResult, grouped};
use crate::bench::machine;
use crate::run::root;

/// Writes it; returns its path from the root. A campaign may run in parts (`--rows`): the rows that
/// the day's file has already stay, each with the commit that it was run on.
pub(super) fn keep(results: &[RowResult], size: Size) -> Result<String, String> {
    let name = match size {
        Size::Quick => "quick",
        Size::Full(_) => "full",
    };
    let path = format!("docs/campaigns/{}-{name}.md", machine::date());
    let target = root().join(&path);
    let fail = |reason: std::io::Error| format!("{path}: {reason}");
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(fail)?;
    }
    let earlier = fs::read_to_string(&target).unwrap_or_default();
    fs::write(&target, text(results, size, &earlier)).map_err(fail)?;
    Ok(path)
}

/// The file's text: rows of `earlier` (the day's file so far) that did not run again stay.
fn text(results: &[RowResult], size: Size, earlier: &str) -> String {
    let (title, command) = match size {
        Size::Quick => ("quick", "cargo xtask campaign --quick --record".to_owned()),
        Size::Full(1) => ("full", "cargo xtask campaign --record".to_owned()),
        Size::Full(times) => ("full", format!("cargo xtask campaign --record --times {times}")),
    };
    let mut out = format!("# Fault campaign, {title}, {}\n\n", machine::date());
    out += "What each row tries and promises: [FAULTS.md](../FAULTS.md). Commands are those of \
            profile `campaign`.\n\n";
    out += "| row | fault | count | asked for | failures | result | seconds | commit | command | \
            note |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    let ran = |number| results.iter().any(|result| result.row.number == number);
    let kept = earlier.lines().filter_map(|line| Some((row_of(line)?, line.to_owned())));
    let mut lines: Vec<(u8, String)> = kept.filter(|(number, _)| !ran(*number)).collect();
    let commit = machine::commit(&root());
    for result in results {
        let line = |outcome| (result.row.number, line(result, outcome, &commit));
        lines.extend(result.outcomes.iter().map(line));
    }
    lines.sort_by_key(|(number, _)| *number);
    lines.iter().for_each(|(_, line)| out += &format!("{line}\n"));
    // Writing to a String cannot fail.
    let _ = write!(out, "\n```text\n{}```\n", machine::describe(&root(), &command));
    out
}

/// The row that a line of the table is of.
fn row_of(line: &str) -> Option<u8> {
    line.strip_prefix("| ")?.split(' ').next()?.parse().ok()
}

fn line(result: &RowResult, outcome: &Outcome, commit: &str) -> String {
    let (number, fault, unit) = (result.row.number, result.row.fault, outcome.unit);
    let (count, least) = (grouped(outcome.count), grouped(outcome.least));
    let (failures, seconds, word) = (outcome.failures, outcome.seconds, outcome.state.word());
    let notes: Vec<&str> = outcome.notes.iter().map(String::as_str).collect();
    let notes = match &outcome.state {
        State::Missing(_) => String::new(),
        _ => notes.join("; ").replace('|', "/"),
    };
    let command = match outcome.command.as_str() {
        "" => String::new(),
        command => format!("`{command}`"),
    };
    format!(
        "| {number} | {fault} | {count} {unit} | {least} | {failures} | {word} | {seconds:.0} | \
         {commit} | {command} | {notes} |"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_an_earlier_part_of_the_day_stay_and_those_that_ran_again_do_not() {
        let result = |number| {
            let row = super::super::rows::ROWS.iter().find(|row| row.number == number).unwrap();
            let outcome = Outcome {
                unit: row.parts[0].unit,
                count: 7,
                least: 7,
                failures: 0,
                seconds: 1.0,
                notes: Vec::new(),
                command: "bloomrf-sim links".to_owned(),
                state: State::Passed,
            };
            RowResult { row, outcomes: vec![outcome] }
        };
        let first = text(&[result(2), result(12)], Size::Quick, "");
        let both = text(&[result(3), result(12)], Size::Quick, &first);
        let rows: Vec<u8> = both.lines().filter_map(row_of).collect();
        assert_eq!(rows, [2, 3, 12]);
    }
}
