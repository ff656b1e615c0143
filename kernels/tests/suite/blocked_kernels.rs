//! Blocked Bloom filters on every kernel set: the bits and the answers of the scalar reference.

use bloomrf_kernels::arena::{Arena, ArenaConfig, PagesWanted};
use bloomrf_kernels::{Kernel, blocked, hash, scalar, split_block};

use crate::seeded::Splitmix;

/// Every size up to two rings of look-ahead and a tail, then some of each remainder.
fn sizes() -> impl Iterator<Item = usize> {
    (0..300).chain((300..4_090).step_by(61)).chain(4_090..=4_097)
}

/// Random keys among them the extremes.
fn keys_of(random: &mut Splitmix, len: usize) -> Vec<u64> {
    const EXTREMES: [u64; 6] = [0, u64::MAX, 1 << 63, i64::MAX as u64, 1, 1 << 32];
    (0..len).map(|i| *EXTREMES.get(i % 97).unwrap_or(&random.next())).collect()
}

fn bit(found: &[u64], i: usize) -> bool {
    found[i / 64] >> (i % 64) & 1 != 0
}

#[test]
fn every_kernel_sets_and_reads_the_bits_of_the_reference() {
    let mut random = Splitmix::of("every_kernel_sets_and_reads_the_bits_of_the_reference");
    for len in sizes() {
        let k = 4 + (len % 5) as u32;
        let seed = random.next();
        // Near and, at times, past what counts as L2; never a power of two for long.
        let blocks = if len % 512 == 4 { 17_000 } else { 1 + (len / 3) };
        let keys = keys_of(&mut random, len + 1);
        let asked: Vec<u64> =
            (0..len).map(|i| if i % 3 == 0 { keys[i] } else { random.next() }).collect();
        let mut expected = vec![0; blocks * 8];
        for &key in &keys[1..] {
            blocked::insert(k, &mut expected, hash::key(key, seed));
        }
        for kernel in Kernel::all() {
            // One word off the start of an allocation: no block lies on a line of its own.
            let mut words = vec![0; blocks * 8 + 1];
            blocked::insert_many(kernel, k, &mut words[1..], seed, &keys[1..]);
            assert!(words[1..] == expected, "{kernel}, k {k}, {len} keys");
            let hashes: Vec<u64> = keys[1..].iter().map(|&key| hash::key(key, seed)).collect();
            let mut by_hash = vec![0; blocks * 8];
            blocked::insert_hashes_many(kernel, k, &mut by_hash, &hashes);
            assert!(by_hash == expected, "{kernel}, k {k}, {len} hashes");

            let mut found = vec![u64::MAX; len.div_ceil(64) + 1];
            blocked::contains_many(kernel, k, &words[1..], seed, &asked, &mut found);
            for (i, &key) in asked.iter().enumerate() {
                let holds = blocked::contains(k, &expected, hash::key(key, seed));
                assert_eq!(bit(&found, i), holds, "{kernel}, k {k}, {len} keys, {key:#x}");
            }
            assert!((len..found.len() * 64).all(|i| !bit(&found, i)), "{kernel}, {len} keys");
            let hashes: Vec<u64> = asked.iter().map(|&key| hash::key(key, seed)).collect();
            let mut again = vec![u64::MAX; len.div_ceil(64) + 1];
            blocked::contains_hashes_many(kernel, k, &expected, &hashes, &mut again);
            assert_eq!(again, found, "{kernel}, k {k}, {len} hashes");
        }
    }
}

#[test]
fn the_largest_filters_are_the_same_on_every_kernel() {
    let words = |blocks: u64, block_words: usize| blocks as usize * block_words;
    let most = words(blocked::BLOCKS_MAX, blocked::BLOCK_WORDS);
    let split = words(split_block::BLOCKS_MAX, split_block::BLOCK_WORDS);
    // Address space only: no more pages are touched than there are keys.
    let config = ArenaConfig { pages: PagesWanted::Small, guards: false, ..ArenaConfig::new(0) };
    let arena = Arena::new(ArenaConfig { bytes: most.max(split) * 8, ..config });
    let room = arena.ok().and_then(|arena| arena.words_unzeroed(most.max(split)));
    let Some(mut room) = room else { return println!("skipped: no 256 GiB of address space") };
    let mut random = Splitmix::of("the_largest_filters_are_the_same_on_every_kernel");
    for kernel in Kernel::all() {
        let keys: Vec<u64> = (0..40).map(|_| random.next()).collect();
        blocked::insert_many(kernel, blocked::K_DEFAULT, &mut room[..most], 7, &keys);
        let held =
            |key: &&u64| blocked::contains(blocked::K_DEFAULT, &room[..most], hash::key(**key, 7));
        assert_eq!(keys.iter().filter(held).count(), keys.len(), "{kernel}");
        let hashes: Vec<u64> = (0..40).map(|_| random.next()).collect();
        split_block::insert_hashes_many(kernel, &mut room[..split], &hashes);
        let held = |hash: &&u64| split_block::contains(&room[..split], **hash);
        assert_eq!(hashes.iter().filter(held).count(), hashes.len(), "split, {kernel}");
    }
}

#[test]
fn a_key_sets_one_bit_in_each_of_k_neighbouring_lanes() {
    let mut random = Splitmix::of("a_key_sets_one_bit_in_each_of_k_neighbouring_lanes");
    for k in blocked::K_MIN..=blocked::K_MAX {
        for _ in 0..500 {
            let mask = scalar::blocked::mask(k, random.next());
            let taken: Vec<bool> = mask.iter().map(|&word| word != 0).collect();
            assert!(mask.iter().all(|word| word.count_ones() <= 1));
            assert_eq!(taken.iter().filter(|&&t| t).count(), k as usize);
            let starts = (0..8).filter(|&i| taken[i] && !taken[(i + 7) % 8]).count();
            assert_eq!(starts, usize::from(k < 8));
        }
    }
}

#[test]
fn hashes_of_sixteen_byte_values_are_those_of_each() {
    let mut random = Splitmix::of("hashes_of_sixteen_byte_values_are_those_of_each");
    let values: Vec<[u8; 16]> =
        (0..100).map(|_| u128::from(random.next()).pow(2).to_le_bytes()).collect();
    let mut hashes = vec![0; values.len()];
    hash::bytes_many(&values, 9, &mut hashes);
    assert!(values.iter().zip(&hashes).all(|(value, &h)| h == hash::bytes(value, 9)));
}

#[test]
#[should_panic(expected = "cannot answer for 65 keys")]
fn too_few_words_for_the_answers_are_refused() {
    blocked::contains_many(Kernel::best(), 6, &[0; 8], 0, &[0; 65], &mut [0]);
}

#[test]
#[should_panic(expected = "no whole number of blocks")]
fn a_part_of_a_block_is_refused() {
    blocked::insert_many(Kernel::best(), 6, &mut [0; 12], 0, &[1]);
}

#[test]
#[should_panic(expected = "expected 4 to 8")]
fn nine_lanes_are_refused() {
    blocked::insert_many(Kernel::best(), 9, &mut [0; 8], 0, &[1]);
}
