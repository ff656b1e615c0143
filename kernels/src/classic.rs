//! Hot path: no allocation, no lock, no syscall; up to k cache lines per item.
//!
//! Doors of the classic Bloom filter: k bits anywhere among m, any m up to 2^40.
//!
//! Items are 128-bit hashes, so that rates down to 1e-12 hold for 10^9 items. Probe i is the upper
//! half of a product of m and a mix of `lo + i * hi`: no modulus, no shared factors, and no floor
//! under the rate of a small filter (double hashing has one).

use crate::Kernel;
use crate::hash::Hash128;
use crate::scalar;

pub use crate::scalar::classic::{contains, insert};

/// Most bits of a filter.
pub const BITS_MAX: u64 = 1 << 40;
/// Most probes an item.
pub const K_MAX: u32 = 64;

/// Bits and probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bits.
    pub bits: u64,
    /// Probes for each item.
    pub k: u32,
}

/// Why there can be no such filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShapeError {
    /// Not more than 0 and less than 1.
    Rate(f64),
    /// No items.
    NoItems,
    /// More than [`BITS_MAX`].
    TooLarge {
        /// What it takes.
        bits: f64,
    },
}

/// The shape that holds `items` distinct items at a rate of at most `fpr`.
///
/// # Errors
/// Where there is none.
pub fn shape_for(items: u64, fpr: f64) -> Result<Shape, ShapeError> {
    if !(fpr > 0.0 && fpr < 1.0) {
        return Err(ShapeError::Rate(fpr));
    }
    if items == 0 {
        return Err(ShapeError::NoItems);
    }
    let ln2 = std::f64::consts::LN_2;
    let bits = (-(items as f64) * fpr.ln() / (ln2 * ln2)).ceil().max(1.0);
    if bits > BITS_MAX as f64 {
        return Err(ShapeError::TooLarge { bits });
    }
    let k = (-fpr.log2()).round().clamp(1.0, f64::from(K_MAX));
    Ok(Shape { bits: bits as u64, k: k as u32 })
}

/// Inserts items; returns how many of them set a bit that was not set.
///
/// # Panics
/// Unless `words` holds `bits` bits, and `k` is 1 to [`K_MAX`].
pub fn insert_many(
    _kernel: Kernel,
    k: u32,
    bits: u64,
    words: &mut [u64],
    items: &[Hash128],
) -> u64 {
    assert_shape(k, bits, words);
    scalar::classic::insert_many(k, bits, words, items)
}

/// Asks for items: bit `i % 64` of `found[i / 64]` answers for `items[i]`; bits past the last
/// are 0.
///
/// # Panics
/// As [`insert_many`], and unless `found` has a bit for every item.
pub fn contains_many(
    _kernel: Kernel,
    k: u32,
    bits: u64,
    words: &[u64],
    items: &[Hash128],
    found: &mut [u64],
) {
    assert_shape(k, bits, words);
    let found = crate::blocked::answers(found, items.len());
    scalar::classic::contains_many(k, bits, words, items, found);
}

fn assert_shape(k: u32, bits: u64, words: &[u64]) {
    assert!((1..=K_MAX).contains(&k), "{k} probes");
    assert!(bits > 0 && words.len() as u64 == bits.div_ceil(64), "{bits} bits in words");
}
