//! The report for people: fits 120 columns, colour only on a terminal.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};

use super::{Report, Sums, share};
use crate::batch_ids::compact;
use crate::demo::ask::Asked;

impl Report {
    pub(super) fn to_table(&self) -> String {
        let paint = Paint::detect();
        let mut text = String::new();
        self.write_intake(&mut text);
        self.write_questions(&mut text, paint);
        self.write_columns(&mut text);
        self.write_totals(&mut text, paint);
        text
    }

    fn write_intake(&self, text: &mut String) {
        let _ = writeln!(text, "Capture: {}: {}", self.capture, self.counts.packets);
        for remark in self.counts.remarks() {
            let _ = writeln!(text, "Note: {remark}");
        }
        let _ = writeln!(
            text,
            "Batches: {} of {} records; {} verified",
            self.batches, self.batch_records, self.status.store.verified
        );
        if !self.unverified.batches.is_empty() {
            let ids = compact(&self.unverified.batches, 20);
            let _ = writeln!(text, "Note: not verified, always read: batches {ids}");
        }
        if self.unverified.lost > 0 {
            let _ = writeln!(text, "Note: not stored (frames lost): {}", self.unverified.lost);
        }
        if self.status.store.evicted > 0 {
            let _ = writeln!(text, "Note: evicted, always read: {}", self.status.store.evicted);
        }
        let _ = writeln!(
            text,
            "\nEvery question goes to the node, and every batch is read to know the truth. \
             Excluded: need not be read.\n\
             False positive: read in vain. False negative: a match lost; must \
             be 0 everywhere."
        );
    }

    fn write_questions(&self, text: &mut String, paint: Paint) {
        let above = ["", "batches", "truly", "excluded", "by", "false", "false", "lookup"];
        let below = [
            "predicate",
            "in window",
            "matching",
            "zone map",
            "filter",
            "positives",
            "negatives",
            "us",
        ];
        let [above, below] = [above, below].map(|[predicate, a, b, c, d, e, f, g]| {
            format!("{predicate:<PREDICATE$} {a:>9} {b:>9} {c:>9} {d:>7} {e:>10} {f:>10} {g:>8}")
        });
        let _ = writeln!(text, "\n{above}\n{below}\n{}", "-".repeat(below.len()));
        for asked in &self.asked {
            write_question(text, asked, paint);
        }
    }

    fn write_columns(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "\nBatches excluded / at best (all without a match), over n questions about one value \
             or range that is there"
        );
        let _ = writeln!(
            text,
            "{:<12} {:>15} {:>4} {:>19} {:>4}",
            "column", "value", "n", "range", "n"
        );
        for (name, point, range) in self.columns() {
            if point.is_some() || range.is_some() {
                let line = format!("{name:<12}{}    {}", reached(point), reached(range));
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
    }

    fn write_totals(&self, text: &mut String, paint: Paint) {
        let sums = &self.sums;
        let _ = writeln!(
            text,
            "\n{} records in {} batches, sent and taken in {:.2} s ({:.0} records/s); \
             {:.1} bytes of filter a record",
            self.records,
            self.batches,
            self.seconds,
            self.records_per_second(),
            self.filter_bytes_per_record()
        );
        let _ = writeln!(
            text,
            "{} questions about {} batches: {:.1} % of batch reads excluded ({:.1} % by zone \
             map, {:.1} % by filter); at best {:.1} %",
            self.asked.len(),
            self.batches,
            share(sums.excluded(), sums.pairs),
            share(sums.excluded_zone_map, sums.pairs),
            share(sums.excluded_filter, sums.pairs),
            share(sums.ideal_excluded, sums.pairs)
        );
        if sums.doubts + sums.timed_out > 0 {
            let _ = writeln!(
                text,
                "Note: {} answers were late or unusable (marked !) and {} incomplete: what they do \
                 not exclude is read",
                sums.doubts, sums.timed_out
            );
        }
        let negatives = format!("{} false negatives", sums.false_negatives);
        let negatives =
            if sums.false_negatives == 0 { paint.good(&negatives) } else { paint.bad(&negatives) };
        let _ = writeln!(text, "{} false positives, {negatives}", sums.false_positives);
    }
}

fn write_question(text: &mut String, asked: &Asked, paint: Paint) {
    let negatives = format!("{:>10}", asked.false_negatives);
    let negatives = if asked.false_negatives > 0 { paint.bad(&negatives) } else { negatives };
    let _ = writeln!(
        text,
        "{:<PREDICATE$} {:>9} {:>9} {:>9} {:>7} {:>10} {negatives} {:>8}{}",
        clip(&asked.question.text),
        asked.candidates,
        asked.matching,
        asked.excluded_zone_map,
        asked.excluded_filter,
        asked.false_positives,
        asked.micros,
        if asked.doubt.is_some() { " !" } else { "" }
    );
}

fn reached(sums: Option<Sums>) -> String {
    sums.map_or(" ".repeat(21), |sums| {
        let reached = share(sums.excluded(), sums.pairs);
        let ideal = share(sums.ideal_excluded, sums.pairs);
        format!("{:>16} {:>4}", format!("{reached:.1} / {ideal:.1} %"), sums.questions)
    })
}

fn clip(text: &str) -> String {
    if text.chars().count() <= PREDICATE {
        return text.to_owned();
    }
    let kept: String = text.chars().take(PREDICATE - 3).collect();
    format!("{kept}...")
}

/// Colour, or none.
#[derive(Clone, Copy, Debug)]
struct Paint {
    on: bool,
}

impl Paint {
    fn detect() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        Paint { on: wanted && io::stdout().is_terminal() }
    }

    fn good(self, text: &str) -> String {
        self.wrap(text, "\x1b[32m")
    }

    fn bad(self, text: &str) -> String {
        self.wrap(text, "\x1b[1;31m")
    }

    fn wrap(self, text: &str, colour: &str) -> String {
        if self.on { format!("{colour}{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Characters of the predicate column; the whole line fits 120.
const PREDICATE: usize = 50;
