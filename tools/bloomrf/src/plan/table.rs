//! The report for people.

use std::fmt::Write as _;

use bloomrf_filter::plan::{Row, Shape, Structure, table as hash_set};

use super::{LOADS, Report};
use crate::numbers::{grouped, short_rate, size};

impl Report {
    pub(super) fn to_text(&self) -> String {
        let mut text = self.asked();
        self.write_rows(&mut text);
        self.write_refusals(&mut text);
        self.write_loads(&mut text);
        self.write_shared(&mut text);
        let _ = writeln!(
            text,
            "hash-set: {}; numbers of 8 bytes unless --item-bytes is given",
            hash_set::formula(&self.plan.question.keys)
        );
        let take = self.advice.take.map_or("nothing", Structure::name);
        let _ = writeln!(text, "\nTake {take}: {}.", self.advice.why.trim_end_matches('.'));
        text
    }

    fn asked(&self) -> String {
        let question = &self.plan.question;
        let mut parts = Vec::new();
        parts.extend(question.items.map(|items| format!("{} items", grouped(items))));
        parts.extend(question.fpr.map(|fpr| format!("false-positive rate {}", short_rate(fpr))));
        parts.extend(question.bits.map(|bits| format!("at most {} bits", grouped(bits))));
        parts.extend(question.k.map(|k| format!("k = {k}")));
        format!("{}\n\n", parts.join(", "))
    }

    fn write_rows(&self, text: &mut String) {
        let timed =
            if self.measured { format!(" {:>9} {:>9}", "insert", "lookup") } else { "".into() };
        let head = format!(
            "{:14} {:>16} {:>15} {:>10} {:>7} {:>3} {:>8} {:>10} {:>7}  {:12}{timed}",
            "kind", "items", "bits", "memory", "bits/it", "k", "lines", "rate", "margin", "can"
        );
        let _ = writeln!(text, "{}", head.trim_end());
        for (row, timing) in self.plan.rows.iter().zip(&self.timings) {
            let Ok(shape) = &row.shape else { continue };
            let ns = |ns: f64| format!("{ns:.1} ns");
            let timed = match timing {
                Some(timing) => {
                    format!(" {:>9} {:>9}", ns(timing.insert_ns), ns(timing.lookup_ns))
                }
                None if self.measured => format!(" {:>9} {:>9}", "-", "-"),
                None => String::new(),
            };
            let line = format!("{}{timed}", row_text(row.structure, shape));
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let _ = writeln!(
            text,
            "\nlines: cache lines of a lookup of what is there / on average of what is not; rate: \
             expected with these items;\nmargin: more items until the rate doubles, or nothing \
             fits any more; can: delete, grow, range"
        );
        if self.measured {
            let _ = writeln!(
                text,
                "insert, lookup (of what is not there): one core of this machine, in calls of \
                 1,024 numbers, hashing included"
            );
        }
    }

    fn write_refusals(&self, text: &mut String) {
        for Row { structure, shape } in &self.plan.rows {
            if let Err(why) = shape {
                let _ = writeln!(text, "{structure}: not so: {why}");
            }
        }
    }

    fn write_loads(&self, text: &mut String) {
        let heads: Vec<_> = LOADS.iter().map(|l| format!("{:>10}", percent(*l))).collect();
        let _ = writeln!(text, "\n{:14}{}", "rate at load", heads.concat());
        for row in &self.plan.rows {
            let Ok(shape) = &row.shape else { continue };
            if shape.structure.is_exact() {
                continue;
            }
            let rates = shape.fpr_at(&LOADS).into_iter();
            let rates = rates.map(|(_, rate)| rate.map_or("full".to_owned(), short_rate));
            let rates: Vec<_> = rates.map(|rate| format!("{rate:>10}")).collect();
            let _ = writeln!(text, "{:14}{}", row.structure, rates.concat());
        }
        text.push('\n');
    }

    fn write_shared(&self, text: &mut String) {
        for shared in &self.shared {
            let _ = writeln!(
                text,
                "{}: {} bits asked for, {} words of 64, k = {}",
                shared.share.name(),
                grouped(shared.bits_asked),
                grouped(shared.words),
                shared.k
            );
        }
    }
}

fn row_text(structure: Structure, shape: &Shape) -> String {
    let (found, absent) = shape.lines();
    let k = if shape.k == 0 { "-".to_owned() } else { shape.k.to_string() };
    let margin = match shape.margin() {
        None => "any".to_owned(),
        Some(margin) => format!("+{:.0} %", (margin - 1.0) * 100.0),
    };
    let can = [
        (structure.deletes(), "delete"),
        (structure.grows(), "grow"),
        (structure.ranges(), "range"),
    ];
    let can: Vec<&str> = can.into_iter().filter_map(|(can, word)| can.then_some(word)).collect();
    let lines = if found.fract() == 0.0 { format!("{found:.0}") } else { format!("{found:.1}") };
    format!(
        "{:14} {:>16} {:>15} {:>10} {:>7.2} {:>3} {:>8} {:>10} {:>7}  {:12}",
        structure,
        grouped(shape.items),
        grouped(shape.bits),
        size(shape.bytes()),
        shape.bits_per_key(),
        k,
        format!("{lines}/{absent:.1}"),
        short_rate(shape.fpr_expected()),
        margin,
        can.join(" ")
    )
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
