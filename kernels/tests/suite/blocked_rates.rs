//! What users of other filters have reported, as tests: rates far below 1 %, correlated seeds,
//! sizes past 2^32 bits, sizes near powers of two, structured keys.

use bloomrf_kernels::params::{fpr_blocked, fpr_split_block};
use bloomrf_kernels::{Kernel, SizeError, blocked, hash, split_block, words};

use crate::seeded::Splitmix;

const K: u32 = blocked::K_DEFAULT;

fn built(k: u32, blocks: usize, seed: u64, keys: &[u64]) -> Vec<u64> {
    let mut filter = vec![0; blocks * blocked::BLOCK_WORDS];
    blocked::insert_many(Kernel::best(), k, &mut filter, seed, keys);
    filter
}

/// How many of the keys that `key_of` gives for `range` the filter holds.
fn hits(
    k: u32,
    filter: &[u64],
    seed: u64,
    range: std::ops::Range<u64>,
    key_of: impl Fn(u64) -> u64,
) -> u64 {
    let (mut keys, mut found, mut hits) = (vec![], vec![0; 64], 0);
    let mut next = range.start;
    while next < range.end {
        let end = range.end.min(next + 4_096);
        keys.clear();
        keys.extend((next..end).map(&key_of));
        blocked::contains_many(Kernel::best(), k, filter, seed, &keys, &mut found);
        hits += found.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        next = end;
    }
    hits
}

/// Within `factor` of what is expected, or within five standard deviations where that is less.
fn assert_near(name: &str, found: u64, expected: f64, factor: f64) {
    println!("{name}: {found} false positives, {expected:.1} expected");
    let slack = (expected * (factor - 1.0)).max(5.0 * expected.sqrt() + 5.0);
    assert!((found as f64 - expected).abs() <= slack, "{name}: {found}, expected {expected:.1}");
}

/// Sum of squared deviations over the expected count: about `cells` for an even spread.
fn chi_square(counts: &[u64]) -> f64 {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|&c| (c as f64 - mean).powi(2) / mean).sum()
}

fn chi_limit(cells: usize) -> f64 {
    cells as f64 + 6.0 * (2.0 * cells as f64).sqrt()
}

#[test]
fn rates_are_those_of_the_model_for_every_k_and_size() {
    let mut random = Splitmix::of("rates_are_those_of_the_model_for_every_k_and_size");
    for bits in [8u64, 10, 12, 16] {
        for k in blocked::K_MIN..=blocked::K_MAX {
            let (blocks, seed) = (2_000, random.next());
            let count = blocks as u64 * 512 / bits;
            let keys: Vec<u64> = (0..count).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
            let filter = built(k, blocks, seed, &keys);
            let asked = 1 << 20;
            let found = hits(k, &filter, seed, 1 << 40..(1 << 40) + asked, |i| i);
            let expected = fpr_blocked(k, filter.len(), count) * asked as f64;
            assert_near(&format!("{bits} bits, k {k}"), found, expected, 1.05);
            // The estimate from the filter's own bits knows more: chance of the asked keys only.
            let own = blocked::fpr(k, &filter) * asked as f64;
            assert_near(&format!("{bits} bits, k {k}, by its bits"), found, own, 1.02);
            if bits == 10 && k == K {
                assert!(found as f64 / (asked as f64) < 0.0106, "the figure that is promised");
            }
        }
    }
}

#[test]
fn split_block_keeps_its_rate() {
    let mut random = Splitmix::of("split_block_keeps_its_rate");
    let (blocks, bits) = (4_000, 10);
    let values: Vec<u64> = (0..blocks * 256 / bits).map(|_| random.next()).collect();
    let mut filter = vec![0; blocks * split_block::BLOCK_WORDS];
    split_block::insert_many(Kernel::best(), &mut filter, &values);
    let asked: Vec<u64> = (0..1 << 20).map(|_| random.next()).collect();
    let mut found = vec![0; asked.len() / 64];
    split_block::contains_many(Kernel::best(), &filter, &asked, &mut found);
    let found = words::ones(Kernel::best(), &found);
    let rate = fpr_split_block(filter.len(), values.len() as u64);
    assert_near("split block", found, rate * asked.len() as f64, 1.05);
    assert_near("by its bits", found, split_block::fpr(&filter) * asked.len() as f64, 1.05);
    assert!(rate < 0.0128);
}

