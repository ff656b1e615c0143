//! Bounds, valid keys and exact maps of key columns, on every kernel set, against one-liners.

use std::fmt::Debug;

use bloomrf_kernels::Kernel;
use bloomrf_kernels::columns::{self, Field, Map, Order};

use crate::columns_gather::naive_key;
use crate::seeded::Splitmix;

/// Lengths of all tails, and those of a chunk and one more.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=300).chain([4_096, 4_097])
}

/// Keys of which many are extreme, in an allocation that ends with the last of them.
fn keys<T>(random: &mut Splitmix, count: usize, narrow: impl Fn(u64) -> T) -> Box<[T]> {
    let extremes = [0, u64::MAX, 0x8080_8080_8080_8080, 0x7F7F_7F7F_7F7F_7F7F];
    // Some arrays have no extreme key, or the bounds would be those of the type nearly always.
    let plain = random.below(2) == 0;
    let mut key = || match random.below(if plain { 1 } else { 8 }) {
        7 => extremes[random.below(4) as usize],
        _ => random.next(),
    };
    (0..count).map(|_| narrow(key())).collect()
}

fn assert_bounds<T: Copy + Ord + Debug>(
    random: &mut Splitmix,
    narrow: impl Fn(u64) -> T,
    bounds: impl Fn(Kernel, &[T]) -> Option<(T, T)>,
) {
    for count in lengths() {
        let keys = keys(random, count, &narrow);
        for from in 0..count.min(3) {
            let keys = &keys[from..];
            let expected = keys.iter().min().copied().zip(keys.iter().max().copied());
            for kernel in Kernel::all() {
                assert_eq!(bounds(kernel, keys), expected, "{kernel}, {count} keys");
            }
        }
    }
}

#[test]
fn bounds_equal_the_smallest_and_largest_key() {
    let mut random = Splitmix::of("bounds_equal_the_smallest_and_largest_key");
    assert_bounds(&mut random, |key| key as u8, columns::bounds_u8);
    assert_bounds(&mut random, |key| key as u16, columns::bounds_u16);
    assert_bounds(&mut random, |key| key as u32, columns::bounds_u32);
    assert_bounds(&mut random, |key| key, columns::bounds_u64);
    // Narrow values in every byte width, so that no bound is near an end of the type.
    assert_bounds(&mut random, |key| 100 + key as u8 % 50, columns::bounds_u8);
    assert_bounds(&mut random, |key| 300 + key as u16 % 9_000, columns::bounds_u16);
    assert_eq!(columns::bounds_u64(Kernel::best(), &[]), None);
}

#[test]
fn one_extreme_key_at_any_place_is_a_bound() {
    for kernel in Kernel::all() {
        for count in 1..=260 {
            for at in 0..count {
                let mut bytes = vec![9u8; count];
                bytes[at] = 200;
                assert_eq!(columns::bounds_u8(kernel, &bytes).unwrap().1, 200);
                let mut words = vec![9u64 << 40; count];
                words[at] = 1;
                assert_eq!(columns::bounds_u64(kernel, &words).unwrap().0, 1);
            }
        }
    }
}

fn assert_valid<T: Copy + Ord + Debug>(
    random: &mut Splitmix,
    narrow: impl Fn(u64) -> T,
    keep: impl Fn(Kernel, &[T], &[u64], &mut [T]) -> usize,
) {
    for count in lengths() {
        let keys = keys(random, count, &narrow);
        let nulls: Box<[u64]> = (0..count.div_ceil(64))
            .map(|_| match random.below(4) {
                0 => 0,
                1 => u64::MAX,
                2 => 1 << random.below(64),
                _ => random.next(),
            })
            .collect();
        let valid = keys.iter().enumerate().filter(|(i, _)| nulls[i / 64] >> (i % 64) & 1 == 0);
        let expected: Vec<T> = valid.map(|(_, &key)| key).collect();
        for kernel in Kernel::all() {
            let mut out = vec![narrow(7); count].into_boxed_slice();
            let kept = keep(kernel, &keys, &nulls, &mut out);
            assert_eq!(out[..kept], expected, "{kernel}, {count} keys");
        }
    }
}

#[test]
fn keys_of_null_cells_are_left_out_in_order() {
    let mut random = Splitmix::of("keys_of_null_cells_are_left_out_in_order");
    assert_valid(&mut random, |key| key as u8, columns::keep_valid_u8);
    assert_valid(&mut random, |key| key as u16, columns::keep_valid_u16);
    assert_valid(&mut random, |key| key as u32, columns::keep_valid_u32);
    assert_valid(&mut random, |key| key, columns::keep_valid_u64);
}

fn float_field(width: usize) -> Field {
    Field { offset: 0, width, order: Order::Little, map: Map::Float, null_bit: None }
}

