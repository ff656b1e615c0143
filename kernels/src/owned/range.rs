//! Called when a filter is made, and per call of many keys; a word per layer and key.
//!
//! A bloomRF that owns its words.

use std::ops::RangeInclusive;

use super::{FilterError, Size, clear_answers, zeroed};
use crate::arena::{Arena, Words};
use crate::scalar::bitmap::WORDS_16;
use crate::size::WORDS_MAX;
use crate::{Answer, Kernel, Layers, bloomrf, columns, params, scalar, words};

/// A set of keys that says *no* or *maybe* to "is any key of this range in it?".
///
/// ```
/// use bloomrf_kernels::RangeFilter;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // IPv4 addresses, at most 1 % of empty ranges of 256 addresses found.
/// let mut filter = RangeFilter::builder(10_000).domain_bits(32).fpr(0.01, 256).build()?;
/// let hosts: Vec<u64> = (0..10_000).map(|i| 0x0A00_0000 + i * 500).collect();
/// filter.insert_many(&hosts)?;
///
/// assert!(filter.contains(0x0A00_0000));
/// assert!(filter.range(0x0A00_0000..=0x0AFF_FFFF).may_hold(), "10.0.0.0/8");
/// assert!(!filter.range(0xC0A8_0000..=0xC0A8_FFFF).may_hold(), "192.168.0.0/16");
/// assert!(filter.insert_many(&[1 << 32]).is_err(), "no address");
///
/// // Stored: the words and the layers (domain, widths, exact top, seed).
/// let (layers, words) = (*filter.layers(), filter.words().to_vec());
/// assert_eq!(RangeFilter::from_words(layers, &words)?, filter);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct RangeFilter {
    kernel: Kernel,
    layers: Layers,
    probes_max: u32,
    /// The hashed words, and behind them the exact top if there is one.
    words: Words,
}

/// What a [`RangeFilter`] is to be; made by [`RangeFilter::builder`].
#[derive(Clone, Debug)]
pub struct RangeBuilder {
    keys: u64,
    size: Size,
    domain_bits: u8,
    layers: Option<Layers>,
    seed: u64,
    probes_max: u32,
    kernel: Option<Kernel>,
    arena: Option<Arena>,
}

impl RangeBuilder {
    /// The highest expected false-positive rate of empty ranges of `width` keys (1: points), for
    /// keys and questions that are spread evenly. See [`params::words_for`].
    #[must_use]
    pub fn fpr(self, fpr: f64, width: u64) -> Self {
        RangeBuilder { size: Size::Rate(fpr, width), ..self }
    }

    /// A budget in bits a key, instead of a rate. (Unless asked: 16.) An exact top takes 8 KiB
    /// more.
    #[must_use]
    pub fn bits_per_key(self, bits: f64) -> Self {
        RangeBuilder { size: Size::BitsPerKey(bits), ..self }
    }

    /// Bits of the keys, 1 to 64. (Unless asked: 64.) 32-bit keys get an exact top.
    #[must_use]
    pub fn domain_bits(self, domain_bits: u8) -> Self {
        RangeBuilder { domain_bits, ..self }
    }

    /// Layers of one's own, or as [`crate::advisor::advise`] gave them, instead of
    /// [`params::layers_for`]; domain and seed are then theirs.
    #[must_use]
    pub fn layers(self, layers: Layers) -> Self {
        RangeBuilder { layers: Some(layers), ..self }
    }

