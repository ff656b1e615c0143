//! Hot path: no allocation, no lock, no syscall; up to k cache lines per item.
//!
//! Doors of the classic Bloom filter: k bits anywhere among m, any m up to 2^40.
//!
//! Items are 128-bit hashes, so that rates down to 1e-12 hold for 10^9 items. Every probe is a mix
//! of its own, scaled to m: no modulus, no shared factors, and no floor under the rate of a small
//! filter (double hashing has one).

mod size;

use crate::blocked::answers;
use crate::hash::Hash128;
use crate::{Kernel, scalar};
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};

pub use crate::scalar::classic::{Probes, contains, insert, probes};
pub use size::{Shape, ShapeError, fpr, shape_for};

/// Most bits of a filter.
pub const BITS_MAX: u64 = 1 << 40;
/// Most probes an item.
pub const K_MAX: u32 = 64;

/// Inserts items; returns how many of them set a bit that was not set when their turn came.
///
/// # Panics
/// Unless `words` holds `bits` bits, and `k` is 1 to [`K_MAX`].
pub fn insert_many(kernel: Kernel, k: u32, bits: u64, words: &mut [u64], items: &[Hash128]) -> u64 {
    assert_shape(k, bits, words);
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::classic::insert_many(token, k, bits, words, items),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::classic::insert_many(token, k, bits, words, items),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::classic::insert_many(token.avx512(), k, bits, words, items)
        }
        _ => scalar::classic::insert_many(k, bits, words, items),
    }
}

/// Asks for items: bit `i % 64` of `found[i / 64]` answers for `items[i]`; bits past the last
/// are 0.
///
/// # Panics
/// As [`insert_many`], and unless `found` has a bit for every item.
pub fn contains_many(
    kernel: Kernel,
    k: u32,
    bits: u64,
    words: &[u64],
    items: &[Hash128],
    found: &mut [u64],
) {
    assert_shape(k, bits, words);
    let found = answers(found, items.len());
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::classic::contains_many(token, k, bits, words, items, found),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => {
            avx512::classic::contains_many(token, k, bits, words, items, found)
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::classic::contains_many(token.avx512(), k, bits, words, items, found)
        }
        _ => scalar::classic::contains_many(k, bits, words, items, found),
    }
}

fn assert_shape(k: u32, bits: u64, words: &[u64]) {
    assert!((1..=K_MAX).contains(&k), "{k} probes: expected 1 to {K_MAX}");
    assert!(
        (1..=BITS_MAX).contains(&bits) && words.len() as u64 == bits.div_ceil(64),
        "{} words do not hold {bits} bits (1 to 2^40)",
        words.len()
    );
}
