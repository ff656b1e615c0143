//! Lookups of every kernel set: the answers of the scalar reference, and no key lost.

use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::{Kernel, Layers, bloomrf, scalar};

use crate::bloomrf_sets::{COLUMNS, Column, keys_of, layer_sets, top_of};
use crate::seeded::Splitmix;

/// A filter, by the reference.
struct Filter {
    layers: Layers,
    hashed: Vec<u64>,
    top: Vec<u64>,
}

impl Filter {
    fn new(layers: Layers, words: usize, keys: &[u64]) -> Self {
        let (mut hashed, mut top) = (vec![0; words], top_of(&layers));
        scalar::bloomrf::insert_many(&layers, &mut hashed, &mut top, keys);
        Filter { layers, hashed, top }
    }

    /// Every set answers as the reference does; returns the answers.
    fn points(&self, keys: &[u64]) -> Vec<bool> {
        let (layers, hashed, top) = (&self.layers, &self.hashed, &self.top);
        let answer = |&key: &u64| scalar::bloomrf::contains(layers, hashed, top, key);
        let expected: Vec<bool> = keys.iter().map(answer).collect();
        for kernel in Kernel::all() {
            let mut found = vec![u64::MAX; keys.len().div_ceil(64)];
            bloomrf::contains_many(kernel, layers, hashed, top, keys, &mut found);
            assert_bits(&found, &expected, &format!("{kernel}, keys, {layers:?}"));
        }
        expected
    }

    /// The same of ranges.
    fn ranges(&self, ranges: &[(u64, u64)], probes_max: u32) -> Vec<bool> {
        let (layers, hashed, top) = (&self.layers, &self.hashed, &self.top);
        let answer = |&(lo, hi): &(u64, u64)| {
            scalar::bloomrf::range(layers, hashed, top, lo, hi, probes_max).may_hold()
        };
        let expected: Vec<bool> = ranges.iter().map(answer).collect();
        for kernel in Kernel::all() {
            let mut found = vec![u64::MAX; ranges.len().div_ceil(64)];
            bloomrf::range_many(kernel, layers, hashed, top, ranges, probes_max, &mut found);
            assert_bits(&found, &expected, &format!("{kernel}, {probes_max} probes, {layers:?}"));
        }
        expected
    }
}

/// Bit by bit, and no bit past the last answer.
fn assert_bits(found: &[u64], expected: &[bool], what: &str) {
    for place in 0..found.len() * 64 {
        let bit = found[place / 64] >> (place % 64) & 1 == 1;
        assert_eq!(bit, expected.get(place).copied().unwrap_or(false), "at {place}: {what}");
    }
}

/// Keys to ask: those inserted, their neighbours, anything, and keys outside the domain.
fn questions(keys: &[u64], count: usize, random: &mut Splitmix) -> Vec<u64> {
    (0..count)
        .map(|_| {
            let key = match keys.len() {
                0 => random.next(),
                len => keys[random.below(len as u64) as usize],
            };
            match random.below(8) {
                0..=2 => key,
                3 => key.wrapping_add(1),
                4 => key.wrapping_sub(random.below(200)),
                5 => random.next() >> random.below(64),
                6 => [0, u64::MAX, 1 << 63, u64::MAX >> 1][random.below(4) as usize],
                _ => random.next(),
            }
        })
        .collect()
}

#[test]
fn every_kernel_finds_what_the_reference_finds_at_every_length() {
    let mut random = Splitmix::of("every_kernel_finds_what_the_reference_finds_at_every_length");
    for layers in layer_sets(random.next()) {
        for count in (0..=140).chain([1_023, 1_024, 1_025, 4_097]) {
            let column = COLUMNS[count % COLUMNS.len()];
            let keys = keys_of(column, &layers, 60, &mut random);
            let filter = Filter::new(layers, 61, &keys);
            filter.points(&questions(&keys, count, &mut random));
        }
    }
}

#[test]
fn no_inserted_key_is_lost_in_filters_of_any_size() {
    let mut random = Splitmix::of("no_inserted_key_is_lost_in_filters_of_any_size");
    for layers in layer_sets(random.next()) {
        for words in (1..=20).chain([63, 64, 65, 1_009, 30_720]) {
            for column in COLUMNS {
                let keys = keys_of(column, &layers, 200, &mut random);
                let filter = Filter::new(layers, words, &keys);
                assert!(filter.points(&keys).iter().all(|&found| found), "{column:?}");
            }
        }
    }
}

