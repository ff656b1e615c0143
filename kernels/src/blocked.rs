//! Hot path: no allocation, no lock, no syscall; one cache line per key.
//!
//! Doors of the native blocked Bloom filter: many keys at once, on any kernel set.
//!
//! A filter is a slice of words, eight to a block (one cache line, best aligned to one); a key sets
//! one bit in each of `k` of the eight lanes of one block. Every kernel set reads and writes the
//! same bits. A filter answers only for the `k` and the seed that it was built with.
//!
//! | bits per key | k = 5 | k = 6 | k = 7 | k = 8 |
//! | ---: | ---: | ---: | ---: | ---: |
//! | 8 | 2.34 % | 2.39 % | 2.59 % | 2.93 % |
//! | 10 | 1.05 % | 0.98 % | 0.98 % | 1.05 % |
//! | 12 | 0.53 % | 0.45 % | 0.42 % | 0.42 % |
//! | 16 | 0.17 % | 0.13 % | 0.10 % | 0.09 % |

use crate::{Kernel, SizeError, block_model, scalar};
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};

pub use crate::scalar::blocked::{BLOCK_WORDS, K_DEFAULT, contains, fold, insert};

/// Fewest lanes per key.
pub const K_MIN: u32 = 4;

/// Most lanes per key.
pub const K_MAX: u32 = 8;

/// Most blocks of a filter (256 GiB): the block of a key comes from 32 bits of its hash, by a
/// product of 32-bit numbers.
pub const BLOCKS_MAX: u64 = (1 << 32) - 1;

/// Inserts keys, hashed by [`crate::hash::key`] under `seed`.
///
/// # Panics
/// Unless `k` is 4..=8 and `blocks` a positive whole number of blocks, at most [`BLOCKS_MAX`].
///
/// ```
/// use bloomrf_kernels::{Kernel, blocked};
///
/// let mut blocks = vec![0; 128 * blocked::BLOCK_WORDS];
/// let keys: Vec<u64> = (0..5_000).map(|i| i * i).collect();
/// blocked::insert_many(Kernel::best(), blocked::K_DEFAULT, &mut blocks, 42, &keys);
///
/// let mut found = [0];
/// let asked = [4, 7, 25];
/// blocked::contains_many(Kernel::best(), blocked::K_DEFAULT, &blocks, 42, &asked, &mut found);
/// assert_eq!(found[0] & 0b101, 0b101, "what was inserted is found");
/// ```
pub fn insert_many(kernel: Kernel, k: u32, blocks: &mut [u64], seed: u64, keys: &[u64]) {
    assert_shape(k, blocks);
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::blocked::insert_many(token, k, blocks, seed, keys),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::blocked::insert_many(token, k, blocks, seed, keys),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::blocked::insert_many(token.avx512(), k, blocks, seed, keys)
        }
        _ => scalar::blocked::insert_many(k, blocks, seed, keys),
    }
}

/// Inserts keys by their hashes; all 64 bits must be well mixed.
///
/// # Panics
/// As [`insert_many`].
pub fn insert_hashes_many(kernel: Kernel, k: u32, blocks: &mut [u64], hashes: &[u64]) {
    assert_shape(k, blocks);
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::blocked::insert_hashes_many(token, k, blocks, hashes),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::blocked::insert_hashes_many(token, k, blocks, hashes),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::blocked::insert_hashes_many(token.avx512(), k, blocks, hashes)
        }
        _ => scalar::blocked::insert_hashes_many(k, blocks, hashes),
    }
}

/// Asks for keys: bit `i % 64` of `found[i / 64]` says whether `keys[i]` may have been inserted.
///
/// Bits past the last key are 0.
///
/// # Panics
/// As [`insert_many`], and unless `found` has a bit for every key.
pub fn contains_many(
    kernel: Kernel,
    k: u32,
    blocks: &[u64],
    seed: u64,
    keys: &[u64],
    found: &mut [u64],
) {
    assert_shape(k, blocks);
    let found = answers(found, keys.len());
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::blocked::contains_many(token, k, blocks, seed, keys, found),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => {
            avx512::blocked::contains_many(token, k, blocks, seed, keys, found)
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::blocked::contains_many(token.avx512(), k, blocks, seed, keys, found)
        }
        _ => scalar::blocked::contains_many(k, blocks, seed, keys, found),
    }
}