    /// Seed of the hash. (Unless asked: 0.) Filters that are to be merged share it.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        RangeBuilder { seed, ..self }
    }

    /// Hashed words that one range may read. (Unless asked: [`RangeFilter::PROBES_MAX`].)
    #[must_use]
    pub fn probes_max(self, probes_max: u32) -> Self {
        RangeBuilder { probes_max, ..self }
    }

    /// The kernel set. (Unless asked: the best that there is.)
    #[must_use]
    pub fn kernel(self, kernel: Kernel) -> Self {
        RangeBuilder { kernel: Some(kernel), ..self }
    }

    /// Takes the words from an arena, on huge pages for example, instead of the heap.
    #[must_use]
    pub fn arena(self, arena: &Arena) -> Self {
        RangeBuilder { arena: Some(arena.clone()), ..self }
    }

    /// An empty filter.
    ///
    /// # Errors
    /// Where the domain, the rate or the budget cannot be, or the arena has no room.
    pub fn build(self) -> Result<RangeFilter, FilterError> {
        let bits = self.domain_bits;
        let layers = match self.layers {
            Some(layers) => layers,
            // Says what is wrong with it; `layers_for` would take the nearest that is right.
            None if !(1..=64).contains(&bits) => Layers::new(bits, &[1], false, self.seed)?,
            None => params::layers_for(bits, self.seed),
        };
        let hashed = match (self.size.bits(self.keys)?, self.size) {
            (None, Size::Rate(fpr, width)) => params::words_for(&layers, self.keys, width, fpr)?,
            // Rounded to an even number: folds at least by 2.
            (bits, _) => (bits.unwrap_or(0.0) / 128.0).ceil().max(1.0) as usize * 2,
        };
        let words = checked_words(&layers, hashed.saturating_add(top_words(&layers)))?;
        let words = zeroed(self.arena.as_ref(), words)?;
        let kernel = self.kernel.unwrap_or_else(Kernel::best);
        Ok(RangeFilter { kernel, layers, probes_max: self.probes_max, words })
    }
}

impl RangeFilter {
    /// Hashed words that one range may read, unless asked otherwise.
    pub const PROBES_MAX: u32 = 256;

    /// A filter for about `keys` distinct keys. More may be inserted, at a higher rate.
    #[must_use]
    pub fn builder(keys: u64) -> RangeBuilder {
        RangeBuilder {
            keys,
            size: Size::BitsPerKey(16.0),
            domain_bits: 64,
            layers: None,
            seed: 0,
            probes_max: Self::PROBES_MAX,
            kernel: None,
            arena: None,
        }
    }

    /// A filter of words that were stored, with the layers that it was built with.
    ///
    /// # Errors
    /// Where `words` is no number of words that such a filter has. Whether they belong together
    /// cannot be seen.
    pub fn from_words(layers: Layers, words: &[u64]) -> Result<Self, FilterError> {
        checked_words(&layers, words.len())?;
        let (kernel, probes_max) = (Kernel::best(), Self::PROBES_MAX);
        Ok(RangeFilter { kernel, layers, probes_max, words: Words::from(words) })
    }