#[test]
fn one_in_a_million_is_kept_and_less_is_kept_too() {
    let mut random = Splitmix::of("one_in_a_million_is_kept_and_less_is_kept_too");
    for (target, asked) in [(1e-6, 1u64 << 27), (1e-9, 1 << 24)] {
        let (seed, count) = (random.next(), 20_000u64);
        let blocks = blocked::blocks_for(8, count, target).unwrap();
        let keys: Vec<u64> = (0..count).collect();
        let filter = built(8, blocks as usize, seed, &keys);
        let rate = fpr_blocked(8, filter.len(), count);
        assert!(rate <= target && rate > target * 0.99, "{rate:e} of {target:e}");
        let found = hits(8, &filter, seed, 1 << 32..(1 << 32) + asked, |i| i);
        assert_near(&format!("{target:e}"), found, rate * asked as f64, 1.1);
    }
}

#[test]
fn filters_of_different_seeds_err_independently() {
    let mut random = Splitmix::of("filters_of_different_seeds_err_independently");
    let keys: Vec<u64> = (0..40_000).map(|_| random.next()).collect();
    // Seeds that differ in one bit are the hardest.
    let seed = random.next();
    for (other, blocks) in [(seed ^ 1, 600), (seed ^ 1 << 63, 600), (random.next(), 601)] {
        let (a, b) = (built(K, 600, seed, &keys), built(K, blocks, other, &keys));
        let asked: Vec<u64> = (0..1 << 20).map(|_| random.next()).collect();
        let (mut in_a, mut in_b) = (vec![0; asked.len() / 64], vec![0; asked.len() / 64]);
        blocked::contains_many(Kernel::best(), K, &a, seed, &asked, &mut in_a);
        blocked::contains_many(Kernel::best(), K, &b, other, &asked, &mut in_b);
        let ones = |words: &[u64]| words::ones(Kernel::best(), words) as f64;
        let both: Vec<u64> = in_a.iter().zip(&in_b).map(|(a, b)| a & b).collect();
        let product = ones(&in_a) * ones(&in_b) / asked.len() as f64;
        assert_near("both filters", ones(&both) as u64, product, 1.1);
    }
}

#[test]
fn filters_past_two_to_the_32_bits_use_all_of_their_blocks() {
    let mut random = Splitmix::of("filters_past_two_to_the_32_bits_use_all_of_their_blocks");
    // Zeroed and mapped as it is touched: 2^31, 2^32 and 2^32 + 512, 2^33 bits.
    for blocks in [1usize << 22, 1 << 23, (1 << 23) + 1, 1 << 24] {
        let seed = random.next();
        let keys: Vec<u64> = (0..4_000).map(|_| random.next()).collect();
        let filter = built(K, blocks, seed, &keys);
        let mut found = vec![0; keys.len().div_ceil(64)];
        blocked::contains_many(Kernel::best(), K, &filter, seed, &keys, &mut found);
        assert_eq!(words::ones(Kernel::best(), &found), keys.len() as u64);
        assert_eq!(hits(K, &filter, seed, 0..100_000, |i| i << 20), 0, "nearly empty");
        let mut counts = [0u64; 64];
        for &key in &keys {
            let first = scalar_block(blocks, hash::key(key, seed));
            let block = &filter[first * blocked::BLOCK_WORDS..][..blocked::BLOCK_WORDS];
            assert!(block.iter().map(|word| word.count_ones()).sum::<u32>() >= K);
            counts[first * 64 / blocks] += 1;
        }
        let (all, top) = (chi_square(&counts), chi_square(&counts[32..]));
        assert!(all < chi_limit(64) && top < chi_limit(32), "{blocks} blocks: {all}, {top}");
    }
}

