//! The dated result file of a campaign: docs/campaigns/DATE-(quick|full).md.

use std::fmt::Write as _;
use std::fs;

use super::Size;
use super::part::State;
use super::schedule::{RowResult, grouped};
use crate::bench::machine;
use crate::run::root;

/// Writes it; returns its path from the root.
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
    fs::write(&target, text(results, size)).map_err(fail)?;
    Ok(path)
}

fn text(results: &[RowResult], size: Size) -> String {
    let (title, command) = match size {
        Size::Quick => ("quick", "cargo xtask campaign --quick --record".to_owned()),
        Size::Full(1) => ("full", "cargo xtask campaign --record".to_owned()),
        Size::Full(times) => ("full", format!("cargo xtask campaign --record --times {times}")),
    };
    let mut out = format!("# Fault campaign, {title}, {}\n\n", machine::date());
    out += "What each row tries and promises: [FAULTS.md](../FAULTS.md).\n\n";
    out += "| row | fault | count | asked for | failures | result | seconds | note |\n";
    out += "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for result in results {
        for outcome in &result.outcomes {
            let (number, fault, unit) = (result.row.number, result.row.fault, outcome.unit);
            let (count, least) = (grouped(outcome.count), grouped(outcome.least));
            let (failures, seconds) = (outcome.failures, outcome.seconds);
            let notes: Vec<&str> = outcome.notes.iter().map(String::as_str).collect();
            let notes = match &outcome.state {
                State::Missing(_) => String::new(),
                _ => notes.join("; ").replace('|', "/"),
            };
            let word = outcome.state.word();
            // Writing to a String cannot fail.
            let _ = writeln!(
                out,
                "| {number} | {fault} | {count} {unit} | {least} | {failures} | {word} | \
                 {seconds:.0} | {notes} |"
            );
        }
    }
    out += "\nCommands, each in profile `campaign`:\n\n```text\n";
    for outcome in results.iter().flat_map(|result| &result.outcomes) {
        if !outcome.command.is_empty() {
            let _ = writeln!(out, "{}", outcome.command);
        }
    }
    let _ = write!(out, "```\n\n```text\n{}```\n", machine::describe(&root(), &command));
    out
}
