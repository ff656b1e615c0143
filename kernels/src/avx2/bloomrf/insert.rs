//! Hot path: 8 keys a step, all layers inner. The addresses of a layer are computed just before
//! that layer of the step before is ORed: hash and memory run side by side.

use std::arch::x86_64::*;

use super::{address, cascade};
use crate::avx2::lanes::{load8, load8_wide, store8_u32};
use crate::bloomrf::KeyOrder;
use crate::bloomrf::order::{SEGMENT, pays};
use crate::bloomrf::shape::{LaneLayer, Shape, set};
use crate::layers::LAYERS_MAX;
use crate::scalar::bloomrf::insert_top;
use crate::{Layers, scalar};

/// Eight-byte keys; see [`super::insert_many`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn many_u64(
    layers: &Layers,
    order: KeyOrder,
    hashed: &mut [u64],
    top: &mut [u64],
    keys: &[u64],
) {
    let shape = Shape::new(layers, hashed.len());
    let bits = _mm256_set1_epi64x(shape.bits.cast_signed());
    for keys in keys.chunks(SEGMENT) {
        if pays(layers, order, keys) {
            cascade::many(layers, hashed, top, keys);
            continue;
        }
        let (groups, rest) = keys.as_chunks::<8>();
        scattered(&shape, hashed, groups, |keys, layer| address::of(load8(keys), layer, bits));
        if layers.has_exact_top() {
            insert_top(top, groups.as_flattened());
        }
        scalar::bloomrf::insert_many(layers, hashed, top, rest);
    }
}

/// Four-byte keys; see [`super::insert_many_u32`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn many_u32(
    layers: &Layers,
    order: KeyOrder,
    hashed: &mut [u64],
    top: &mut [u64],
    keys: &[u32],
) {
    let shape = Shape::new(layers, hashed.len());
    let bits = _mm256_set1_epi64x(shape.bits.cast_signed());
    for keys in keys.chunks(SEGMENT) {
        if pays(layers, order, keys) {
            cascade::many(layers, hashed, top, keys);
            continue;
        }
        let (groups, rest) = keys.as_chunks::<8>();
        scattered(&shape, hashed, groups, |keys, layer| address::of(load8_wide(keys), layer, bits));
        if layers.has_exact_top() {
            insert_top(top, groups.as_flattened());
        }
        scalar::bloomrf::insert_many_u32(layers, hashed, top, rest);
    }
}

/// Whole groups of eight keys, of whichever width `address` takes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn scattered<T>(
    shape: &Shape,
    hashed: &mut [u64],
    groups: &[[T; 8]],
    address: impl Fn(&[T; 8], &LaneLayer) -> __m256i,
) {
    let Some((first, rest)) = groups.split_first() else { return };
    let mut pending = [[0u32; 8]; LAYERS_MAX];
    let pending = &mut pending[..shape.layers().len()];
    for (row, layer) in pending.iter_mut().zip(shape.layers()) {
        store8_u32(row, address(first, layer));
    }
    for keys in rest {
        for (row, layer) in pending.iter_mut().zip(shape.layers()) {
            let addresses = address(keys, layer);
            row.iter().for_each(|&bit| set(hashed, bit));
            store8_u32(row, addresses);
        }
    }
    pending.as_flattened().iter().for_each(|&bit| set(hashed, bit));
}
