//! Classic filters as they are built, merged, taken apart and put together.

use super::*;
use crate::HashRule;

fn item(i: u64) -> Hash128 {
    HashRule::Native { seed: 1 }.hash(&i.to_le_bytes())
}

fn filter(items: std::ops::Range<u64>) -> Classic {
    let mut filter = Classic::build(&Spec { items: 10_000, fpr: 0.01 }).unwrap();
    assert_eq!(filter.insert_many(&items.map(item).collect::<Vec<_>>()), 0);
    filter
}

#[test]
fn what_was_inserted_is_found_and_the_rate_is_about_what_was_asked_for() {
    let filter = filter(0..10_000);
    assert!((0..10_000).all(|i| filter.contains(item(i))));
    let others: Vec<Hash128> = (1 << 32..(1 << 32) + 100_000).map(item).collect();
    let mut found = vec![0; others.len().div_ceil(64)];
    filter.contains_many(&others, &mut found);
    let wrong: u32 = found.iter().map(|word| word.count_ones()).sum();
    assert!((850..1_150).contains(&wrong), "{wrong} of 100,000");
    assert!((filter.fpr() - 0.01).abs() < 5e-4);
    assert!((filter.estimate() - 10_000.0).abs() < 300.0);
}

#[test]
fn inserts_of_many_count_what_inserts_of_one_do() {
    let mut one = Classic::build(&Spec { items: 1_000, fpr: 0.1 }).unwrap();
    let mut many = one.clone();
    // Every third item twice, and more than it was sized for.
    let items: Vec<Hash128> =
        (0..2_000).map(|i| item(if i % 3 == 2 { i - 1 } else { i })).collect();
    let new = items.iter().filter(|item| one.insert(**item) == Inserted::New).count() as u64;
    for items in items.chunks(777) {
        many.insert_many(items);
    }
    assert_eq!((one.inserted(), many.inserted()), (new, new));
    assert_eq!(one.words(), many.words());
    assert!(new < 1_334 && new > 1_000, "{new}: some looked as if they were there");
}

#[test]
fn a_filter_past_its_capacity_says_so() {
    let mut filter = filter(0..9_990);
    assert!(!filter.is_over_capacity());
    filter.insert_many(&(9_990..10_200).map(item).collect::<Vec<_>>());
    assert!(filter.inserted() > 10_000 && filter.is_over_capacity());
    let (k, bits) = (filter.k(), filter.bits());
    let unknown = Classic::from_words(k, bits, filter.into_words(), 0, 20_000).unwrap();
    assert!(!unknown.is_over_capacity(), "a capacity that nobody knows");
}

#[test]
fn a_merged_filter_is_the_filter_of_all_items() {
    let mut merged = filter(0..4_000);
    merged.merge(&filter(3_000..9_000)).unwrap();
    let whole = filter(0..9_000);
    assert_eq!(merged.words(), whole.words());
    assert!(merged.inserted().abs_diff(9_000) < 150, "{} counted", merged.inserted());
    // The same once more, and nothing: neither counts.
    let before = merged.inserted();
    merged.merge(&whole).unwrap();
    merged.merge(&filter(0..0)).unwrap();
    assert!(merged.inserted().abs_diff(before) < 150, "{}", merged.inserted());
    let mut small = filter(0..10);
    small.merge(&filter(10..13)).unwrap();
    assert_eq!(small.inserted(), 13);
}

#[test]
fn filters_of_other_shapes_are_not_merged() {
    let mut filter = filter(0..100);
    let before = filter.words().to_vec();
    let (bits, k) = (filter.bits(), filter.k());
    for (other_bits, other_k) in [(bits + 1, k), (bits, k + 1), (bits - 64, k)] {
        let words = vec![1; other_bits.div_ceil(64) as usize];
        let other = Classic::from_words(other_k, other_bits, words, 1, 1).unwrap();
        let why = filter.merge(&other).unwrap_err();
        assert_eq!(why, MergeError { ours: (bits, k), theirs: (other_bits, other_k) });
        assert!(why.to_string().contains(&format!("{other_bits} bits and {other_k} probes")));
    }
    assert_eq!(filter.words(), before);
}

#[test]
fn words_that_do_not_fit_are_no_filter() {
    let of = |k, bits, words: &[u64]| Classic::from_words(k, bits, words.to_vec(), 1, 1);
    for (k, bits, words, why) in [
        (0, 64, &[0][..], WordsError::Probes(0)),
        (65, 64, &[0], WordsError::Probes(65)),
        (7, 0, &[], WordsError::Bits(0)),
        (7, u64::MAX, &[0], WordsError::Bits(u64::MAX)),
        (7, 65, &[0], WordsError::Length { bits: 65, words: 1 }),
        (7, 64, &[0, 0], WordsError::Length { bits: 64, words: 2 }),
        (7, 65, &[0, 2], WordsError::PastLast { bits: 65, bit: 65 }),
        (7, 63, &[1 << 63], WordsError::PastLast { bits: 63, bit: 63 }),
        (7, 1, &[0x8000_0001], WordsError::PastLast { bits: 1, bit: 31 }),
    ] {
        assert_eq!(of(k, bits, words).unwrap_err(), why, "{k} {bits} {words:?}");
        assert!(Classic::from_parts(k, bits, words.to_vec(), 1, 1).is_none());
    }
    assert!(of(7, 65, &[u64::MAX, 1]).is_ok() && of(1, 64, &[u64::MAX]).is_ok());
}

#[test]
fn words_taken_apart_make_the_same_filter() {
    let whole = filter(0..5_000);
    let (k, bits, inserted) = (whole.k(), whole.bits(), whole.inserted());
    let again = Classic::from_words(k, bits, whole.clone().into_words(), 10_000, inserted).unwrap();
    assert_eq!(again.words(), whole.words());
    assert!((0..5_000).all(|i| again.contains(item(i))));
    assert_eq!(again.inserted(), inserted);
}

#[test]
fn estimates_are_right_from_empty_to_full() {
    assert_eq!(filter(0..0).estimate().to_bits(), 0, "an empty filter holds 0, not -0");
    for items in [1, 2, 10, 100, 5_000, 20_000, 60_000] {
        let estimate = filter(0..items).estimate();
        let slack = 0.5 + 0.03 * items as f64;
        assert!((estimate - items as f64).abs() < slack, "{items}: {estimate:.1}");
    }
    for bits in [1, 2, 63, 64, 65, 100_000] {
        let mut words = vec![u64::MAX; (bits as u64).div_ceil(64) as usize];
        *words.last_mut().unwrap() >>= (64 - bits % 64) % 64;
        let full = Classic::from_words(1, bits as u64, words, 1, 1).unwrap();
        assert_eq!((full.fill(), full.fpr()), (1.0, 1.0));
        // The last bit falls at m ln m in the mean: some more than that.
        let least = bits as f64 * (bits as f64).ln();
        let estimate = full.estimate();
        assert!(estimate >= least.max(1.0) && estimate < 2.0 * least + 3.0, "{bits}: {estimate}");
    }
}
