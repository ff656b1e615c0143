//! Hot path: kernels of bloomRF on 256-bit registers; entered through the doors with a token.
//!
//! `address` computes bit addresses of 8 keys in one layer, `insert` ORs them, `cascade` is the
//! insert of ordered keys, `contains` and `range` read. A bit address is `word * 64 + bit` in a
//! u32, so a filter has fewer than 2^26 words; the doors send larger ones to the scalar kernel.
#![allow(unsafe_code)]

mod address;
mod cascade;
mod contains;
mod insert;
mod list;
mod range;

use crate::Layers;
use crate::bloomrf::KeyOrder;
use crate::token::Avx2;

/// See [`crate::bloomrf::insert_many`]; `hashed` is 1 to [`WORDS_MAX`](crate::size::WORDS_MAX)
/// words.
pub(crate) fn insert_many(
    _: Avx2,
    layers: &Layers,
    order: KeyOrder,
    hashed: &mut [u64],
    top: &mut [u64],
    keys: &[u64],
) {
    // SAFETY: the token proves the features.
    unsafe { insert::many_u64(layers, order, hashed, top, keys) }
}

/// See [`crate::bloomrf::insert_many_u32`]; `hashed` as for [`insert_many`].
pub(crate) fn insert_many_u32(
    _: Avx2,
    layers: &Layers,
    order: KeyOrder,
    hashed: &mut [u64],
    top: &mut [u64],
    keys: &[u32],
) {
    // SAFETY: the token proves the features.
    unsafe { insert::many_u32(layers, order, hashed, top, keys) }
}

/// See [`crate::bloomrf::contains_many`]; `hashed` as for [`insert_many`], `top` whole.
pub(crate) fn contains_many(
    _: Avx2,
    layers: &Layers,
    hashed: &[u64],
    top: &[u64],
    keys: &[u64],
    found: &mut [u64],
) {
    // SAFETY: the token proves the features.
    unsafe { contains::many(layers, hashed, top, keys, found) }
}

/// See [`crate::bloomrf::range_many`]; `hashed` as for [`insert_many`], `top` whole.
pub(crate) fn range_many(
    _: Avx2,
    layers: &Layers,
    hashed: &[u64],
    top: &[u64],
    ranges: &[(u64, u64)],
    probes_max: u32,
    found: &mut [u64],
) {
    // SAFETY: the token proves the features.
    unsafe { range::many(layers, hashed, top, ranges, probes_max, found) }
}
