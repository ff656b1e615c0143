//! Split-block filters of Parquet, by values and by hashes.

use bloomrf_kernels::hash;
use bloomrf_kernels::split_block::{self as door, BLOCK_WORDS};

use crate::blocked::block_count;
use crate::bloomrf::{all, bits_of};
use crate::case::Case;
use crate::inputs;
use crate::placed::Placed;

pub(crate) fn insert(case: &mut Case<'_>) {
    let values = inputs::keys(case, case.length, 64);
    let hashes = hashes_of(&values);
    let blocks = block_count(case, BLOCK_WORDS);
    let mut expected = vec![0; blocks * BLOCK_WORDS];
    hashes.iter().for_each(|&hash| door::insert(&mut expected, hash));
    let factor = inputs::factor(case, blocks.min(512));
    if blocks.is_multiple_of(factor) {
        let (mut folded, mut fresh) = (expected.clone(), vec![0; expected.len() / factor]);
        door::fold(&mut folded, factor);
        hashes.iter().for_each(|&hash| door::insert(&mut fresh, hash));
        assert_eq!(folded, fresh, "{blocks} blocks folded by {factor}");
    }
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let mut written = Placed::zeros(case, expected.len());
        let placed = Placed::words(case, &values);
        door::insert_many(kernel, written.get_mut(), placed.get());
        case.same(set, "blocks by values", written.get(), &expected);
        written.assert_guarded("blocks");
        let mut by_hash = Placed::zeros(case, expected.len());
        let placed = Placed::words(case, &hashes);
        door::insert_hashes_many(kernel, by_hash.get_mut(), placed.get());
        case.same(set, "blocks by hashes", by_hash.get(), &expected);
        by_hash.assert_guarded("blocks");
        case.count(set, 2 * values.len());
        for (reader, &kernel) in sets.iter().enumerate() {
            let mut found = Placed::answers(case, values.len());
            door::contains_many(kernel, written.get(), &values, found.get_mut());
            found.assert_answers(case, reader, "written by another set", &all(values.len()));
            case.count(reader, values.len());
        }
    }
}

pub(crate) fn contains(case: &mut Case<'_>) {
    let blocks = block_count(case, BLOCK_WORDS);
    let load = case.below(40);
    let inserted = inputs::keys(case, (blocks * load).min(1_000), 64);
    let mut words = vec![0; blocks * BLOCK_WORDS];
    if case.once_in(6) {
        words = inputs::words(case, words.len());
    }
    hashes_of(&inserted).iter().for_each(|&hash| door::insert(&mut words, hash));
    let mut values = inputs::keys(case, case.length, 64);
    for value in &mut values {
        if !inserted.is_empty() && case.once_in(2) {
            *value = case.one_of(&inserted);
        }
    }
    let hashes = hashes_of(&values);
    let expected = bits_of(hashes.iter().map(|&hash| door::contains(&words, hash)));
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let words = Placed::words(case, &words);
        let placed = Placed::words(case, &values);
        let mut found = Placed::answers(case, case.length);
        door::contains_many(kernel, words.get(), placed.get(), found.get_mut());
        found.assert_answers(case, set, "values found", &expected);
        let placed = Placed::words(case, &hashes);
        let mut found = Placed::answers(case, case.length);
        door::contains_hashes_many(kernel, words.get(), placed.get(), found.get_mut());
        found.assert_answers(case, set, "hashes found", &expected);
        case.count(set, 2 * case.length);
    }
}

fn hashes_of(values: &[u64]) -> Vec<u64> {
    values.iter().map(|value| hash::parquet(&value.to_le_bytes())).collect()
}
