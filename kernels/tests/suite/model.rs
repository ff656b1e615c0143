//! The false-positive model against measurement: 64K uniform keys, empty ranges at random.

use bloomrf_kernels::params::{fpr, fpr_blocked, layers_for};
use bloomrf_kernels::scalar::{bitmap, blocked, bloomrf};
use bloomrf_kernels::{Answer, Layers, hash};

use crate::seeded::Splitmix;

const KEYS: usize = 65_536;

/// False positives among truly empty ranges of `width` keys.
struct Measured {
    empty: u64,
    found: u64,
}

/// Asks random ranges until `events` false positives are seen, or `asked_max` were asked.
fn measure(
    layers: &Layers,
    words: usize,
    width: u64,
    random: &mut Splitmix,
    events: u64,
) -> Measured {
    let mut hashed = vec![0; words];
    let mut top = vec![0; if layers.has_exact_top() { bitmap::WORDS_16 } else { 0 }];
    let shift = 64 - u32::from(layers.domain_bits());
    let mut keys: Vec<u64> = (0..KEYS).map(|_| random.next() >> shift).collect();
    bloomrf::insert_many(layers, &mut hashed, &mut top, &keys);
    keys.sort_unstable();
    let mut measured = Measured { empty: 0, found: 0 };
    let mut asked = 0;
    while measured.found < events && asked < ASKED_MAX {
        asked += 1;
        let lo = random.below(layers.key_max() - (width - 1));
        let hi = lo + (width - 1);
        let next = keys.partition_point(|&key| key < lo);
        if keys.get(next).is_some_and(|&key| key <= hi) {
            continue;
        }
        measured.empty += 1;
        let answer = bloomrf::range(layers, &hashed, &top, lo, hi, u32::MAX);
        measured.found += u64::from(answer == Answer::Maybe);
    }
    measured
}

const ASKED_MAX: u64 = 4_000_000;

/// Measured and expected rate differ by at most this (2,000 events: a deviation of 2.2 %).
const TOLERANCE: f64 = 0.08;

fn assert_close(layers: &Layers, words: usize, width: u64, random: &mut Splitmix) {
    let measured = measure(layers, words, width, random, 2_000);
    let rate = measured.found as f64 / measured.empty as f64;
    let expected = fpr(layers, words, KEYS as u64, width);
    let off = rate / expected - 1.0;
    println!(
        "{} bits, {words} words, width {width}: measured {rate:.3e} ({} of {}), \
         expected {expected:.3e}, off {:+.1} %",
        layers.domain_bits(),
        measured.found,
        measured.empty,
        100.0 * off
    );
    assert!(off.abs() <= TOLERANCE);
}

#[test]
fn model_matches_measured_rates_of_64_bit_keys() {
    let mut random = Splitmix::of("model_matches_measured_rates_of_64_bit_keys");
    let layers = layers_for(64, 11);
    for width in [1, 16, 1_000, 1_000_000, 1 << 30] {
        for bits in [10, 16] {
            assert_close(&layers, KEYS * bits / 64, width, &mut random);
        }
    }
}

#[test]
fn model_matches_measured_rates_of_48_bit_keys() {
    let mut random = Splitmix::of("model_matches_measured_rates_of_48_bit_keys");
    let layers = layers_for(48, 13);
    for width in [1, 16, 1_000, 1_000_000, 1 << 24] {
        assert_close(&layers, KEYS * 16 / 64, width, &mut random);
    }
}

#[test]
fn model_matches_measured_rates_under_an_exact_top() {
    let mut random = Splitmix::of("model_matches_measured_rates_under_an_exact_top");
    for widths in [[6, 3, 3, 2, 2], [7, 4, 2, 2, 1]] {
        let layers = Layers::new(32, &widths, true, 12).expect("valid widths");
        for width in [1, 16, 256, 1_000, 16_384, 65_536] {
            for bits in [16, 32] {
                assert_close(&layers, KEYS * bits / 64, width, &mut random);
            }
        }
    }
}

#[test]
fn model_matches_measured_rates_of_blocked_filters() {
    let mut random = Splitmix::of("model_matches_measured_rates_of_blocked_filters");
    // 7,680 words is 7.5 bits a key; the other is far from a power of two.
    for words in [7_680, 5_000, 16_384] {
        let mut filter = vec![0; words];
        let seed = random.next();
        for key in 0..KEYS as u64 {
            blocked::insert(blocked::K_DEFAULT, &mut filter, hash::bytes(&key.to_le_bytes(), seed));
        }
        let (mut asked, mut found) = (0u64, 0u64);
        while found < 2_000 {
            let key = KEYS as u64 + asked;
            asked += 1;
            let hash = hash::bytes(&key.to_le_bytes(), seed);
            found += u64::from(blocked::contains(blocked::K_DEFAULT, &filter, hash));
        }
        let (rate, expected) =
            (found as f64 / asked as f64, fpr_blocked(blocked::K_DEFAULT, words, KEYS as u64));
        println!("{words} words: measured {rate:.3e}, expected {expected:.3e}");
        assert!((rate / expected - 1.0).abs() <= TOLERANCE);
    }
}

#[test]
fn filters_of_different_seeds_err_independently() {
    let mut random = Splitmix::of("filters_of_different_seeds_err_independently");
    let keys: Vec<u64> = (0..KEYS).map(|_| random.next()).collect();
    let words = KEYS * 6 / 64;
    let pair = [random.next(), random.next()].map(|seed| {
        let layers = layers_for(64, seed);
        let mut hashed = vec![0; words];
        bloomrf::insert_many(&layers, &mut hashed, &mut [], &keys);
        (layers, hashed)
    });
    let mut found = [0u64; 3];
    let asked = 1_000_000;
    for _ in 0..asked {
        let key = random.next();
        let [a, b] = [0, 1].map(|i| bloomrf::contains(&pair[i].0, &pair[i].1, &[], key));
        for (count, hit) in found.iter_mut().zip([a, b, a && b]) {
            *count += u64::from(hit);
        }
    }
    let [a, b, both] = found.map(|count| count as f64 / f64::from(asked));
    println!("alone {a:.3e} and {b:.3e}, both {both:.3e}, product {:.3e}", a * b);
    // Layers near the top share what is truly occupied: a little above the product.
    assert!(both < a * b * 1.5);
}
