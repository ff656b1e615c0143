//! bloomRF: insert, point, range against one key or range at a time; every set reads what every
//! other one wrote.

use bloomrf_kernels::bloomrf::{self as door, KeyOrder};
use bloomrf_kernels::scalar::{bitmap, bloomrf as reference};
use bloomrf_kernels::{Answer, Layers, RangePlan, plan::TopBits};

use crate::case::Case;
use crate::inputs;
use crate::placed::Placed;

const ORDERS: [KeyOrder; 3] = [KeyOrder::Unknown, KeyOrder::Scattered, KeyOrder::Ordered];

pub(crate) fn insert(case: &mut Case<'_>) {
    let layers = inputs::layers(case);
    let keys = inputs::keys(case, case.length, layers.domain_bits().into());
    let order = case.one_of(&ORDERS);
    insert_by(case, &layers, &keys, |case, kernel, hashed, top| {
        let keys = Placed::words(case, &keys);
        match order {
            KeyOrder::Unknown => door::insert_many(kernel, &layers, hashed, top, keys.get()),
            _ => door::insert_many_ordered(kernel, &layers, order, hashed, top, keys.get()),
        }
    });
}

pub(crate) fn insert_u32(case: &mut Case<'_>) {
    let layers = loop {
        let layers = inputs::layers(case);
        if layers.domain_bits() <= 32 {
            break layers;
        }
    };
    let keys = inputs::keys(case, case.length, layers.domain_bits().into());
    let narrow: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
    let order = case.one_of(&ORDERS);
    insert_by(case, &layers, &keys, |case, kernel, hashed, top| {
        let keys = Placed::new(case, &narrow, 0);
        match order {
            KeyOrder::Unknown => door::insert_many_u32(kernel, &layers, hashed, top, keys.get()),
            _ => door::insert_many_u32_ordered(kernel, &layers, order, hashed, top, keys.get()),
        }
    });
}

fn insert_by(
    case: &mut Case<'_>,
    layers: &Layers,
    keys: &[u64],
    insert: impl Fn(&mut Case<'_>, bloomrf_kernels::Kernel, &mut [u64], &mut [u64]),
) {
    // A filter that may hold keys already.
    let words = filter_words(case, keys.len());
    let (mut hashed, mut top) = filled(case, layers, words);
    let (before, top_before) = (hashed.clone(), top.clone());
    keys.iter().for_each(|&key| reference::insert(layers, &mut hashed, &mut top, key));
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let mut written = Placed::words(case, &before);
        let mut written_top = Placed::words(case, &top_before);
        insert(case, kernel, written.get_mut(), written_top.get_mut());
        case.same(set, "hashed words", written.get(), &hashed);
        case.same(set, "the exact top", written_top.get(), &top);
        written.assert_guarded("hashed words");
        written_top.assert_guarded("the exact top");
        case.count(set, keys.len());
        for (reader, &kernel) in sets.iter().enumerate() {
            let mut found = Placed::answers(case, keys.len());
            let (hashed, top) = (written.get(), written_top.get());
            door::contains_many(kernel, layers, hashed, top, keys, found.get_mut());
            found.assert_answers(case, reader, "written by another set", &all(keys.len()));
            case.count(reader, keys.len());
        }
    }
}

pub(crate) fn contains(case: &mut Case<'_>) {
    let (layers, hashed, top, inserted) = filter(case);
    let bits = u32::from(layers.domain_bits());
    let mut keys = inputs::keys(case, case.length, bits);
    for key in &mut keys {
        match case.below(16) {
            0..6 if !inserted.is_empty() => *key = case.one_of(&inserted),
            6 if !inserted.is_empty() => *key = case.one_of(&inserted) ^ 1 << case.below(64),
            7 => *key = inputs::extreme(case, 64),
            _ => {}
        }
    }
    let is_found = |&key: &u64| reference::contains(&layers, &hashed, &top, key);
    let expected = bits_of(keys.iter().map(is_found));
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let (keys, hashed, top) =
            (Placed::words(case, &keys), Placed::words(case, &hashed), Placed::words(case, &top));
        let mut found = Placed::answers(case, case.length);
        let (asked, words) = (keys.get(), hashed.get());
        door::contains_many(kernel, &layers, words, top.get(), asked, found.get_mut());
        found.assert_answers(case, set, "keys found", &expected);
        case.count(set, case.length);
    }
}

