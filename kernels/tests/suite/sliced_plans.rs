//! Bit-sliced groups answer every plan as the 64 plain filters do, slot for slot.

use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::sliced::{self, GROUPS, Group};
use bloomrf_kernels::{Kernel, Layers, RangePlan};

use crate::built::FREE;
use crate::seeded::Splitmix;
use crate::sliced_built::{SlicedGroup, check, some_masks};

/// Layer sets of 1 to 8 layers, one of them with an exact top, or two.
fn layer_sets(random: &mut Splitmix) -> Vec<Layers> {
    let widths: [&[u8]; 6] = [
        &[7],
        &[7, 7, 7, 7, 4],
        &[7, 7, 4, 4, 2, 2],
        &[7, 7, 7, 4, 4, 2, 2],
        &[7, 7, 7, 7, 4, 4, 2, 2],
        &[1, 1, 2, 3, 1, 1, 2, 2],
    ];
    let mut sets: Vec<_> = widths
        .iter()
        .map(|widths| Layers::new(64, widths, false, random.next()).expect("valid widths"))
        .collect();
    sets.extend([32, 48].map(|bits| layers_for(bits, random.next())));
    sets.push(Layers::new(32, &[7, 4, 2, 2, 1], true, random.next()).expect("valid widths"));
    sets
}

/// A range that starts, ends or lies near a key, aligned or not, from a point to the whole domain.
fn some_range(random: &mut Splitmix, layers: &Layers, keys: &[u64]) -> (u64, u64) {
    let max = layers.key_max();
    let bits = u64::from(layers.domain_bits());
    let near = match random.below(8) {
        0 => 0,
        1 => max,
        2 => random.next() & max,
        _ => keys[random.below(keys.len() as u64) as usize],
    };
    let span = match random.below(4) {
        0 => 0,
        1 => random.below(2_000),
        _ => random.next() >> (64 - bits + random.below(bits)),
    };
    let lo = near.saturating_sub(random.below(span.saturating_add(1)));
    let hi = lo.saturating_add(span).min(max);
    let aligned = (1 << random.below(bits)) - 1;
    match random.below(4) {
        0 => (lo & !aligned, hi | aligned & max),
        1 => (lo & !aligned, hi),
        2 => (lo, hi | aligned & max),
        _ => (lo, hi),
    }
}

/// Up to eight groups of different W over a pool of `pool` keys, each key in one filter of eight.
fn some_groups(
    random: &mut Splitmix,
    layers: &Layers,
    words: &[usize],
) -> (Vec<u64>, Vec<SlicedGroup>) {
    let pool: Vec<u64> = (0..150).map(|_| random.next() & layers.key_max()).collect();
    let groups = words.iter().map(|&words| {
        SlicedGroup::new(layers, words, words % 2 == 0, |slot| {
            if slot % 13 == 5 {
                return None;
            }
            let count = random.below(words as u64 * 3 + 2);
            Some((0..count).map(|_| pool[random.below(150) as usize]).collect())
        })
    });
    let groups = groups.collect();
    (pool, groups)
}

#[test]
fn every_slot_answers_as_its_plain_filter() {
    let mut random = Splitmix::of("every_slot_answers_as_its_plain_filter");
    let mut plan = RangePlan::default();
    for layers in layer_sets(&mut random) {
        for words in [&[40, 1, 60, 17, 120, 8, 30, 2][..], &[1], &[60, 60, 60], &[240; 8]] {
            let (pool, groups) = some_groups(&mut random, &layers, words);
            for _ in 0..120 {
                let (lo, hi) = some_range(&mut random, &layers, &pool);
                let budget = [FREE, 256, 8][random.below(3) as usize];
                plan.build(&layers, lo, hi, budget.min(5_000));
                let mut asked: Vec<_> = groups.iter().map(Some).collect();
                if random.below(3) == 0 {
                    let gone = random.below(asked.len() as u64) as usize;
                    asked[gone] = None;
                }
                check(&plan, &asked, &some_masks(&mut random));
            }
        }
    }
}

