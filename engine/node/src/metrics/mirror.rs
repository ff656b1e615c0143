//! Numbers that others count for themselves, copied in when `/metrics` is asked.

use std::sync::{Mutex, PoisonError};

use bloomrf_engine::filter::{FORMS, FormCounts};
use bloomrf_engine::ingest::RefuseReason;
use bloomrf_engine::persist::PersistStatus;
use bloomrf_engine::store::StoreStats;
use bloomrf_netio::parse::Trouble;
use prometheus::{IntCounter, IntGauge};

use super::Register;
use super::persist::PersistMetrics;
use super::queues::QueueMetrics;
use crate::poll::QueueNumbers;

/// Numbers of one moment.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// Per queue.
    pub(crate) queues: Vec<QueueNumbers>,
    /// Sum over the queues.
    pub(crate) sum: QueueNumbers,
    /// Datagrams that the system dropped before our sockets.
    pub(crate) socket_dropped: u64,
    /// Of the store.
    pub(crate) store: StoreStats,
    /// Configured size of the arena, bytes.
    pub(crate) arena_bytes: usize,
    /// Of the data folder.
    pub(crate) persist: PersistStatus,
    /// The data folder fails, or does not answer.
    pub(crate) is_disk_failing: bool,
}

/// The copies.
pub(super) struct Mirror {
    /// One scrape at a time: a counter is moved by its difference.
    turn: Mutex<()>,
    verified: IntGauge,
    pending: IntGauge,
    rejected: IntCounter,
    evicted: IntCounter,
    corrupt: IntCounter,
    bytes: IntGauge,
    plain_bytes: IntGauge,
    sliced_bytes: IntGauge,
    dead_bytes: IntGauge,
    groups: IntGauge,
    sliced_batches: IntGauge,
    columns_by_kind: Vec<IntGauge>,
    bytes_by_kind: Vec<IntGauge>,
    arena_bytes_limit: IntGauge,
    frames_in: IntCounter,
    frames_data: IntCounter,
    frames_close: IntCounter,
    frames_duplicate: IntCounter,
    frames_refused: Vec<IntCounter>,
    frames_dropped: Vec<IntCounter>,
    records_in: IntCounter,
    record_bytes_in: IntCounter,
    receive_failures: IntCounter,
    tap_packets: IntCounter,
    tap_unread: Vec<IntCounter>,
}

impl Mirror {
    pub(super) fn new(register: &Register<'_>) -> Result<Self, prometheus::Error> {
        let counter = |name, help| register.counter(name, help);
        let gauge = |name, help| register.gauge(name, help);
        Ok(Mirror {
            turn: Mutex::new(()),
            verified: gauge("filters_verified", "Batches whose filters may be consulted.")?,
            pending: gauge("filters_pending", "Batches sealed and not judged by the SCC yet.")?,
            rejected: counter("filters_rejected", "Batches whose filters the SCC refused.")?,
            evicted: counter("filters_evicted", "Batches whose filters were evicted.")?,
            corrupt: counter("filters_corrupt", "Batches whose filters changed in memory.")?,
            bytes: gauge("filters_bytes", "Bytes of filters held, dead slots included.")?,
            plain_bytes: gauge("store_plain_bytes", "Bytes of filters by themselves.")?,
            sliced_bytes: gauge("store_sliced_bytes", "Bytes of bit-sliced groups.")?,
            dead_bytes: gauge("store_dead_bytes", "Bytes of groups whose batches have left.")?,
            groups: gauge("store_groups", "Bit-sliced groups: columns of 64 batches.")?,
            sliced_batches: gauge("store_sliced_batches", "Batches held in such groups.")?,
            columns_by_kind: register.gauges(
                "columns_by_kind",
                "Columns of batches held, by the form in which they are stored.",
                "kind",
                &FORMS,
            )?,
            bytes_by_kind: register.gauges(
                "columns_bytes_by_kind",
                "Bytes of these columns, as each takes by itself.",
                "kind",
                &FORMS,
            )?,
            arena_bytes_limit: gauge("arena_bytes_limit", "Bytes of filters allowed.")?,
            frames_in: counter(
                "frames_in",
                "Frames arrived = data + close + duplicate + refused + dropped.",
            )?,
            frames_data: counter("frames_data", "DATA frames whose records were inserted.")?,
            frames_close: counter("frames_close", "CLOSE frames taken.")?,
            frames_duplicate: counter("frames_duplicate", "Equal second copies, ignored.")?,
            frames_refused: register.counters(
                "frames_refused",
                "Frames refused, by reason.",
                "reason",
                &RefuseReason::LABELS,
            )?,
            frames_dropped: register.counters(
                "frames_dropped",
                "Frames lost before they were looked at, by place, as far as it is told.",
                "place",
                &["socket", "link", "oversize"],
            )?,
            records_in: counter("records_in", "Records inserted into open filters.")?,
            record_bytes_in: counter("record_bytes_in", "Bytes of the records inserted.")?,
            receive_failures: counter("receive_failures", "Receive calls that failed.")?,
            tap_packets: counter("tap_packets", "Packets of a tap that became records.")?,
            tap_unread: register.counters(
                "tap_packets_unread",
                "Packets among them whose headers were not read to the end: nulls for the rest.",
                "reason",
                &Trouble::ALL.map(Trouble::label),
            )?,
        })
    }

