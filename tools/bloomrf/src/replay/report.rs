//! What a replay says at its end: what it sent, and how far that fell short of what was asked.

use bloomrf_netio::link::udp::SenderStats;
use bloomrf_refcluster::BroadcastTotals;
use serde_json::{Value, json};

use super::lanes::Prediction;

/// A replay that has ended.
pub(super) struct Report {
    pub(super) totals: BroadcastTotals,
    pub(super) sender: SenderStats,
    pub(super) seconds: f64,
    /// Records per second that were asked for.
    pub(super) asked: Option<f64>,
    /// Times that the file was played to its end.
    pub(super) passes: u64,
    /// Of the node, where the replay judged it.
    pub(super) verified: Option<u64>,
    pub(super) predictions: Vec<Prediction>,
}

/// A rate is reached, to what clocks and sleeps are good for, from this share of it on.
const REACHED_MIN: f64 = 0.99;

impl Report {
    fn rate(&self) -> f64 {
        self.totals.records as f64 / self.seconds.max(1e-9)
    }

    /// Share of the rate asked for that was reached: 1 where nothing was lacking.
    fn reached(&self) -> Option<f64> {
        let share = self.asked.map(|asked| (self.rate() / asked).min(1.0));
        share.map(|share| if share >= REACHED_MIN { 1.0 } else { share })
    }

    pub(super) fn text(&self) -> String {
        let BroadcastTotals { records, batches, frames, bytes } = self.totals;
        let (seconds, rate) = (self.seconds, self.rate());
        let mut text = format!(
            "{records} records in {batches} batches ({frames} frames, {bytes} bytes) in \
             {seconds:.2} s: {rate:.0} records/s\n"
        );
        if let (Some(asked), Some(reached)) = (self.asked, self.reached())
            && reached < 1.0
        {
            text.push_str(&format!(
                "short of the {asked:.0} records/s asked for: {:.0} % reached, and {} times the \
                 system had no room to send\n",
                100.0 * reached,
                self.sender.waits
            ));
        }
        if let Some(verified) = self.verified {
            text.push_str(&format!("{verified} of {batches} batches verified by the node\n"));
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let BroadcastTotals { records, batches, frames, bytes } = self.totals;
        let SenderStats { sent, waits, refused } = self.sender;
        json!({
            "records": records,
            "batches": batches,
            "frames": frames,
            "bytes": bytes,
            "passes": self.passes,
            "seconds": self.seconds,
            "records_per_second": self.rate(),
            "asked_records_per_second": self.asked,
            "reached": self.reached(),
            "sender": { "datagrams": sent, "waits": waits, "refused": refused },
            "lanes": self.predictions.iter().map(Prediction::json).collect::<Vec<_>>(),
            "verified": self.verified,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(records: u64, asked: Option<f64>) -> Report {
        Report {
            totals: BroadcastTotals { records, batches: 2, frames: 9, bytes: 900 },
            sender: SenderStats { sent: 9, waits: 4, refused: 0 },
            seconds: 2.0,
            asked,
            passes: 1,
            verified: None,
            predictions: Vec::new(),
        }
    }

    #[test]
    fn a_shortfall_is_said_and_a_rate_that_was_reached_is_not() {
        let short = report(1_000, Some(2_000.0));
        assert!(
            short.text().contains("short of the 2000 records/s asked for: 25 % reached, and 4")
        );
        assert_eq!(short.json()["reached"], 0.25);
        for (records, asked) in [(4_000, Some(2_000.0)), (3_990, Some(2_000.0)), (9_000, None)] {
            let well = report(records, asked);
            assert_eq!(well.text().lines().count(), 1, "{}", well.text());
            assert_eq!(well.json()["reached"], asked.map_or(json!(null), |_| json!(1.0)));
        }
    }
}
