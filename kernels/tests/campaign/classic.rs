//! Classic Bloom filters, all k, any number of bits.

use bloomrf_kernels::classic as door;
use bloomrf_kernels::hash::Hash128;

use crate::bloomrf::bits_of;
use crate::case::Case;
use crate::inputs;
use crate::placed::Placed;

pub(crate) fn insert(case: &mut Case<'_>) {
    let (k, bits) = shape(case);
    let items = items(case, case.length);
    let mut before = vec![0; bits.div_ceil(64) as usize];
    for item in self::items(case, case.length / 4) {
        door::insert(k, bits, &mut before, item);
    }
    let mut expected = before.clone();
    let is_new = |item: &&Hash128| door::insert(k, bits, &mut expected, **item);
    let count = items.iter().filter(is_new).count();
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let mut written = Placed::words(case, &before);
        let new = door::insert_many(kernel, k, bits, written.get_mut(), &items);
        case.same(set, "bits of items", written.get(), &expected);
        case.same(set, "new items", &[new], &[count as u64]);
        written.assert_guarded("bits");
        case.count(set, items.len());
    }
}

pub(crate) fn contains(case: &mut Case<'_>) {
    let (k, bits) = shape(case);
    let mut words = inputs::words(case, bits.div_ceil(64) as usize);
    let inserted = items(case, case.length / 2);
    inserted.iter().for_each(|&item| _ = door::insert(k, bits, &mut words, item));
    let mut asked = items(case, case.length);
    for item in &mut asked {
        if !inserted.is_empty() && case.once_in(2) {
            *item = case.one_of(&inserted);
        }
    }
    let expected = bits_of(asked.iter().map(|&item| door::contains(k, bits, &words, item)));
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let words = Placed::words(case, &words);
        let mut found = Placed::answers(case, case.length);
        door::contains_many(kernel, k, bits, words.get(), &asked, found.get_mut());
        found.assert_answers(case, set, "items found", &expected);
        case.count(set, case.length);
    }
}

/// Few bits, many, now and then past the second cache, where the kernels look further ahead.
fn shape(case: &mut Case<'_>) -> (u32, u64) {
    let bits = match case.below(64) {
        0 => (1 << 23) + case.below(1 << 16),
        1..8 => 1 + case.below(130),
        8..16 => 64 << case.below(11),
        _ => 1 + case.below(60_000),
    };
    let k = if case.once_in(4) { 1 + case.below(64) } else { 1 + case.below(12) };
    (k as u32, bits as u64)
}

/// Halves of all sorts, each of its own.
fn items(case: &mut Case<'_>, count: usize) -> Vec<Hash128> {
    let (lo, hi) = (inputs::keys(case, count, 64), inputs::keys(case, count, 64));
    lo.into_iter().zip(hi).map(|(lo, hi)| Hash128 { lo, hi }).collect()
}
