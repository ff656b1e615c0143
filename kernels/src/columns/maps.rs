//! Hot path: no allocation, no lock, no syscall; one store per key.
//!
//! Exact maps of 1- and 2-byte columns while a batch is open.
//!
//! A bitmap with one hot value is slow: each set waits for the store before it. So 1-byte keys
//! mark bytes, and 2-byte keys four bitmaps in turn; both are joined once, at the batch's close.
//! Plain stores measured as fast as anything on every set.

use crate::kernel::Kernel;
use crate::scalar;
use crate::scalar::bitmap::{WORDS_8, WORDS_16};

/// Bitmaps that the keys of a 2-byte column go to in turn.
const TURNS: usize = 4;

/// Marks the byte of each key.
pub fn map_u8(kernel: Kernel, bytes: &mut [u8; 256], keys: &[u8]) {
    let _ = kernel;
    for &key in keys {
        bytes[usize::from(key)] = 1;
    }
}

/// The bitmap of a byte map: bit `i` is set where byte `i` is not 0.
#[must_use]
pub fn bytes_to_bits(kernel: Kernel, bytes: &[u8; 256]) -> [u64; WORDS_8] {
    let _ = kernel;
    scalar::columns::bytes_to_bits(bytes)
}

/// Sets the bit of each key in one of the four bitmaps of `maps` (1,024 words each).
///
/// # Panics
/// If `maps` has not 4,096 words.
pub fn map_u16(kernel: Kernel, maps: &mut [u64], keys: &[u16]) {
    let _ = kernel;
    assert!(maps.len() == TURNS * WORDS_16, "{} words for four bitmaps", maps.len());
    scalar::columns::map_u16(maps, keys);
}

/// ORs the four bitmaps of `maps` into `target`.
///
/// # Panics
/// If `maps` has not 4,096 words.
pub fn join_maps(kernel: Kernel, maps: &[u64], target: &mut [u64; WORDS_16]) {
    let _ = kernel;
    assert!(maps.len() == TURNS * WORDS_16, "{} words for four bitmaps", maps.len());
    scalar::columns::join_maps(maps, target);
}
