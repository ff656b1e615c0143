//! What an insert and a lookup cost on this machine, of each kind that is there to be measured.
//!
//! A filter of the planned size is made, and its bits are set at random to the share that they
//! will have: a filter of 10^9 items is as full in a second. Each row takes half a second beside
//! that; rows above [`BYTES_MAX`], or half of the memory that is free, are left out.

use std::collections::HashSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bloomrf_filter::plan::{Plan, Shape, Structure};
use bloomrf_filter::{Blocked, Classic, HashRule, Presence, SplitBlock};
use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::{Kernel, bloomrf, params};

use crate::progress;

/// Of one item, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timing {
    pub(super) insert_ns: f64,
    pub(super) lookup_ns: f64,
}

/// Measures every row that can be; `None` for the others.
pub(super) fn rows(plan: &Plan, hidden: bool) -> Vec<Option<Timing>> {
    let bar = progress::bar("measure", plan.rows.len() as u64, hidden);
    let most = BYTES_MAX.min(free_bytes() / 2);
    let timings = plan.rows.iter().map(|row| {
        let shape = row.shape.ok().filter(|shape| shape.bytes() <= most);
        let timing = shape.and_then(|shape| of(&shape));
        bar.inc(1);
        timing
    });
    let timings = timings.collect();
    bar.finish_and_clear();
    timings
}

fn of(shape: &Shape) -> Option<Timing> {
    let (k, items) = (shape.k, shape.items);
    let fill = 1.0 - (-f64::from(k) * items as f64 / shape.bits as f64).exp();
    let words = || random_words(shape.bits, fill);
    match shape.structure {
        Structure::Classic => of_filter(Classic::from_parts(k, shape.bits, words(), items, 0)?),
        Structure::Blocked => of_filter(Blocked::from_parts(k, words(), items, 0)?),
        Structure::SplitBlock => of_filter(SplitBlock::from_parts(words(), items, 0)?),
        Structure::BloomrfPoints => {
            of_bloomrf(shape, words(), |kernel, layers, words, top, keys| {
                let mut found = [0; STEP / 64];
                bloomrf::contains_many(kernel, layers, words, top, keys, &mut found);
                black_box(&found);
            })
        }
        Structure::BloomrfRanges => {
            let last = shape.keys.range_width - 1;
            of_bloomrf(shape, words(), |kernel, layers, words, top, keys| {
                let mut ranges = [(0, 0); STEP];
                for (range, key) in ranges.iter_mut().zip(keys) {
                    *range = (*key, key.saturating_add(last));
                }
                let mut found = [0; STEP / 64];
                bloomrf::range_many(kernel, layers, words, top, &ranges, PROBES_MAX, &mut found);
                black_box(&found);
            })
        }
        Structure::HashSet if items <= SET_ITEMS_MAX && shape.keys.item_bytes.is_none() => {
            Some(of_set(items))
        }
        _ => None,
    }
}

fn of_filter<F: Presence>(mut filter: F) -> Option<Timing> {
    let hash = |keys: &[u64; STEP]| -> [Hash128; STEP] {
        keys.map(|key| HashRule::Native { seed: 1 }.hash(&key.to_le_bytes()))
    };
    let lookup_ns = timed(|keys| {
        let mut found = [0; STEP / 64];
        filter.contains_many(&hash(keys), &mut found);
        black_box(&found);
    });
    let insert_ns = timed(|keys| {
        black_box(filter.insert_many(&hash(keys)));
    });
    Some(Timing { insert_ns, lookup_ns })
}

type Layers = bloomrf_kernels::Layers;

