use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::double::{Tally, found, items, seed};
use crate::{Classic, SplitBlock};

fn sharded<F: Build>(items: u64, fpr: f64, shards: usize) -> Sharded<F> {
    Sharded::new(&Spec { items, fpr }, shards).unwrap()
}

/// Wrong answers of 100,000, when filled to capacity.
fn wrong(filter: &mut impl Presence, seed: u64) -> usize {
    filter.insert_many(&items(seed, 0..20_000));
    assert_eq!(found(filter, &items(seed, 0..20_000)), 20_000);
    found(filter, &items(seed, 1 << 40..(1 << 40) + 100_000))
}

#[test]
fn shards_are_as_good_as_one_filter() {
    fn check<F: Build>(seed: u64, each: u64) {
        // Shards without their margin, so that both are as full.
        let each = Spec { items: each, fpr: 0.02 };
        let shards: Vec<F> = (0..16).map(|_| F::build(&each).unwrap()).collect();
        let mut many = Sharded::with_shards(20_000, shards).unwrap();
        let mut one = F::build(&Spec { items: 20_000, fpr: 0.02 }).unwrap();
        let (many, one) = (wrong(&mut many, seed), wrong(&mut one, seed));
        // 16 filters of 1,250 items: chance moves each by 4 %, and all of them by 1 %.
        assert!(many.abs_diff(one) < one / 8, "{many} wrong in shards, {one} in one");
    }
    let seed = seed();
    check::<Classic>(seed, 1_250);
    check::<SplitBlock>(seed, 1_250);
}

#[test]
fn fullest_shard_is_within_what_every_shard_is_made_for() {
    let seed = seed();
    for (count, shards) in [(100, 7), (1_000, 4_096), (50_000, 64), (50_000, 1_000), (9, 1)] {
        let each = shard_spec(&Spec { items: count, fpr: 0.01 }, shards);
        for seed in seed..seed + 10 {
            let mut counts = vec![0; shards];
            for item in items(seed, 0..count) {
                counts[shard_of(item, shards)] += 1;
            }
            let fullest = counts.iter().max().unwrap();
            assert!(*fullest <= each.items, "{fullest} of {} in {shards}", each.items);
        }
    }
    let large = shard_spec(&Spec { items: 100_000_000, fpr: 0.01 }, 64).items;
    assert!((1_562_500..1_571_000).contains(&large), "{large}");
}

#[test]
fn shard_built_alone_is_the_shard_of_the_whole() {
    let seed = seed();
    let spec = Spec { items: 5_000, fpr: 0.01 };
    let all = items(seed, 0..5_000);
    let mut whole: Sharded<Classic> = Sharded::new(&spec, 13).unwrap();
    whole.insert_many(&all);
    let alone: Vec<Classic> = (0..13)
        .map(|shard| {
            let mut filter = Classic::build(&shard_spec(&spec, 13)).unwrap();
            all.iter().filter(|item| shard_of(**item, 13) == shard).for_each(|item| {
                filter.insert(*item);
            });
            filter
        })
        .collect();
    for (alone, whole) in alone.iter().zip(whole.shards()) {
        assert_eq!(alone.words(), whole.words());
    }
    let joined = Sharded::with_shards(5_000, alone).unwrap();
    assert_eq!((found(&joined, &all), joined.inserted()), (5_000, whole.inserted()));
}

#[test]
fn many_are_inserted_and_found_as_each_in_order_is() {
    let seed = seed();
    let (mut each, mut many) =
        (sharded::<Tally<90>>(400, 0.1, 5), sharded::<Tally<90>>(400, 0.1, 5));
    for at in 0..10 {
        let batch = items(seed, at * 90..at * 90 + 150);
        let full = batch.iter().filter(|item| each.insert(**item) == Inserted::Full).count();
        assert_eq!(many.insert_many(&batch), full);
    }
    let all = items(seed, 0..1_200);
    let mut answers = vec![u64::MAX; 19];
    many.contains_many(&all, &mut answers);
    for (i, item) in all.iter().enumerate() {
        assert_eq!(answers[i / 64] >> (i % 64) & 1 == 1, each.contains(*item), "{i}");
    }
    assert!(answers[18] >> (1_200 % 64) == 0, "bits past the last");
    let few: Vec<_> = all[..3].to_vec();
    assert_eq!(found(&many, &few), 3);
}

#[test]
fn shards_that_are_not_of_one_filter_are_refused() {
    let of = |items| Classic::build(&Spec { items, fpr: 0.1 }).unwrap();
    let refused = |shards| Sharded::with_shards(9, shards).map(|_| ()).unwrap_err();
    assert_eq!(refused(Vec::new()), ShardRefusal::Shards(0));
    assert_eq!(refused((0..4_097).map(|_| of(1)).collect()), ShardRefusal::Shards(4_097));
    let unlike = ShardRefusal::Unlike { shard: 1, capacity: 6, first: 5 };
    assert_eq!(refused(vec![of(5), of(6)]), unlike);
    let none = Sharded::<Classic>::new(&Spec { items: 9, fpr: 0.1 }, 0).map(|_| ());
    assert_eq!(none.unwrap_err(), ShardRefusal::Shards(0));
}

