//! What the demo found, as numbers; [`table`] prints them for people, [`json`] for machines.

mod json;
mod table;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::schema::Schema;
use bloomrf_node::NodeStatus;

use super::ask::Asked;
use super::ingest::Ingested;
use super::questions::{Class, Shape};
use crate::args::DemoArgs;
use crate::intake::IntakeCounts;
use crate::outcome::{CommandError, complain, print};

/// Batches that were sent and are not usable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unverified {
    /// Stored, and not verified by the node.
    pub(crate) batches: Vec<BatchId>,
    /// Not stored: the storage node missed frames.
    pub(crate) lost: u64,
}

/// Sums over all questions; pairs are of one question and one batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) questions: u64,
    pub(crate) pairs: u64,
    pub(crate) excluded_zone_map: u64,
    pub(crate) excluded_filter: u64,
    pub(crate) ideal_excluded: u64,
    pub(crate) false_positives: u64,
    pub(crate) false_negatives: u64,
    pub(crate) no_filter: u64,
    pub(crate) doubts: u64,
    pub(crate) timed_out: u64,
}

impl Sums {
    pub(crate) fn excluded(&self) -> u64 {
        self.excluded_zone_map + self.excluded_filter
    }

    fn add(&mut self, asked: &Asked) {
        self.questions += 1;
        self.pairs += asked.candidates;
        self.excluded_zone_map += asked.excluded_zone_map;
        self.excluded_filter += asked.excluded_filter;
        self.ideal_excluded += asked.candidates - asked.matching;
        self.false_positives += asked.false_positives;
        self.false_negatives += asked.false_negatives;
        self.no_filter += asked.no_filter;
        self.doubts += u64::from(asked.doubt.is_some());
        self.timed_out += u64::from(asked.timed_out);
    }
}

/// Everything that is printed.
pub(crate) struct Report {
    json: bool,
    capture: String,
    packets: u64,
    batch_records: u64,
    counts: IntakeCounts,
    records: u64,
    batches: u64,
    seconds: f64,
    status: NodeStatus,
    unverified: Unverified,
    asked: Vec<Asked>,
    sums: Sums,
    /// Per column: what was reached with questions drawn from the data.
    classes: BTreeMap<Class, Sums>,
}

impl Report {
    pub(crate) fn new(args: &DemoArgs, packets: u64) -> Self {
        let capture = match &args.pcap {
            Some(path) => path.display().to_string(),
            None => format!("synthetic, seed {}", args.seed),
        };
        Report {
            json: args.json,
            capture,
            packets,
            batch_records: args.batch_records.unwrap_or(0),
            counts: IntakeCounts::default(),
            records: 0,
            batches: 0,
            seconds: 0.0,
            status: NodeStatus::default(),
            unverified: Unverified::default(),
            asked: Vec::new(),
            sums: Sums::default(),
            classes: BTreeMap::new(),
        }
    }

    pub(crate) fn fill(
        &mut self,
        ingested: &Ingested,
        status: &NodeStatus,
        unverified: Unverified,
        asked: Vec<Asked>,
    ) {
        self.batch_records = ingested.batch_records;
        self.counts = ingested.counts.clone();
        self.records = ingested.totals.records;
        self.batches = ingested.totals.batches;
        self.seconds = ingested.seconds;
        self.status = *status;
        self.unverified = unverified;
        for asked in &asked {
            self.sums.add(asked);
            if let Some(class) = asked.question.class {
                self.classes.entry(class).or_default().add(asked);
            }
        }
        self.asked = asked;
    }

    /// Prints everything on standard output.
    pub(crate) fn print(&self) -> Result<(), CommandError> {
        let text = if self.json { format!("{:#}\n", self.to_json()) } else { self.to_table() };
        print(&text)
    }

    /// For a capture that can be read and holds nothing.
    pub(crate) fn say_no_packets(
        &mut self,
        capture: &Path,
        cut: Option<String>,
    ) -> Result<(), CommandError> {
        self.counts.cut = cut;
        if self.json {
            return self.print();
        }
        let remarks: String = self.counts.remarks().iter().map(|r| format!("{r}\n")).collect();
        print(&format!(
            "{remarks}{}: no packets in this capture, nothing to do\n",
            capture.display()
        ))
    }

    /// A question to try: some batches match, the filter excludes others, as many as can be.
    pub(crate) fn telling_question(&self) -> Option<&Asked> {
        let quotable = |a: &&Asked| a.question.text.len() <= 50 && !a.question.text.contains('"');
        let asked = self.asked.iter().filter(quotable);
        asked.filter(|a| a.matching > 0 && a.excluded_filter > 0).max_by_key(|a| a.excluded_filter)
    }

    /// Done only with zero false negatives, and with something verified.
    pub(crate) fn exit_code(&self) -> ExitCode {
        let nothing_verified = self.batches > 0 && self.status.store.verified == 0;
        if nothing_verified {
            complain("error", "no batch was verified, nothing could be excluded");
        }
        if self.sums.false_negatives > 0 {
            complain("error", format!("{} false negatives", self.sums.false_negatives));
        }
        ExitCode::from(u8::from(nothing_verified || self.sums.false_negatives > 0))
    }

    fn records_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.records as f64 / self.seconds } else { 0.0 }
    }

    fn filter_bytes_per_record(&self) -> f64 {
        if self.records == 0 { 0.0 } else { self.status.store.bytes as f64 / self.records as f64 }
    }

    /// Per column in schema order: name, points, ranges.
    fn columns(&self) -> Vec<(String, Option<Sums>, Option<Sums>)> {
        let schema = Schema::packet();
        let of = |column, shape| self.classes.get(&Class { column, shape }).copied();
        let columns = schema.columns().iter().enumerate().map(|(i, column)| {
            let i = i as u16;
            (column.name().to_owned(), of(i, Shape::Point), of(i, Shape::Range))
        });
        columns.collect()
    }
}

/// In percent.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}
