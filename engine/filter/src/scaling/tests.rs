use super::*;
use crate::double::{Dice, Tally, found, items, seed};
use crate::{Classic, Removed};

fn chain<F: Build>(items: u64, fpr: f64, growth: Growth) -> Scaling<F> {
    Scaling::new(&Spec { items, fpr }, growth).unwrap()
}

fn growth(factor: u32, tightening: f64) -> Growth {
    Growth { factor, tightening, ..Growth::default() }
}

/// RedisBloom#159: the rates of the links added up to 1.7 times the promise.
#[test]
fn rate_of_a_chain_stays_within_its_promise_over_twelve_full_links() {
    let seed = seed();
    for (factor, tightening, first) in [(1, 0.5, 1_000), (1, 0.85, 1_000), (2, 0.5, 16)] {
        let mut chain: Scaling<Classic> = chain(first, 0.02, growth(factor, tightening));
        let mut next = 0;
        while chain.links().len() <= 12 {
            assert_eq!(chain.insert_many(&items(seed, next..next + 100)), 0);
            next += 100;
        }
        assert!(chain.rates() <= 0.02, "{}", chain.rates());
        let (asked, wrong) = (200_000, found(&chain, &items(seed, 1 << 40..(1 << 40) + 200_000)));
        // The promise, and 4 standard deviations of the count.
        let most = 0.02 * f64::from(asked) + 4.0 * (0.02 * f64::from(asked)).sqrt();
        assert!(wrong as f64 <= most, "factor {factor}, {tightening}: {wrong} of {asked}");
        assert!((chain.fpr() - wrong as f64 / f64::from(asked)).abs() < 2e-3, "{}", chain.fpr());
        assert_eq!(found(&chain, &items(seed, 0..next)), next as usize);
    }
}

/// dablooms PR #53: links of one size, each half as wrong as the one before, over the promise.
#[test]
fn rate_of_ten_levels_of_one_size_is_no_more_than_promised() {
    let seed = seed();
    let mut chain: Scaling<Classic> = chain(500, 0.05, growth(1, 0.5));
    let mut next = 0;
    for level in 1..=10 {
        while chain.newest().room() > 0 {
            chain.insert_many(&items(seed, next..next + 1));
            next += 1;
        }
        let wrong = found(&chain, &items(seed, 1 << 40..(1 << 40) + 40_000));
        assert!(wrong <= 2_000 + 4 * 45, "{level} levels: {wrong} of 40,000");
        if level < 10 {
            chain.grow().unwrap();
        }
    }
    assert_eq!(chain.links().len(), 10);
}

/// dragonfly#8104: a header with no links was taken, and said that everything was absent.
#[test]
fn chain_without_links_is_refused() {
    let refused = Scaling::<Classic>::from_links(0.01, Growth::default(), Vec::new());
    assert_eq!(refused.unwrap_err(), ChainRefusal::NoLinks);
}

#[test]
fn stored_links_are_refused_when_they_cannot_keep_the_promise() {
    let link = |items, fpr| {
        let filter = Classic::build(&Spec { items: 100, fpr: 0.01 }).unwrap();
        Link { filter, spec: Spec { items, fpr } }
    };
    let load = |links| Scaling::from_links(0.01, Growth::default(), links).map(|_| ());
    assert_eq!(load(vec![link(100, 0.005), link(200, 0.005)]), Ok(()));
    let over = load(vec![link(100, 0.005), link(200, 0.006)]);
    assert!(matches!(over, Err(ChainRefusal::Rates { .. })), "{over:?}");
    for rate in [0.0, -0.1, f64::NAN] {
        let refused = load(vec![link(100, 0.005), link(100, rate)]);
        assert!(matches!(refused, Err(ChainRefusal::Link(SizeRefusal::Rate(_)))), "{refused:?}");
    }
    let empty = load(vec![link(0, 0.005)]);
    assert_eq!(empty, Err(ChainRefusal::Link(SizeRefusal::NoItems)));
    let many = load((0..=LINKS_MAX).map(|_| link(1, 1e-9)).collect());
    assert_eq!(many, Err(ChainRefusal::Links { links: 65, most: 64 }));
}