    /// The same filter, run by another kernel set.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        RangeFilter { kernel, ..self }
    }

    /// The same filter with another budget of hashed words a range.
    #[must_use]
    pub fn with_probes_max(self, probes_max: u32) -> Self {
        RangeFilter { probes_max, ..self }
    }

    /// Inserts a key. Many at once cost a fraction each: [`Self::insert_many`].
    ///
    /// # Errors
    /// Where the key has more bits than the domain.
    pub fn insert(&mut self, key: u64) -> Result<(), FilterError> {
        self.insert_many(&[key])
    }

    /// Inserts keys, in any order; ordered ones are faster.
    ///
    /// # Errors
    /// Where a key has more bits than the domain; then none is inserted.
    pub fn insert_many(&mut self, keys: &[u64]) -> Result<(), FilterError> {
        let key_max = self.layers.key_max();
        if key_max < u64::MAX
            && let Some((_, key)) = columns::bounds_u64(self.kernel, keys)
            && key > key_max
        {
            return Err(FilterError::Key { key, domain_bits: self.layers.domain_bits() });
        }
        let (kernel, layers) = (self.kernel, self.layers);
        let hashed = self.words.len() - top_words(&layers);
        let (hashed, top) = self.words.split_at_mut(hashed);
        bloomrf::insert_many(kernel, &layers, hashed, top, keys);
        Ok(())
    }

    /// Whether `key` may have been inserted; a key outside the domain may.
    #[must_use]
    pub fn contains(&self, key: u64) -> bool {
        let (hashed, top) = self.parts();
        scalar::bloomrf::contains(&self.layers, hashed, top, key)
    }

    /// Whether each key may have been inserted: bit `i % 64` of `found[i / 64]` for `keys[i]`.
    /// `found` gets the length that it needs.
    pub fn contains_many(&self, keys: &[u64], found: &mut Vec<u64>) {
        clear_answers(found, keys.len());
        let (hashed, top) = self.parts();
        bloomrf::contains_many(self.kernel, &self.layers, hashed, top, keys, found);
    }

    /// Whether any key of the range may have been inserted. An empty range holds none.
    #[must_use]
    pub fn range(&self, keys: RangeInclusive<u64>) -> Answer {
        let ((hashed, top), (lo, hi)) = (self.parts(), keys.into_inner());
        scalar::bloomrf::range(&self.layers, hashed, top, lo, hi, self.probes_max)
    }

    /// Whether each range (inclusive ends) may hold a key, as bits like those of
    /// [`Self::contains_many`]; one that is over its budget may.
    pub fn range_many(&self, ranges: &[(u64, u64)], found: &mut Vec<u64>) {
        clear_answers(found, ranges.len());
        let ((hashed, top), probes_max) = (self.parts(), self.probes_max);
        bloomrf::range_many(self.kernel, &self.layers, hashed, top, ranges, probes_max, found);
    }

    /// Inserts everything that `other` holds.
    ///
    /// # Errors
    /// Where the filters differ in size or layers (and with them the seed); then nothing changes.
    pub fn merge(&mut self, other: &Self) -> Result<(), FilterError> {
        if (self.layers, self.words.len()) != (other.layers, other.words.len()) {
            return Err(FilterError::Shape);
        }
        words::merge(self.kernel, &mut self.words, &other.words);
        Ok(())
    }

    /// This filter with `1 / factor` of its hashed words, as if it had been built so; on the heap.
    ///
    /// # Errors
    /// Where `factor` does not divide the number of hashed words.
    pub fn folded(&self, factor: usize) -> Result<Self, FilterError> {
        let (hashed, top) = self.parts();
        let parts = hashed.len();
        if factor == 0 || !parts.is_multiple_of(factor) {
            return Err(FilterError::Factor { factor, parts });
        }
        let mut folded = Words::heap(parts / factor + top.len());
        let (to_hashed, to_top) = folded.split_at_mut(parts / factor);
        words::merge_fold(self.kernel, &[hashed], 1, factor, to_hashed);
        to_top.copy_from_slice(top);
        Ok(RangeFilter { words: folded, ..*self })
    }

    /// The words, to be stored little-endian with [`Self::layers`]: the hashed ones, behind them
    /// the 1,024 of the exact top if there is one.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The hashed words and the exact top apart, as the doors of [`bloomrf`] and
    /// [`RangePlan`](crate::RangePlan) want them.
    #[must_use]
    pub fn parts(&self) -> (&[u64], &[u64]) {
        self.words.split_at(self.words.len() - top_words(&self.layers))
    }

    /// The layers, with domain and seed.
    #[must_use]
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// Share of the hashed bits that are set, 0 to 1. Reads every word.
    #[must_use]
    pub fn fill(&self) -> f64 {
        let (hashed, _) = self.parts();
        words::ones(self.kernel, hashed) as f64 / (64 * hashed.len()) as f64
    }

    /// The rate to expect of empty ranges of `width` keys (1: points) with `keys` distinct keys,
    /// by the model for evenly spread ones.
    #[must_use]
    pub fn fpr_with(&self, keys: u64, width: u64) -> f64 {
        params::fpr(&self.layers, self.parts().0.len(), keys, width)
    }
}

/// Equal where the layers and every bit are; kernel set and budget do not matter.
impl PartialEq for RangeFilter {
    fn eq(&self, other: &Self) -> bool {
        self.layers == other.layers && self.words == other.words
    }
}

impl Eq for RangeFilter {}

/// Words of the exact top.
fn top_words(layers: &Layers) -> usize {
    if layers.has_exact_top() { WORDS_16 } else { 0 }
}

/// All words of a filter, the exact top included.
fn checked_words(layers: &Layers, words: usize) -> Result<usize, FilterError> {
    let hashed = words.saturating_sub(top_words(layers));
    if (1..=WORDS_MAX).contains(&(hashed as u64)) {
        return Ok(words);
    }
    let expected = match layers.has_exact_top() {
        true => "1 to 2^26 - 1 hashed words and 1,024 of the exact top",
        false => "1 to 2^26 - 1",
    };
    Err(FilterError::Words { words, expected })
}
