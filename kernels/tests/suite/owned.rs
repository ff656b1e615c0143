//! Filters that own their words write the bits of the doors, and answer misuse by errors.

use bloomrf_kernels::arena::{Arena, ArenaConfig};
use bloomrf_kernels::{
    Answer, FilterError, Kernel, Layers, LayersError, PointFilter, RangeFilter, SizeError, blocked,
    bloomrf, params,
};

use crate::seeded::Splitmix;

#[test]
fn owned_filters_hold_the_bits_of_the_doors_on_every_set() {
    let keys = keys("owned_filters_hold", 4_097, 64);
    for kernel in Kernel::all() {
        let builder = PointFilter::builder(4_097).bits_per_key(10.0).k(7).seed(5);
        let mut point = builder.kernel(kernel).build().unwrap();
        point.insert_many(&keys[..4_000]);
        keys[4_000..].iter().for_each(|&key| point.insert(key));
        let mut blocks = vec![0; point.words().len()];
        blocked::insert_many(Kernel::Scalar, 7, &mut blocks, 5, &keys);
        assert_eq!(point.words(), blocks, "{kernel}");

        for bits in [32, 48, 64] {
            let builder = RangeFilter::builder(4_097).domain_bits(bits).seed(5);
            let mut range = builder.kernel(kernel).build().unwrap();
            let keys: Vec<u64> = keys.iter().map(|key| key >> (64 - bits)).collect();
            range.insert_many(&keys[..4_000]).unwrap();
            keys[4_000..].iter().for_each(|&key| range.insert(key).unwrap());
            let layers = params::layers_for(bits, 5);
            let (mut hashed, mut top) =
                (vec![0; range.parts().0.len()], vec![0; range.parts().1.len()]);
            bloomrf::insert_many(Kernel::Scalar, &layers, &mut hashed, &mut top, &keys);
            assert_eq!(range.parts(), (&hashed[..], &top[..]), "{kernel} {bits}");
            assert_eq!(range.words(), [hashed, top].concat());
        }
    }
}

#[test]
fn one_question_and_many_give_one_answer() {
    let keys = keys("one_question_and_many", 3_000, 32);
    let mut point = PointFilter::builder(1_000).fpr(0.05).build().unwrap();
    let mut range = RangeFilter::builder(1_000).domain_bits(32).build().unwrap();
    point.insert_many(&keys[..1_000]);
    range.insert_many(&keys[..1_000]).unwrap();
    // Longer than what is needed: the answers shrink and grow to the questions.
    let mut found = vec![u64::MAX; 99];
    point.contains_many(&keys, &mut found);
    assert_eq!(found.len(), 47);
    check(&found, &keys, |&key| point.contains(key));
    range.contains_many(&keys, &mut found);
    check(&found, &keys, |&key| range.contains(key));
    assert!(found[..15].iter().all(|&word| word == u64::MAX), "a false negative");
    let ranges: Vec<_> = keys.iter().map(|&key| (key, key.saturating_add(300))).collect();
    range.range_many(&ranges, &mut found);
    check(&found, &ranges, |&(lo, hi)| range.range(lo..=hi).may_hold());
    let tight = range.with_probes_max(0);
    assert_eq!(tight.range(9..=80_000), Answer::OverBudget);
    point.contains_many(&[], &mut found);
    assert!(found.is_empty());
}

#[test]
fn merged_folded_and_stored_filters_equal_fresh_ones() {
    let keys = keys("merged_folded_and_stored", 2_000, 32);
    let point = |bits: f64, keys: &[u64]| {
        let mut filter = PointFilter::builder(2_048).bits_per_key(bits).build().unwrap();
        filter.insert_many(keys);
        filter
    };
    let range = |bits: f64, keys: &[u64]| {
        let builder = RangeFilter::builder(2_048).domain_bits(32).bits_per_key(bits);
        let mut filter = builder.build().unwrap();
        filter.insert_many(keys).unwrap();
        filter
    };
    let mut merged = point(16.0, &keys[..700]);
    merged.merge(&point(16.0, &keys[700..])).unwrap();
    assert_eq!(merged, point(16.0, &keys));
    assert_eq!(merged.folded(4).unwrap(), point(4.0, &keys));
    assert_eq!(PointFilter::from_words(merged.k(), 0, merged.words()), Ok(merged));

    let mut merged = range(24.0, &keys[..700]);
    merged.merge(&range(24.0, &keys[700..])).unwrap();
    assert_eq!(merged, range(24.0, &keys));
    assert_eq!(merged.folded(3).unwrap(), range(8.0, &keys));
    assert_eq!(RangeFilter::from_words(*merged.layers(), merged.words()), Ok(merged));
}

