//! What the memory allows: independent, prefetched accesses to random lines, with nothing computed.
//!
//! A point lookup reads one line and an insert reads and writes one, so no kernel can be faster
//! than these loops in the same run, on the same pages, except by luck of the look-ahead: the best
//! of several depths and hints counts. While the lines fit the L2, computing is the limit instead.

use std::hint::black_box;

use bloomrf_bench::Splitmix;
use bloomrf_bench::record::Record;
use bloomrf_bench::rounds::{Row, Samples, Timing};
use bloomrf_kernels::arena::{Arena, Words};

use crate::raw::{Line, prefetch};

/// Accesses of one timed call: their indices are 32 KiB.
const ACCESSES: usize = 8_192;

/// `_MM_HINT_T0`, `_MM_HINT_T1`: into L1, into L2.
const T0: i32 = 3;
const T1: i32 = 2;

type Read = fn(&[Line], &[u32]) -> u64;
type Write = fn(&mut [Line], &[u32], u64) -> u64;

const READS: [(&str, Read); 6] = [
    ("no prefetch", |lines, at| at.iter().fold(0, |sum, &i| sum ^ lines[i as usize][0])),
    ("T0 16 ahead", read::<T0, 16>),
    ("T0 32 ahead", read::<T0, 32>),
    ("T0 64 ahead", read::<T0, 64>),
    ("T1 64 ahead", read::<T1, 64>),
    ("T1 128 ahead", read::<T1, 128>),
];

/// All of a line, as a block of 512 bits is read.
const WHOLE: [(&str, Read); 3] = [
    ("T0 32 ahead", whole::<T0, 32>),
    ("T1 64 ahead", whole::<T1, 64>),
    ("T1 128 ahead", whole::<T1, 128>),
];

const WRITES: [(&str, Write); 4] = [
    ("T0 16 ahead", write::<T0, 16>),
    ("T0 32 ahead", write::<T0, 32>),
    ("T0 64 ahead", write::<T0, 64>),
    ("T1 128 ahead", write::<T1, 128>),
];

fn read<const HINT: i32, const AHEAD: usize>(lines: &[Line], at: &[u32]) -> u64 {
    let mut sum = 0;
    for (&now, &later) in at.iter().zip(&at[AHEAD..]) {
        prefetch::<HINT>(&lines[later as usize]);
        sum ^= lines[now as usize][0];
    }
    at[at.len() - AHEAD..].iter().fold(sum, |sum, &i| sum ^ lines[i as usize][0])
}

fn whole<const HINT: i32, const AHEAD: usize>(lines: &[Line], at: &[u32]) -> u64 {
    let mut sum = [0; 8];
    let mut add = |line: &Line| sum.iter_mut().zip(line).for_each(|(sum, word)| *sum ^= word);
    for (&now, &later) in at.iter().zip(&at[AHEAD..]) {
        prefetch::<HINT>(&lines[later as usize]);
        add(&lines[now as usize]);
    }
    at[at.len() - AHEAD..].iter().for_each(|&i| add(&lines[i as usize]));
    sum.iter().fold(0, |all, word| all ^ word)
}

fn write<const HINT: i32, const AHEAD: usize>(lines: &mut [Line], at: &[u32], bit: u64) -> u64 {
    for (&now, &later) in at.iter().zip(&at[AHEAD..]) {
        prefetch::<HINT>(&lines[later as usize]);
        lines[now as usize][0] |= bit;
    }
    at[at.len() - AHEAD..].iter().for_each(|&i| lines[i as usize][0] |= bit);
    bit
}

/// The limit of one filter size, measured in the rounds of the contest.
pub(crate) struct Limit {
    words: Words,
    reads: [Samples; READS.len()],
    whole: [Samples; WHOLE.len()],
    writes: [Samples; WRITES.len()],
    random: Splitmix,
}

impl Limit {
    /// Blocks that it takes from the arena.
    pub(crate) const BLOCKS: usize = 1;

    pub(crate) fn new(arena: &Arena, bytes: usize) -> Option<Self> {
        let words = arena.words(bytes / 8)?;
        let (reads, whole) = (Default::default(), Default::default());
        let (writes, random) = (Default::default(), Splitmix::new(99));
        Some(Limit { words, reads, whole, writes, random })
    }

    /// One round: `calls` calls of every variant.
    pub(crate) fn round(&mut self, calls: usize) {
        let (lines, _) = self.words.as_chunks_mut::<8>();
        let mut at = vec![0; ACCESSES];
        let mut draw = |at: &mut [u32], lines: usize| {
            for slot in at {
                *slot = ((u128::from(self.random.draw()) * lines as u128) >> 64) as u32;
            }
        };
        let reads = READS.iter().zip(&mut self.reads);
        for ((_, read), samples) in reads.chain(WHOLE.iter().zip(&mut self.whole)) {
            for _ in 0..calls {
                draw(&mut at, lines.len());
                samples.time(ACCESSES, || read(lines, &at));
            }
        }
        for ((_, write), samples) in WRITES.iter().zip(&mut self.writes) {
            for _ in 0..calls {
                draw(&mut at, lines.len());
                samples.time(ACCESSES, || write(lines, &at, black_box(1)));
            }
        }
    }

    /// Records all variants and, as `best`, the quietest of them.
    pub(crate) fn record(&self, case: &str, record: &mut Record) -> Result<(), String> {
        let reads = READS.iter().map(|(name, _)| *name).zip(&self.reads).collect();
        let writes = WRITES.iter().map(|(name, _)| *name).zip(&self.writes).collect();
        let whole = WHOLE.iter().map(|(name, _)| *name).zip(&self.whole).collect();
        let all: [(&str, Vec<(&str, &Samples)>); 3] =
            [("read", reads), ("read whole", whole), ("write", writes)];
        for (measure, variants) in all {
            let mut best: Option<(&str, Timing)> = None;
            for (name, samples) in variants {
                let timing = samples.timing();
                record.push(Row::timing("limit", case, name, measure, timing))?;
                if best.is_none_or(|(_, best)| timing.quiet < best.quiet) {
                    best = Some((name, timing));
                }
            }
            if let Some((name, timing)) = best {
                record.push(Row::timing("limit", case, "best", measure, timing))?;
                println!("  limit: a random line, {measure}: {:.2} ns ({name})", timing.quiet);
            }
        }
        Ok(())
    }
}
