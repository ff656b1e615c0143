//! Copies of one queue's counters: written by its poll thread, read by metrics.
//!
//! Hot path: the writer only ever tries the lock, a few times a second.

use std::sync::{Mutex, PoisonError};

use bloomrf_engine::ingest::IngestStats;
use bloomrf_netio::LinkStats;

use crate::packet::PacketCounts;

/// One queue's numbers at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueueNumbers {
    /// Of the queue.
    pub(crate) ingest: IngestStats,
    /// Of its link.
    pub(crate) link: LinkStats,
    /// Failed receive calls.
    pub(crate) failures: u64,
    /// Of a tap.
    pub(crate) packets: PacketCounts,
}

/// The latest copy.
#[derive(Debug, Default)]
pub(crate) struct QueueCounters {
    copy: Mutex<QueueNumbers>,
}

impl QueueCounters {
    /// Replaces the copy, unless a reader holds it at this moment.
    pub(crate) fn offer(&self, numbers: QueueNumbers) {
        if let Ok(mut copy) = self.copy.try_lock() {
            *copy = numbers;
        }
    }

    /// Replaces the copy for certain; waits for readers.
    pub(crate) fn store(&self, numbers: QueueNumbers) {
        *self.copy.lock().unwrap_or_else(PoisonError::into_inner) = numbers;
    }

    /// The latest copy.
    pub(crate) fn load(&self) -> QueueNumbers {
        *self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sum of all queues.
    pub(crate) fn sum<'a>(all: impl IntoIterator<Item = &'a QueueCounters>) -> QueueNumbers {
        let mut sum = QueueNumbers::default();
        for one in all {
            let QueueNumbers { ingest, link, failures, packets } = one.load();
            sum.ingest.frames_in += ingest.frames_in;
            sum.ingest.data += ingest.data;
            sum.ingest.close += ingest.close;
            sum.ingest.duplicate += ingest.duplicate;
            sum.ingest.records += ingest.records;
            sum.ingest.bytes += ingest.bytes;
            for (total, part) in sum.ingest.refused.iter_mut().zip(ingest.refused) {
                *total += part;
            }
            sum.link.received += link.received;
            sum.link.bytes += link.bytes;
            sum.link.dropped += link.dropped;
            sum.link.oversize += link.oversize;
            sum.failures += failures;
            sum.packets += packets;
        }
        sum
    }
}