#[test]
fn growth_outside_of_its_range_is_refused() {
    let refusal = |growth| Scaling::<Classic>::new(&Spec { items: 9, fpr: 0.01 }, growth).err();
    assert_eq!(refusal(growth(0, 0.5)), Some(ChainRefusal::Factor(0)));
    assert_eq!(refusal(growth(33, 0.5)), Some(ChainRefusal::Factor(33)));
    assert_eq!(refusal(growth(1, 1.0)), Some(ChainRefusal::Tightening(1.0)));
    assert!(matches!(refusal(growth(1, f64::NAN)), Some(ChainRefusal::Tightening(_))));
    let none = Growth { links_max: 0, ..Growth::default() };
    assert_eq!(refusal(none), Some(ChainRefusal::Links { links: 0, most: 64 }));
}

#[test]
fn many_are_inserted_as_each_in_order_is() {
    let seed = seed();
    let mut dice = Dice(seed);
    let (mut each, mut many) = (chain(40, 0.1, growth(1, 0.8)), chain(40, 0.1, growth(1, 0.8)));
    let pool = items(seed, 0..1_500);
    for _ in 0..30 {
        let count = dice.below(1_400) as usize;
        let batch: Vec<_> =
            (0..count).map(|_| pool[dice.below(1_500) as usize % (30 + count)]).collect();
        let full = batch.iter().filter(|item| each.insert(**item) == Inserted::Full).count();
        assert_eq!(many.insert_many(&batch), full);
        assert_eq!(found(&many, &batch[..count - full]), found(&each, &batch[..count - full]));
    }
    let words = |chain: &Scaling<Classic>| -> Vec<Vec<u64>> {
        chain.links().iter().map(|link| link.filter.words().to_vec()).collect()
    };
    assert!(many.links().len() > 10);
    assert_eq!(words(&each), words(&many));
}

#[test]
fn item_that_is_in_an_old_link_is_seen_and_inserted_no_more() {
    let seed = seed();
    let mut chain: Scaling<Classic> = chain(100, 0.01, growth(1, 0.5));
    chain.insert_many(&items(seed, 0..350));
    let before = (chain.inserted(), chain.links().len());
    assert!(before.1 >= 3);
    assert!(items(seed, 0..350).iter().all(|item| chain.insert(*item) == Inserted::Seen));
    chain.insert_many(&items(seed, 0..350));
    assert_eq!((chain.inserted(), chain.links().len()), before);
}

#[test]
fn items_swallowed_as_seen_leave_a_full_link_within_its_rate() {
    let seed = seed();
    let mut chain: Scaling<Classic> = chain(20_000, 0.4, growth(2, 0.5));
    let offered = items(seed, 0..40_000);
    let taken = offered.iter().filter(|item| chain.insert(**item) == Inserted::New).count();
    assert!(taken < 39_000, "none was swallowed: {taken}");
    let (link, rate) = (&chain.links()[0], chain.links()[0].spec.fpr);
    assert_eq!(link.filter.inserted(), 20_000);
    // 2 % for k, which is a whole number.
    assert!(link.filter.fpr() < rate * 1.02, "{}", link.filter.fpr());
}

#[test]
fn at_its_limit_a_chain_is_full_says_why_and_loses_nothing() {
    let seed = seed();
    let links = Growth { links_max: 3, ..growth(1, 0.5) };
    let bytes = Growth { bytes_max: 5_000, ..growth(2, 0.5) };
    for limits in [links, bytes] {
        let mut chain: Scaling<Classic> = chain(500, 0.01, limits);
        let offered = items(seed, 0..6_000);
        let refused = chain.insert_many(&offered);
        assert!(refused > 3_000 && chain.bytes() <= limits.bytes_max, "{refused}");
        assert!(chain.refusal().is_some());
        let taken = chain.inserted();
        assert!(found(&chain, &offered) >= 6_000 - refused);
        assert_eq!(chain.insert_many(&offered[..500]), 0, "they are there");
        let absent = offered.iter().find(|item| !chain.contains(**item)).unwrap();
        assert_eq!(chain.insert(*absent), Inserted::Full);
        assert_eq!(chain.inserted(), taken);
    }
    let mut chain: Scaling<Classic> = chain(500, 0.01, bytes);
    let why = loop {
        if let Err(why) = chain.grow() {
            break why;
        }
    };
    assert!(matches!(why, ChainRefusal::Bytes { most: 5_000, .. }), "{why}");
}

