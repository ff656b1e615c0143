//! The counting filter: items can be taken back, at four times the space or more.
//!
//! Blocked: k counters of 4 bits in one block of 64 bytes, a cache line, whatever the rate. A
//! counter that reaches 15 sticks, so that no removal can hide an item that is still owed. What is
//! provably absent cannot be taken back; that is refused, counted, and changes nothing.

use bloomrf_kernels::counting::{self, BLOCK_COUNTERS, Shape};
use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::{Kernel, blocked};

use crate::blocks::refusal;
use crate::{Build, Inserted, Presence, Remove, Removed, SizeRefusal, Spec};

/// A counting filter that owns its words.
#[derive(Clone, Debug)]
pub struct Counting {
    kernel: Kernel,
    k: u32,
    capacity: u64,
    inserted: u64,
    lost: u64,
    refused: u64,
    words: Vec<u64>,
}

impl Counting {
    /// A filter of these words, sixteen counters in each, lowest first; `None` unless they are
    /// whole blocks of eight, at least one, and `k` is 4 to 8. A `capacity` of 0 stands for an
    /// unknown one.
    #[must_use]
    pub fn from_parts(k: u32, words: Vec<u64>, capacity: u64, inserted: u64) -> Option<Self> {
        let is_whole = !words.is_empty() && words.len().is_multiple_of(blocked::BLOCK_WORDS);
        let blocks = (words.len() / blocked::BLOCK_WORDS) as u64;
        let fits = blocks <= blocked::BLOCKS_MAX && (blocked::K_MIN..=blocked::K_MAX).contains(&k);
        (is_whole && fits).then(|| Counting {
            kernel: Kernel::best(),
            k,
            capacity,
            inserted,
            lost: 0,
            refused: 0,
            words,
        })
    }

    /// Counters of each item, one in each of as many lanes.
    #[must_use]
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Its words, eight to a block.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Counts that were not made since it was made, because the counter was at 15. Each of those
    /// counters is stuck: what it belongs to may be found for ever.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Removals that were refused since it was made.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Takes back many, in order: as [`Remove::remove`] of each. Bit `i % 64` of
    /// `refused[i / 64]` says that `items[i]` was provably absent; returns how many were not.
    ///
    /// # Panics
    /// Unless `refused` has a bit for every item.
    pub fn remove_many(&mut self, items: &[Hash128], refused: &mut [u64]) -> u64 {
        let taken = counting::remove_many(self.kernel, self.k, &mut self.words, items, refused);
        self.inserted = self.inserted.saturating_sub(taken.gone);
        self.refused += items.len() as u64 - taken.done;
        taken.done
    }

    /// Adds the counts of the other: counter by counter what inserting the items of both would
    /// have given. The capacity stays. How many items were new in the other's absence is estimated
    /// by the fill, and is neither less than one of them counts nor more than both.
    ///
    /// That both hash alike is the caller's to know: no filter knows how its items were hashed.
    ///
    /// # Errors
    /// Where the other has another shape. Nothing is changed then.
    pub fn merge(&mut self, other: &Counting) -> Result<(), MergeError> {
        let (ours, theirs) = ((self.words.len(), self.k), (other.words.len(), other.k));
        if ours != theirs {
            return Err(MergeError { ours, theirs });
        }
        counting::merge(&mut self.words, &other.words);
        let most = self.inserted.saturating_add(other.inserted);
        let least = self.inserted.max(other.inserted);
        self.inserted = (self.estimate().round() as u64).clamp(least, most);
        self.lost += other.lost;
        self.refused += other.refused;
        Ok(())
    }

    fn counters(&self) -> u64 {
        self.words.len() as u64 / blocked::BLOCK_WORDS as u64 * BLOCK_COUNTERS
    }
}

impl Build for Counting {
    fn build(spec: &Spec) -> Result<Self, SizeRefusal> {
        if spec.items == 0 {
            return Err(SizeRefusal::NoItems);
        }
        let fits = |fpr| counting::shape_for(1_000, fpr).is_ok();
        let Shape { blocks, k } = counting::shape_for(spec.items, spec.fpr)
            .map_err(|why| refusal(why, 512, blocked::BLOCKS_MAX, fits))?;
        Ok(Counting {
            kernel: Kernel::best(),
            k,
            capacity: spec.items,
            inserted: 0,
            lost: 0,
            refused: 0,
            words: vec![0; blocks as usize * blocked::BLOCK_WORDS],
        })
    }

    /// What it takes exactly.
    fn bytes_least(spec: &Spec) -> u64 {
        counting::shape_for(spec.items, spec.fpr).map_or(0, |shape| shape.blocks * 64)
    }
}

impl Remove for Counting {
    /// What was inserted more than 14 times at once, or shares its counters with what was, is
    /// [`Removed::Stuck`]: it stays.
    fn remove(&mut self, item: Hash128) -> Removed {
        let taken = counting::remove(self.k, &mut self.words, item);
        self.inserted = self.inserted.saturating_sub(taken.gone);
        self.refused += 1 - taken.done;
        match (taken.done, taken.stuck) {
            (0, _) => Removed::Absent,
            (_, 0) => Removed::Done,
            _ => Removed::Stuck,
        }
    }
}

impl Presence for Counting {
    fn insert(&mut self, item: Hash128) -> Inserted {
        let added = counting::insert(self.k, &mut self.words, item);
        self.inserted += added.new;
        self.lost += added.lost;
        if added.new == 1 { Inserted::New } else { Inserted::Seen }
    }

    fn contains(&self, item: Hash128) -> bool {
        counting::contains(self.k, &self.words, item)
    }

    fn insert_many(&mut self, items: &[Hash128]) -> usize {
        let added = counting::insert_many(self.kernel, self.k, &mut self.words, items);
        self.inserted += added.new;
        self.lost += added.lost;
        0
    }

    fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        counting::contains_many(self.kernel, self.k, &self.words, items, found);
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Less those whose removal made them absent again. What looked as if it were there when it
    /// came or went makes that differ a little from what is there; [`Presence::estimate`] goes by
    /// the counters alone.
    fn inserted(&self) -> u64 {
        self.inserted
    }

    fn fill(&self) -> f64 {
        counting::nonzero(&self.words) as f64 / self.counters() as f64
    }

    fn fpr(&self) -> f64 {
        counting::fpr_now(self.k, &self.words)
    }

    /// Of a full filter the least that it may hold: half a counter is taken to be left.
    fn estimate(&self) -> f64 {
        crate::classic::estimate(self.k, self.counters(), counting::nonzero(&self.words))
    }

    fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }
}

/// Filters of different shapes cannot be merged; each of them is (words, counters of an item).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a counting filter of {} words and {} counters an item takes in none of {} words and {} \
     counters: build both for the same items and rate",
    ours.0, ours.1, theirs.0, theirs.1
)]
pub struct MergeError {
    /// Of the one that was to take in the other.
    pub ours: (usize, u32),
    /// Of the other.
    pub theirs: (usize, u32),
}

#[cfg(test)]
mod tests;
