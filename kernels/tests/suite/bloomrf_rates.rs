//! False-positive rates of the kernels against the model, at every width, within 5 %.
//!
//! 10,000 events have a deviation of 1 %: a rate that is off by more than 5 % is not chance.

use bloomrf_kernels::params::{fpr, layers_for};
use bloomrf_kernels::{Kernel, Layers, bloomrf};

use crate::bloomrf_sets::top_of;
use crate::seeded::Splitmix;

const KEYS: usize = 65_536;
const EVENTS: u64 = 10_000;
const ASKED_MAX: u64 = 12_000_000;

/// False positives and empty ranges among random ranges of `width` keys.
fn rate(
    kernel: Kernel,
    layers: &Layers,
    words: usize,
    width: u64,
    random: &mut Splitmix,
) -> (f64, u64) {
    let unused = 64 - u32::from(layers.domain_bits());
    let mut keys: Vec<u64> = (0..KEYS).map(|_| random.next() >> unused).collect();
    let (mut hashed, mut top) = (vec![0; words], top_of(layers));
    bloomrf::insert_many(kernel, layers, &mut hashed, &mut top, &keys);
    keys.sort_unstable();
    let (mut asked, mut found_empty, mut found_full) = (0u64, 0u64, 0u64);
    let mut ranges = vec![(0, 0); 1 << 14];
    let mut found = vec![0; ranges.len() / 64];
    while found_empty < EVENTS && asked < ASKED_MAX {
        for (lo, hi) in &mut ranges {
            *lo = random.below(layers.key_max() - (width - 1));
            *hi = *lo + (width - 1);
        }
        bloomrf::range_many(kernel, layers, &hashed, &top, &ranges, 256, &mut found);
        asked += ranges.len() as u64;
        for (place, &(lo, hi)) in ranges.iter().enumerate() {
            if found[place / 64] >> (place % 64) & 1 == 1 {
                let next = keys.partition_point(|&key| key < lo);
                let holds = keys.get(next).is_some_and(|&key| key <= hi);
                (found_empty, found_full) =
                    (found_empty + u64::from(!holds), found_full + u64::from(holds));
            }
        }
    }
    // No range with a key is ever lost, so the others are empty.
    (found_empty as f64 / (asked - found_full) as f64, found_empty)
}

#[test]
fn kernels_keep_to_the_model_at_every_width() {
    let mut random = Splitmix::of("kernels_keep_to_the_model_at_every_width");
    for bits in [64, 48, 32] {
        let layers = layers_for(bits, random.next());
        for width in [1, 16, 256, 4_096, 65_536] {
            // 12 bits a key: rates that 12 million questions can tell apart.
            let words = KEYS * 12 / 64;
            let (rate, events) = rate(Kernel::best(), &layers, words, width, &mut random);
            let expected = fpr(&layers, words, KEYS as u64, width);
            let off = rate / expected - 1.0;
            println!(
                "{bits} bits, width {width}: {rate:.3e} ({events} events), model {expected:.3e}, \
                 off {:+.1} %",
                100.0 * off
            );
            assert!(events >= EVENTS && off.abs() <= 0.05, "{bits} bits, width {width}");
        }
    }
}
