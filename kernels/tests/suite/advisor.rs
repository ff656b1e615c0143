//! The advice measured: filters by the advised layers against filters by the usual ones.

use bloomrf_kernels::advisor::{AskedWidths, advise};
use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::scalar::{bitmap, bloomrf};
use bloomrf_kernels::{Answer, Layers};

use crate::seeded::Splitmix;

const KEYS: usize = 65_536;
const WORDS: usize = 32_768;
const ASKED: u64 = 400_000;

/// False positives among `ASKED` random ranges of `width` keys.
fn found(layers: &Layers, width: u64, random: &mut Splitmix) -> u64 {
    let shift = 64 - u32::from(layers.domain_bits());
    let mut keys: Vec<u64> = (0..KEYS).map(|_| random.next() >> shift).collect();
    let mut hashed = vec![0; WORDS];
    let mut top = vec![0; if layers.has_exact_top() { bitmap::WORDS_16 } else { 0 }];
    bloomrf::insert_many(layers, &mut hashed, &mut top, &keys);
    keys.sort_unstable();
    let mut found = 0;
    for _ in 0..ASKED {
        let lo = random.below(layers.key_max() - (width - 1));
        let hi = lo + (width - 1);
        let next = keys.partition_point(|&key| key < lo);
        let is_empty = keys.get(next).is_none_or(|&key| key > hi);
        let answer = bloomrf::range(layers, &hashed, &top, lo, hi, u32::MAX);
        found += u64::from(is_empty && answer == Answer::Maybe);
    }
    found
}

#[test]
fn advised_layers_have_fewer_false_positives_where_the_model_says_so() {
    let mut random = Splitmix::of("advised_layers_have_fewer_false_positives");
    for (bits, width) in [(32, 1), (48, 1 << 20)] {
        let mut asked = AskedWidths::default();
        asked.observe(width, 1);
        let advice = advise(bits, WORDS, KEYS as u64, &asked, 7);
        let advised = found(&advice.layers, width, &mut random);
        let usual = found(&layers_for(bits, 7), width, &mut random);
        println!("{bits} bits, width {width}: {advised} against {usual} of {ASKED}");
        assert!((advised as f64) < 0.7 * usual as f64, "{bits} bits: {advised} against {usual}");
    }
}