fn scalar_block(blocks: usize, hash: u64) -> usize {
    bloomrf_kernels::scalar::blocked::block_index(blocks * blocked::BLOCK_WORDS, hash)
}

#[test]
fn sizes_grow_with_keys_and_end_in_an_error() {
    for fpr in [0.3, 0.01, 1e-4, 1e-9] {
        for k in blocked::K_MIN..=blocked::K_MAX {
            let mut last = 0;
            for power in 0..=400 {
                let keys = (power as f64 / 10.0).exp2() as u64;
                match blocked::blocks_for(k, keys, fpr) {
                    Ok(blocks) => {
                        assert!(last != u64::MAX && blocks >= last, "{keys} keys, k {k}, {fpr}");
                        last = blocks;
                    }
                    Err(SizeError::TooLarge { .. }) => last = u64::MAX,
                    Err(error) => assert!(k < 6 && fpr < 1e-8, "{error}"),
                }
            }
        }
        let split = |values| split_block::blocks_for(values, fpr).unwrap();
        assert!(split(1_000) <= split(1_001) && split(0) == 1);
    }
    let million = blocked::blocks_for(K, 1_000_000, 0.01).unwrap();
    let rate = |blocks: u64| fpr_blocked(K, blocks as usize * 8, 1_000_000);
    assert!(rate(million) <= 0.01 && rate(million - 5) > 0.01, "the smallest that keeps to it");
    for fpr in [0.0, -1.0, 1.0, 2.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(blocked::blocks_for(K, 9, fpr), Err(SizeError::NoRate { .. })), "{fpr}");
    }
    let error = blocked::blocks_for(K, u64::MAX, 0.01).unwrap_err().to_string();
    assert!(error.contains("at most 2^32"), "{error}");
    let error = blocked::blocks_for(4, 9, 1e-15).unwrap_err().to_string();
    assert!(error.contains("4 lanes"), "{error}");
}

#[test]
fn lanes_stay_independent_of_the_block_however_many_there_are() {
    let mut random = Splitmix::of("lanes_stay_independent_of_the_block_however_many_there_are");
    // One block of a filter of 2^bits blocks: its keys share the upper `bits` bits of their hash.
    for bits in [1u32, 10, 20, 24, 26, 30, 32] {
        let (mut asked, mut found, mut expected) = (0u64, 0u64, 0.0);
        let mut by_lane = [0u64; 8];
        let mut by_bit = [0u64; 64];
        for _ in 0..200 {
            let upper = random.next();
            let in_block = |low: u64| upper >> (64 - bits) << (64 - bits) | low >> bits;
            let hashes: Vec<u64> = (0..50).map(|_| in_block(random.next())).collect();
            let mut block = vec![0; blocked::BLOCK_WORDS];
            blocked::insert_hashes_many(Kernel::best(), K, &mut block, &hashes);
            expected += blocked::fpr(K, &block) * 4_096.0;
            let others: Vec<u64> = (0..4_096).map(|_| in_block(random.next())).collect();
            let mut hits = vec![0; 64];
            blocked::contains_hashes_many(Kernel::best(), K, &block, &others, &mut hits);
            found += words::ones(Kernel::best(), &hits);
            asked += 4_096;
            for (lane, word) in block.iter().enumerate() {
                by_lane[lane] += u64::from(word.count_ones());
                (0..64).for_each(|bit| by_bit[bit] += word >> bit & 1);
            }
        }
        assert_near(&format!("2^{bits} blocks, {asked} asked"), found, expected, 1.05);
        assert!(chi_square(&by_lane) < chi_limit(8), "2^{bits} blocks: {by_lane:?}");
        assert!(chi_square(&by_bit) < chi_limit(64), "2^{bits} blocks: {by_bit:?}");
    }
}

