//! Numbers of each ingest queue, by stage: copied in when `/metrics` is asked.

use bloomrf_engine::ingest::RefuseReason;
use bloomrf_netio::parse::FrameRefusal;
use prometheus::{GaugeVec, IntCounterVec};

use super::Register;
use super::mirror::advance;
use crate::poll::QueueNumbers;

/// One of each per queue; labels tell which.
pub(super) struct QueueMetrics {
    polls: IntCounterVec,
    polls_empty: IntCounterVec,
    frames: IntCounterVec,
    bytes: IntCounterVec,
    burst_average: GaugeVec,
    cycles: IntCounterVec,
    cycles_per_frame: GaugeVec,
    arrived: IntCounterVec,
    ingested: IntCounterVec,
    refused: IntCounterVec,
    handed_over: IntCounterVec,
    ignored: IntCounterVec,
    dropped: IntCounterVec,
}

impl QueueMetrics {
    pub(super) fn new(register: &Register<'_>) -> Result<Self, prometheus::Error> {
        let counter = |name: &str, help: &str, label: Option<&str>| {
            let labels: Vec<&str> = std::iter::once("queue").chain(label).collect();
            register.add(IntCounterVec::new(Register::opts(name, help), &labels))
        };
        let gauge = |name: &str, help: &str, label: Option<&str>| {
            let labels: Vec<&str> = std::iter::once("queue").chain(label).collect();
            register.add(GaugeVec::new(Register::opts(name, help), &labels))
        };
        Ok(QueueMetrics {
            polls: counter("queue_polls", "Receive calls.", None)?,
            polls_empty: counter("queue_polls_empty", "Receive calls that found nothing.", None)?,
            frames: counter("queue_frames", "Frames or datagrams received.", None)?,
            bytes: counter("queue_bytes", "Bytes of them.", None)?,
            burst_average: gauge(
                "queue_burst_average",
                "Frames of a burst, on average since the start.",
                None,
            )?,
            cycles: counter(
                "queue_cycles",
                "Ticks of the time stamp counter spent on bursts, by stage.",
                Some("stage"),
            )?,
            cycles_per_frame: gauge(
                "queue_cycles_per_frame",
                "Ticks of the time stamp counter per frame, by stage, on average since the start.",
                Some("stage"),
            )?,
            arrived: counter(
                "queue_arrived",
                "Came to the queue = ingested + refused + handed_over + ignored + dropped.",
                None,
            )?,
            ingested: counter("queue_ingested", "Frames that ingest took, copies too.", None)?,
            refused: register.add(IntCounterVec::new(
                Register::opts(
                    "queue_refused",
                    "Refused, by stage and reason: no datagram for us (sort), or no frame of \
                     records for us (ingest).",
                ),
                &["queue", "stage", "reason"],
            ))?,
            handed_over: counter(
                "queue_handed_over",
                "Given to the thread that answers for the port.",
                None,
            )?,
            ignored: counter(
                "queue_ignored",
                "Datagrams to a port or an address where nobody here listens.",
                None,
            )?,
            dropped: counter("queue_dropped", "Lost for want of room, by place.", Some("place"))?,
        })
    }

    /// Moves all of them to the numbers of this moment.
    pub(super) fn refresh(&self, queues: &[QueueNumbers]) {
        for (index, numbers) in queues.iter().enumerate() {
            self.refresh_one(&index.to_string(), numbers);
        }
    }

    fn refresh_one(&self, queue: &str, numbers: &QueueNumbers) {
        let set = |counter: &IntCounterVec, value| {
            advance(&counter.with_label_values(&[queue]), value);
        };
        let QueueNumbers { stage, sort, ingest, link, packets } = numbers;
        let account = numbers.account();
        set(&self.polls, stage.polls);
        set(&self.polls_empty, stage.empty_polls);
        set(&self.frames, link.received);
        set(&self.bytes, link.bytes);
        set(&self.arrived, account.arrived);
        set(&self.ingested, account.ingested);
        set(&self.handed_over, account.handed_over);
        set(&self.ignored, account.ignored);
        let bursts = stage.polls.saturating_sub(stage.empty_polls);
        self.burst_average.with_label_values(&[queue]).set(ratio(stage.frames, bursts));
        for (name, ticks) in stage.cycles.by_stage() {
            advance(&self.cycles.with_label_values(&[queue, name]), ticks);
            let per_frame = self.cycles_per_frame.with_label_values(&[queue, name]);
            per_frame.set(ratio(ticks, stage.frames));
        }
        let places = link.dropped.by_place().into_iter();
        for (place, count) in
            places.chain([("oversize", link.oversize), ("answer", sort.ring_full)])
        {
            advance(&self.dropped.with_label_values(&[queue, place]), count);
        }
        let by_sort = FrameRefusal::ALL.iter().map(|r| r.label()).zip(sort.refused);
        let is_tap = packets.packets() > 0;
        let by_ingest = RefuseReason::LABELS.into_iter().zip(ingest.refused);
        let by_ingest = by_ingest.filter(|_| !is_tap);
        let refused = by_sort
            .map(|(reason, count)| ("sort", reason, count))
            .chain(by_ingest.map(|(reason, count)| ("ingest", reason, count)));
        // A reason shows once it has happened: there are some thirty for each queue.
        for (stage, reason, count) in refused.filter(|(_, _, count)| *count > 0) {
            advance(&self.refused.with_label_values(&[queue, stage, reason]), count);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "an average for people")]
fn ratio(sum: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}
