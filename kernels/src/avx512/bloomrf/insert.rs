//! Hot path: 16 keys a step, all layers inner. The addresses of a layer are computed just before
//! that layer of the step before is ORed: hash and memory run side by side.
//!
//! Cost on random keys: the ORs, one word per key and layer; the hash hides behind them while the
//! filter is larger than the first cache.

use super::address::{self, Shape};
use super::cascade;
use crate::Layers;
use crate::avx512::lanes::{load16, load16_u32, store16_u32};
use crate::bloomrf::KeyOrder;
use crate::layers::LAYERS_MAX;
use crate::scalar;

use std::arch::x86_64::*;

/// Keys for which one sample of neighbours decides.
const SEGMENT: usize = 4096;

/// Eight-byte keys; see [`super::insert_many`].
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn many_u64(
    layers: &Layers,
    order: KeyOrder,
    hashed: &mut [u64],
    top: &mut [u64],
    keys: &[u64],
) {
    let shape = Shape::new(layers, hashed.len());
    let bits = shape.bits();
    for keys in keys.chunks(SEGMENT) {
        if cascade::pays(layers, order, keys) {
            cascade::many(layers, hashed, top, keys);
            continue;
        }
        let (groups, rest) = keys.as_chunks::<16>();
        scattered(&shape, hashed, groups, |keys, layer| address::of_u64(load16(keys), layer, bits));
        if layers.has_exact_top() {
            for &key in groups.as_flattened() {
                top[(key >> 22) as usize] |= 1 << ((key >> 16) & 63);
            }
        }
        scalar::bloomrf::insert_many(layers, hashed, top, rest);
    }
}

/// Four-byte keys; see [`super::insert_many_u32`].
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn many_u32(
    layers: &Layers,
    order: KeyOrder,
    hashed: &mut [u64],
    top: &mut [u64],
    keys: &[u32],
) {
    let shape = Shape::new(layers, hashed.len());
    let bits = shape.bits();
    for keys in keys.chunks(SEGMENT) {
        if cascade::pays_u32(layers, order, keys) {
            cascade::many_u32(layers, hashed, top, keys);
            continue;
        }
        let (groups, rest) = keys.as_chunks::<16>();
        scattered(&shape, hashed, groups, |keys, layer| {
            address::of_u32(load16_u32(keys), layer, bits)
        });
        if layers.has_exact_top() {
            for &key in groups.as_flattened() {
                top[(key >> 22) as usize] |= 1 << ((key >> 16) & 63);
            }
        }
        scalar::bloomrf::insert_many_u32(layers, hashed, top, rest);
    }
}

/// Whole groups of sixteen keys, of whichever width `address` takes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn scattered<T>(
    shape: &Shape,
    hashed: &mut [u64],
    groups: &[[T; 16]],
    address: impl Fn(&[T; 16], &address::LaneLayer) -> __m512i,
) {
    let Some((first, rest)) = groups.split_first() else { return };
    let mut pending = [[0u32; 16]; LAYERS_MAX];
    let pending = &mut pending[..shape.layers().len()];
    for (row, layer) in pending.iter_mut().zip(shape.layers()) {
        store16_u32(row, address(first, layer));
    }
    for keys in rest {
        for (row, layer) in pending.iter_mut().zip(shape.layers()) {
            let addresses = address(keys, layer);
            row.iter().for_each(|&bit| set(hashed, bit));
            store16_u32(row, addresses);
        }
    }
    pending.as_flattened().iter().for_each(|&bit| set(hashed, bit));
}

/// Sets the bit at an address.
#[inline]
pub(super) fn set(hashed: &mut [u64], bit: u32) {
    hashed[(bit >> 6) as usize] |= 1 << (bit & 63);
}