#[test]
fn sizes_near_powers_of_two_and_primes_have_one_rate() {
    let mut random = Splitmix::of("sizes_near_powers_of_two_and_primes_have_one_rate");
    for blocks in [2_048usize, 2_047, 2_049, 1_984, 2_112, 2_039, 2_053, 4_093, 4_096] {
        let (seed, count) = (random.next(), blocks as u64 * 50);
        let keys: Vec<u64> = (0..count).collect();
        let filter = built(K, blocks, seed, &keys);
        let asked = 1 << 20;
        let found = hits(K, &filter, seed, 1 << 40..(1 << 40) + asked, |i| i);
        let expected = fpr_blocked(K, filter.len(), count) * asked as f64;
        assert_near(&format!("{blocks} blocks"), found, expected, 1.05);
    }
}

/// A name, and a key by its number.
type Keys = (&'static str, fn(u64) -> u64);

/// Keys as they come.
const STRUCTURED: [Keys; 12] = [
    ("sequential", |i| i),
    ("sequential, 32 bits", |i| i & 0xFFFF_FFFF),
    ("a /16 of IPv4", |i| 0x0A2D_0000 + i),
    ("IPv4, network order", |i| u64::from((0x0A2D_0000 + i as u32).swap_bytes())),
    ("strides of 4,096", |i| i << 12),
    ("strides of 2^40", |i| i << 40),
    ("big-endian counter", u64::swap_bytes),
    ("a varying upper byte of many", |i| (i & 0xFF) << 56 | i >> 8),
    ("a bit of each half", |i| i << 32 | i),
    ("multiples of the hash's factor", |i| i.wrapping_mul(0xBF58_476D_1CE4_E5B9)),
    ("odd square", |i| (2 * i + 1).wrapping_mul(2 * i + 1)),
    ("ASCII counter", |i| {
        let digits = format!("{i:08}");
        digits.bytes().fold(0, |key, digit| key << 8 | u64::from(digit))
    }),
];

#[test]
fn structured_keys_keep_the_rate() {
    let mut random = Splitmix::of("structured_keys_keep_the_rate");
    for (name, key_of) in STRUCTURED {
        // One block, few, and many: the fewer, the more rests on the lanes.
        for blocks in [1usize, 7, 1_311] {
            let (mut found, mut expected) = (0, 0.0);
            let rounds = 1 + 300 / blocks;
            for _ in 0..rounds {
                let (seed, count) = (random.next(), blocks as u64 * 50);
                let keys: Vec<u64> = (0..count).map(key_of).collect();
                let filter = built(K, blocks, seed, &keys);
                let asked = (1 << 17) / rounds as u64;
                found += hits(K, &filter, seed, count..count + asked, key_of);
                expected += blocked::fpr(K, &filter) * asked as f64;
            }
            assert_near(&format!("{name}, {blocks} blocks"), found, expected, 1.1);
        }
    }
}

#[test]
fn keys_that_differ_in_one_bit_are_told_apart() {
    let mut random = Splitmix::of("keys_that_differ_in_one_bit_are_told_apart");
    for k in [K, 8] {
        for bit in 0..64 {
            let (mut found, mut expected) = (0, 0.0);
            for _ in 0..600 {
                let seed = random.next();
                let keys: Vec<u64> = (0..50).map(|_| random.next()).collect();
                let filter = built(k, 1, seed, &keys);
                for &key in &keys {
                    let hash = hash::key(key ^ 1 << bit, seed);
                    found += u64::from(blocked::contains(k, &filter, hash));
                }
                expected += blocked::fpr(k, &filter) * 50.0;
            }
            assert_near(&format!("bit {bit}, k {k}"), found, expected, 1.1);
        }
    }
}
