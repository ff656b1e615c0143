//! A count that many threads add to, without sharing a cache line.

use std::cell::Cell;

use crate::sync::{AtomicU64, Ordering};

/// Parts of a count, each on a line of its own; a thread adds to one of them.
#[derive(Debug, Default)]
pub(super) struct Counter([Part; PARTS]);

/// Two lines, since some CPUs fetch them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Part(AtomicU64);

const PARTS: usize = 16;

impl Counter {
    /// Adds.
    #[inline]
    pub(super) fn add(&self, count: u64) {
        if count > 0 {
            self.0[part()].0.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// The sum: of all that was added before, and of what is being added some.
    pub(super) fn sum(&self) -> u64 {
        self.0.iter().fold(0, |sum, part| sum.wrapping_add(part.0.load(Ordering::Relaxed)))
    }
}

/// This thread's part: dealt out in turn.
#[inline]
fn part() -> usize {
    thread_local! {
        static PART: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    static DEALT: AtomicU64 = AtomicU64::new(0);
    PART.with(|part| {
        if part.get() == usize::MAX {
            part.set(DEALT.fetch_add(1, Ordering::Relaxed) as usize % PARTS);
        }
        part.get()
    })
}