pub(crate) fn range(case: &mut Case<'_>) {
    let (layers, hashed, top, inserted) = filter(case);
    let bits = u32::from(layers.domain_bits());
    let ranges: Vec<_> = (0..case.length).map(|_| inputs::range(case, &inserted, bits)).collect();
    let probes_max = case.one_of(&[256, 256, 64, 8, 1_000, 0]);
    let ask = |&(lo, hi): &(u64, u64)| reference::range(&layers, &hashed, &top, lo, hi, probes_max);
    let expected = bits_of(ranges.iter().map(|range| ask(range).may_hold()));
    // The plan, another way to the same answer, on some.
    let mut plan = RangePlan::default();
    for (lo, hi) in ranges.iter().step_by(61) {
        let bits = if layers.has_exact_top() { TopBits::Bitmap(&top) } else { TopBits::None };
        plan.build(&layers, *lo, *hi, probes_max);
        let (planned, asked) = (plan.run(&hashed, bits), ask(&(*lo, *hi)));
        assert_eq!(planned, asked, "the plan of {lo:#x}..={hi:#x}");
        let held = inserted.iter().any(|key| (lo..=hi).contains(&key));
        assert!(!held || asked != Answer::Absent, "a key of {lo:#x}..={hi:#x} is lost");
    }
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let ranges = Placed::new(case, &ranges, (1, 2));
        let (hashed, top) = (Placed::words(case, &hashed), Placed::words(case, &top));
        let mut found = Placed::answers(case, case.length);
        let (words, asked, found_words) = (hashed.get(), ranges.get(), found.get_mut());
        door::range_many(kernel, &layers, words, top.get(), asked, probes_max, found_words);
        found.assert_answers(case, set, "ranges found", &expected);
        case.count(set, case.length);
    }
}

/// A filter of some hundred keys, from nearly empty to full; now and then words are missing.
fn filter(case: &mut Case<'_>) -> (Layers, Vec<u64>, Vec<u64>, Vec<u64>) {
    let layers = inputs::layers(case);
    let count = case.below(400);
    let keys = inputs::keys(case, count, layers.domain_bits().into());
    let words = filter_words(case, count);
    let (mut hashed, mut top) = (vec![0; words], empty_top(&layers));
    keys.iter().for_each(|&key| reference::insert(&layers, &mut hashed, &mut top, key));
    match case.below(64) {
        0 => top.clear(),
        1 => hashed.clear(),
        _ => {}
    }
    (layers, hashed, top, keys)
}

/// A filter with some bits set.
fn filled(case: &mut Case<'_>, layers: &Layers, words: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut hashed, top) = (vec![0; words], empty_top(layers));
    if case.once_in(4) {
        hashed = inputs::words(case, words);
    }
    (hashed, top)
}

/// Words for `keys` keys or a few times as many; any number, not only those of size classes.
fn filter_words(case: &mut Case<'_>, keys: usize) -> usize {
    match case.below(8) {
        0 => 1 + case.below(4),
        1 => 15 << case.below(9),
        _ => 1 + case.below(keys * 3 / 2 + 20),
    }
}

fn empty_top(layers: &Layers) -> Vec<u64> {
    vec![0; if layers.has_exact_top() { bitmap::WORDS_16 } else { 0 }]
}

/// Answers as words, bits past the last one 0.
pub(crate) fn bits_of(answers: impl ExactSizeIterator<Item = bool>) -> Vec<u64> {
    let mut words = vec![0; answers.len().div_ceil(64)];
    for (i, answer) in answers.enumerate() {
        words[i / 64] |= u64::from(answer) << (i % 64);
    }
    words
}

/// "Found" for all of `count` questions.
pub(crate) fn all(count: usize) -> Vec<u64> {
    bits_of((0..count).map(|_| true))
}
