//! Hashes spread keys evenly, however regular the keys: words, blocks, lanes, rotations.

use bloomrf_kernels::params::{fpr_blocked, layers_for};
use bloomrf_kernels::plan::Step;
use bloomrf_kernels::scalar::{blocked, words};
use bloomrf_kernels::{RangePlan, hash};

use crate::seeded::Splitmix;

/// Sum of squared deviations over the expected count: about `cells` for an even spread.
fn chi_square(counts: &[u64]) -> f64 {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|&c| (c as f64 - mean).powi(2) / mean).sum()
}

/// Keys as they come: counters, address sweeps, one varying byte, ASCII digits.
fn regular_keys() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let n = 20_000u64;
    let of = |make: &dyn Fn(u64) -> Vec<u8>| (0..n).map(make).collect::<Vec<_>>();
    vec![
        ("u32 counter", of(&|i| (i as u32).to_le_bytes().to_vec())),
        ("u64 counter", of(&|i| i.to_le_bytes().to_vec())),
        ("big-endian counter", of(&|i| i.to_be_bytes().to_vec())),
        ("strides of 4096", of(&|i| (i << 12).to_le_bytes().to_vec())),
        ("ipv6 sweep", of(&|i| (0x2001_0DB8_u128 << 96 | u128::from(i)).to_be_bytes().to_vec())),
        ("upper bytes", of(&|i| u128::from(i).to_le_bytes().to_vec())),
        ("ascii counter", of(&|i| format!("{i:016}").into_bytes())),
    ]
}

#[test]
fn blocked_filter_keeps_its_rate_on_regular_keys() {
    for (name, keys) in regular_keys() {
        let (stored, asked) = keys.split_at(keys.len() / 2);
        let size = 1_680;
        let mut filter = vec![0; size];
        for key in stored {
            blocked::insert(blocked::K_DEFAULT, &mut filter, hash::bytes(key, 77));
        }
        assert!(stored.iter().all(|key| blocked::contains(
            blocked::K_DEFAULT,
            &filter,
            hash::bytes(key, 77)
        )));
        let hits =
            |key: &&Vec<u8>| blocked::contains(blocked::K_DEFAULT, &filter, hash::bytes(key, 77));
        let found = asked.iter().filter(hits).count();
        let expected =
            fpr_blocked(blocked::K_DEFAULT, size, stored.len() as u64) * asked.len() as f64;
        println!("{name}: {found} false positives, {expected:.0} expected");
        assert!((found as f64) < expected + 5.0 * expected.sqrt());
    }
}

#[test]
fn blocked_filter_fills_blocks_lanes_and_bits_evenly() {
    let mut random = Splitmix::of("blocked_filter_fills_blocks_lanes_and_bits_evenly");
    const BLOCKS: usize = 15;
    let mut by_block = [0u64; BLOCKS];
    let mut by_lane = [0u64; blocked::BLOCK_WORDS];
    let mut by_bit = [0u64; 64];
    for _ in 0..40_000 {
        let mut filter = [0; BLOCKS * blocked::BLOCK_WORDS];
        blocked::insert(blocked::K_DEFAULT, &mut filter, random.next());
        assert_eq!(words::ones(&filter), u64::from(blocked::K_DEFAULT), "K bits of one block");
        for (index, word) in filter.iter().enumerate().filter(|(_, w)| **w != 0) {
            by_block[index / blocked::BLOCK_WORDS] += 1;
            by_lane[index % blocked::BLOCK_WORDS] += 1;
            by_bit[word.trailing_zeros() as usize] += 1;
        }
    }
    // A key counts K times in its block: the sum of squares is K times that of single counts.
    assert!(chi_square(&by_block) < 6.0 * 50.0, "{by_block:?}");
    assert!(chi_square(&by_lane) < 30.0, "{by_lane:?}");
    assert!(chi_square(&by_bit) < 130.0, "{by_bit:?}");
}

#[test]
fn bloomrf_spreads_sequential_and_strided_groups_over_words_and_rotations() {
    let layers = layers_for(64, 3);
    let mut plan = RangePlan::default();
    // At least 64 apart: no two keys share a group of the lowest layer.
    for stride in [1u64 << 6, 1 << 12, 1 << 40, 1_000_003] {
        let mut by_rotation = [0u64; 64];
        for size in [120u64, 128, 1_009] {
            let mut by_word = vec![0u64; size as usize];
            for i in 0..20_000u64 {
                plan.build(&layers, i * stride, i * stride, 8);
                let lowest = plan.probes().iter().rfind(|p| p.step == Step::Cover).unwrap();
                by_word[((u64::from(lowest.hash) * size) >> 32) as usize] += 1;
                let offset = (i * stride) as u32 & 63;
                let rotated = lowest.mask.trailing_zeros();
                by_rotation[((rotated + 64 - offset) & 63) as usize] += 1;
            }
            let limit = size as f64 + 6.0 * (2.0 * size as f64).sqrt();
            let chi = chi_square(&by_word);
            assert!(chi < limit, "stride {stride}, {size} words: {chi}");
        }
        // The three rounds count the same rotations.
        assert!(chi_square(&by_rotation) < 3.0 * 130.0, "stride {stride}: {by_rotation:?}");
    }
}