#[test]
fn a_key_of_any_slot_is_found_in_that_slot() {
    let mut random = Splitmix::of("a_key_of_any_slot_is_found_in_that_slot");
    let mut plan = RangePlan::default();
    for layers in layer_sets(&mut random) {
        let mut inserted = vec![];
        let group = SlicedGroup::new(&layers, 24, true, |slot| {
            let keys: Vec<u64> = (0..5).map(|_| random.next() & layers.key_max()).collect();
            inserted.extend(keys.iter().map(|&key| (slot, key)));
            Some(keys)
        });
        for kernel in Kernel::all() {
            for &(slot, key) in &inserted {
                let hi = key.saturating_add(key % 1_000).min(layers.key_max());
                plan.build(&layers, key, hi, 256);
                let ask = [1 << slot; GROUPS];
                let found = sliced::run_plan(kernel, &plan, &[Some(group.group()); GROUPS], &ask);
                assert_eq!(found, ask, "{kernel}: {key:#x}..={hi:#x} in slot {slot}");
            }
        }
    }
}

#[test]
fn a_slot_that_is_not_asked_is_never_found() {
    let mut random = Splitmix::of("a_slot_that_is_not_asked_is_never_found");
    let layers = layers_for(64, random.next());
    // All ones: whatever is read of a slot says "found".
    let rows = vec![u64::MAX; 30 * 64];
    let group = Group { hashed: &rows, top: &[] };
    let mut plan = RangePlan::default();
    for _ in 0..300 {
        let lo = random.next() >> random.below(64);
        let hi = lo.saturating_add(random.next() >> random.below(64));
        plan.build(&layers, lo, hi, 256);
        let ask = some_masks(&mut random);
        for kernel in Kernel::all() {
            assert_eq!(sliced::run_plan(kernel, &plan, &[Some(group); GROUPS], &ask), ask);
        }
    }
}

#[test]
fn rows_that_are_missing_read_as_found() {
    let layers = layers_for(32, 1);
    let mut plan = RangePlan::default();
    plan.build(&layers, 5, 90_000, 256);
    let ask = [0b101; GROUPS];
    let zeros = vec![0; 64 * 60];
    for kernel in Kernel::all() {
        let run = |hashed, top| {
            sliced::run_plan(kernel, &plan, &[Some(Group { hashed, top }); GROUPS], &ask)
        };
        assert_eq!(run(&[], &[]), ask);
        // The hashed words alone may still prove absence.
        assert_eq!(run(&zeros, &[]), [0; GROUPS]);
        assert_eq!(sliced::run_plan(kernel, &plan, &[], &ask), ask);
        assert_eq!(sliced::run_plan(kernel, &plan, &[None; 3], &ask), ask);
    }
}

#[test]
fn a_plan_without_an_answer_finds_every_slot_asked() {
    let layers = layers_for(64, 1);
    let rows = vec![0; 64 * 60];
    let groups = [Some(Group { hashed: &rows, top: &[] }); GROUPS];
    let ask = [7; GROUPS];
    let never_built = RangePlan::default();
    let mut over_budget = RangePlan::default();
    over_budget.build(&layers, 0, u64::MAX - 1, 4);
    assert!(over_budget.is_over_budget() && !never_built.is_over_budget());
    let mut outside = RangePlan::default();
    outside.build(&layers_for(48, 1), 0, u64::MAX, 256);
    let mut empty = RangePlan::default();
    empty.build(&layers, 9, 3, 256);
    for kernel in Kernel::all() {
        for plan in [&never_built, &over_budget, &outside] {
            assert_eq!(sliced::run_plan(kernel, plan, &groups, &ask), ask);
        }
        assert_eq!(sliced::run_plan(kernel, &empty, &groups, &ask), [0; GROUPS]);
    }
}

#[test]
#[should_panic(expected = "9 groups")]
fn more_than_eight_groups_are_refused() {
    let _ = sliced::run_plan(Kernel::Scalar, &RangePlan::default(), &[None; 9], &[0; GROUPS]);
}
