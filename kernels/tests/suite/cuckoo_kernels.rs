//! Cuckoo filters on every kernel set against the reference, and that against a multiset.

use std::collections::HashMap;

use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::{Kernel, cuckoo};

use crate::seeded::Splitmix;

fn item(random: &mut Splitmix) -> Hash128 {
    Hash128 { lo: random.next(), hi: random.next() }
}

fn bit(found: &[u64], i: usize) -> bool {
    found[i / 64] >> (i % 64) & 1 != 0
}

#[test]
fn every_kernel_inserts_and_finds_what_the_reference_does() {
    let mut random = Splitmix::of("every_kernel_inserts_and_finds_what_the_reference_does");
    for len in (0..100usize).chain((100..3_000).step_by(171)) {
        let buckets = 1 + random.below(1 + len as u64 / 3) as usize;
        let items: Vec<Hash128> = (0..len).map(|_| item(&mut random)).collect();
        let mut expected = vec![0; buckets];
        let one: Vec<cuckoo::Added> =
            items.iter().map(|&item| cuckoo::insert(&mut expected, item)).collect();
        for kernel in Kernel::all() {
            let (mut words, mut refused) = (vec![0; buckets], vec![u64::MAX; len / 64 + 2]);
            let added = cuckoo::insert_many(kernel, &mut words, &items, &mut refused);
            assert!(words == expected, "{kernel}, {len} items, {buckets} buckets");
            assert_eq!(added.new, one.iter().map(|one| one.new).sum::<u64>());
            assert_eq!(added.full, one.iter().map(|one| one.full).sum::<u64>());
            let mut found = vec![u64::MAX; len / 64 + 2];
            cuckoo::contains_many(kernel, &words, &items, &mut found);
            for i in 0..len {
                assert_eq!(bit(&refused, i), one[i].full == 1, "{kernel}, item {i} of {len}");
                let holds = cuckoo::contains(&expected, items[i]);
                assert_eq!(bit(&found, i), holds, "{kernel}, item {i} of {len}");
            }
            assert!((len..found.len() * 64).all(|i| !bit(&found, i) && !bit(&refused, i)));
        }
    }
}

#[test]
fn filled_to_refusal_and_far_beyond_everything_taken_in_is_found() {
    let mut random = Splitmix::of("filled_to_refusal_and_far_beyond");
    for buckets in [1, 2, 3, 7, 64, 1_000, 1_021, 4_096, 6_000] {
        let (mut words, mut held) = (vec![0; buckets], Vec::new());
        let mut load = None;
        for _ in 0..buckets * 4 + 300 {
            let item = item(&mut random);
            let before = if held.len() < buckets * 3 { vec![] } else { words.clone() };
            if cuckoo::insert(&mut words, item).full == 0 {
                held.push(item);
            } else {
                assert!(before.is_empty() || words == before, "a refusal changed something");
                load.get_or_insert(held.len() as f64 / (4 * buckets) as f64);
            }
        }
        assert!(held.iter().all(|&item| cuckoo::contains(&words, item)), "{buckets} buckets");
        assert_eq!(cuckoo::taken(&words), held.len() as u64);
        let load = load.expect("refused at last");
        assert!(buckets < 1_000 || load > 0.95, "{buckets} buckets: first refusal at {load}");
    }
}

#[test]
fn no_item_that_is_still_owed_is_ever_missed_by_a_cuckoo() {
    let mut random = Splitmix::of("no_item_that_is_still_owed_is_ever_missed_by_a_cuckoo");
    for buckets in [5, 64, 97] {
        let (mut words, mut owed) = (vec![0; buckets], HashMap::<Hash128, u32>::new());
        let pool: Vec<Hash128> = (0..buckets * 5).map(|_| item(&mut random)).collect();
        let (mut full, mut refused) = (0, 0);
        for step in 0..20_000 {
            let item = pool[random.below(pool.len() as u64) as usize];
            let count = owed.entry(item).or_default();
            if random.below(10) < if step / 1_000 % 2 == 0 { 8 } else { 3 } {
                let added = cuckoo::insert(&mut words, item);
                *count += 1 - added.full as u32;
                full += added.full;
                assert!(*count <= 8, "more than its two buckets hold");
            } else if *count > 0 {
                *count -= 1;
                assert_eq!(cuckoo::remove(&mut words, item).done, 1, "step {step}");
            } else if !cuckoo::contains(&words, item) {
                let before = words.clone();
                assert_eq!(cuckoo::remove(&mut words, item), cuckoo::Taken::default());
                assert!(words == before);
                refused += 1;
            }
            if step % 50 == 0 {
                let missed =
                    owed.iter().find(|(item, n)| **n > 0 && !cuckoo::contains(&words, **item));
                assert_eq!(missed, None, "{buckets} buckets, step {step}");
                let held: u32 = owed.values().sum();
                assert_eq!(cuckoo::taken(&words), u64::from(held), "nothing else is in it");
            }
        }
        assert!(full > 50 && refused > 50, "{full} full, {refused} refused: too tame");
    }
}

#[test]
fn sizes_hold_what_they_are_for_at_the_rate_of_the_model() {
    let mut random = Splitmix::of("sizes_hold_what_they_are_for_at_the_rate_of_the_model");
    for n in (1..40).chain([100, 500, 5_000, 60_000]) {
        for _ in 0..(2_000 / n).clamp(1, 200) {
            let mut words = vec![0; cuckoo::buckets_for(n).unwrap() as usize];
            let items: Vec<Hash128> = (0..n).map(|_| item(&mut random)).collect();
            let mut refused = vec![0; items.len().div_ceil(64)];
            let added = cuckoo::insert_many(Kernel::best(), &mut words, &items, &mut refused);
            assert_eq!(added.full, 0, "{n} items");
            if n == 60_000 {
                let of = |_| u64::from(cuckoo::contains(&words, item(&mut random)));
                let wrong = (0..1_000_000).map(of).sum::<u64>() as f64 / 1e6;
                let theory = cuckoo::fpr(n as f64 / (4 * words.len()) as f64);
                assert!((wrong / theory - 1.0).abs() < 0.4, "{wrong} of {theory}");
            }
        }
    }
}
