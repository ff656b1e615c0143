//! Hot path: no allocation, no lock, no syscall; work is linear in the keys or ranges given.
//!
//! Doors of bloomRF: many keys or ranges at once, on any kernel set.
//!
//! A filter is `hashed`, a slice of W words (W >= 1), and `top`, the 1,024 words of the exact top
//! 16 bits of 32-bit keys (empty where the layers have none). Every kernel set writes the same bits
//! and gives the same answers as [`scalar::bloomrf`], the reference.
//!
//! Answers are bit masks: bit `i % 64` of word `i / 64` of `found` belongs to key or range `i`.
//! Bits past the last one are 0. A word that is not there reads as all ones: "found".
//!
//! ```
//! use bloomrf_kernels::{Kernel, bloomrf, params};
//!
//! let kernel = Kernel::best();
//! let layers = params::layers_for(64, 7);
//! let mut hashed = vec![0; 120];
//! bloomrf::insert_many(kernel, &layers, &mut hashed, &mut [], &[5, 900, 1 << 40]);
//!
//! let mut found = [0];
//! bloomrf::contains_many(kernel, &layers, &hashed, &[], &[900, 901, 5], &mut found);
//! assert_eq!(found[0] & 0b101, 0b101);
//! bloomrf::range_many(kernel, &layers, &hashed, &[], &[(800, 1_000), (9, 2)], 256, &mut found);
//! assert_eq!(found[0], 0b01); // The second range is empty.
//! ```
//!
//! Source: Mößner, Riegger, Bernhardt, Petrov, "bloomRF: On Performing Range-Queries in
//! Bloom-Filters with Piecewise-Monotone Hash Functions and Prefix Hashing", EDBT 2023.

#[cfg(target_arch = "x86_64")]
pub(crate) mod order;
#[cfg(target_arch = "x86_64")]
pub(crate) mod shape;

use crate::blocked::answers;
use crate::size::WORDS_MAX;
use crate::{Kernel, Layers, scalar};
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};

/// What is known of the order of keys to insert. It changes the time, never the bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyOrder {
    /// Nothing: a sample of neighbours decides, anew every few thousand keys.
    #[default]
    Unknown,
    /// Neighbours have little in common.
    Scattered,
    /// Neighbours mostly share their upper bits, as timestamps and counters do.
    Ordered,
}

/// Inserts `keys` (of the domain of `layers`), in any order.
///
/// Cost: one word per layer and key; keys in order, or repeated in a row, share most of them.
///
/// # Panics
/// Where `hashed` is empty and there is a key; where the layers have an exact top and `top` is not
/// 1,024 words, or a key does not fit 32 bits.
pub fn insert_many(
    kernel: Kernel,
    layers: &Layers,
    hashed: &mut [u64],
    top: &mut [u64],
    keys: &[u64],
) {
    insert_many_ordered(kernel, layers, KeyOrder::Unknown, hashed, top, keys);
}

/// [`insert_many`] of the keys of a 4-byte column.
///
/// # Panics
/// As [`insert_many`].
pub fn insert_many_u32(
    kernel: Kernel,
    layers: &Layers,
    hashed: &mut [u64],
    top: &mut [u64],
    keys: &[u32],
) {
    insert_many_u32_ordered(kernel, layers, KeyOrder::Unknown, hashed, top, keys);
}

