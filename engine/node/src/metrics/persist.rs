//! Numbers of the data folder, copied in when `/metrics` is asked.

use bloomrf_engine::format::FileRefusal;
use bloomrf_engine::persist::{PersistStatus, Place};
use prometheus::{IntCounter, IntGauge};

use super::Register;
use super::mirror::{advance, set};

/// The copies.
pub(super) struct PersistMetrics {
    files: IntGauge,
    bytes: IntGauge,
    waiting: IntGauge,
    newer: IntGauge,
    disk_failing: IntGauge,
    written: IntCounter,
    bytes_written: IntCounter,
    syncs: IntCounter,
    removed: IntCounter,
    unstorable: IntCounter,
    recovered: IntCounter,
    sections_lost: IntCounter,
    scrubbed: IntCounter,
    scrub_corrupt: IntCounter,
    errors: Vec<IntCounter>,
    refused: Vec<IntCounter>,
    refused_labels: Vec<&'static str>,
}

impl PersistMetrics {
    pub(super) fn new(register: &Register<'_>) -> Result<Self, prometheus::Error> {
        let counter = |name, help| register.counter(name, help);
        let gauge = |name, help| register.gauge(name, help);
        let mut refused_labels: Vec<&'static str> = FileRefusal::LABELS.to_vec();
        refused_labels.extend([PersistStatus::TOO_LARGE, PersistStatus::UNREADABLE]);
        Ok(PersistMetrics {
            files: gauge("persist_files", "Stored files of batches.")?,
            bytes: gauge("persist_bytes", "Their bytes.")?,
            waiting: gauge("persist_waiting", "Verified batches that have no file yet.")?,
            newer: gauge("persist_newer", "Files of a newer format, left alone.")?,
            disk_failing: gauge(
                "disk_failing",
                "1 while the data folder fails; batches are served from memory all the same.",
            )?,
            written: counter("persist_written", "Files written.")?,
            bytes_written: counter("persist_bytes_written", "Their bytes.")?,
            syncs: counter("persist_syncs", "Times that a file or the folder was made durable.")?,
            removed: counter("persist_removed", "Files removed because their batches left.")?,
            unstorable: counter("persist_unstorable", "Batches that no file can hold.")?,
            recovered: counter("persist_recovered", "Batches loaded at start.")?,
            sections_lost: counter(
                "persist_sections_lost",
                "Filters that loaded files had lost: their columns have none.",
            )?,
            scrubbed: counter("persist_scrubbed", "Files looked at by the scrubber.")?,
            scrub_corrupt: counter(
                "persist_scrub_corrupt",
                "Files that it found damaged, missing or unreadable.",
            )?,
            errors: register.counters(
                "persist_errors",
                "Failures of the data folder, by place.",
                "place",
                &Place::ALL.map(Place::label),
            )?,
            refused: register.counters(
                "persist_refused",
                "Stored files refused, by reason.",
                "reason",
                &refused_labels,
            )?,
            refused_labels,
        })
    }

    /// Copies; the caller sees to it that nobody else does at this moment.
    pub(super) fn refresh(&self, status: &PersistStatus, is_failing: bool) {
        set(&self.files, status.files);
        set(&self.bytes, status.bytes);
        set(&self.waiting, status.waiting);
        set(&self.newer, status.newer);
        set(&self.disk_failing, u64::from(is_failing));
        advance(&self.written, status.written);
        advance(&self.bytes_written, status.bytes_written);
        advance(&self.syncs, status.syncs);
        advance(&self.removed, status.removed);
        advance(&self.unstorable, status.unstorable);
        advance(&self.recovered, status.recovered);
        advance(&self.sections_lost, status.sections_lost);
        advance(&self.scrubbed, status.scrubbed);
        advance(&self.scrub_corrupt, status.scrub_corrupt);
        for (counter, place) in self.errors.iter().zip(Place::ALL) {
            advance(counter, status.errors_at(place));
        }
        for (counter, reason) in self.refused.iter().zip(&self.refused_labels) {
            advance(counter, status.refused_for(reason));
        }
    }
}