#[test]
fn link_that_is_full_before_its_capacity_gets_a_successor() {
    let seed = seed();
    let mut chain: Scaling<Tally<80>> = chain(50, 0.01, growth(1, 0.5));
    let offered = items(seed, 0..1_000);
    assert_eq!(chain.insert_many(&offered[..900]), 0);
    assert!(offered[900..].iter().all(|item| chain.insert(*item) == Inserted::New));
    assert_eq!(found(&chain, &offered), 1_000);
    assert!(chain.links()[..20].iter().all(|link| link.filter.inserted() == 40));
    let mut never: Scaling<Tally<0>> = self::chain(50, 0.01, growth(1, 0.5));
    assert_eq!(never.insert_many(&offered), 1_000);
    assert_eq!(never.insert(offered[0]), Inserted::Full);
    assert!(never.links().len() < 3, "a kind that takes nothing is not asked 64 times");
}

#[test]
fn merged_chain_holds_both_and_is_refused_over_the_promise() {
    let seed = seed();
    let (mut one, mut other) = (chain(100, 0.02, growth(1, 0.8)), chain(100, 0.02, growth(1, 0.8)));
    one.insert_many(&items(seed, 0..150));
    other.insert_many(&items(seed, 1_000..1_150));
    one.merge(&other).unwrap();
    assert_eq!(found(&one, &items(seed, 0..150)) + found(&one, &items(seed, 1_000..1_150)), 300);
    one.insert_many(&items(seed, 2_000..2_400));
    assert_eq!(found(&one, &items(seed, 2_000..2_400)), 400);
    assert!(one.rates() <= 0.02);
    let before = one.links().len();
    let wide: Scaling<Classic> = chain(100, 0.05, growth(1, 0.5));
    assert!(matches!(one.merge(&wide), Err(ChainRefusal::Rates { .. })));
    assert_eq!(one.links().len(), before);
}

#[test]
fn fixed_filter_past_its_capacity_warns_or_refuses_or_gets_a_successor() {
    let seed = seed();
    let spec = Spec { items: 1_000, fpr: 0.01 };
    let offered = items(seed, 0..4_000);
    let fill = |overflow| {
        let mut fixed: Fixed<Classic> = Fixed::new(&spec, overflow).unwrap();
        fixed.insert_many(&offered[..900]);
        assert_eq!(fixed.load().past + fixed.load().refused, 0);
        fixed.insert_many(&offered);
        (fixed.load(), fixed)
    };
    let (load, warned) = fill(Overflow::Warn);
    assert_eq!((load.refused, load.successors, load.past), (0, 0, load.inserted - 1_000));
    assert_eq!(found(&warned, &offered), 4_000);
    assert!(load.past > 2_000 && warned.fpr() > 0.1, "{load:?}");
    let (load, refusing) = fill(Overflow::Refuse);
    assert_eq!((load.inserted, load.past, load.successors), (1_000, 0, 0));
    assert!(load.refused > 2_800 && refusing.fpr() < 0.011, "{load:?}");
    let (load, grown) = fill(Overflow::Successor(growth(2, 0.5)));
    assert_eq!((load.refused, load.past), (0, load.inserted - 1_000));
    assert!(load.successors >= 1 && grown.fpr() < 0.011, "{load:?} {}", grown.fpr());
    assert_eq!(found(&grown, &offered), 4_000);
}

#[test]
fn filter_that_there_already_is_gets_successors_within_its_own_rate_once_more() {
    let seed = seed();
    let spec = Spec { items: 1_000, fpr: 0.01 };
    let mut old = Classic::build(&spec).unwrap();
    old.insert_many(&items(seed, 0..1_010));
    let mut fixed = Fixed::of(old, &spec, Overflow::Successor(growth(1, 0.5))).unwrap();
    assert_eq!(fixed.insert_many(&items(seed, 0..8_000)), 0);
    assert!(fixed.load().successors >= 6 && fixed.fpr() < 0.022, "{}", fixed.fpr());
    assert_eq!(found(&fixed, &items(seed, 0..8_000)), 8_000);
}

