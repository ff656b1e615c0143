//! The classic Bloom filter: k bits anywhere among m.
//!
//! The best rate for its bits of those that set bits, at k cache lines a key; any m up to 2^40.

use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::{Kernel, classic, words};

use crate::{Build, Inserted, Presence, SizeRefusal, Spec};

/// A classic Bloom filter that owns its words.
#[derive(Clone, Debug)]
pub struct Classic {
    kernel: Kernel,
    k: u32,
    bits: u64,
    capacity: u64,
    inserted: u64,
    words: Vec<u64>,
}

impl Classic {
    /// A filter of these words, least significant bit first, as a file tells them. `inserted` is
    /// taken as it comes; a `capacity` of 0 stands for an unknown one.
    ///
    /// # Errors
    /// Where they do not fit each other.
    pub fn from_words(
        k: u32,
        bits: u64,
        words: Vec<u64>,
        capacity: u64,
        inserted: u64,
    ) -> Result<Self, WordsError> {
        if !(1..=classic::K_MAX).contains(&k) {
            return Err(WordsError::Probes(k));
        }
        if !(1..=classic::BITS_MAX).contains(&bits) {
            return Err(WordsError::Bits(bits));
        }
        if words.len() as u64 != bits.div_ceil(64) {
            return Err(WordsError::Length { bits, words: words.len() });
        }
        // In two steps, since a whole last word is shifted by 64.
        let past = words.last().map_or(0, |word| word >> ((bits - 1) % 64) >> 1);
        if past != 0 {
            return Err(WordsError::PastLast {
                bits,
                bit: bits + u64::from(past.trailing_zeros()),
            });
        }
        Ok(Self::of_shape(k, bits, words, capacity, inserted))
    }

    /// As [`Classic::from_words`], for those to whom one refusal is like another.
    #[must_use]
    pub fn from_parts(
        k: u32,
        bits: u64,
        words: Vec<u64>,
        capacity: u64,
        inserted: u64,
    ) -> Option<Self> {
        Self::from_words(k, bits, words, capacity, inserted).ok()
    }

    /// As [`Classic::from_words`], of words that fit.
    pub(crate) fn of_shape(
        k: u32,
        bits: u64,
        words: Vec<u64>,
        capacity: u64,
        inserted: u64,
    ) -> Self {
        Classic { kernel: Kernel::best(), k, bits, capacity, inserted, words }
    }

    /// Its words: what [`Classic::words`] shows.
    #[must_use]
    pub fn into_words(self) -> Vec<u64> {
        self.words
    }

    /// Makes this the filter of the items of both, bit by bit what inserting them would have
    /// given. The capacity stays. How many items were new in the other's absence is estimated by
    /// the fill, and is neither less than one of them counts nor more than both.
    ///
    /// That both hash alike is the caller's to know: no filter knows how its items were hashed.
    ///
    /// # Errors
    /// Where the other has another shape. Nothing is changed then.
    pub fn merge(&mut self, other: &Classic) -> Result<(), MergeError> {
        let (ours, theirs) = ((self.bits, self.k), (other.bits, other.k));
        if ours != theirs {
            return Err(MergeError { ours, theirs });
        }
        words::merge(self.kernel, &mut self.words, &other.words);
        let most = self.inserted.saturating_add(other.inserted);
        let least = self.inserted.max(other.inserted);
        self.inserted = (self.estimate().round() as u64).clamp(least, most);
        Ok(())
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

    /// Its bits, least significant first; those past the last are 0.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

impl Build for Classic {
    fn build(spec: &Spec) -> Result<Self, SizeRefusal> {
        let classic::Shape { bits, k } =
            classic::shape_for(spec.items, spec.fpr).map_err(|why| match why {
                classic::ShapeError::Rate(rate) => SizeRefusal::Rate(rate),
                classic::ShapeError::NoItems => SizeRefusal::NoItems,
                classic::ShapeError::TooLarge { bits } => {
                    SizeRefusal::TooLarge { bits, most: classic::BITS_MAX }
                }
            })?;
        Ok(Classic {
            kernel: Kernel::best(),
            k,
            bits,
            capacity: spec.items,
            inserted: 0,
            words: vec![0; bits.div_ceil(64) as usize],
        })
    }
}

impl Presence for Classic {
    fn insert(&mut self, item: Hash128) -> Inserted {
        let is_new = classic::insert(self.k, self.bits, &mut self.words, item);
        self.inserted += u64::from(is_new);
        if is_new { Inserted::New } else { Inserted::Seen }
    }

    fn contains(&self, item: Hash128) -> bool {
        classic::contains(self.k, self.bits, &self.words, item)
    }

    fn insert_many(&mut self, items: &[Hash128]) -> usize {
        self.inserted +=
            classic::insert_many(self.kernel, self.k, self.bits, &mut self.words, items);
        0
    }

    fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        classic::contains_many(self.kernel, self.k, self.bits, &self.words, items, found);
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn inserted(&self) -> u64 {
        self.inserted
    }

    fn fill(&self) -> f64 {
        words::ones(self.kernel, &self.words) as f64 / self.bits as f64
    }

    fn fpr(&self) -> f64 {
        self.fill().powi(self.k as i32)
    }

    /// Of a full filter the least that it may hold: half a bit is taken to be left.
    fn estimate(&self) -> f64 {
        estimate(self.k, self.bits, words::ones(self.kernel, &self.words))
    }

    fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }
}

/// Distinct items that leave `ones` of `bits` bits set in the mean, at `k` each.
pub(crate) fn estimate(k: u32, bits: u64, ones: u64) -> f64 {
    if ones == 0 {
        return 0.0;
    }
    let m = bits as f64;
    let left = (bits.saturating_sub(ones) as f64).max(0.5) / m;
    // A probe leaves a bit alone with a chance of 1 - 1/m; of a single bit it is 0, and half a
    // bit is one item.
    let alone = (-1.0 / m).max(-0.5).ln_1p();
    left.ln() / alone / f64::from(k)
}

/// Why words are no filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WordsError {
    /// Probes out of range.
    #[error("{0} probes for each item; 1 to {max} are possible", max = classic::K_MAX)]
    Probes(u32),
    /// Bits out of range.
    #[error("{0} bits; 1 to {max} are possible", max = classic::BITS_MAX)]
    Bits(u64),
    /// Too few words or too many.
    #[error("{words} words for {bits} bits, which take {}", bits.div_ceil(64))]
    Length {
        /// Bits.
        bits: u64,
        /// Words that there are.
        words: usize,
    },
    /// A bit is set that no item can set: these are no bits of such a filter.
    #[error("bit {bit} is set, past the last of {bits} bits; it must be 0")]
    PastLast {
        /// Bits.
        bits: u64,
        /// The first that is set past the last.
        bit: u64,
    },
}

/// Filters of different shapes cannot be merged; each of them is (bits, probes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a filter of {} bits and {} probes takes in none of {} bits and {} probes: build both for \
     the same items and rate",
    ours.0, ours.1, theirs.0, theirs.1
)]
pub struct MergeError {
    /// Of the one that was to take in the other.
    pub ours: (u64, u32),
    /// Of the other.
    pub theirs: (u64, u32),
}

#[cfg(test)]
mod tests;
