//! Counting filters against a multiset, one item and many at a time.

use std::collections::HashMap;

use super::*;
use crate::HashRule;

fn item(i: u64) -> Hash128 {
    HashRule::Native { seed: 1 }.hash(&i.to_le_bytes())
}

fn seed() -> u64 {
    let seed = std::env::var("SEED").map_or(7, |text| text.parse().unwrap_or(7));
    println!("repeat with: SEED={seed} cargo test -p bloomrf-filter counting");
    seed
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bloomrf_kernels::hash::key(*state, 1)
}

#[test]
fn what_is_owed_is_found_whatever_is_taken_back() {
    let mut random = seed();
    let mut filter = Counting::build(&Spec { items: 500, fpr: 0.02 }).unwrap();
    let mut owed = HashMap::<u64, u64>::new();
    let mut refused = 0;
    for step in 0..40_000 {
        // The lower half of the numbers far more often than the rest: some are owed dozens.
        let number = next(&mut random) % 700 * (next(&mut random) % 700) / 700;
        let count = owed.entry(number).or_default();
        if next(&mut random) % 100 < if step / 4_000 % 2 == 0 { 60 } else { 42 } {
            *count += 1;
            filter.insert(item(number));
        } else if *count > 0 {
            *count -= 1;
            assert_ne!(filter.remove(item(number)), Removed::Absent, "step {step}");
        } else if !filter.contains(item(number)) {
            let before = filter.words().to_vec();
            assert_eq!(filter.remove(item(number)), Removed::Absent);
            assert!(filter.words() == before);
            refused += 1;
        }
        if step % 100 == 0 {
            let missed = owed.iter().find(|(n, owed)| **owed > 0 && !filter.contains(item(**n)));
            assert_eq!(missed, None, "step {step}");
        }
    }
    assert!(refused > 100 && filter.refused() == refused);
    assert!(filter.lost() > 100, "{}: too tame", filter.lost());
}

#[test]
fn what_comes_and_goes_leaves_nothing_behind() {
    let mut filter = Counting::build(&Spec { items: 10_000, fpr: 0.01 }).unwrap();
    for round in 0..5 {
        let items: Vec<Hash128> = (round * 10_000..(round + 1) * 10_000).map(item).collect();
        filter.insert_many(&items);
        assert!((filter.estimate() - 10_000.0).abs() < 300.0, "{}", filter.estimate());
        assert!((0.6..1.2).contains(&(filter.fpr() / 0.01)), "{}", filter.fpr());
        let mut refused = vec![0; items.len().div_ceil(64)];
        assert_eq!(filter.remove_many(&items, &mut refused), 10_000);
        assert_eq!(filter.fill(), 0.0);
        assert!(filter.inserted() < 100, "{}: what looked as if it were there", filter.inserted());
        assert!(refused.iter().all(|word| *word == 0));
    }
    assert_eq!((filter.lost(), filter.refused()), (0, 0));
}

#[test]
fn twenty_inserts_and_fifteen_removals_leave_five_owed_and_found() {
    let mut filter = Counting::build(&Spec { items: 100, fpr: 0.01 }).unwrap();
    (0..20).for_each(|_| _ = filter.insert(item(1)));
    assert_eq!(filter.lost(), 5 * u64::from(filter.k()));
    (0..15).for_each(|_| assert_eq!(filter.remove(item(1)), Removed::Stuck));
    assert!(filter.contains(item(1)));
    assert_eq!(filter.refused(), 0);
}

#[test]
fn one_at_a_time_and_many_at_a_time_are_the_same() {
    let mut one = Counting::build(&Spec { items: 1_000, fpr: 0.05 }).unwrap();
    let mut many = one.clone();
    let mut random = seed();
    let items: Vec<Hash128> = (0..3_000).map(|_| item(next(&mut random) % 900)).collect();
    let new = items.iter().filter(|item| one.insert(**item) == Inserted::New).count() as u64;
    assert_eq!(many.insert_many(&items), 0);
    assert_eq!((one.inserted(), many.inserted()), (new, new));
    let back: Vec<Hash128> = (0..3_000).map(|_| item(next(&mut random) % 1_200)).collect();
    let absent = back.iter().filter(|item| one.remove(**item) == Removed::Absent).count() as u64;
    let mut refused = vec![0; back.len().div_ceil(64)];
    assert_eq!(many.remove_many(&back, &mut refused), 3_000 - absent);
    assert!(absent > 0 && one.words() == many.words());
    let state = |filter: &Counting| (filter.inserted(), filter.lost(), filter.refused());
    assert_eq!(state(&one), state(&many));
}

#[test]
fn merged_filters_are_as_one_and_others_are_refused() {
    let build = || Counting::build(&Spec { items: 1_000, fpr: 0.02 }).unwrap();
    let (mut one, mut other, mut both) = (build(), build(), build());
    (0..600).for_each(|i| _ = (one.insert(item(i)), both.insert(item(i))));
    (300..1_000).for_each(|i| _ = (other.insert(item(i)), both.insert(item(i))));
    one.merge(&other).unwrap();
    assert!(one.words() == both.words());
    assert!((960..=1_040).contains(&one.inserted()), "{}", one.inserted());
    let small = Counting::build(&Spec { items: 10, fpr: 0.02 }).unwrap();
    assert!(one.merge(&small).is_err());
    assert!(one.words() == both.words());
}

#[test]
fn what_cannot_be_is_refused_with_what_could() {
    let refused = |items, fpr| Counting::build(&Spec { items, fpr }).unwrap_err();
    assert_eq!(refused(0, 0.1), SizeRefusal::NoItems);
    assert_eq!(refused(10, 1.5), SizeRefusal::Rate(1.5));
    assert!(matches!(refused(u64::MAX, 0.01), SizeRefusal::TooLarge { .. }));
    let SizeRefusal::Unreachable { lowest, .. } = refused(10_000, 1e-14) else {
        panic!("expected the lowest that it can");
    };
    assert!(Counting::build(&Spec { items: 1_000, fpr: lowest }).is_ok(), "{lowest:e}");
    assert!(Counting::from_parts(6, vec![0; 9], 0, 0).is_none());
    assert!(Counting::from_parts(3, vec![0; 8], 0, 0).is_none());
    assert!(Counting::from_parts(6, vec![], 0, 0).is_none());
    assert!(Counting::from_parts(6, vec![3; 8], 0, 0).is_some());
}
