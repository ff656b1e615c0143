//! Golden words: what every kernel set writes today is what stored filters of old hold.

use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::{Kernel, bloomrf};

use crate::bloomrf_sets::top_of;

/// Words of the golden filters.
const WORDS: usize = 30;

/// The filter of a few keys of `bits` bits under a fixed seed: hashed words, then the words of the
/// exact top that are not zero with their index; sixteen digits a word.
fn text(kernel: Kernel, bits: u8) -> String {
    let layers = layers_for(bits, 0x5EED_0F00);
    let max = layers.key_max();
    let mut keys = vec![0, 1, 63, 64, max / 3, max / 2, max / 2 + 1, max - 1, max];
    keys.extend((0..40).map(|i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) & max));
    let (mut hashed, mut top) = (vec![0; WORDS], top_of(&layers));
    bloomrf::insert_many(kernel, &layers, &mut hashed, &mut top, &keys);
    let mut text: String = hashed.iter().map(|word| format!("{word:016x}\n")).collect();
    for (index, word) in top.iter().enumerate().filter(|(_, word)| **word != 0) {
        text += &format!("top {index} {word:016x}\n");
    }
    text
}

#[test]
fn every_kernel_writes_the_golden_words() {
    for (bits, golden) in [
        (32, include_str!("../golden/bloomrf_32.txt")),
        (48, include_str!("../golden/bloomrf_48.txt")),
        (64, include_str!("../golden/bloomrf_64.txt")),
    ] {
        for kernel in Kernel::all() {
            assert_eq!(text(kernel, bits), golden, "{kernel}, {bits} bits");
        }
    }
}