#[test]
fn sizes_keep_to_the_rates_asked_for() {
    let point = PointFilter::builder(10_000).fpr(0.01).build().unwrap();
    assert!((0.0095..=0.01).contains(&point.fpr_with(10_000)), "{}", point.fpr_with(10_000));
    let range = RangeFilter::builder(10_000).fpr(0.01, 256).build().unwrap();
    assert!((0.0095..=0.01).contains(&range.fpr_with(10_000, 256)));
    // Nothing is in them.
    assert_eq!((point.fill(), point.fpr(), range.fill()), (0.0, 0.0, 0.0));
}

#[test]
fn misuse_is_an_error_that_says_what_was_expected() {
    let refused = |error: FilterError, part: &str| {
        let text = error.to_string();
        assert!(text.contains(part), "{text}");
    };
    let points = || PointFilter::builder(100);
    refused(points().k(3).build().unwrap_err(), "4 to 8");
    refused(points().bits_per_key(f64::NAN).build().unwrap_err(), "bits per key");
    assert_eq!(points().fpr(1.0).build(), Err(SizeError::NoRate { fpr: 1.0 }.into()));
    assert!(PointFilter::builder(u64::MAX).build().is_err());
    assert!(PointFilter::builder(u64::MAX).bits_per_key(64.0).build().is_err());
    for words in [&[][..], &[0; 7], &[0; 9]] {
        refused(PointFilter::from_words(6, 0, words).unwrap_err(), "whole blocks");
    }
    let mut point = points().build().unwrap();
    assert_eq!(point.merge(&points().seed(1).build().unwrap()), Err(FilterError::Shape));
    assert!(point.folded(0).is_err() && point.folded(1_000).is_err());

    let ranges = || RangeFilter::builder(100);
    for bits in [0, 65] {
        assert_eq!(ranges().domain_bits(bits).build(), Err(LayersError::Domain(bits).into()));
    }
    assert!(ranges().fpr(0.001, u64::MAX).build().is_err());
    assert!(RangeFilter::builder(u64::MAX).build().is_err());
    let layers = Layers::new(32, &[6, 3, 3, 2, 2], true, 0).unwrap();
    for words in [0, 1, 1_023, 1_024] {
        refused(RangeFilter::from_words(layers, &vec![0; words]).unwrap_err(), "exact top");
    }
    let mut range = ranges().layers(layers).build().unwrap();
    let error = range.insert_many(&[5, 1 << 32, 7]).unwrap_err();
    assert_eq!(error, FilterError::Key { key: 1 << 32, domain_bits: 32 });
    assert_eq!((range.fill(), range.contains(5)), (0.0, false), "no key was inserted");
    assert_eq!(range.merge(&ranges().build().unwrap()), Err(FilterError::Shape));
    assert!(range.folded(0).is_err() && range.folded(7).is_err());
}

#[test]
fn filters_of_an_arena_give_their_words_back() {
    let arena = Arena::new(ArenaConfig::new(2 << 20)).unwrap();
    let point = PointFilter::builder(100_000).arena(&arena).build().unwrap();
    let range = RangeFilter::builder(100_000).arena(&arena).build().unwrap();
    assert!(arena.used_bytes() >= 8 * (point.words().len() + range.words().len()));
    let full = PointFilter::builder(100_000_000).arena(&arena).build();
    assert!(matches!(full, Err(FilterError::ArenaFull { .. })));
    drop((point, range));
    assert_eq!(arena.used_bytes(), 0);
}

fn keys(name: &str, count: usize, bits: u32) -> Vec<u64> {
    let mut random = Splitmix::of(name);
    (0..count).map(|_| random.next() >> (64 - bits)).collect()
}

/// Bit `i % 64` of `found[i / 64]` is `expected` of question i, and bits past the last are 0.
fn check<T>(found: &[u64], questions: &[T], expected: impl Fn(&T) -> bool) {
    assert_eq!(found.len(), questions.len().div_ceil(64));
    for i in 0..found.len() * 64 {
        let found = found[i / 64] >> (i % 64) & 1 == 1;
        assert_eq!(found, questions.get(i).is_some_and(&expected), "question {i}");
    }
}
