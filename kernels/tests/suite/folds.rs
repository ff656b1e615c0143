//! Folding, merging and filling: bit for bit what a filter built that way would be.

use bloomrf_kernels::params::{Budget, layers_for};
use bloomrf_kernels::scalar::{blocked, bloomrf, words};
use bloomrf_kernels::{SizeClasses, hash};

use crate::built::Built;
use crate::seeded::Splitmix;

const KEYS: usize = 3_000;

fn blocked_of(words: usize, hashes: &[u64]) -> Vec<u64> {
    let mut filter = vec![0; words];
    for &hash in hashes {
        blocked::insert(blocked::K_DEFAULT, &mut filter, hash);
    }
    filter
}

#[test]
fn folded_filter_equals_a_fresh_one_of_every_class() {
    let mut random = Splitmix::of("folded_filter_equals_a_fresh_one_of_every_class");
    let classes = SizeClasses::new(16);
    let open = classes.words()[0] as usize;
    for bits in [32, 48, 64] {
        let layers = layers_for(bits, random.next());
        let keys: Vec<u64> = (0..KEYS).map(|_| random.next() >> (64 - u32::from(bits))).collect();
        let built = Built::new(layers, open, &keys);
        for &class in classes.words() {
            let class = class as usize;
            let fresh = Built::new(layers, class, &keys);
            assert_eq!(built.folded(open / class).hashed, fresh.hashed, "{bits} bits, {class}");
        }
    }
}

#[test]
fn folding_in_steps_equals_folding_at_once() {
    let mut random = Splitmix::of("folding_in_steps_equals_folding_at_once");
    let layers = layers_for(64, random.next());
    let keys: Vec<u64> = (0..KEYS).map(|_| random.next()).collect();
    let built = Built::new(layers, 1_920, &keys);
    for (steps, product) in [(&[2, 2][..], 4), (&[3, 2], 6), (&[5, 3, 2], 30), (&[2, 5, 3, 4], 120)]
    {
        let mut stepwise = built.hashed.clone();
        for &factor in steps {
            words::fold(&mut stepwise, factor);
        }
        assert_eq!(stepwise, built.folded(product).hashed, "{steps:?}");
    }
}

#[test]
fn folded_blocked_filter_equals_a_fresh_one() {
    let mut random = Splitmix::of("folded_blocked_filter_equals_a_fresh_one");
    let hashes: Vec<u64> = (0..KEYS).map(|_| random.next()).collect();
    let open = blocked_of(1_920, &hashes);
    for factor in [1, 2, 3, 5, 6, 10, 15, 30, 48, 240] {
        let mut folded = open.clone();
        blocked::fold(&mut folded, factor);
        assert_eq!(folded, blocked_of(1_920 / factor, &hashes), "factor {factor}");
        assert!(hashes.iter().all(|&hash| blocked::contains(blocked::K_DEFAULT, &folded, hash)));
    }
}

#[test]
#[should_panic(expected = "do not fold")]
fn a_factor_that_does_not_divide_the_words_is_refused() {
    words::fold(&mut vec![0; 120], 7);
}

#[test]
#[should_panic(expected = "do not fold")]
fn a_factor_that_would_split_a_block_is_refused() {
    blocked::fold(&mut vec![0; 120], 2);
}

#[test]
fn merged_partials_equal_one_filter_of_all_keys() {
    let mut random = Splitmix::of("merged_partials_equal_one_filter_of_all_keys");
    let layers = layers_for(32, random.next());
    let keys: Vec<u64> = (0..KEYS).map(|_| random.next() >> 32).collect();
    let (some, others) = keys.split_at(1_000);
    let mut left = Built::new(layers, 240, some);
    let right = Built::new(layers, 240, others);
    words::merge(&mut left.hashed, &right.hashed);
    words::merge(&mut left.top, &right.top);
    let whole = Built::new(layers, 240, &keys);
    assert_eq!((left.hashed, left.top), (whole.hashed, whole.top));
}

#[test]
fn inserting_many_equals_inserting_each() {
    let mut random = Splitmix::of("inserting_many_equals_inserting_each");
    for bits in [32, 48, 64] {
        let layers = layers_for(bits, random.next());
        let shift = 64 - u32::from(bits);
        let uniform: Vec<u64> = (0..500).map(|_| random.next() >> shift).collect();
        let mut sorted = uniform.clone();
        sorted.sort_unstable();
        let base = random.next() >> (shift + 1);
        let near: Vec<u64> = (0..500).map(|i| base + i * 37 % 4_000).collect();
        let repeated: Vec<u64> = (0..500).map(|i| uniform[i / 3 % 5]).collect();
        let turns: Vec<u64> = (0..500).map(|i| uniform[i % 2]).collect();
        let ends: Vec<u64> = (0..17).map(|i| (i % 2) * layers.key_max()).collect();
        let sets = [vec![], vec![0], vec![layers.key_max()], uniform, sorted, near, repeated];
        for keys in sets.into_iter().chain([turns, ends]) {
            let each = Built::new(layers, 480, &keys);
            let mut many = Built::new(layers, 480, &[]);
            bloomrf::insert_many(&layers, &mut many.hashed, &mut many.top, &keys);
            assert!(many.hashed == each.hashed && many.top == each.top, "{keys:?}");
        }
    }
}

#[test]
fn fold_by_fill_lands_just_below_its_target() {
    let mut random = Splitmix::of("fold_by_fill_lands_just_below_its_target");
    let classes = SizeClasses::new(1_024);
    let target = Budget { bits_per_key: 8, levels: 4 }.fill_target(8);
    let layers = layers_for(64, random.next());
    for count in [1, 10, 300, 4_096, 65_536] {
        let keys: Vec<u64> = (0..count).map(|_| random.next()).collect();
        let open = Built::new(layers, classes.words()[0] as usize, &keys);
        let ones = words::ones(&open.hashed);
        let factor = classes.fold_factor(open.hashed.len(), 1, ones, target);
        let folded = open.folded(factor).hashed;
        let fill = words::ones(&folded) as f64 / (64.0 * folded.len() as f64);
        println!("{count} keys: {} words, fill {fill:.3} of {target:.3}", folded.len());
        assert!(fill <= target * 1.05);
        // Classes lie at most 1.5x apart below W0 / 2, so the next one would have been too full.
        assert!(fill >= target / 1.75 || folded.len() <= 2);
    }
}

#[test]
fn stored_bits_never_change() {
    // Sealed filters outlive the program: another value here needs another format version.
    let keys: Vec<u64> = (0..1_000u64).map(|i| i * i * 2_654_435_761 % (1 << 32)).collect();
    let mut prints = vec![];
    for bits in [32, 48, 64] {
        let built = Built::new(layers_for(bits, 0x5EED), 480, &keys);
        prints.push(fingerprint(&built.hashed));
        prints.push(fingerprint(&built.top));
    }
    assert_eq!(prints, PRINTS, "{prints:#x?}");
}

fn fingerprint(words: &[u64]) -> u64 {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    hash::bytes(&bytes, 0)
}

/// Hashed words and top of 32, 48 and 64 bits (no top: the print of nothing).
const PRINTS: [u64; 6] = [
    0xCEC5_70C0_4B93_6A23,
    0xE886_60BB_416C_92AA,
    0x301F_E724_2B75_C3A7,
    0x2D06_8005_38D3_94C2,
    0xDC6A_CA70_B14E_ED0F,
    0x2D06_8005_38D3_94C2,
];
