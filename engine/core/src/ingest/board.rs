//! What all queues agree on when a batch opens: the record count that its filters are sized for.
//!
//! Why two queues do not disagree: an entry belongs to the batches of one residue mod 16 and holds
//! one (batch, count). The first queue to open a batch writes both by one compare-and-swap; every
//! other queue of that batch then reads what it wrote, whatever `expect` says meanwhile. An entry
//! is only replaced by a newer batch (by the wrapping order of its tag), at least 16 ids later,
//! while a queue holds two open batches: so a queue finds the entry replaced only when it is far
//! behind, or when a foreign id took it. It then sizes by the current expectation, which may
//! differ from what the others used, and nothing is lost: `OpenColumn::merge` folds shares of
//! differing sizes exactly to their greatest common one. Agreement saves time and bits, and is
//! never what correctness rests on. The same holds for ids 2^41 apart, which share a tag.
//!
//! Hot path: no allocation, no lock; at most a few atomic operations per batch and queue.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::identity::BatchId;
use crate::limits::RECORDS_PER_BATCH_MAX;

/// A small lock-free board, shared by all queues and the sealer. An entry is (batch, records);
/// the first queue to open a batch writes it, every other reads it.
#[derive(Debug)]
pub struct OpenBoard {
    /// Tag of the batch above `RECORDS_BITS` bits of record count; 0 where unused.
    entries: [AtomicU64; ENTRIES as usize],
    expected: AtomicU64,
}

const ENTRIES: u64 = 16;
/// Exact counts, so that a batch of the expected size is stored in its own size class.
const RECORDS_BITS: u32 = 27;
const TAG_BITS: u32 = 64 - RECORDS_BITS;
const _: () = assert!(RECORDS_PER_BATCH_MAX < 1 << RECORDS_BITS);

impl OpenBoard {
    /// A board that expects `records` records in the first batch.
    #[must_use]
    pub fn new(records: u64) -> Self {
        OpenBoard {
            entries: [const { AtomicU64::new(0) }; ENTRIES as usize],
            expected: AtomicU64::new(records.clamp(1, RECORDS_PER_BATCH_MAX)),
        }
    }

    /// The record count to size `batch` for: the same on every queue, whoever asks first.
    #[must_use]
    pub fn agree(&self, batch: BatchId) -> u64 {
        let entry = &self.entries[(batch % ENTRIES) as usize];
        let expected = self.expected.load(Ordering::Relaxed);
        let tag = batch / ENTRIES % (1 << TAG_BITS);
        // `Relaxed` suffices: one word holds everything that is agreed on.
        let mut seen = entry.load(Ordering::Relaxed);
        loop {
            if seen != 0 && seen >> RECORDS_BITS == tag {
                return seen % (1 << RECORDS_BITS);
            }
            if seen != 0 && !is_newer(tag, seen >> RECORDS_BITS) {
                return expected;
            }
            let ours = tag << RECORDS_BITS | expected;
            match entry.compare_exchange(seen, ours, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return expected,
                Err(now) => seen = now,
            }
        }
    }

    /// Told by the sealer after each batch: what the next one will probably hold. Falls by at
    /// most half from one batch to the next, so that a single small batch does not overfill the
    /// filters of the large one after it.
    pub fn expect(&self, records: u64) {
        let floor = self.expected.load(Ordering::Relaxed) / 2;
        let next = records.max(floor).clamp(1, RECORDS_PER_BATCH_MAX);
        self.expected.store(next, Ordering::Relaxed);
    }
}

/// Whether `tag` comes after `other` in the wrapping order of `TAG_BITS` bits.
fn is_newer(tag: u64, other: u64) -> bool {
    let ahead = tag.wrapping_sub(other) % (1 << TAG_BITS);
    ahead != 0 && ahead < 1 << (TAG_BITS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_opener_decides_for_everyone() {
        let board = OpenBoard::new(6_400);
        assert_eq!(board.agree(7), 6_400);
        board.expect(64_000);
        assert_eq!(board.agree(7), 6_400, "whatever is expected meanwhile");
        assert_eq!(board.agree(8), 64_000);
        assert_eq!(board.agree(0), 64_000, "batch 0 is a batch like any other");
        board.expect(640_000);
        assert_eq!(board.agree(0), 64_000);
    }

    #[test]
    fn newer_batch_replaces_and_older_does_not() {
        let board = OpenBoard::new(64);
        assert_eq!(board.agree(5), 64);
        board.expect(128);
        assert_eq!(board.agree(21), 128);
        board.expect(256);
        assert_eq!(board.agree(5), 256, "a very late queue gets the expectation");
        assert_eq!(board.agree(21), 128, "and does not disturb the newer batch");
        assert_eq!(board.agree(u64::MAX), 256);
    }

    #[test]
    fn expectation_falls_by_half_at_most() {
        let board = OpenBoard::new(64_000);
        board.expect(0);
        assert_eq!(board.agree(1), 32_000);
        board.expect(u64::MAX);
        assert_eq!(board.agree(2), RECORDS_PER_BATCH_MAX);
        for _ in 0..64 {
            board.expect(0);
        }
        assert_eq!(board.agree(3), 1, "never nothing");
    }

    #[test]
    fn racing_queues_agree_on_every_batch() {
        let board = OpenBoard::new(1_000);
        let asked: Vec<Vec<u64>> = std::thread::scope(|scope| {
            let queues: Vec<_> = (0..4u64)
                .map(|queue| {
                    let board = &board;
                    scope.spawn(move || {
                        (0..8u64)
                            .map(|batch| {
                                board.expect(1_000 * (queue + 1) * (batch + 1));
                                board.agree(batch)
                            })
                            .collect()
                    })
                })
                .collect();
            queues.into_iter().map(|q| q.join().unwrap()).collect()
        });
        assert!(asked.iter().all(|answers| answers == &asked[0]), "{asked:?}");
    }
}
