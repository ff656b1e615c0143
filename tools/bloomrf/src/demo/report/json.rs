//! The report for machines. The keys of `totals` and `questions` are a promise; the others help.

use serde_json::{Value, json};

use super::{Report, Sums, share};
use crate::demo::ask::Asked;

impl Report {
    pub(super) fn to_json(&self) -> Value {
        let sums = &self.sums;
        let undecoded: serde_json::Map<String, Value> =
            self.counts.undecoded().map(|(k, n)| (k.to_owned(), n.into())).collect();
        let columns: Vec<Value> = self
            .columns()
            .iter()
            .flat_map(|(name, point, range)| [(name, "point", *point), (name, "range", *range)])
            .filter_map(|(name, shape, sums)| Some(class(name, shape, &sums?)))
            .collect();
        json!({
            "totals": {
                "records": self.records,
                "batches": self.batches,
                "questions": self.asked.len(),
                "false_negatives": sums.false_negatives,
                "false_positives": sums.false_positives,
                "excluded": sums.excluded(),
                "ideal_excluded": sums.ideal_excluded,
                "records_per_second": self.records_per_second(),
                "filter_bytes_per_record": self.filter_bytes_per_record(),
                "pairs": sums.pairs,
                "excluded_share": share(sums.excluded(), sums.pairs),
                "ideal_share": share(sums.ideal_excluded, sums.pairs),
                "no_filter": sums.no_filter,
                "unusable_answers": sums.doubts,
                "timed_out": sums.timed_out,
            },
            "questions": self.asked.iter().map(question).collect::<Vec<_>>(),
            "columns": columns,
            "capture": {
                "name": self.capture,
                "packets": self.packets,
                "undecoded": undecoded,
                "cut": self.counts.cut,
            },
            "batch_records": self.batch_records,
            "verified": self.status.store.verified,
            "unverified": self.unverified.batches,
            "not_stored": self.unverified.lost,
        })
    }
}

fn question(asked: &Asked) -> Value {
    json!({
        "where": asked.question.text,
        "candidates": asked.candidates,
        "matching": asked.matching,
        "excluded_zone_map": asked.excluded_zone_map,
        "excluded_filter": asked.excluded_filter,
        "false_positives": asked.false_positives,
        "false_negatives": asked.false_negatives,
        "micros": asked.micros,
        "node_micros": asked.node_micros,
        "no_filter": asked.no_filter,
        "unusable": asked.doubt.map(|d| format!("{d:?}").to_lowercase()),
    })
}

fn class(name: &str, shape: &str, sums: &Sums) -> Value {
    json!({
        "column": name,
        "shape": shape,
        "pairs": sums.pairs,
        "excluded": sums.excluded(),
        "ideal_excluded": sums.ideal_excluded,
    })
}