    pub(super) fn refresh(
        &self,
        moment: &Moment,
        forms: &FormCounts,
        persist: &PersistMetrics,
        queues: &QueueMetrics,
    ) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        persist.refresh(&moment.persist, moment.is_disk_failing);
        queues.refresh(&moment.queues);
        let Moment { sum: queues, socket_dropped, store, arena_bytes, .. } = moment;
        set(&self.verified, store.verified);
        set(&self.pending, store.pending);
        set(&self.bytes, store.bytes);
        set(&self.plain_bytes, store.plain_bytes);
        set(&self.sliced_bytes, store.sliced_bytes);
        set(&self.dead_bytes, store.dead_bytes);
        set(&self.groups, store.groups);
        set(&self.sliced_batches, store.sliced_batches);
        for (gauge, &columns) in self.columns_by_kind.iter().zip(&forms.columns) {
            set(gauge, columns);
        }
        for (gauge, &bytes) in self.bytes_by_kind.iter().zip(&forms.bytes) {
            set(gauge, bytes);
        }
        set(&self.arena_bytes_limit, *arena_bytes as u64);
        advance(&self.rejected, store.rejected);
        advance(&self.evicted, store.evicted);
        advance(&self.corrupt, store.corrupt);
        let (ingest, link) = (&queues.ingest, &queues.link);
        let dropped = [*socket_dropped, link.dropped.sum(), link.oversize];
        advance(&self.frames_in, ingest.frames_in + dropped.iter().sum::<u64>());
        advance(&self.frames_data, ingest.data);
        advance(&self.frames_close, ingest.close);
        advance(&self.frames_duplicate, ingest.duplicate);
        for (counter, &value) in self.frames_refused.iter().zip(&ingest.refused) {
            advance(counter, value);
        }
        for (counter, value) in self.frames_dropped.iter().zip(dropped) {
            advance(counter, value);
        }
        advance(&self.records_in, ingest.records);
        advance(&self.record_bytes_in, ingest.bytes);
        advance(&self.receive_failures, queues.stage.failures);
        advance(&self.tap_packets, queues.packets.packets());
        for (counter, (_, value)) in self.tap_unread.iter().zip(queues.packets.by_reason()) {
            advance(counter, value);
        }
    }
}

pub(super) fn set(gauge: &IntGauge, value: u64) {
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
}

/// A counter only goes forward.
pub(super) fn advance(counter: &IntCounter, value: u64) {
    counter.inc_by(value.saturating_sub(counter.get()));
}