#[test]
fn every_kernel_answers_ranges_as_the_reference_does() {
    let mut random = Splitmix::of("every_kernel_answers_ranges_as_the_reference_does");
    for layers in layer_sets(random.next()) {
        for (words, column) in [(61, Column::Uniform), (1_009, Column::Runs), (1, Column::Ticks)] {
            let keys = keys_of(column, &layers, 60, &mut random);
            let filter = Filter::new(layers, words, &keys);
            for count in [0, 1, 15, 16, 17, 63, 64, 65, 300, 1_025, 2_100] {
                let ranges: Vec<_> = questions(&keys, count, &mut random)
                    .into_iter()
                    .map(|key| {
                        let span = random.next() >> random.below(64);
                        let lo = key.saturating_sub(random.below(span.saturating_add(1)));
                        // Some leave the domain, some have their ends swapped.
                        let (lo, hi) = (lo, lo.saturating_add(span));
                        if random.below(16) == 0 { (hi, lo) } else { (lo, hi) }
                    })
                    .collect();
                for probes_max in [0, 7, 51, 52, 53, 60, 256, u32::MAX >> 16] {
                    filter.ranges(&ranges, probes_max);
                }
            }
        }
    }
}

#[test]
fn no_range_around_a_key_is_lost() {
    let mut random = Splitmix::of("no_range_around_a_key_is_lost");
    for layers in layer_sets(random.next()) {
        let max = layers.key_max();
        for column in COLUMNS {
            let keys = keys_of(column, &layers, 100, &mut random);
            let filter = Filter::new(layers, 600, &keys);
            let ranges: Vec<_> = (0..3_000)
                .map(|i| {
                    let key = keys[i % keys.len()];
                    let (below, above) = (random.below(64), random.below(64));
                    let (below, above) = (random.next() >> below, random.next() >> above);
                    (key.saturating_sub(below), key.saturating_add(above).min(max))
                })
                .collect();
            assert!(filter.ranges(&ranges, 256).iter().all(|&found| found), "{column:?}");
        }
    }
}

#[test]
fn words_that_are_missing_read_as_found_on_every_kernel() {
    let layers = layers_for(32, 1);
    let keys = [0, 9, 1 << 20];
    for (words, top) in [(0, 1_024), (5, 0), (5, 1_023), (0, 0)] {
        let filter = Filter { layers, hashed: vec![0; words], top: vec![0; top] };
        filter.points(&keys);
        filter.ranges(&[(0, 5), (9, 1 << 20), (7, 6)], 256);
    }
}

#[test]
fn what_one_kernel_writes_every_other_reads() {
    let mut random = Splitmix::of("what_one_kernel_writes_every_other_reads");
    for layers in layer_sets(random.next()) {
        let keys = keys_of(Column::Uniform, &layers, 500, &mut random);
        for writer in Kernel::all() {
            let (mut hashed, mut top) = (vec![0; 300], top_of(&layers));
            bloomrf::insert_many(writer, &layers, &mut hashed, &mut top, &keys);
            for reader in Kernel::all() {
                let mut found = vec![0; keys.len().div_ceil(64)];
                bloomrf::contains_many(reader, &layers, &hashed, &top, &keys, &mut found);
                let count: u32 = found.iter().map(|word| word.count_ones()).sum();
                assert_eq!(count, 500, "written by {writer}, read by {reader}: {layers:?}");
            }
        }
    }
}

#[test]
fn words_behind_the_answers_are_cleared() {
    let layers = bloomrf_kernels::params::layers_for(64, 1);
    let mut hashed = vec![0; 60];
    for kernel in Kernel::all() {
        bloomrf::insert_many(kernel, &layers, &mut hashed, &mut [], &[5]);
        let mut found = [u64::MAX; 3];
        bloomrf::contains_many(kernel, &layers, &hashed, &[], &[5], &mut found);
        assert_eq!(found, [1, 0, 0], "{kernel}");
        let mut found = [u64::MAX; 3];
        bloomrf::range_many(kernel, &layers, &hashed, &[], &[(4, 6)], 256, &mut found);
        assert_eq!(found, [1, 0, 0], "{kernel}");
    }
}