#[test]
fn no_insert_of_many_threads_is_lost_and_what_has_returned_is_found() {
    const WRITERS: u64 = 4;
    const EACH: u64 = 12_000;
    let seed = seed();
    let all = items(seed, 0..WRITERS * EACH);
    let spec = Spec { items: WRITERS * EACH, fpr: 0.01 };
    let filter = ConcurrentSharded::<Classic>::new(&spec, 37).unwrap();
    let done: Vec<AtomicUsize> = (0..WRITERS).map(|_| AtomicUsize::new(0)).collect();
    std::thread::scope(|scope| {
        for (items, done) in all.chunks(EACH as usize).zip(&done) {
            let filter = &filter;
            scope.spawn(move || {
                let mut partition = Partition::new();
                for (i, batch) in items.chunks(250).enumerate() {
                    if i % 4 == 0 {
                        batch
                            .iter()
                            .for_each(|item| assert_ne!(filter.insert(*item), Inserted::Full));
                    } else {
                        assert_eq!(filter.insert_many_in(&mut partition, batch), 0);
                    }
                    done.fetch_add(batch.len(), Ordering::Release);
                }
            });
        }
        scope.spawn(|| {
            let mut left = true;
            while left {
                left = false;
                for (items, done) in all.chunks(EACH as usize).zip(&done) {
                    let there = &items[..done.load(Ordering::Acquire)];
                    let recent = &there[there.len().saturating_sub(300)..];
                    let mut answers = [0; 5];
                    filter.contains_many(recent, &mut answers);
                    let found: u32 = answers.iter().map(|word| word.count_ones()).sum();
                    assert_eq!(found as usize, recent.len());
                    assert!(recent.iter().all(|item| filter.contains(*item)));
                    assert!(recent.iter().all(|item| filter.try_contains(*item) != Some(false)));
                    left |= there.len() < items.len();
                }
            }
        });
    });
    let mut alone: Sharded<Classic> = Sharded::new(&spec, 37).unwrap();
    alone.insert_many(&all);
    let shared = filter.into_sharded().unwrap();
    for (shared, alone) in shared.shards().iter().zip(alone.shards()) {
        assert!(shared.words() == alone.words());
    }
    assert_eq!(found(&shared, &all), all.len());
}

#[test]
fn batch_waits_for_a_shard_that_another_writer_holds() {
    let filter = ConcurrentSharded::<Classic>::new(&Spec { items: 900, fpr: 0.01 }, 4).unwrap();
    let all = items(seed(), 0..200);
    let elsewhere: Vec<Hash128> =
        all.iter().copied().filter(|item| shard_of(*item, 4) != 2).collect();
    std::thread::scope(|scope| {
        let held = filter.shards[2].0.write().unwrap();
        let batch = scope.spawn(|| filter.insert_many(&all));
        // The batch takes all other shards first, and so has met the held one when those are in.
        while !elsewhere.iter().all(|item| filter.contains(*item)) {
            std::thread::yield_now();
        }
        drop(held);
        assert_eq!(batch.join().unwrap(), 0);
    });
    assert!(all.iter().all(|item| filter.contains(*item)));
}

#[test]
fn reader_that_will_not_wait_is_told_that_a_writer_is_there() {
    let filter = ConcurrentSharded::<Classic>::new(&Spec { items: 9, fpr: 0.1 }, 1).unwrap();
    let item = items(seed(), 0..1)[0];
    assert_eq!(filter.insert(item), Inserted::New);
    assert_eq!(filter.try_contains(item), Some(true));
    let writer = filter.shards[0].0.write().unwrap();
    assert_eq!(filter.try_contains(item), None);
    drop(writer);
}

#[test]
fn shard_in_which_a_writer_panicked_says_maybe_and_takes_no_more() {
    let filter = ConcurrentSharded::<Classic>::new(&Spec { items: 900, fpr: 0.01 }, 4).unwrap();
    let all = items(seed(), 0..200);
    let (inside, outside): (Vec<Hash128>, Vec<Hash128>) =
        all.iter().partition(|item| shard_of(**item, 4) == 2);
    filter.insert_many(&all[..100]);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _writer = filter.shards[2].0.write().unwrap();
        panic!("in a shard");
    }));
    assert!(panicked.is_err());
    let mut answers = [0; 4];
    filter.contains_many(&inside, &mut answers);
    assert_eq!(answers.iter().map(|word| word.count_ones()).sum::<u32>() as usize, inside.len());
    assert!(inside.iter().all(|item| filter.try_contains(*item) == Some(true)));
    assert_eq!(filter.insert_many(&all), inside.len());
    assert_eq!(filter.insert(inside[0]), Inserted::Full);
    assert!(outside.iter().all(|item| filter.contains(*item)));
    assert_eq!(filter.into_sharded().map(|_| ()).unwrap_err(), Poisoned { shard: 2 });
}
