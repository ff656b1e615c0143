//! The probes of an item: even, independent of each other, as many distinct ones as chance has it,
//! and not those of another item.

use bloomrf_kernels::classic;
use bloomrf_kernels::hash::Hash128;

use crate::is_full;
use crate::rule::{DOUBLED, OURS, Rule, SIGMAS};
use crate::seeded::{Splitmix, mixed};
use crate::shapes::{self, HASHED, NUMBERS, Shape};

/// Probes of an item at 1e-9.
const K: u32 = 30;

fn asked() -> u64 {
    if is_full() { 1_000_000 } else { 6_000 }
}

/// Items of a shape, from somewhere.
fn some(shape: &Shape, count: u64, random: &mut Splitmix) -> Vec<Hash128> {
    let start = random.below(NUMBERS - count);
    (start..start + count).map(shape.item).collect()
}

/// Any two probes of an item that both lie in a random half of all bits.
fn pairs(rule: Rule, items: &[Hash128], bits: u64, salt: u64) -> Result<(), String> {
    let is_set = |at: u64| mixed(at ^ salt) >> 63 == 1;
    let fill = if bits > 1 << 20 {
        0.5
    } else {
        (0..bits).filter(|&at| is_set(at)).count() as f64 / bits as f64
    };
    let mut both = vec![[0u32; K as usize]; K as usize];
    for &item in items {
        let mut set = (0..K).filter(|&i| is_set(rule(item, i, bits))).collect::<Vec<u32>>();
        while let Some(last) = set.pop() {
            set.iter().for_each(|&i| both[i as usize][last as usize] += 1);
        }
    }
    let (share, count) = (fill * fill, items.len() as f64);
    let limit = SIGMAS * (count * share * (1.0 - share)).sqrt();
    for (i, both) in both.iter().enumerate() {
        for (j, &both) in both.iter().enumerate().skip(i + 1) {
            let off = f64::from(both) - count * share;
            if off.abs() > limit {
                return Err(format!("probes {i} and {j} are set together {off:+.0} of {count}"));
            }
        }
    }
    Ok(())
}

/// Distinct bits of an item, in the mean and in their spread.
fn distinct(rule: Rule, items: &[Hash128], bits: u64) -> Result<(), String> {
    let (mut sum, mut squares) = (0.0, 0.0);
    for &item in items {
        let mut places: Vec<u64> = (0..K).map(|i| rule(item, i, bits)).collect();
        places.sort_unstable();
        places.dedup();
        let lost = f64::from(K) - places.len() as f64;
        (sum, squares) = (sum + lost, squares + lost * lost);
    }
    let (count, m, k) = (items.len() as f64, bits as f64, f64::from(K));
    let expected = k - m * (1.0 - (1.0 - 1.0 / m).powf(k));
    let load = k / m;
    let variance = m * ((-load).exp() - (1.0 + load) * (-2.0 * load).exp());
    let off = sum - count * expected;
    if off.abs() > SIGMAS * (count * variance).sqrt() + 4.0 {
        return Err(format!("{:.4} of {k} bits are lost, not {expected:.4}", sum / count));
    }
    let spread = squares / count - (sum / count).powi(2);
    if spread > 1.3 * variance + 40.0 / count {
        return Err(format!("lost bits vary by {spread:.4}, not {variance:.4}"));
    }
    Ok(())
}

/// Each probe of an item, over 64 cells of equal size.
fn evenness(rule: Rule, items: &[Hash128], bits: u64) -> Result<(), String> {
    for i in 0..K {
        let mut cells = [0u64; 64];
        for &item in items {
            cells[((u128::from(rule(item, i, bits)) * 64) / u128::from(bits)) as usize] += 1;
        }
        let mean = items.len() as f64 / 64.0;
        let chi: f64 = cells.iter().map(|&n| (n as f64 - mean).powi(2) / mean).sum();
        // 63 degrees of freedom. Sequences may be more even than chance, as far as the rate goes.
        if chi > 63.0 + 7.0 * 126f64.sqrt() {
            return Err(format!("probe {i} is uneven: chi-square {chi:.0} of 63"));
        }
    }
    Ok(())
}

#[test]
fn the_probes_of_an_item_are_even_independent_and_distinct() {
    let mut random = Splitmix::of("the_probes_of_an_item_are_even_independent_and_distinct");
    for shape in shapes::all() {
        for bits in [64 * 31, 64 * 336, (1 << 32) + 1, 28_755_175_133] {
            let items = some(shape, asked(), &mut random);
            pairs(OURS, &items, bits, random.next())
                .and_then(|()| distinct(OURS, &items, bits))
                .and_then(|()| evenness(OURS, &items, bits))
                .unwrap_or_else(|why| panic!("{}, {bits} bits: {why}", shape.name));
        }
    }
}

#[test]
fn no_step_repeats_a_probe() {
    // Steps of few bits, which a multiple would soon bring back to 0.
    for shift in [0, 31, 32, 58, 59, 60, 61, 62, 63] {
        for lo in [0, 1, 1 << 63] {
            for hi in [0u64, 1 << shift, 3 << shift, u64::MAX << shift] {
                let item = Hash128 { lo, hi };
                let mut places: Vec<u64> =
                    classic::probes(classic::K_MAX, classic::BITS_MAX, item).collect();
                places.sort_unstable();
                places.dedup();
                assert_eq!(places.len(), classic::K_MAX as usize, "{item:x?}");
            }
        }
    }
}

#[test]
fn plain_double_hashing_shows_its_dependent_probes() {
    let mut random = Splitmix::of("plain_double_hashing_shows_its_dependent_probes");
    let items = some(&HASHED[0], 6_000, &mut random);
    // 50 items at 5e-10, as a format with this rule makes it.
    let lost = distinct(DOUBLED, &items, 64 * 35);
    assert!(lost.is_err(), "shared factors of the step and the size cost distinct bits");
    println!("{}", lost.unwrap_err());
}

#[test]
fn two_items_share_no_more_bits_than_chance_has_it() {
    let mut random = Splitmix::of("two_items_share_no_more_bits_than_chance_has_it");
    // 5 * 10^8 items at 1e-12.
    let (bits, k) = (28_755_175_133u64, 40u32);
    let count = if is_full() { 200_000 } else { 4_000 };
    for shape in shapes::all() {
        let items = some(shape, count, &mut random);
        let mut places: Vec<(u64, usize)> = Vec::new();
        for (number, &item) in items.iter().enumerate() {
            places.extend(classic::probes(k, bits, item).map(|at| (at, number)));
        }
        places.sort_unstable();
        let mut shared: Vec<(usize, usize)> = Vec::new();
        for pair in places.windows(2) {
            if pair[0].0 == pair[1].0 {
                shared.push((pair[0].1, pair[1].1));
            }
        }
        let all = places.len() as f64;
        let expected = all * all / 2.0 / bits as f64;
        let limit = expected + SIGMAS * expected.sqrt() + 6.0;
        let name = shape.name;
        assert!((shared.len() as f64) < limit, "{name}: {} of {expected:.1}", shared.len());
        let before = shared.len();
        shared.sort_unstable();
        shared.dedup();
        assert!(before - shared.len() <= 1, "{name}: items that share two bits or more");
    }
}
