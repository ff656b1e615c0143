//! Called when a filter is made, and per call of many keys; one cache line per key.
//!
//! A blocked Bloom filter that owns its words.

use super::{FilterError, Size, clear_answers, zeroed};
use crate::arena::{Arena, Words};
use crate::blocked::{self, BLOCK_WORDS, BLOCKS_MAX, K_DEFAULT, K_MAX, K_MIN};
use crate::{Kernel, hash, params, words};

/// A set of keys that says *no* or *maybe* to "is this key in it?".
///
/// ```
/// use bloomrf_kernels::PointFilter;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut filter = PointFilter::builder(100_000).fpr(0.01).build()?;
/// let keys: Vec<u64> = (0..100_000).map(|i| i * i).collect();
/// filter.insert_many(&keys);
/// assert!(filter.contains(9_801));
///
/// let mut found = Vec::new();
/// filter.contains_many(&keys, &mut found); // bit i % 64 of word i / 64 answers for keys[i]
/// assert_eq!(found.iter().map(|word| word.count_ones()).sum::<u32>(), 100_000);
///
/// // Stored: the words and the shape.
/// let (k, seed, words) = (filter.k(), filter.seed(), filter.words().to_vec());
/// let read = PointFilter::from_words(k, seed, &words)?;
/// assert!(read.contains(9_801));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct PointFilter {
    kernel: Kernel,
    k: u32,
    seed: u64,
    words: Words,
}

/// What a [`PointFilter`] is to be; made by [`PointFilter::builder`].
#[derive(Clone, Debug)]
pub struct PointBuilder {
    keys: u64,
    size: Size,
    k: u32,
    seed: u64,
    kernel: Option<Kernel>,
    arena: Option<Arena>,
}

impl PointBuilder {
    /// The highest false-positive rate, more than 0 and less than 1. (Unless asked: 0.01.)
    #[must_use]
    pub fn fpr(self, fpr: f64) -> Self {
        PointBuilder { size: Size::Rate(fpr, 1), ..self }
    }

    /// A budget in bits a key, instead of a rate; rounded up to whole blocks of 512 bits.
    #[must_use]
    pub fn bits_per_key(self, bits: f64) -> Self {
        PointBuilder { size: Size::BitsPerKey(bits), ..self }
    }

    /// Lanes per key, 4 to 8. (Unless asked: [`K_DEFAULT`]; 7 or 8 pay from 12 bits a key on.)
    #[must_use]
    pub fn k(self, k: u32) -> Self {
        PointBuilder { k, ..self }
    }

    /// Seed of the hash. (Unless asked: 0.) Filters that are to be merged share it.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        PointBuilder { seed, ..self }
    }

    /// The kernel set. (Unless asked: the best that there is.)
    #[must_use]
    pub fn kernel(self, kernel: Kernel) -> Self {
        PointBuilder { kernel: Some(kernel), ..self }
    }

    /// Takes the words from an arena, on huge pages for example, instead of the heap.
    #[must_use]
    pub fn arena(self, arena: &Arena) -> Self {
        PointBuilder { arena: Some(arena.clone()), ..self }
    }

    /// An empty filter.
    ///
    /// # Errors
    /// Where the lanes, the rate or the budget cannot be, or the arena has no room.
    pub fn build(self) -> Result<PointFilter, FilterError> {
        let k = checked_lanes(self.k)?;
        let blocks = match (self.size.bits(self.keys)?, self.size) {
            (None, Size::Rate(fpr, _)) => blocked::blocks_for(k, self.keys, fpr)? as f64,
            (bits, _) => (bits.unwrap_or(0.0) / 512.0).ceil().max(1.0),
        };
        let words = (blocks * BLOCK_WORDS as f64) as usize;
        let words = zeroed(self.arena.as_ref(), checked_words(words)?)?;
        let kernel = self.kernel.unwrap_or_else(Kernel::best);
        Ok(PointFilter { kernel, k, seed: self.seed, words })
    }
}

impl PointFilter {
    /// A filter for about `keys` distinct keys. More may be inserted, at a higher rate.
    #[must_use]
    pub fn builder(keys: u64) -> PointBuilder {
        let size = Size::Rate(0.01, 1);
        PointBuilder { keys, size, k: K_DEFAULT, seed: 0, kernel: None, arena: None }
    }

