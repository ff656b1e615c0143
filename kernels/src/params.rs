//! Called when a column is set up or a batch is sealed, not per record.
//!
//! Which layers fit a column and a budget, and what false-positive rate to expect (the model).

use crate::Layers;

/// The memory budget of one record in one column: `bits_per_key x levels` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// `FERMIHDI_BLOOMRF_BITS_PER_KEY`, 1..=64.
    pub bits_per_key: u32,
    /// `FERMIHDI_BLOOMRF_LEVELS`, 1..=8. One means a plain blocked Bloom filter: equality only.
    pub levels: u32,
}

impl Budget {
    /// Bits of filter per record.
    #[must_use]
    pub fn bits_per_record(self) -> u32 {
        self.bits_per_key * self.levels
    }

    /// Fill up to which a filter of `layers` hashed layers is folded: `1 - e^(-layers / bits)`.
    #[must_use]
    pub fn fill_target(self, layers: usize) -> f64 {
        1.0 - (-(layers as f64) / f64::from(self.bits_per_record())).exp()
    }
}

/// The layer set for keys of `domain_bits` (32: with the exact top; 40..=64: eight layers).
///
/// Narrow layers near the ceiling put more hash functions above wide ranges; the ceiling lies
/// about `log2(records) + 2` bits below the domain, since higher levels are full and filter
/// nothing. Domains that no column type has get the nearest set that fits.
#[must_use]
pub fn layers_for(domain_bits: u8, seed: u64) -> Layers {
    let domain_bits = domain_bits.clamp(1, 64);
    let (widths, exact_top): (&[u8], bool) = match domain_bits {
        57.. => (&[7, 7, 7, 7, 4, 4, 2, 2], false),
        40..57 => (&[7, 7, 4, 4, 2, 2, 2, 2], false),
        33..40 => (&[7, 4, 4, 2, 2, 2, 2, 1], false),
        32 => (&[7, 4, 2, 2, 1], true),
        17..32 => (&[7, 4, 2, 1, 1], false),
        // Columns this narrow are exact bitmaps; one narrow layer is right for any of them.
        _ => (&[1], false),
    };
    Layers::new(domain_bits, widths, exact_top, seed).expect("every set in the table is valid")
}

/// Expected false-positive rate of a random empty range of `width` keys (1: a point) in a filter
/// of `words` hashed words that holds `keys` uniform keys. The model of the notes, section 4.
#[must_use]
pub fn fpr(layers: &Layers, words: usize, keys: u64, width: u64) -> f64 {
    crate::model::fpr(layers, words, keys, width)
}