fn by_id() -> ScalingById<Tally<1000>> {
    ScalingById::new(&Spec { items: 50, fpr: 0.05 }, growth(1, 0.5)).unwrap()
}

#[test]
fn removal_reaches_the_link_that_owns_the_id() {
    let seed = seed();
    let (mut chain, all) = (by_id(), items(seed, 0..500));
    for (id, item) in (0..).zip(&all) {
        assert_eq!(chain.insert(*item, id), Inserted::New);
    }
    let firsts: Vec<u64> = chain.links().map(|(first, _)| first).collect();
    assert_eq!(firsts, (0..10).map(|i| 50 * i).collect::<Vec<_>>());
    for (id, item) in (0..).zip(&all).step_by(5) {
        assert_eq!(chain.remove(*item, id), Removed::Done, "{id}");
        assert!(!chain.contains(*item));
    }
    assert_eq!(found(chain.chain(), &all), 400);
    assert!(chain.links().all(|(_, link)| link.filter.inserted() == 40));
}

#[test]
fn late_id_goes_to_its_owner_even_when_that_is_full_and_is_counted() {
    let seed = seed();
    let (mut chain, all) = (by_id(), items(seed, 0..247));
    for (id, item) in (0..).zip(&all[..200]) {
        chain.insert(*item, id * 2);
    }
    assert_eq!(chain.late(), 0);
    // Odd ids below 94 were missing: 47 of them, all of the first link.
    for (id, item) in (0..).zip(&all[200..]) {
        assert_eq!(chain.insert(*item, id * 2 + 1), Inserted::New);
    }
    assert_eq!((chain.late(), chain.links().count()), (47, 4));
    assert_eq!(chain.links().next().unwrap().1.filter.inserted(), 97);
    for (id, item) in (0..).zip(&all[200..]) {
        assert_eq!(chain.remove(*item, id * 2 + 1), Removed::Done);
    }
    assert_eq!(found(chain.chain(), &all), 200);
}

#[test]
fn what_is_provably_absent_from_its_owner_is_not_removed() {
    let seed = seed();
    let (mut chain, all) = (by_id(), items(seed, 0..120));
    assert_eq!(chain.remove(all[0], 0), Removed::Absent);
    for (id, item) in (0..100).zip(&all) {
        chain.insert(*item, id);
    }
    assert_eq!(chain.remove(all[10], 60), Removed::Absent, "another link owns 60");
    assert_eq!(chain.remove(all[110], 10), Removed::Absent, "it was never there");
    assert_eq!(chain.remove(all[10], 100), Removed::Absent, "no such id yet");
    assert_eq!(found(chain.chain(), &all[..100]), 100);
}

#[test]
fn insertions_and_removals_by_id_in_any_order_are_a_multiset() {
    let mut dice = Dice(seed());
    let pool = items(dice.0, 0..60);
    let (mut chain, mut here) = (by_id(), Vec::new());
    let mut highest = 0;
    for _ in 0..5_000 {
        if here.len() > 200 || dice.below(3) == 0 && !here.is_empty() {
            let (item, id): (usize, u64) = here.swap_remove(dice.below(here.len() as u64) as usize);
            assert_eq!(chain.remove(pool[item], id), Removed::Done);
        } else {
            highest += dice.below(4);
            let id = highest.saturating_sub(dice.below(3) * dice.below(100));
            let item = dice.below(60) as usize;
            assert_ne!(chain.insert(pool[item], id), Inserted::Full);
            here.push((item, id));
        }
    }
    assert!(here.iter().all(|(item, _)| chain.contains(pool[*item])));
    let left: u32 = chain.links().flat_map(|(_, link)| link.filter.counts.values()).sum();
    assert_eq!(left as usize, here.len());
    for (item, id) in here {
        assert_eq!(chain.remove(pool[item], id), Removed::Done);
    }
    assert_eq!(chain.chain().inserted(), 0);
}
