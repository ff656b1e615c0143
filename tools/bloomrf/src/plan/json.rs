//! The report for machines.

use bloomrf_filter::plan::{Row, table as hash_set};
use serde_json::{Value, json};

use super::measure::Timing;
use super::{LOADS, Report};

impl Report {
    /// One object; `shape` fields of a row are null where it cannot be, and `why_not` says why.
    pub(super) fn to_json(&self) -> String {
        let question = &self.plan.question;
        let rows: Vec<Value> =
            self.plan.rows.iter().zip(&self.timings).map(|(row, t)| row_json(row, *t)).collect();
        let shared: Vec<Value> = self
            .shared
            .iter()
            .map(|shared| {
                json!({
                    "system": shared.share.name(),
                    "bits_asked": shared.bits_asked,
                    "words": shared.words,
                    "k": shared.k,
                })
            })
            .collect();
        let object = json!({
            "format": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "question": {
                "items": question.items,
                "fpr": question.fpr,
                "bits": question.bits,
                "k": question.k,
                "key_bits": question.keys.key_bits,
                "range_keys": question.keys.range_width,
                "item_bytes": question.keys.item_bytes,
            },
            "need": {
                "delete": self.need.delete,
                "range": self.need.range,
                "grow": self.need.grow,
                "share": self.need.share.map(|share| share.name()),
            },
            "rows": rows,
            "shared": shared,
            "hash_set_formula": hash_set::formula(&question.keys),
            "advice": {
                "take": self.advice.take.map(|structure| structure.name()),
                "why": self.advice.why,
            },
        });
        format!("{object:#}\n")
    }
}

fn row_json(row: &Row, timing: Option<Timing>) -> Value {
    let shape = row.shape.ok();
    let lines = shape.map(|shape| shape.lines());
    let load = shape.map(|shape| {
        let rates = shape.fpr_at(&LOADS).into_iter();
        rates.map(|(load, fpr)| json!({ "load": load, "fpr": fpr })).collect::<Vec<_>>()
    });
    json!({
        "kind": row.structure.name(),
        "items": shape.map(|shape| shape.items),
        "bits": shape.map(|shape| shape.bits),
        "bytes": shape.map(|shape| shape.bytes()),
        "words": shape.map(|shape| shape.bits.div_ceil(64)),
        "bits_per_item": shape.map(|shape| shape.bits_per_key()),
        "k": shape.map(|shape| shape.k),
        "fpr": shape.map(|shape| shape.fpr_expected()),
        "lines_found": lines.map(|lines| lines.0),
        "lines_absent": lines.map(|lines| lines.1),
        "margin": shape.and_then(|shape| shape.margin()),
        "load": load,
        "deletes": row.structure.deletes(),
        "grows": row.structure.grows(),
        "ranges": row.structure.ranges(),
        "insert_ns": timing.map(|timing| timing.insert_ns),
        "lookup_ns": timing.map(|timing| timing.lookup_ns),
        "why_not": row.shape.err().map(|why| why.to_string()),
    })
}
