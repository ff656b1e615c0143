//! What came of asking the SCC for missing frames.

use std::sync::{Mutex, PoisonError};

use bloomrf_engine::seal::{RepairFailure, RepairStats};
use prometheus::IntCounter;

use super::Register;
use super::mirror::advance;

/// Copies of the sealer's counters, which it shows whenever they have changed.
pub(crate) struct RepairMetrics {
    shown: Mutex<RepairStats>,
    batches: IntCounter,
    requests: IntCounter,
    repaired: IntCounter,
    failed: Vec<IntCounter>,
    frames: Vec<IntCounter>,
}

/// What becomes of a repaired frame, in the order of `outcomes`.
const OUTCOMES: [&str; 6] = ["inserted", "close", "duplicate", "refused", "unasked", "surplus"];

impl RepairMetrics {
    pub(super) fn new(register: &Register<'_>) -> Result<Self, prometheus::Error> {
        let counter = |name, help| register.counter(name, help);
        Ok(RepairMetrics {
            shown: Mutex::default(),
            batches: counter(
                "repair_batches",
                "Batches with frames missing after all waiting = repaired + failed + under way.",
            )?,
            requests: counter("repair_requests", "Requests for missing frames to the SCC.")?,
            repaired: counter("repair_repaired", "Batches that became whole after all.")?,
            failed: register.counters(
                "repair_failed",
                "Batches that could not be repaired, by reason.",
                "reason",
                &RepairFailure::LABELS,
            )?,
            frames: register.counters(
                "repair_frames",
                "Frames that the SCC sent again, by what became of them.",
                "outcome",
                &OUTCOMES,
            )?,
        })
    }

    /// Shows the sealer's counters. Called by its thread alone.
    pub(crate) fn show(&self, stats: RepairStats) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown == stats {
            return;
        }
        *shown = stats;
        advance(&self.batches, stats.batches);
        advance(&self.requests, stats.requests);
        advance(&self.repaired, stats.repaired);
        for (counter, value) in self.failed.iter().zip(stats.failed) {
            advance(counter, value);
        }
        for (counter, value) in self.frames.iter().zip(outcomes(&stats)) {
            advance(counter, value);
        }
    }

    /// What was shown last.
    pub(crate) fn stats(&self) -> RepairStats {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn outcomes(stats: &RepairStats) -> [u64; 6] {
    let RepairStats { ingest, unasked, surplus, .. } = stats;
    let refused = ingest.refused_sum();
    [ingest.data, ingest.close, ingest.duplicate, refused, *unasked, *surplus]
}