    /// A filter of words that were stored, with the `k` and the seed that it was built with.
    ///
    /// # Errors
    /// Where `k` is not 4 to 8 or `words` not a whole number of blocks. Whether they belong
    /// together cannot be seen.
    pub fn from_words(k: u32, seed: u64, words: &[u64]) -> Result<Self, FilterError> {
        let k = checked_lanes(k)?;
        checked_words(words.len())?;
        Ok(PointFilter { kernel: Kernel::best(), k, seed, words: Words::from(words) })
    }

    /// The same filter, run by another kernel set.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        PointFilter { kernel, ..self }
    }

    /// Inserts a key. Many at once cost a fraction each: [`Self::insert_many`].
    pub fn insert(&mut self, key: u64) {
        blocked::insert(self.k, &mut self.words, hash::key(key, self.seed));
    }

    /// Inserts keys.
    pub fn insert_many(&mut self, keys: &[u64]) {
        blocked::insert_many(self.kernel, self.k, &mut self.words, self.seed, keys);
    }

    /// Whether `key` may have been inserted.
    #[must_use]
    pub fn contains(&self, key: u64) -> bool {
        blocked::contains(self.k, &self.words, hash::key(key, self.seed))
    }

    /// Whether each key may have been inserted: bit `i % 64` of `found[i / 64]` for `keys[i]`.
    /// `found` gets the length that it needs.
    pub fn contains_many(&self, keys: &[u64], found: &mut Vec<u64>) {
        clear_answers(found, keys.len());
        blocked::contains_many(self.kernel, self.k, &self.words, self.seed, keys, found);
    }

    /// Inserts everything that `other` holds.
    ///
    /// # Errors
    /// Where the filters differ in size, lanes or seed; then nothing changes.
    pub fn merge(&mut self, other: &Self) -> Result<(), FilterError> {
        let shape = |filter: &Self| (filter.k, filter.seed, filter.words.len());
        if shape(self) != shape(other) {
            return Err(FilterError::Shape);
        }
        words::merge(self.kernel, &mut self.words, &other.words);
        Ok(())
    }

    /// This filter at `1 / factor` of its size, as if it had been built so; on the heap.
    ///
    /// # Errors
    /// Where `factor` does not divide the number of blocks.
    pub fn folded(&self, factor: usize) -> Result<Self, FilterError> {
        let parts = self.words.len() / BLOCK_WORDS;
        if factor == 0 || !parts.is_multiple_of(factor) {
            return Err(FilterError::Factor { factor, parts });
        }
        let mut folded = Words::heap(self.words.len() / factor);
        words::merge_fold(self.kernel, &[&self.words], BLOCK_WORDS, factor, &mut folded);
        Ok(PointFilter { words: folded, ..*self })
    }

    /// The words, to be stored little-endian with [`Self::k`] and [`Self::seed`].
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Lanes per key.
    #[must_use]
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Seed of the hash.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Share of bits that are set, 0 to 1. Reads every word.
    #[must_use]
    pub fn fill(&self) -> f64 {
        words::ones(self.kernel, &self.words) as f64 / (64 * self.words.len()) as f64
    }

    /// False-positive rate of this very filter for random keys, by its bits. Reads every word.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        blocked::fpr(self.k, &self.words)
    }

    /// The rate to expect of it with `keys` distinct keys, by the model.
    #[must_use]
    pub fn fpr_with(&self, keys: u64) -> f64 {
        params::fpr_blocked(self.k, self.words.len(), keys)
    }
}

/// Equal where the shape and every bit are; the kernel set does not matter.
impl PartialEq for PointFilter {
    fn eq(&self, other: &Self) -> bool {
        (self.k, self.seed) == (other.k, other.seed) && self.words == other.words
    }
}

impl Eq for PointFilter {}

fn checked_lanes(k: u32) -> Result<u32, FilterError> {
    if (K_MIN..=K_MAX).contains(&k) { Ok(k) } else { Err(FilterError::Lanes { k }) }
}

fn checked_words(words: usize) -> Result<usize, FilterError> {
    let blocks = (words / BLOCK_WORDS) as u64;
    if words.is_multiple_of(BLOCK_WORDS) && (1..=BLOCKS_MAX).contains(&blocks) {
        return Ok(words);
    }
    Err(FilterError::Words { words, expected: "whole blocks of 8 words, 1 to 2^32 - 1 of them" })
}
