//! Hot path: no allocation, no lock, no syscall; half a cache line per key.
//!
//! Doors of the Parquet split-block Bloom filter (SBBF), bit exact: many values at once, on any
//! kernel set.
//!
//! A filter is a slice of words, four to a block of 32 bytes; its little-endian bytes are the
//! bitset that the Parquet specification stores. Values are hashed by xxHash64, seed 0, over their
//! *plain* bytes: integers and floats little-endian, byte arrays without their length. At 10 bits
//! a value the rate is 1.27 %.

use crate::blocked::answers;
use crate::{Kernel, SizeError, block_model, scalar};
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};

pub use crate::scalar::split_block::{BLOCK_WORDS, contains, fold, insert};

/// Most blocks of a filter. (Parquet's own headers end at 2^26: 2 GiB.)
pub const BLOCKS_MAX: u64 = (1 << 32) - 1;

/// Inserts 64-bit values, hashed as Parquet hashes an `INT64`.
///
/// # Panics
/// Unless `blocks` is a positive whole number of blocks, at most [`BLOCKS_MAX`].
///
/// ```
/// use bloomrf_kernels::{Kernel, hash, split_block};
///
/// let mut blocks = vec![0; 64 * split_block::BLOCK_WORDS];
/// split_block::insert_many(Kernel::best(), &mut blocks, &[1, 2, 3]);
/// assert!(split_block::contains(&blocks, hash::parquet(&2u64.to_le_bytes())));
/// ```
pub fn insert_many(kernel: Kernel, blocks: &mut [u64], values: &[u64]) {
    assert_shape(blocks);
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::split_block::insert_many(token, blocks, values),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::split_block::insert_many(token, blocks, values),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::split_block::insert_many(token.avx512(), blocks, values)
        }
        _ => scalar::split_block::insert_many(blocks, values),
    }
}

/// Inserts values by their hashes ([`crate::hash::parquet`]).
///
/// # Panics
/// As [`insert_many`].
pub fn insert_hashes_many(kernel: Kernel, blocks: &mut [u64], hashes: &[u64]) {
    assert_shape(blocks);
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::split_block::insert_hashes_many(token, blocks, hashes),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::split_block::insert_hashes_many(token, blocks, hashes),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::split_block::insert_hashes_many(token.avx512(), blocks, hashes)
        }
        _ => scalar::split_block::insert_hashes_many(blocks, hashes),
    }
}

/// Asks for 64-bit values: bit `i % 64` of `found[i / 64]` says whether `values[i]` may have been
/// inserted. Bits past the last value are 0.
///
/// # Panics
/// As [`insert_many`], and unless `found` has a bit for every value.
///
/// ```
/// use bloomrf_kernels::{Kernel, split_block};
///
/// // The bitset of a Parquet file is the words' little-endian bytes.
/// let mut blocks = vec![0; split_block::blocks_for(1_000, 0.01)? as usize * 4];
/// let values: Vec<u64> = (0..1_000).collect();
/// split_block::insert_many(Kernel::best(), &mut blocks, &values);
/// let bitset: Vec<u8> = blocks.iter().flat_map(|word| word.to_le_bytes()).collect();
///
/// let blocks: Vec<u64> = bitset.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect();
/// let mut found = [0; 16];
/// split_block::contains_many(Kernel::best(), &blocks, &values, &mut found);
/// assert_eq!(found.map(u64::count_ones).iter().sum::<u32>(), 1_000);
/// # Ok::<(), bloomrf_kernels::SizeError>(())
/// ```
pub fn contains_many(kernel: Kernel, blocks: &[u64], values: &[u64], found: &mut [u64]) {
    assert_shape(blocks);
    let found = answers(found, values.len());
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::split_block::contains_many(token, blocks, values, found),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::split_block::contains_many(token, blocks, values, found),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::split_block::contains_many(token.avx512(), blocks, values, found)
        }
        _ => scalar::split_block::contains_many(blocks, values, found),
    }
}

/// Asks for values by their hashes; answers as [`contains_many`].
///
/// # Panics
/// As [`contains_many`].
pub fn contains_hashes_many(kernel: Kernel, blocks: &[u64], hashes: &[u64], found: &mut [u64]) {
    assert_shape(blocks);
    let found = answers(found, hashes.len());
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => {
            avx2::split_block::contains_hashes_many(token, blocks, hashes, found)
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => {
            avx512::split_block::contains_hashes_many(token, blocks, hashes, found)
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::split_block::contains_hashes_many(token.avx512(), blocks, hashes, found)
        }
        _ => scalar::split_block::contains_hashes_many(blocks, hashes, found),
    }
}

/// Fewest blocks that hold `values` values at a false-positive rate of `fpr`; at least one.
///
/// Fewer values never take more blocks. (Many writers of Parquet round to a power of two.)
///
/// # Errors
/// Where the rate is no probability or out of reach, or the blocks are more than [`BLOCKS_MAX`].
pub fn blocks_for(values: u64, fpr: f64) -> Result<u64, SizeError> {
    block_model::blocks_for(256.0, 8, values, fpr, BLOCKS_MAX)
}

/// False-positive rate of this very filter for random values, by its set bits: the mean over blocks
/// of the product of the fills of their lanes. Reads every word. No block: 1.
#[must_use]
pub fn fpr(blocks: &[u64]) -> f64 {
    let blocks = blocks.as_chunks::<BLOCK_WORDS>().0;
    let fill = |lane: u64| f64::from((lane as u32).count_ones()) / 32.0;
    let of_block = |block: &[u64; BLOCK_WORDS]| {
        block.iter().map(|&word| fill(word) * fill(word >> 32)).product::<f64>()
    };
    if blocks.is_empty() {
        return 1.0;
    }
    blocks.iter().map(of_block).sum::<f64>() / blocks.len() as f64
}

fn assert_shape(blocks: &[u64]) {
    assert!(
        !blocks.is_empty()
            && blocks.len().is_multiple_of(BLOCK_WORDS)
            && (blocks.len() / BLOCK_WORDS) as u64 <= BLOCKS_MAX,
        "{} words are no whole number of blocks (1 to 2^32 - 1 of 4 words)",
        blocks.len()
    );
}
