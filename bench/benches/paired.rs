//! An experiment that decides a format: two neighbouring layers of a bloomRF in one cache line.
//!
//! Plain: every layer has its own word, anywhere. Paired: the line is picked by the upper layer of
//! a pair, the two words lie in it by other hash bits; four lines a key instead of eight. Prints
//! CSV: keys, layout, ns per insert (quietest round), lines touched, fill, fullest line, and the
//! false-positive rate of empty ranges at several widths. Scalar code on both sides.

use std::hint::black_box;
use std::time::Instant;

use bloomrf_bench::{Splitmix, uniform};
use bloomrf_kernels::hash::mix;
use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::{Layer, Layers};

const KEYS: usize = 65_536;
const WORDS: usize = 32_768;
const ROUNDS: usize = 9;
const ASKED: usize = 200_000;
const WIDTHS: [u64; 5] = [1, 16, 1 << 10, 1 << 20, 1 << 30];

fn main() {
    let layers = layers_for(64, 42);
    print!("keys,layout,insert_ns,fill,fullest_line");
    WIDTHS.iter().for_each(|width| print!(",fpr_{width}"));
    println!();
    for (name, keys) in columns() {
        let mut times = [f64::MAX; 2];
        let mut filters = [vec![], vec![]];
        for _ in 0..ROUNDS {
            for (paired, (best, filter)) in times.iter_mut().zip(&mut filters).enumerate() {
                let mut words = vec![0; black_box(WORDS)];
                let start = Instant::now();
                insert(&layers, &mut words, paired == 1, &keys);
                *best = best.min(start.elapsed().as_nanos() as f64 / keys.len() as f64);
                *filter = words;
            }
        }
        let mut sorted = keys;
        sorted.sort_unstable();
        for (paired, layout) in ["plain", "paired"].into_iter().enumerate() {
            let words = &filters[paired];
            let ones = |line: &[u64]| line.iter().map(|w| w.count_ones()).sum::<u32>();
            let fill = f64::from(ones(words)) / (64 * WORDS) as f64;
            let fullest = words.chunks(8).map(ones).max().unwrap_or(0);
            print!("{name},{layout},{:.1},{fill:.4},{fullest}", times[paired]);
            for width in WIDTHS {
                print!(",{:.2e}", false_positives(&layers, words, paired == 1, &sorted, width));
            }
            println!();
        }
    }
}

/// Columns as they come: spread, in a few dense runs, in clusters of every size, in steps.
fn columns() -> Vec<(&'static str, Vec<u64>)> {
    let mut random = Splitmix::new(7);
    let mut runs = |run: usize| -> Vec<u64> {
        (0..KEYS / run)
            .flat_map(|_| {
                let start = random.draw() >> 1;
                (0..run as u64).map(move |i| start + i)
            })
            .collect()
    };
    let (short, long) = (runs(256), runs(8_192));
    let near = |spread: u64| -> Vec<u64> {
        let centres = uniform(9, 63, 64);
        let mut random = Splitmix::new(spread);
        (0..KEYS).map(|i| centres[i % 64] + random.draw() % spread).collect()
    };
    let (tight, loose) = (near(1 << 14), near(1 << 24));
    vec![
        ("uniform", uniform(1, 64, KEYS)),
        ("runs of 256", short),
        ("runs of 8192", long),
        ("64 clusters of 2^14", tight),
        ("64 clusters of 2^24", loose),
        ("multiples of 4096", (0..KEYS as u64).map(|i| i * 4_096).collect()),
        ("one dense run", (0..KEYS as u64).map(|i| (1 << 40) + i).collect()),
    ]
}

/// Word and bit of interval `index` of layer `at`.
fn place(layers: &Layers, at: usize, paired: bool, words: usize, index: u64) -> (usize, u64) {
    let layer = layers.hashed()[at];
    let group = index >> (layer.width - 1);
    let h = mix(group, layer.salt);
    let bit = (index & layer.offset_max()) + (h >> 8);
    if !paired {
        return ((((h >> 32) * words as u64) >> 32) as usize, 1 << (bit & 63));
    }
    let upper: Layer = layers.hashed()[at | 1];
    let key = index << layer.start;
    let line = mix(key >> upper.word_level(), upper.salt) >> 32;
    let line = (line * (words / 8) as u64) >> 32;
    // Eight words of a line: upper and lower layer take theirs by bits of their own hash.
    (line as usize * 8 + (h >> 20) as usize % 8, 1 << (bit & 63))
}

fn insert(layers: &Layers, words: &mut [u64], paired: bool, keys: &[u64]) {
    for &key in keys {
        for at in 0..layers.hashed().len() {
            let index = key >> layers.hashed()[at].start;
            let (word, bit) = place(layers, at, paired, words.len(), index);
            words[word] |= bit;
        }
    }
}

/// The two-path search, told as a recursion: an interval inside the range settles it.
fn found(layers: &Layers, words: &[u64], paired: bool, at: usize, lo: u64, hi: u64) -> bool {
    let start = layers.hashed()[at].start;
    let low = (1u64 << start) - 1;
    (lo >> start..=hi >> start).any(|index| {
        let (word, bit) = place(layers, at, paired, words.len(), index);
        let (first, last) = (index << start, index << start | low);
        words[word] & bit != 0
            && (lo <= first && last <= hi
                || found(layers, words, paired, at - 1, lo.max(first), hi.min(last)))
    })
}

/// Rate among empty ranges: half of them anywhere, half of them within 2^20 of a key.
fn false_positives(
    layers: &Layers,
    words: &[u64],
    paired: bool,
    sorted: &[u64],
    width: u64,
) -> f64 {
    let mut random = Splitmix::new(width);
    let (mut empty, mut wrong) = (0, 0);
    for i in 0..ASKED {
        let key = sorted[random.draw() as usize % sorted.len()];
        let lo = match i % 2 {
            0 => random.draw() >> 1,
            _ => key.saturating_add(random.draw() % (1 << 20)).min(u64::MAX >> 1),
        };
        let hi = lo + (width - 1);
        let next = sorted.partition_point(|&key| key < lo);
        if sorted.get(next).is_some_and(|&key| key <= hi) {
            continue;
        }
        empty += 1;
        let top = layers.hashed().len() - 1;
        wrong += usize::from(found(layers, words, paired, top, lo, hi));
    }
    wrong as f64 / empty as f64
}
