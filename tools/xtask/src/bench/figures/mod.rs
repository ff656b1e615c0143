//! The figures that the kernels are held to: floor, aim, what was measured, and whether it is met.
//!
//! Ratios are between rows of one run. A figure without its rows is "not measured", never met.

mod batches;
mod ingest;
mod netio;
mod points;
mod ranges;

use std::fmt::Write as _;

use super::tables::Rows;
pub(crate) use netio::RECORD_NS;

/// One line of the table.
struct Figure {
    work: &'static str,
    floor: &'static str,
    aim: &'static str,
    measure: fn(&Rows) -> Option<Measured>,
}

/// What became of a figure.
struct Measured {
    text: String,
    floor: bool,
    aim: bool,
}

const PARTS: [&[Figure]; 5] =
    [points::FIGURES, ranges::FIGURES, batches::FIGURES, ingest::FIGURES, netio::FIGURES];

/// The table.
pub(crate) fn table(rows: &Rows) -> String {
    lines(rows, PARTS.iter().flat_map(|part| *part))
}

/// The lines of the links alone.
pub(crate) fn netio_table(rows: &Rows) -> String {
    lines(rows, netio::FIGURES.iter())
}

fn lines<'a>(rows: &Rows, figures: impl Iterator<Item = &'a Figure>) -> String {
    let mut text = "| work | floor | aim | measured | floor met | aim met |\n\
                    | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for figure in figures {
        let (measured, floor, aim) = match (figure.measure)(rows) {
            Some(found) => (found.text, word(found.floor), word(found.aim)),
            None => ("not measured".to_owned(), "-", "-"),
        };
        let Figure { work, floor: floor_text, aim: aim_text, .. } = figure;
        let _ =
            writeln!(text, "| {work} | {floor_text} | {aim_text} | {measured} | {floor} | {aim} |");
    }
    text
}

fn word(met: bool) -> &'static str {
    if met { "met" } else { "**missed**" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_without_rows_is_not_measured_and_never_met() {
        let table = table(&Rows(Vec::new()));
        let figures: usize = PARTS.iter().map(|part| part.len()).sum();
        assert_eq!(table.matches("not measured").count(), figures);
        assert!(!table.contains("| met"));
    }
}
