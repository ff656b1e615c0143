//! Shared filters against those of one thread, and under stress.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::*;
use crate::{HashRule, Inserted};

fn item(i: u64) -> Hash128 {
    HashRule::Native { seed: 3 }.hash(&i.to_le_bytes())
}

fn items(numbers: impl Iterator<Item = u64>) -> Vec<Hash128> {
    numbers.map(item).collect()
}

#[test]
fn one_thread_gets_the_bits_counts_and_answers_of_a_classic_filter() {
    for (count, fpr) in [(1, 0.01), (100, 1e-9), (5_000, 0.3), (5_000, 1e-19)] {
        let spec = Spec { items: count, fpr };
        let mut plain = Classic::build(&spec).unwrap();
        let (one, many) =
            (AtomicClassic::build(&spec).unwrap(), AtomicClassic::build(&spec).unwrap());
        // Some twice, and half as many again as it is for.
        let inserted = items((0..count * 3 / 2).map(|i| i - u64::from(i % 7 == 6)));
        for &item in &inserted {
            assert_eq!(one.insert(item), plain.insert(item) == Inserted::New);
        }
        let new: u64 = inserted.chunks(333).map(|items| many.insert_many(items)).sum();
        let counts = [plain.inserted(), one.inserted(), many.inserted(), new];
        assert!(counts.iter().all(|&count| count == counts[0]), "{counts:?}");
        assert_eq!(one.is_over_capacity(), plain.is_over_capacity());
        assert_eq!((one.fill(), one.fpr()), (plain.fill(), plain.fpr()));
        assert_eq!((one.estimate(), one.bytes()), (plain.estimate(), plain.bytes()));
        let asked = items(0..count * 3);
        for asked in [&asked[..], &asked[..1], &asked[..asked.len() * 2 / 3], &[]] {
            let words = asked.len().div_ceil(64) + 1;
            let (mut expected, mut found) = (vec![u64::MAX; words], vec![u64::MAX; words]);
            plain.contains_many(asked, &mut expected);
            many.contains_many(asked, &mut found);
            assert_eq!(found, expected, "{count} items at {fpr:e}");
        }
        assert!(asked.iter().all(|&item| one.contains(item) == plain.contains(item)));
        assert_eq!(one.snapshot().words(), plain.words());
        let (one, many) = (one.into_classic(), Classic::from(many));
        assert_eq!((one.words(), many.words()), (plain.words(), plain.words()));
        assert_eq!((one.inserted(), one.capacity()), (plain.inserted(), count));
        let again = AtomicClassic::from(one);
        assert_eq!((again.inserted(), again.k(), again.bits()), (new, plain.k(), plain.bits()));
    }
}

const THREADS: u64 = 8;

#[test]
fn no_insert_of_many_threads_is_lost() {
    // A small filter, filled to the brim: every word is fought for.
    for round in 0..30 {
        let each = 400;
        let spec = Spec { items: THREADS * each, fpr: 0.01 };
        let filter = AtomicClassic::build(&spec).unwrap();
        let start = Barrier::new(THREADS as usize);
        thread::scope(|scope| {
            for part in 0..THREADS {
                let (filter, start) = (&filter, &start);
                let mine = items((0..each).map(|i| round << 32 | (i * THREADS + part)));
                scope.spawn(move || {
                    start.wait();
                    if part % 2 == 0 {
                        mine.iter().for_each(|&item| _ = filter.insert(item));
                    } else {
                        mine.chunks(37).for_each(|items| _ = filter.insert_many(items));
                    }
                    assert!(mine.iter().all(|&item| filter.contains(item)));
                });
            }
        });
        let all = items((0..each * THREADS).map(|i| round << 32 | i));
        let mut plain = Classic::build(&spec).unwrap();
        plain.insert_many(&all);
        let shared = filter.into_classic();
        assert_eq!(shared.words(), plain.words(), "round {round}");
        assert!(shared.inserted().abs_diff(plain.inserted()) < 30);
    }
}

#[test]
fn of_those_who_insert_one_item_at_once_one_at_least_is_told_that_it_is_new() {
    let count = 3_000;
    let filter = AtomicClassic::build(&Spec { items: 1 << 20, fpr: 1e-6 }).unwrap();
    let told: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
    let start = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                start.wait();
                for (i, told) in (0..).zip(&told) {
                    told.fetch_add(u64::from(filter.insert(item(i))), Ordering::Relaxed);
                }
            });
        }
    });
    let told: Vec<u64> = told.into_iter().map(AtomicU64::into_inner).collect();
    assert!(told.iter().all(|&times| times >= 1), "an item that was new to nobody");
    assert_eq!(filter.inserted(), told.iter().sum::<u64>());
}

#[test]
fn a_reader_that_was_told_of_an_insert_finds_it() {
    let count = 20_000;
    let filter = AtomicClassic::build(&Spec { items: count, fpr: 0.01 }).unwrap();
    let (done, lost) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..count {
                filter.insert(item(i));
                done.store(i + 1, Ordering::Release);
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut known = 0;
                while known < count {
                    known = done.load(Ordering::Acquire);
                    let asked = items(known.saturating_sub(70)..known);
                    let mut found = [0; 2];
                    filter.contains_many(&asked, &mut found);
                    let all = found.iter().map(|word| word.count_ones()).sum::<u32>() as usize;
                    if all < asked.len() || !filter.snapshot().contains(item(known.max(1) - 1)) {
                        lost.store(known > 0, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert!(!lost.into_inner(), "an insert that had ended was not found");
}
