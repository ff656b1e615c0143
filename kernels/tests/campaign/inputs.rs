//! Keys, ranges, words and layer sets, extreme ones among them.

use bloomrf_kernels::Layers;
use bloomrf_kernels::params::layers_for;

use crate::case::Case;

/// `count` keys of up to `bits` bits: uniform, sorted, ticking, repeated, in runs, extreme.
pub(crate) fn keys(case: &mut Case<'_>, count: usize, bits: u32) -> Vec<u64> {
    let max = u64::MAX >> (64 - bits);
    let (a, b) = (case.next() & max, case.next() & max);
    let step = case.next() >> case.below(63) & max;
    let kind = case.below(9);
    let mut keys: Vec<u64> = (0..count as u64)
        .map(|i| match kind {
            0..3 => case.next() & max,
            3 => a.wrapping_add(step.wrapping_mul(i)) & max,
            4 => [a, a, b, a][i as usize % 4],
            5 => a.wrapping_add(i / 13 * 1_000 + case.next() % 3) & max,
            6 => extreme(case, bits),
            // Clustered at every scale.
            7 => case.next() & max & (u64::MAX >> case.below(64)),
            _ => match case.below(4) {
                0 => extreme(case, bits),
                1 => a.wrapping_add(case.next() % 200) & max,
                _ => case.next() & max,
            },
        })
        .collect();
    if kind == 0 || case.once_in(8) {
        keys.sort_unstable();
    }
    keys
}

/// 0, the largest key, the sign bit, powers of two, and their neighbours.
pub(crate) fn extreme(case: &mut Case<'_>, bits: u32) -> u64 {
    let max = u64::MAX >> (64 - bits);
    let power = 1u64 << case.below(bits as usize);
    let near = case.one_of(&[0, 1, u64::MAX]);
    case.one_of(&[0, max, power, max / 2, max / 2 + 1, power - 1, !power]).wrapping_add(near) & max
}

/// Words as filters have them: empty, full, sparse, dense, random.
pub(crate) fn words(case: &mut Case<'_>, count: usize) -> Vec<u64> {
    let kind = case.below(7);
    let word = |case: &mut Case<'_>| match kind {
        0 => 0,
        1 => u64::MAX,
        2 => case.next() & case.next() & case.next(),
        3 => case.next() | case.next(),
        4 => extreme(case, 64),
        _ => case.next(),
    };
    (0..count).map(|_| word(case)).collect()
}

/// A range that starts, ends or lies near one of `keys`, from a point to all keys of `bits` bits;
/// its ends aligned or not, now and then swapped or past the domain.
pub(crate) fn range(case: &mut Case<'_>, keys: &[u64], bits: u32) -> (u64, u64) {
    let max = u64::MAX >> (64 - bits);
    let near = match case.below(8) {
        0 => extreme(case, bits),
        1 => case.next() & max,
        _ if keys.is_empty() => case.next() & max,
        _ => case.one_of(keys),
    };
    let span = match case.below(4) {
        0 => 0,
        1 => case.next() % 2_000,
        _ => case.next() >> (64 - bits as usize + case.below(bits as usize)),
    };
    let before = case.next() % span.saturating_add(1);
    let lo = near.saturating_sub(before);
    let hi = lo.saturating_add(span).min(max);
    let low = (1u64 << case.below(bits as usize)) - 1;
    match case.below(32) {
        0..8 => (lo & !low, (hi | low) & max),
        8..16 => (lo & !low, hi),
        16..24 => (lo, (hi | low) & max),
        24 => (hi, lo),
        25 => (lo, hi.saturating_add(case.next())),
        26 => (near, u64::MAX),
        _ => (lo, hi),
    }
}

/// The layers of a column type, or any others that can be.
pub(crate) fn layers(case: &mut Case<'_>) -> Layers {
    let seed = case.next();
    match case.below(4) {
        0 => layers_for(case.one_of(&[20, 32, 35, 48, 64]), seed),
        1 => top_layers(case, seed),
        _ => {
            let bits = 1 + case.below(64);
            let (mut widths, mut left) = (vec![], bits);
            for _ in 0..=case.below(8) {
                let width = 1 + case.below(7);
                if width > left {
                    break;
                }
                widths.push(width as u8);
                left -= width;
            }
            if widths.is_empty() {
                widths.push(1);
            }
            Layers::new(bits as u8, &widths, false, seed).expect("widths within the domain")
        }
    }
}

/// Layers below an exact top: random widths that sum to 16.
fn top_layers(case: &mut Case<'_>, seed: u64) -> Layers {
    loop {
        let (mut widths, mut left) = (vec![], 16);
        while left > 0 {
            let width = 1 + case.below(left.min(7));
            widths.push(width as u8);
            left -= width;
        }
        if let Ok(layers) = Layers::new(32, &widths, true, seed) {
            return layers;
        }
    }
}

/// A product of 2, 3 and 5, or now and then another factor; at least 1, at most `most`.
pub(crate) fn factor(case: &mut Case<'_>, most: usize) -> usize {
    let mut factor = 1;
    for _ in 0..case.below(7) {
        factor *= case.one_of(&[2, 3, 5]);
    }
    if case.once_in(8) {
        factor = 1 + case.below(most.max(1));
    }
    if (1..=most.max(1)).contains(&factor) { factor } else { 1 }
}