/// [`insert_many`] with what the caller knows of the order of the keys.
///
/// # Panics
/// As [`insert_many`].
pub fn insert_many_ordered(
    kernel: Kernel,
    layers: &Layers,
    order: KeyOrder,
    hashed: &mut [u64],
    top: &mut [u64],
    keys: &[u64],
) {
    assert_filter(layers, hashed, top, keys.is_empty());
    // Read by the vector kernels only.
    let _ = order;
    match if addressable(hashed) { kernel } else { Kernel::Scalar } {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => {
            avx2::bloomrf::insert_many(token, layers, order, hashed, top, keys);
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => {
            avx512::bloomrf::insert_many(token, layers, order, hashed, top, keys);
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::bloomrf::insert_many(token.avx512(), layers, order, hashed, top, keys);
        }
        _ => scalar::bloomrf::insert_many(layers, hashed, top, keys),
    }
}

/// [`insert_many_u32`] with what the caller knows of the order of the keys.
///
/// # Panics
/// As [`insert_many`].
pub fn insert_many_u32_ordered(
    kernel: Kernel,
    layers: &Layers,
    order: KeyOrder,
    hashed: &mut [u64],
    top: &mut [u64],
    keys: &[u32],
) {
    assert_filter(layers, hashed, top, keys.is_empty());
    // Read by the vector kernels only.
    let _ = order;
    match if addressable(hashed) { kernel } else { Kernel::Scalar } {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => {
            avx2::bloomrf::insert_many_u32(token, layers, order, hashed, top, keys);
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => {
            avx512::bloomrf::insert_many_u32(token, layers, order, hashed, top, keys);
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::bloomrf::insert_many_u32(token.avx512(), layers, order, hashed, top, keys);
        }
        _ => scalar::bloomrf::insert_many_u32(layers, hashed, top, keys),
    }
}

/// Which of `keys` may have been inserted. A key outside the domain is "found".
///
/// Cost: for a key that is there a word per layer; one that is not ends, as a rule, at the first
/// or second word.
///
/// # Panics
/// Unless `found` has a bit for every key.
pub fn contains_many(
    kernel: Kernel,
    layers: &Layers,
    hashed: &[u64],
    top: &[u64],
    keys: &[u64],
    found: &mut [u64],
) {
    let found = answers(found, keys.len());
    match if readable(layers, hashed, top) { kernel } else { Kernel::Scalar } {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => {
            avx2::bloomrf::contains_many(token, layers, hashed, top, keys, found);
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => {
            avx512::bloomrf::contains_many(token, layers, hashed, top, keys, found);
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::bloomrf::contains_many(token.avx512(), layers, hashed, top, keys, found);
        }
        _ => scalar::bloomrf::contains_many(layers, hashed, top, keys, found),
    }
}

/// Which of `ranges` (inclusive ends) may hold an inserted key.
///
/// A range that may take more than `probes_max` hashed words is "found" whatever the filter holds,
/// and so is one that leaves the domain; one with its ends swapped is empty and never found.
///
/// Cost: a few words per layer, and the words of the highest layer that lie inside the range.
///
/// # Panics
/// Unless `found` has a bit for every range.
pub fn range_many(
    kernel: Kernel,
    layers: &Layers,
    hashed: &[u64],
    top: &[u64],
    ranges: &[(u64, u64)],
    probes_max: u32,
    found: &mut [u64],
) {
    let found = answers(found, ranges.len());
    match if readable(layers, hashed, top) { kernel } else { Kernel::Scalar } {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => {
            avx2::bloomrf::range_many(token, layers, hashed, top, ranges, probes_max, found);
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => {
            avx512::bloomrf::range_many(token, layers, hashed, top, ranges, probes_max, found);
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::bloomrf::range_many(
                token.avx512(),
                layers,
                hashed,
                top,
                ranges,
                probes_max,
                found,
            );
        }
        _ => scalar::bloomrf::range_many(layers, hashed, top, ranges, probes_max, found),
    }
}

/// Whether bit addresses of the filter fit 32 bits, as the vector kernels want it.
fn addressable(hashed: &[u64]) -> bool {
    hashed.len() as u64 <= WORDS_MAX
}

/// Whether every word that a lookup asks for is there; else only the reference knows what to say.
fn readable(layers: &Layers, hashed: &[u64], top: &[u64]) -> bool {
    let whole = !layers.has_exact_top() || top.len() == scalar::bitmap::WORDS_16;
    !hashed.is_empty() && addressable(hashed) && whole
}

fn assert_filter(layers: &Layers, hashed: &[u64], top: &[u64], no_keys: bool) {
    assert!(no_keys || !hashed.is_empty(), "a filter has at least one word");
    assert!(
        !layers.has_exact_top() || top.len() == scalar::bitmap::WORDS_16,
        "an exact top has {} words, not {}",
        scalar::bitmap::WORDS_16,
        top.len()
    );
}
