//! bloomRF by one key or one range at a time, straight from the definition.
//!
//! `hashed` are the W hashed words, `top` the 1,024 words of the exact top 16 bits (empty where
//! the layers have none). The word of a key in a layer is `mulhi32(hash, W)`, its bit the offset
//! rotated by six other hash bits: any run of offsets stays one mask, and folding is exact.

use crate::{Answer, Layers};

/// Inserts one key.
pub fn insert(layers: &Layers, hashed: &mut [u64], top: &mut [u64], key: u64) {
    let _ = (layers, hashed, top, key);
    todo!("kernels")
}

/// Inserts many keys, layer by layer semantics identical to [`insert`] of each.
pub fn insert_many(layers: &Layers, hashed: &mut [u64], top: &mut [u64], keys: &[u64]) {
    for &key in keys {
        insert(layers, hashed, top, key);
    }
}

/// Whether `key` may have been inserted.
#[must_use]
pub fn contains(layers: &Layers, hashed: &[u64], top: &[u64], key: u64) -> bool {
    let _ = (layers, hashed, top, key);
    todo!("kernels")
}

/// Whether any key of `lo..=hi` may have been inserted, by the two-path search; reads at most
/// `probes_max` hashed words.
#[must_use]
pub fn range(
    layers: &Layers,
    hashed: &[u64],
    top: &[u64],
    lo: u64,
    hi: u64,
    probes_max: u32,
) -> Answer {
    let _ = (layers, hashed, top, lo, hi, probes_max);
    todo!("kernels")
}
