//! Blocked Bloom filters, all k, by keys and by hashes; folds equal filters built small.

use bloomrf_kernels::blocked::{self as door, BLOCK_WORDS};
use bloomrf_kernels::hash;

use crate::bloomrf::{all, bits_of};
use crate::case::Case;
use crate::inputs;
use crate::placed::Placed;

pub(crate) fn insert(case: &mut Case<'_>) {
    let k = 4 + case.below(5) as u32;
    let (keys, seed) = (inputs::keys(case, case.length, 64), case.next());
    let hashes: Vec<u64> = keys.iter().map(|&key| hash::key(key, seed)).collect();
    let blocks = block_count(case, BLOCK_WORDS);
    let mut expected = vec![0; blocks * BLOCK_WORDS];
    hashes.iter().for_each(|&hash| door::insert(k, &mut expected, hash));
    let factor = inputs::factor(case, blocks.min(512));
    if blocks.is_multiple_of(factor) {
        let (mut folded, mut fresh) = (expected.clone(), vec![0; expected.len() / factor]);
        door::fold(&mut folded, factor);
        hashes.iter().for_each(|&hash| door::insert(k, &mut fresh, hash));
        assert_eq!(folded, fresh, "{blocks} blocks folded by {factor}");
    }
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let mut written = Placed::zeros(case, expected.len());
        let placed = Placed::words(case, &keys);
        door::insert_many(kernel, k, written.get_mut(), seed, placed.get());
        case.same(set, "blocks by keys", written.get(), &expected);
        written.assert_guarded("blocks");
        let mut by_hash = Placed::zeros(case, expected.len());
        let placed = Placed::words(case, &hashes);
        door::insert_hashes_many(kernel, k, by_hash.get_mut(), placed.get());
        case.same(set, "blocks by hashes", by_hash.get(), &expected);
        by_hash.assert_guarded("blocks");
        case.count(set, 2 * keys.len());
        for (reader, &kernel) in sets.iter().enumerate() {
            let mut found = Placed::answers(case, keys.len());
            door::contains_many(kernel, k, written.get(), seed, &keys, found.get_mut());
            found.assert_answers(case, reader, "written by another set", &all(keys.len()));
            case.count(reader, keys.len());
        }
    }
}

pub(crate) fn contains(case: &mut Case<'_>) {
    let k = 4 + case.below(5) as u32;
    let seed = case.next();
    let blocks = block_count(case, BLOCK_WORDS);
    let load = case.below(60);
    let inserted = inputs::keys(case, (blocks * load).min(1_000), 64);
    let mut words = vec![0; blocks * BLOCK_WORDS];
    if case.once_in(6) {
        words = inputs::words(case, words.len());
    }
    inserted.iter().for_each(|&key| door::insert(k, &mut words, hash::key(key, seed)));
    let mut keys = inputs::keys(case, case.length, 64);
    for key in &mut keys {
        if !inserted.is_empty() && case.once_in(2) {
            *key = case.one_of(&inserted);
        }
    }
    let hashes: Vec<u64> = keys.iter().map(|&key| hash::key(key, seed)).collect();
    let expected = bits_of(hashes.iter().map(|&hash| door::contains(k, &words, hash)));
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let words = Placed::words(case, &words);
        let placed = Placed::words(case, &keys);
        let mut found = Placed::answers(case, case.length);
        door::contains_many(kernel, k, words.get(), seed, placed.get(), found.get_mut());
        found.assert_answers(case, set, "keys found", &expected);
        let placed = Placed::words(case, &hashes);
        let mut found = Placed::answers(case, case.length);
        door::contains_hashes_many(kernel, k, words.get(), placed.get(), found.get_mut());
        found.assert_answers(case, set, "hashes found", &expected);
        case.count(set, 2 * case.length);
    }
}

/// Any number of blocks; now and then past the second cache, where the kernels look further ahead.
pub(crate) fn block_count(case: &mut Case<'_>, block_words: usize) -> usize {
    match case.below(64) {
        0 => ((1 << 17) + case.below(1_000)) / block_words + 1,
        1..8 => 1 + case.below(3),
        8..16 => 15 << case.below(7),
        _ => 1 + case.below(400),
    }
}