fn of_bloomrf(
    shape: &Shape,
    mut words: Vec<u64>,
    ask: impl Fn(Kernel, &Layers, &[u64], &[u64], &[u64; STEP]),
) -> Option<Timing> {
    let (kernel, layers) = (Kernel::best(), params::layers_for(shape.keys.key_bits, 1));
    let mut top = if layers.has_exact_top() { vec![0; 1_024] } else { Vec::new() };
    words.truncate(words.len().checked_sub(top.len()).filter(|length| *length > 0)?);
    let shift = 64 - u32::from(shape.keys.key_bits);
    let narrow = |keys: &[u64; STEP]| keys.map(|key| key >> shift);
    let lookup_ns = timed(|keys| ask(kernel, &layers, &words, &top, &narrow(keys)));
    let insert_ns = timed(|keys| {
        bloomrf::insert_many(kernel, &layers, &mut words, &mut top, &narrow(keys));
    });
    Some(Timing { insert_ns, lookup_ns })
}

fn of_set(items: u64) -> Timing {
    let mut dice = Dice(7);
    let mut set: HashSet<u64> = HashSet::with_capacity(items as usize);
    set.extend((0..items).map(|_| dice.roll()));
    let lookup_ns = timed(|keys| {
        black_box(keys.iter().filter(|key| set.contains(*key)).count());
    });
    // Taken back at once, so that it stays as full as it is.
    let insert_ns = timed_by(|keys| {
        let began = Instant::now();
        set.extend(keys);
        let taken = began.elapsed();
        keys.iter().for_each(|key| {
            set.remove(key);
        });
        taken
    });
    Timing { insert_ns, lookup_ns }
}

/// Nanoseconds an item, the median of steps of [`STEP`] random keys.
fn timed(mut step: impl FnMut(&[u64; STEP])) -> f64 {
    timed_by(|keys| {
        let began = Instant::now();
        step(keys);
        began.elapsed()
    })
}

/// The same of steps that say themselves how long they took.
fn timed_by(mut step: impl FnMut(&[u64; STEP]) -> Duration) -> f64 {
    let mut dice = Dice(3);
    let mut steps: Vec<Duration> = Vec::new();
    let began = Instant::now();
    while steps.len() < STEPS_MIN || began.elapsed() < SPAN && steps.len() < STEPS_MAX {
        let keys: [u64; STEP] = std::array::from_fn(|_| dice.roll());
        steps.push(step(&keys));
    }
    steps.sort_unstable();
    steps[steps.len() / 2].as_nanos() as f64 / STEP as f64
}

/// Words of so many bits, a share of `fill` of them set.
fn random_words(bits: u64, fill: f64) -> Vec<u64> {
    let mut dice = Dice(11);
    // Binary digits of the share, last first: AND halves the share of set bits, OR the unset.
    let digits = (fill.clamp(0.0, 1.0) * 256.0).min(255.0) as u32;
    let mut word = || {
        (0..8).fold(0, |word, digit| {
            if digits >> digit & 1 == 1 { word | dice.roll() } else { word & dice.roll() }
        })
    };
    let mut words: Vec<u64> = (0..bits.div_ceil(64)).map(|_| word()).collect();
    if let (Some(last), 1..) = (words.last_mut(), bits % 64) {
        *last &= (1 << (bits % 64)) - 1;
    }
    words
}

/// splitmix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }
}

/// Memory that the system says is free; all there can be where it does not say.
fn free_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.map_or(u64::MAX, |kib| kib.saturating_mul(1024))
}

/// Items of a call.
const STEP: usize = 1_024;
/// How long one measurement takes.
const SPAN: Duration = Duration::from_millis(250);
const STEPS_MIN: usize = 5;
const STEPS_MAX: usize = 100_000;
/// Filters above this are not measured.
const BYTES_MAX: u64 = 1 << 30;
/// Sets above this are not measured: they would take too long to fill.
const SET_ITEMS_MAX: u64 = 5_000_000;
/// Words that one range may read.
const PROBES_MAX: u32 = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_words_are_as_full_as_asked_for_and_end_where_they_end() {
        for fill in [0.0, 0.2, 0.5, 0.9, 1.0] {
            let words = random_words(64_000 - 7, fill);
            let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
            assert!((f64::from(ones) / 64_000.0 - fill).abs() < 0.01, "{fill}: {ones}");
            assert_eq!(words[999] >> 57, 0);
        }
    }
}
