//! Layer sets, sizes and keys that every test of the bloomRF kernels runs through.

use bloomrf_kernels::Layers;
use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::scalar::bitmap;

use crate::seeded::Splitmix;

/// The sets of the column types, and odd ones: one layer, all widths alike, 1 to 8 layers.
pub(crate) fn layer_sets(seed: u64) -> Vec<Layers> {
    let odd: [(u8, &[u8], bool); 14] = [
        (64, &[1], false),
        (64, &[7], false),
        (64, &[7, 7], false),
        (64, &[3, 5, 7], false),
        (64, &[7; 8], false),
        (64, &[1; 8], false),
        (64, &[7, 7, 7, 7, 7, 7, 7], false),
        (48, &[2, 2, 2, 2, 2, 6], false),
        (40, &[7, 4, 2, 2], false),
        (14, &[7, 7], false),
        (32, &[7, 4, 2, 2, 1], true),
        (32, &[2; 8], true),
        (32, &[7, 7, 2], true),
        (32, &[7, 7, 7, 7, 4], false),
    ];
    let typed = [20, 32, 35, 48, 64].map(|bits| layers_for(bits, seed));
    let odd = odd.map(|(bits, widths, top)| Layers::new(bits, widths, top, seed).expect("valid"));
    typed.into_iter().chain(odd).collect()
}

/// Words of the exact top, if the layers have one.
pub(crate) fn top_of(layers: &Layers) -> Vec<u64> {
    vec![0; if layers.has_exact_top() { bitmap::WORDS_16 } else { 0 }]
}

/// How the keys of a column lie beside each other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    Uniform,
    Sorted,
    Ticks,
    Constant,
    Alternating,
    Runs,
    Extreme,
}

pub(crate) const COLUMNS: [Column; 7] = [
    Column::Uniform,
    Column::Sorted,
    Column::Ticks,
    Column::Constant,
    Column::Alternating,
    Column::Runs,
    Column::Extreme,
];

/// `count` keys of the domain of `layers`.
pub(crate) fn keys_of(
    column: Column,
    layers: &Layers,
    count: usize,
    random: &mut Splitmix,
) -> Vec<u64> {
    let max = layers.key_max();
    let unused = 64 - u32::from(layers.domain_bits());
    let (a, b) = (random.next() >> unused, random.next() >> unused);
    let extremes = [0, max, max / 2, max / 2 + 1, 1, max - 1, 63, 64];
    let mut keys: Vec<u64> = (0..count as u64)
        .map(|i| match column {
            Column::Uniform | Column::Sorted => random.next() >> unused,
            Column::Ticks => a.wrapping_add(67 * i) & max,
            Column::Constant => a,
            Column::Alternating => [a, b][i as usize % 2],
            Column::Runs => a.wrapping_add(i / 13 * 1_000 + random.below(3)) & max,
            Column::Extreme => extremes[random.below(8) as usize],
        })
        .collect();
    if matches!(column, Column::Sorted) {
        keys.sort_unstable();
    }
    keys
}
