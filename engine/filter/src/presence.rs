//! What every kind of filter can do, by hashed items.

use bloomrf_kernels::hash::Hash128;

/// What an insert did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The item was not there before: certain.
    New,
    /// The filter already said *maybe*: it is there, or it looks so.
    Seen,
    /// There is no room; nothing changed.
    Full,
}

/// A set of hashed items that says *no* (certain) or *maybe*.
///
/// Operations on many are as the same on each in order; answers are bits, least significant
/// first, bits past the last are 0.
pub trait Presence {
    /// Inserts one item.
    fn insert(&mut self, item: Hash128) -> Inserted;

    /// Whether the item may be there.
    fn contains(&self, item: Hash128) -> bool;

    /// Inserts many; returns how many there was no room for. Those are not in it.
    fn insert_many(&mut self, items: &[Hash128]) -> usize {
        items.iter().filter(|item| self.insert(**item) == Inserted::Full).count()
    }

    /// Asks for many: bit `i % 64` of `found[i / 64]` answers for `items[i]`.
    ///
    /// # Panics
    /// Unless `found` has a bit for every item.
    fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        assert!(found.len() >= items.len().div_ceil(64), "one bit for every item");
        found.fill(0);
        for (i, item) in items.iter().enumerate() {
            found[i / 64] |= u64::from(self.contains(*item)) << (i % 64);
        }
    }

    /// Distinct items that it was sized for.
    fn capacity(&self) -> u64;

    /// Items that were new when they were inserted: at most the number of distinct items, less
    /// those that looked as if they were there.
    fn inserted(&self) -> u64;

    /// Whether it holds more than it was sized for, so that its rate is no longer what was asked
    /// for. One that does not know what it was sized for (capacity 0) does not know this either.
    fn is_over_capacity(&self) -> bool {
        self.capacity() > 0 && self.inserted() > self.capacity()
    }

    /// The share of set bits, nonzero counters or taken slots, 0 to 1.
    fn fill(&self) -> f64;

    /// The false-positive rate that it has now, by its fill.
    fn fpr(&self) -> f64;

    /// Distinct items in it, estimated by its fill.
    fn estimate(&self) -> f64;

    /// Bytes of the filter itself.
    fn bytes(&self) -> u64;
}

/// What a removal did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// One insertion of the item was taken back.
    Done,
    /// The item was provably not there; nothing changed.
    Absent,
    /// The item is found by marks that stuck, so that some or all of them stay and it may be
    /// found for ever: a saturated counter is never counted down.
    Stuck,
}

/// A kind from which items can be taken back.
pub trait Remove: Presence {
    /// Takes back one insertion of an item.
    ///
    /// An item that was never inserted but looks as if it were cannot be told from one that was:
    /// taking it back takes marks from others. Remove only what was inserted.
    fn remove(&mut self, item: Hash128) -> Removed;
}

/// What a filter is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec {
    /// Distinct items that it is to hold.
    pub items: u64,
    /// The highest false-positive rate at that many, more than 0 and less than 1.
    pub fpr: f64,
}

/// Why there can be no such filter.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SizeRefusal {
    /// A rate outside of its range.
    #[error("a false-positive rate is more than 0 and less than 1, not {0}")]
    Rate(f64),
    /// No items.
    #[error("a filter for no items at all: say how many distinct ones it is to hold")]
    NoItems,
    /// More than fits.
    #[error("{bits} bits are needed and {most} are the most of this kind")]
    TooLarge {
        /// Bits needed.
        bits: f64,
        /// Most bits.
        most: u64,
    },
    /// A rate that the kind cannot reach at any size.
    #[error("this kind cannot reach a rate of {asked}; the lowest that it can is {lowest}")]
    Unreachable {
        /// Asked for.
        asked: f64,
        /// What it can do.
        lowest: f64,
    },
}

/// A kind of which filters can be made to a size: what chains, shards and windows are made of.
pub trait Build: Presence + Sized {
    /// An empty filter.
    ///
    /// # Errors
    /// Where no filter of this kind can be so.
    fn build(spec: &Spec) -> Result<Self, SizeRefusal>;

    /// Bytes that a filter of `spec` takes at least, known before it is made.
    ///
    /// No filter takes less than log2(1 / rate) bits for each item; a kind may know better.
    fn bytes_least(spec: &Spec) -> u64 {
        (spec.items as f64 * -spec.fpr.log2() / 8.0) as u64
    }
}
