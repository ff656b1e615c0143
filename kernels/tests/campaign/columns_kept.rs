//! Keys that are kept: without nulls, without NaNs, without those that came a moment ago.

use std::collections::HashSet;
use std::fmt::Debug;

use bloomrf_kernels::Kernel;
use bloomrf_kernels::columns::{self as door, RecentKeys, RecentWideKeys};

use crate::case::Case;
use crate::columns::narrow_keys;
use crate::inputs;
use crate::placed::Placed;

pub(crate) fn valid(case: &mut Case<'_>) {
    valid_of(case, 8, |key| key as u8, door::keep_valid_u8);
    valid_of(case, 16, |key| key as u16, door::keep_valid_u16);
    valid_of(case, 32, |key| key as u32, door::keep_valid_u32);
    valid_of(case, 64, |key| key, door::keep_valid_u64);
}

fn valid_of<T: Copy + Ord + Debug>(
    case: &mut Case<'_>,
    bits: u32,
    narrow: impl Fn(u64) -> T,
    keep: impl Fn(Kernel, &[T], &[u64], &mut [T]) -> usize,
) {
    let keys = narrow_keys(case, case.length, bits, &narrow);
    // Null bits behind the last row mean nothing, so any will do.
    let nulls = inputs::words(case, case.length.div_ceil(64));
    let is_valid = |(i, _): &(usize, &T)| nulls[i / 64] >> (i % 64) & 1 == 0;
    let expected: Vec<T> = keys.iter().enumerate().filter(is_valid).map(|(_, &key)| key).collect();
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let (keys, nulls) = (Placed::new(case, &keys, narrow(0)), Placed::words(case, &nulls));
        let mut out = Placed::filled(case, case.length, narrow(7), narrow(0x55));
        let kept = keep(kernel, keys.get(), nulls.get(), out.get_mut());
        case.same(set, "valid keys", &out.get()[..kept], &expected);
        out.assert_guarded("valid keys");
        case.count(set, case.length);
    }
}

pub(crate) fn numbers(case: &mut Case<'_>) {
    let (high, low) = (f32::INFINITY.to_bits() | 1 << 31, !(f32::INFINITY.to_bits() | 1 << 31));
    let near = [low.into(), high.into()];
    numbers_of(case, 32, near, |key| key as u32, door::drop_nan_u32);
    let (high, low) = (f64::INFINITY.to_bits() | 1 << 63, !(f64::INFINITY.to_bits() | 1 << 63));
    numbers_of(case, 64, [low, high], |key| key, door::drop_nan_u64);
}

/// `ends` are the keys of the infinities.
fn numbers_of<T: Copy + Ord + Debug>(
    case: &mut Case<'_>,
    bits: u32,
    ends: [u64; 2],
    narrow: impl Fn(u64) -> T,
    drop: impl Fn(Kernel, &[T], &mut [T]) -> (usize, bool),
) {
    let few = case.once_in(2);
    let mut wide = inputs::keys(case, case.length, bits);
    for key in &mut wide {
        match case.below(8) {
            0 => *key = case.one_of(&ends).wrapping_add(case.next() % 3).wrapping_sub(1),
            _ if few => *key = (*key).clamp(ends[0], ends[1]),
            _ => {}
        }
    }
    let keys: Vec<T> = wide.iter().map(|&key| narrow(key)).collect();
    let (low, high) = (narrow(ends[0]), narrow(ends[1]));
    let numbers = keys.iter().copied().filter(|key| (low..=high).contains(key));
    let expected: Vec<T> = numbers.collect();
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let keys = Placed::new(case, &keys, low);
        let mut out = Placed::filled(case, case.length, low, high);
        let (kept, any) = drop(kernel, keys.get(), out.get_mut());
        case.same(set, "numbers", &out.get()[..kept], &expected);
        case.same(set, "whether any is a NaN", &[any], &[expected.len() < case.length]);
        out.assert_guarded("numbers");
        case.count(set, case.length);
    }
}

pub(crate) fn recent(case: &mut Case<'_>) {
    let bits = 1 + case.below(14) as u32;
    let keys = recent_keys(case, 64);
    let narrow: Vec<u32> = recent_keys(case, 32).iter().map(|&key| key as u32).collect();
    let (mut reference, mut narrow_reference) = (vec![], vec![]);
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let (mut wide_cache, mut narrow_cache) = (RecentWideKeys::new(bits), RecentKeys::new(bits));
        let mut out = Placed::filled(case, case.length, 1, 2);
        let kept = wide_cache.keep_new(kernel, &keys, out.get_mut());
        let kept = &out.get()[..kept];
        out.assert_guarded("new keys");
        let mut narrow_out = Placed::filled(case, case.length, 1, 2);
        let narrow_kept = narrow_cache.keep_new(kernel, &narrow, narrow_out.get_mut());
        let narrow_kept = &narrow_out.get()[..narrow_kept];
        narrow_out.assert_guarded("new keys");
        if set == 0 {
            assert_sound(kept, &keys);
            assert_sound(narrow_kept, &narrow);
            (reference, narrow_reference) = (kept.to_vec(), narrow_kept.to_vec());
        }
        case.same(set, "new keys", kept, &reference);
        case.same(set, "new 4-byte keys", narrow_kept, &narrow_reference);
        case.count(set, 2 * case.length);
        wide_cache.reset();
        let again = wide_cache.keep_new(kernel, &keys, out.get_mut());
        case.same(set, "new keys after a reset", &out.get()[..again], &reference);
    }
}

/// Keys that come again, at any distance.
fn recent_keys(case: &mut Case<'_>, bits: u32) -> Vec<u64> {
    let mut keys = inputs::keys(case, case.length, bits);
    let near = 1 + case.below(5_000);
    for i in 1..keys.len() {
        if case.once_in(2) {
            keys[i] = keys[i - 1 - case.below(near.min(i))];
        }
    }
    keys
}

/// Every key is there, each occurrence left out came before, and the order is kept.
fn assert_sound<T: Copy + Eq + std::hash::Hash + Debug>(kept: &[T], keys: &[T]) {
    let mut seen = HashSet::new();
    let mut rest = kept.iter();
    for key in keys {
        if rest.as_slice().first() == Some(key) {
            rest.next();
            seen.insert(key);
        } else {
            assert!(seen.contains(key), "{key:x?} was left out at first sight");
        }
    }
    assert_eq!(rest.len(), 0, "keys that never came");
}