/// Asks for keys by their hashes; answers as [`contains_many`].
///
/// # Panics
/// As [`contains_many`].
pub fn contains_hashes_many(
    kernel: Kernel,
    k: u32,
    blocks: &[u64],
    hashes: &[u64],
    found: &mut [u64],
) {
    assert_shape(k, blocks);
    let found = answers(found, hashes.len());
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::blocked::contains_hashes_many(token, k, blocks, hashes, found),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => {
            avx512::blocked::contains_hashes_many(token, k, blocks, hashes, found)
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::blocked::contains_hashes_many(token.avx512(), k, blocks, hashes, found)
        }
        _ => scalar::blocked::contains_hashes_many(k, blocks, hashes, found),
    }
}

/// Fewest blocks that hold `keys` keys at a false-positive rate of `fpr`; at least one.
///
/// Fewer keys never take more blocks. `k` is taken as the nearest of 4..=8.
///
/// # Errors
/// Where the rate is no probability or out of reach of `k`, or the blocks are more than
/// [`BLOCKS_MAX`].
///
/// ```
/// use bloomrf_kernels::blocked;
///
/// let blocks = blocked::blocks_for(blocked::K_DEFAULT, 1_000_000, 0.01)?;
/// assert_eq!(blocks * 512 / 1_000_000, 9, "bits per key");
/// assert!(blocked::blocks_for(8, 1 << 40, 0.01).is_err(), "more than 2^32 - 1 blocks");
/// # Ok::<(), bloomrf_kernels::SizeError>(())
/// ```
pub fn blocks_for(k: u32, keys: u64, fpr: f64) -> Result<u64, SizeError> {
    block_model::blocks_for(512.0, k.clamp(K_MIN, K_MAX), keys, fpr, BLOCKS_MAX)
}

/// False-positive rate of this very filter for random keys, by its set bits: the mean over blocks
/// and windows of the product of the fills of their lanes. Reads every word. No block: 1.
#[must_use]
pub fn fpr(k: u32, blocks: &[u64]) -> f64 {
    let blocks = blocks.as_chunks::<BLOCK_WORDS>().0;
    let of_block = |block: &[u64; BLOCK_WORDS]| {
        let fills = block.map(|word| f64::from(word.count_ones()) / 64.0);
        let of_window = |first| (first..first + k as usize).map(|i| fills[i % 8]).product::<f64>();
        (0..BLOCK_WORDS).map(of_window).sum::<f64>() / BLOCK_WORDS as f64
    };
    if blocks.is_empty() {
        return 1.0;
    }
    blocks.iter().map(of_block).sum::<f64>() / blocks.len() as f64
}

/// The words of `found` that answer for `keys` keys; those behind are cleared.
pub(crate) fn answers(found: &mut [u64], keys: usize) -> &mut [u64] {
    let words = keys.div_ceil(64);
    assert!(words <= found.len(), "{} words cannot answer for {keys} keys", found.len());
    let (answers, behind) = found.split_at_mut(words);
    behind.fill(0);
    answers
}

fn assert_shape(k: u32, blocks: &[u64]) {
    assert!((K_MIN..=K_MAX).contains(&k), "{k} lanes per key: expected 4 to 8");
    assert!(
        !blocks.is_empty()
            && blocks.len().is_multiple_of(BLOCK_WORDS)
            && (blocks.len() / BLOCK_WORDS) as u64 <= BLOCKS_MAX,
        "{} words are no whole number of blocks (1 to 2^32 - 1 of 8 words)",
        blocks.len()
    );
}
