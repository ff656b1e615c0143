//! Hot path: no allocation, no lock, no syscall; one pass over the bytes.
//!
//! Doors of the frame digest xxh3-128, on any kernel set.

use crate::kernel::Kernel;

/// Xxh3-128 with seed 0 of `bytes`, as [`xxhash_rust::xxh3::xxh3_128`] and every other
/// implementation of the published algorithm.
///
/// ```
/// use bloomrf_kernels::{Kernel, digest};
///
/// let empty = digest::xxh3_128(Kernel::best(), b"");
/// assert_eq!(empty, 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
/// ```
#[must_use]
pub fn xxh3_128(kernel: Kernel, bytes: &[u8]) -> u128 {
    let _ = kernel;
    xxhash_rust::xxh3::xxh3_128(bytes)
}
