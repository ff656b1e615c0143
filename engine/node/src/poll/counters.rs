//! Copies of one queue's counters: written by its poll thread, read by metrics.
//!
//! Hot path: the writer only ever tries the lock, a few times a second.

use std::sync::{Mutex, PoisonError};

use bloomrf_engine::ingest::IngestStats;
use bloomrf_netio::LinkStats;

use super::sort::SortNumbers;
use crate::packet::PacketCounts;

/// What a poll loop counts for itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageNumbers {
    /// Receive calls.
    pub(crate) polls: u64,
    /// Those that found nothing; the others found a burst each.
    pub(crate) empty_polls: u64,
    /// Frames in bursts.
    pub(crate) frames: u64,
    /// Failed receive calls.
    pub(crate) failures: u64,
    /// Where the time of bursts went.
    pub(crate) cycles: Cycles,
}

impl StageNumbers {
    /// A receive call found nothing.
    #[inline]
    pub(crate) fn note_empty(&mut self) {
        self.polls += 1;
        self.empty_polls += 1;
    }

    /// A burst of so many frames, and the ticks before its first stage and after each.
    #[inline]
    pub(crate) fn note(&mut self, frames: usize, ticks: [u64; 4]) {
        self.polls += 1;
        self.frames += frames as u64;
        let [begin, received, sorted, ingested] = ticks;
        let Cycles { receive, sort, ingest } = &mut self.cycles;
        *receive = receive.wrapping_add(received.wrapping_sub(begin));
        *sort = sort.wrapping_add(sorted.wrapping_sub(received));
        *ingest = ingest.wrapping_add(ingested.wrapping_sub(sorted));
    }
}

/// Ticks of [`bloomrf_kernels::cycles`] by stage, without those of empty polls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cycles {
    /// The link's call.
    pub(crate) receive: u64,
    /// Sources of payloads; headers of frames; of a tap, nothing.
    pub(crate) sort: u64,
    /// The engine's queue; of a tap, its records, too.
    pub(crate) ingest: u64,
}

impl Cycles {
    /// Stages with their ticks, for metrics.
    pub(crate) fn by_stage(&self) -> [(&'static str, u64); 3] {
        let Cycles { receive, sort, ingest } = *self;
        [("receive", receive), ("sort", sort), ("ingest", ingest)]
    }
}

/// One queue's numbers at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueueNumbers {
    /// Of the poll loop.
    pub(crate) stage: StageNumbers,
    /// Of its sorter.
    pub(crate) sort: SortNumbers,
    /// Of the queue.
    pub(crate) ingest: IngestStats,
    /// Of its link.
    pub(crate) link: LinkStats,
    /// Of a tap.
    pub(crate) packets: PacketCounts,
}

/// The latest copy.
#[derive(Debug, Default)]
pub(crate) struct QueueCounters {
    copy: Mutex<QueueNumbers>,
}

impl QueueCounters {
    /// Replaces the copy, unless a reader holds it at this moment; whether it did.
    pub(crate) fn offer(&self, numbers: QueueNumbers) -> bool {
        let Ok(mut copy) = self.copy.try_lock() else { return false };
        *copy = numbers;
        true
    }

    /// Replaces the copy for certain; waits for readers.
    pub(crate) fn store(&self, numbers: QueueNumbers) {
        *self.copy.lock().unwrap_or_else(PoisonError::into_inner) = numbers;
    }

    /// The latest copy.
    pub(crate) fn load(&self) -> QueueNumbers {
        *self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueNumbers {
    /// The sum of all queues.
    pub(crate) fn sum<'a>(all: impl IntoIterator<Item = &'a QueueNumbers>) -> QueueNumbers {
        let mut sum = QueueNumbers::default();
        for QueueNumbers { stage, sort, ingest, link, packets } in all {
            sum.stage.polls += stage.polls;
            sum.stage.empty_polls += stage.empty_polls;
            sum.stage.frames += stage.frames;
            sum.stage.failures += stage.failures;
            sum.sort.add(sort);
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
            sum.packets += *packets;
        }
        sum
    }
}
