//! Hot path: no allocation, no lock, no syscall; one pass over two arrays of 64.
//!
//! The zone maps of 64 slots against one range.

use crate::zone::ZoneMasks;

/// [`zone::masks`](crate::zone::masks).
#[must_use]
pub fn masks(min: &[u64; 64], max: &[u64; 64], lo: u64, hi: u64) -> ZoneMasks {
    let (mut absent, mut present) = (0, 0);
    for (slot, (&min, &max)) in min.iter().zip(max).enumerate() {
        let holds_bound = (lo <= min) & (min <= hi) | (lo <= max) & (max <= hi);
        absent |= u64::from((hi < min) | (max < lo)) << slot;
        present |= u64::from(holds_bound) << slot;
    }
    ZoneMasks { absent, present }
}
