//! Inserts of every kernel set, bit for bit those of the scalar reference.

use bloomrf_kernels::bloomrf::KeyOrder;
use bloomrf_kernels::scalar::words;
use bloomrf_kernels::{Kernel, Layers, bloomrf, scalar};

use crate::bloomrf_sets::{COLUMNS, Column, keys_of, layer_sets, top_of};
use crate::seeded::Splitmix;

const ORDERS: [KeyOrder; 3] = [KeyOrder::Unknown, KeyOrder::Scattered, KeyOrder::Ordered];

/// Hashed words and top after one insert of `keys` by the reference, key by key.
fn expected(layers: &Layers, words: usize, keys: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let (mut hashed, mut top) = (vec![0; words], top_of(layers));
    for &key in keys {
        scalar::bloomrf::insert(layers, &mut hashed, &mut top, key);
    }
    (hashed, top)
}

/// Every set, every order, both key widths where they fit.
fn check(layers: &Layers, words: usize, keys: &[u64], what: &str) {
    let expected = expected(layers, words, keys);
    for kernel in Kernel::all() {
        for order in ORDERS {
            let (mut hashed, mut top) = (vec![0; words], top_of(layers));
            bloomrf::insert_many_ordered(kernel, layers, order, &mut hashed, &mut top, keys);
            let same = (&hashed, &top) == (&expected.0, &expected.1);
            assert!(same, "{kernel}, {order:?}, {words} words, {what}: {layers:?}");
            if keys.iter().any(|&key| key > u64::from(u32::MAX)) {
                continue;
            }
            let narrow: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
            hashed.fill(0);
            top.fill(0);
            bloomrf::insert_many_u32_ordered(kernel, layers, order, &mut hashed, &mut top, &narrow);
            let same = (&hashed, &top) == (&expected.0, &expected.1);
            assert!(same, "u32: {kernel}, {order:?}, {words} words, {what}: {layers:?}");
        }
    }
}

#[test]
fn every_kernel_inserts_the_bits_of_the_reference_at_every_length() {
    let mut random = Splitmix::of("every_kernel_inserts_the_bits_of_the_reference_at_every_length");
    for layers in layer_sets(random.next()) {
        for count in 0..=130 {
            let column = COLUMNS[count % COLUMNS.len()];
            let keys = keys_of(column, &layers, count, &mut random);
            check(&layers, 61, &keys, &format!("{count} keys, {column:?}"));
        }
    }
}

#[test]
fn every_kernel_inserts_long_columns_of_every_order() {
    let mut random = Splitmix::of("every_kernel_inserts_long_columns_of_every_order");
    for layers in layer_sets(random.next()) {
        for column in COLUMNS {
            for count in [1_023, 1_024, 1_025, 4_097, 9_001] {
                let keys = keys_of(column, &layers, count, &mut random);
                check(&layers, 7_680, &keys, &format!("{count} keys, {column:?}"));
            }
        }
    }
}

#[test]
fn every_kernel_inserts_into_filters_of_any_size() {
    let mut random = Splitmix::of("every_kernel_inserts_into_filters_of_any_size");
    for layers in layer_sets(random.next()) {
        for words in (1..=40).chain([63, 64, 65, 1_009, 122_880]) {
            for column in [Column::Uniform, Column::Ticks, Column::Extreme] {
                let keys = keys_of(column, &layers, 37, &mut random);
                check(&layers, words, &keys, &format!("{column:?}"));
            }
        }
    }
}

#[test]
fn inserts_add_to_what_is_there_from_any_alignment() {
    let mut random = Splitmix::of("inserts_add_to_what_is_there_from_any_alignment");
    for layers in layer_sets(random.next()) {
        let keys = keys_of(Column::Uniform, &layers, 700, &mut random);
        let wanted = expected(&layers, 77, &keys);
        for kernel in Kernel::all() {
            for offset in 0..8 {
                let (mut words, mut top) = (vec![0; 77 + offset], top_of(&layers));
                let hashed = &mut words[offset..];
                for part in [&keys[offset..300], &keys[300..], &keys[..offset]] {
                    bloomrf::insert_many(kernel, &layers, hashed, &mut top, part);
                }
                assert_eq!(*hashed, wanted.0, "{kernel}, offset {offset}");
                assert_eq!(top, wanted.1, "{kernel}, offset {offset}");
            }
        }
    }
}

#[test]
fn a_folded_filter_of_every_kernel_equals_a_fresh_one() {
    let mut random = Splitmix::of("a_folded_filter_of_every_kernel_equals_a_fresh_one");
    for layers in layer_sets(random.next()) {
        let keys = keys_of(Column::Uniform, &layers, 400, &mut random);
        for kernel in Kernel::all() {
            let build = |size: usize| {
                let mut hashed = vec![0; size];
                bloomrf::insert_many(kernel, &layers, &mut hashed, &mut top_of(&layers), &keys);
                hashed
            };
            for factor in [2, 3, 5, 6, 8, 10, 15, 30, 120] {
                let mut folded = build(120);
                words::fold(&mut folded, factor);
                assert_eq!(folded, build(120 / factor), "{kernel}, fold by {factor}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "at least one word")]
fn keys_need_a_word_to_go_to() {
    let layers = bloomrf_kernels::params::layers_for(64, 1);
    bloomrf::insert_many(Kernel::best(), &layers, &mut [], &mut [], &[1]);
}
