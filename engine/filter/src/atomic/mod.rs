//! A classic Bloom filter that many threads fill and ask at once, without a lock.
//!
//! The bits, sizes and answers are those of [`Classic`], into which it turns and from which it
//! comes without a copy. Cost: an insert is an atomic exchange for each bit that is not set yet,
//! a question no more than loads. Inserts on many first look at all of their bits, which the CPU
//! does side by side, and then set what is missing.
//!
//! Invariant: what was inserted before a question is found by it, where before means an order that
//! both threads know of (they joined, sent, or shared a lock). Of a question that is asked while
//! its item is being inserted either answer is right.

mod counter;
mod word;

#[cfg(test)]
mod tests;

use bloomrf_kernels::classic::{self, Probes, probes};
use bloomrf_kernels::hash::Hash128;

use self::counter::Counter;
use crate::classic::{Classic, estimate};
use crate::sync::{AtomicU64, Ordering};
use crate::{Build, Presence, SizeRefusal, Spec};

/// A classic filter that is shared as it is: every operation takes `&self`.
///
/// ```
/// use bloomrf_filter::{AtomicClassic, HashRule, Spec};
///
/// let filter = AtomicClassic::build(&Spec { items: 1_000, fpr: 0.01 })?;
/// let item = |i: u64| HashRule::Native { seed: 7 }.hash(&i.to_le_bytes());
/// std::thread::scope(|scope| {
///     for part in 0..4 {
///         let filter = &filter;
///         scope.spawn(move || (0..250).for_each(|i| _ = filter.insert(item(4 * i + part))));
///     }
/// });
/// assert!((0..1_000).all(|i| filter.contains(item(i))));
/// # Ok::<(), bloomrf_filter::SizeRefusal>(())
/// ```
#[derive(Debug)]
pub struct AtomicClassic {
    k: u32,
    bits: u64,
    capacity: u64,
    inserted: Counter,
    words: Vec<AtomicU64>,
}

/// Places of an operation on many that are looked at before the first is set.
const PLACES: usize = 512;

impl AtomicClassic {
    /// An empty filter.
    ///
    /// # Errors
    /// As [`Classic::build`](Build::build).
    pub fn build(spec: &Spec) -> Result<Self, SizeRefusal> {
        Classic::build(spec).map(Self::from)
    }

    /// The filter, of which nobody else holds anything.
    #[must_use]
    pub fn into_classic(self) -> Classic {
        let words = self.words.into_iter().map(AtomicU64::into_inner).collect();
        let inserted = self.inserted.sum();
        Classic::of_shape(self.k, self.bits, words, self.capacity, inserted)
    }

    /// A copy. What was inserted before is in it, of what is being inserted some bits may be.
    #[must_use]
    pub fn snapshot(&self) -> Classic {
        // First the count, so that it never tells of more than the bits do.
        let inserted = self.inserted.sum();
        let words = self.words.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        Classic::of_shape(self.k, self.bits, words, self.capacity, inserted)
    }

    /// Inserts an item; whether that set a bit that was not set. Of those who insert an item that
    /// is not there at the same time, at least one is told that it is new.
    pub fn insert(&self, item: Hash128) -> bool {
        let mut is_new = false;
        for at in probes(self.k, self.bits, item) {
            is_new |= word::set(&self.words[(at / 64) as usize], 1 << (at % 64));
        }
        self.inserted.add(u64::from(is_new));
        is_new
    }

    /// Whether an item may be there.
    #[must_use]
    pub fn contains(&self, item: Hash128) -> bool {
        probes(self.k, self.bits, item).all(|at| self.is_set(at))
    }

    /// Inserts items; returns how many of them set a bit that was not set.
    pub fn insert_many(&self, items: &[Hash128]) -> u64 {
        let k = self.k as usize;
        let mut places = [0; PLACES];
        let mut new = 0;
        for items in items.chunks(PLACES / k) {
            let places = &mut places[..items.len() * k];
            for (places, &item) in places.chunks_exact_mut(k).zip(items) {
                for (place, at) in places.iter_mut().zip(probes(self.k, self.bits, item)) {
                    *place = at;
                }
            }
            // Without a branch, so that loads do not wait for each other; a bit that is set stays.
            for place in places.iter_mut() {
                *place |= u64::from(self.is_set(*place)) << SET;
            }
            for places in places.chunks_exact(k) {
                let missing = places.iter().filter(|place| **place >> SET == 0);
                let set = |at: &u64| word::set(&self.words[(at / 64) as usize], 1 << (at % 64));
                new += u64::from(missing.fold(false, |is_new, at| set(at) | is_new));
            }
        }
        self.inserted.add(new);
        new
    }

    /// Asks for many: bit `i % 64` of `found[i / 64]` answers for `items[i]`, bits past the last
    /// are 0.
    ///
    /// # Panics
    /// Unless `found` has a bit for every item.
    pub fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        assert!(found.len() >= items.len().div_ceil(64), "one bit for every item");
        found.fill(0);
        for (items, found) in items.chunks(64).zip(found) {
            let mut left: [(Probes, u8); 64] = std::array::from_fn(|i| {
                let item = items.get(i).copied().unwrap_or_default();
                (probes(self.k, self.bits, item), i as u8)
            });
            let mut count = items.len();
            for _ in 0..self.k {
                let mut kept = 0;
                for i in 0..count {
                    let (mut probes, number) = left[i];
                    let is_set = probes.next().is_none_or(|at| self.is_set(at));
                    // Without a branch: no CPU guesses the bits of a filter.
                    left[kept] = (probes, number);
                    kept += usize::from(is_set);
                }
                count = kept;
            }
            left[..count].iter().for_each(|(_, number)| *found |= 1 << number);
        }
    }

    /// Probes for each item.
    #[must_use]
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Bits: the modulus of the probes.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Distinct items that it was sized for.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Items that were new to those who inserted them.
    #[must_use]
    pub fn inserted(&self) -> u64 {
        self.inserted.sum()
    }

    /// Whether it holds more than it was sized for: see [`Presence::is_over_capacity`].
    #[must_use]
    pub fn is_over_capacity(&self) -> bool {
        self.capacity > 0 && self.inserted() > self.capacity
    }

    /// The share of set bits. Reads every word, as [`AtomicClassic::fpr`] and
    /// [`AtomicClassic::estimate`] do.
    #[must_use]
    pub fn fill(&self) -> f64 {
        self.ones() as f64 / self.bits as f64
    }

    /// The false-positive rate that it has now, by its fill.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        self.fill().powi(self.k as i32)
    }

    /// Distinct items in it, estimated by its fill.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        estimate(self.k, self.bits, self.ones())
    }

    /// Bytes of the filter itself.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }

    #[inline]
    fn is_set(&self, at: u64) -> bool {
        word::has(&self.words[(at / 64) as usize], 1 << (at % 64))
    }

    fn ones(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum()
    }
}

impl From<Classic> for AtomicClassic {
    fn from(filter: Classic) -> Self {
        let (k, bits) = (filter.k(), filter.bits());
        let (capacity, inserted) = (filter.capacity(), Counter::default());
        inserted.add(filter.inserted());
        let words = filter.into_words().into_iter().map(AtomicU64::new).collect();
        AtomicClassic { k, bits, capacity, inserted, words }
    }
}

impl From<AtomicClassic> for Classic {
    fn from(filter: AtomicClassic) -> Self {
        filter.into_classic()
    }
}

/// Marks a place whose bit is set: no place has as many bits.
const SET: u32 = 63;
const _: () = assert!(classic::BITS_MAX < 1 << SET && classic::K_MAX as usize <= PLACES);