#[test]
fn nan_keys_are_dropped_and_reported() {
    let mut random = Splitmix::of("nan_keys_are_dropped_and_reported");
    let specials = [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e-310];
    for count in lengths() {
        let any_nan = random.below(3) > 0;
        let values: Vec<f64> = (0..count)
            .map(|_| match random.below(3) {
                0 => specials[random.below(7) as usize],
                1 => f64::from_bits(random.next()),
                _ => random.next() as i64 as f64,
            })
            .map(|value| if value.is_nan() && !any_nan { 1.5 } else { value })
            .collect();
        let wide = |value: &f64| naive_key(&float_field(8), &value.to_le_bytes());
        let narrow = |value: &f64| naive_key(&float_field(4), &(*value as f32).to_le_bytes());
        let numbers = values.iter().filter(|value| !value.is_nan());
        let expected_wide: Vec<u64> = numbers.clone().map(wide).collect();
        let expected_narrow: Vec<u32> = numbers.map(|value| narrow(value) as u32).collect();
        let any = values.iter().any(|value| value.is_nan());
        let wides: Vec<u64> = values.iter().map(wide).collect();
        let narrows: Vec<u32> = values.iter().map(|value| narrow(value) as u32).collect();
        for kernel in Kernel::all() {
            let mut out = vec![0; count].into_boxed_slice();
            assert_eq!(columns::drop_nan_u64(kernel, &wides, &mut out), (expected_wide.len(), any));
            assert_eq!(out[..expected_wide.len()], expected_wide, "{kernel}, {count} keys");
            let mut out = vec![0; count].into_boxed_slice();
            assert_eq!(
                columns::drop_nan_u32(kernel, &narrows, &mut out),
                (expected_narrow.len(), any)
            );
            assert_eq!(out[..expected_narrow.len()], expected_narrow, "{kernel}, {count} keys");
        }
    }
}

#[test]
fn wide_bounds_equal_those_of_the_numbers() {
    let mut random = Splitmix::of("wide_bounds_equal_those_of_the_numbers");
    for count in (0..=40).chain([1_000]) {
        for (stride, offset) in [(16, 0), (17, 1), (40, 20), (64, 48), (131, 3)] {
            let null_bit = (offset > 0).then(|| random.below(8 * offset as u64) as u16);
            let mut rows: Vec<u8> = (0..stride * count).map(|_| random.next() as u8).collect();
            if random.below(2) == 0 {
                // Equal high halves, and sometimes equal cells: the low halves decide.
                rows.chunks_mut(stride).for_each(|row| row[offset..offset + 9].fill(0x80));
            }
            let rows = rows.into_boxed_slice();
            let valid = |row: &&[u8]| {
                null_bit.is_none_or(|bit| row[usize::from(bit) / 8] >> (bit % 8) & 1 == 0)
            };
            let cell = |row: &[u8]| row[offset..offset + 16].try_into().unwrap();
            let cells: Vec<u128> = rows
                .chunks(stride)
                .filter(valid)
                .map(|row| u128::from_be_bytes(cell(row)))
                .collect();
            let expected = cells.iter().min().copied().zip(cells.iter().max().copied());
            for kernel in Kernel::all() {
                let bounds = columns::bounds_wide(kernel, &rows, stride, offset, null_bit);
                assert_eq!(bounds, expected, "{kernel}, {count} rows of {stride} bytes");
            }
        }
    }
}

#[test]
fn maps_hold_exactly_the_keys() {
    let mut random = Splitmix::of("maps_hold_exactly_the_keys");
    for count in lengths() {
        let keys = keys(&mut random, count, |key| key as u16);
        let bytes: Vec<u8> = keys.iter().map(|&key| key as u8).collect();
        let mut expected = [0; 1_024];
        let mut expected_bytes = [0; 4];
        for &key in &keys {
            expected[usize::from(key) / 64] |= 1u64 << (key % 64);
            expected_bytes[usize::from(key as u8) / 64] |= 1u64 << (key % 64);
        }
        for kernel in Kernel::all() {
            let mut maps = vec![0; 4_096];
            let mut marks = [0; 256];
            let half = count / 2;
            columns::map_u16(kernel, &mut maps, &keys[..half]);
            columns::map_u16(kernel, &mut maps, &keys[half..]);
            columns::map_u8(kernel, &mut marks, &bytes[..half]);
            columns::map_u8(kernel, &mut marks, &bytes[half..]);
            let mut joined = [0; 1_024];
            columns::join_maps(kernel, &maps, &mut joined);
            assert_eq!(joined, expected, "{kernel}, {count} keys");
            assert_eq!(columns::bytes_to_bits(kernel, &marks), expected_bytes);
        }
    }
}

#[test]
fn prefetch_of_any_rows_is_harmless() {
    for kernel in Kernel::all() {
        for count in [0, 1, 64, 1_408, 9_000] {
            columns::prefetch(kernel, &vec![1; count]);
        }
    }
}
