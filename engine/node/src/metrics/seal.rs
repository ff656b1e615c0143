//! What the sealer and the verification client count.

use bloomrf_engine::seal::{IncompleteReason, LaneStats};
use prometheus::{Histogram, IntCounter, IntGauge};

use super::Register;
use super::mirror::advance;

/// Counters from CLOSE to verdict.
pub(crate) struct SealMetrics {
    /// Batches sealed.
    pub(crate) sealed: IntCounter,
    /// From the first CLOSE frame of a batch to its sealed filters.
    pub(crate) seconds: Histogram,
    incomplete: Vec<IntCounter>,
    /// Split, moved.
    lanes: Vec<IntCounter>,
    /// Verdicts of mismatch.
    pub(crate) verify_mismatch: IntCounter,
    /// 1 while the SCC has welcomed us.
    pub(crate) scc_connected: IntGauge,
    /// Streams that failed.
    pub(crate) scc_failures: IntCounter,
}

impl SealMetrics {
    pub(super) fn new(register: &Register<'_>) -> Result<Self, prometheus::Error> {
        Ok(SealMetrics {
            sealed: register.counter("batches_sealed", "Batches sealed.")?,
            seconds: register.histogram(
                "seal_seconds",
                "Time from a batch's first CLOSE frame to its sealed filters.",
                prometheus::exponential_buckets(1e-3, 2.0, 17)?,
            )?,
            incomplete: register.counters(
                "batches_incomplete",
                "Batches given up, by reason; they read no filter for ever.",
                "reason",
                &INCOMPLETE_LABELS,
            )?,
            lanes: register.counters(
                "lanes_strayed",
                "Lanes that came to several queues, or to another than in the batch before.",
                "how",
                &["split", "moved"],
            )?,
            verify_mismatch: register
                .counter("verify_mismatch", "Batches whose hash the SCC did not confirm.")?,
            scc_connected: register.gauge("scc_connected", "1 while the SCC has welcomed us.")?,
            scc_failures: register.counter(
                "scc_failures",
                "Verification streams that did not come about, broke, or were refused.",
            )?,
        })
    }

    /// Counts a batch given up.
    pub(crate) fn incomplete(&self, reason: IncompleteReason) {
        if let Some(counter) = self.incomplete.get(incomplete_index(reason)) {
            counter.inc();
        }
    }

    /// Shows the sealer's counters. Called by its thread alone.
    pub(crate) fn show_lanes(&self, stats: LaneStats) {
        for (counter, value) in self.lanes.iter().zip([stats.split, stats.moved]) {
            advance(counter, value);
        }
    }

    /// What was shown last.
    pub(crate) fn lanes(&self) -> LaneStats {
        let shown = |at: usize| self.lanes.get(at).map_or(0, |counter| counter.get());
        LaneStats { split: shown(0), moved: shown(1) }
    }

    /// Batches given up, for all reasons.
    pub(crate) fn incomplete_sum(&self) -> u64 {
        self.incomplete.iter().map(|c| c.get()).sum()
    }
}

const INCOMPLETE_LABELS: [&str; 6] = ["gap", "no_close", "conflict", "rows", "loss", "other"];

fn incomplete_index(reason: IncompleteReason) -> usize {
    match reason {
        IncompleteReason::Gap => 0,
        IncompleteReason::NoClose => 1,
        IncompleteReason::Conflict => 2,
        IncompleteReason::Rows => 3,
        IncompleteReason::Loss => 4,
        _ => 5,
    }
}

/// The label of a reason, for logs.
pub(crate) fn incomplete_label(reason: IncompleteReason) -> &'static str {
    INCOMPLETE_LABELS.get(incomplete_index(reason)).copied().unwrap_or("other")
}
