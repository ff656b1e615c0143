//! Filters from which items can be taken back, against what others do: ns an item.
//!
//! Counting: one line an item (ours) against counters anywhere in the table, one item at a time,
//! as the usual layout has it (k counters an item in a table of 4-bit counters; written here from
//! that description). Cuckoo: against the crate `cuckoofilter` (feature `peers`). Prints CSV: the
//! quietest of some rounds, each over fresh filters. `--quick` or a test run: small ones only.

use std::hint::black_box;
use std::time::Instant;

use bloomrf_bench::uniform;
use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::{Kernel, counting, cuckoo};

const BITS_PER_ITEM: usize = 40;

fn main() {
    let is_quick = !std::env::args().any(|arg| arg == "--bench")
        || std::env::args().any(|arg| arg == "--quick");
    let sizes: &[usize] = if is_quick { &[20_000] } else { &[100_000, 6_700_000] };
    let rounds = if is_quick { 1 } else { 3 };
    println!("filter,items,insert_ns,present_ns,absent_ns,remove_ns");
    for &n in sizes {
        let hashes = uniform(7, 64, 4 * n);
        let pairs: Vec<Hash128> =
            hashes.chunks_exact(2).map(|pair| Hash128 { lo: pair[0], hi: pair[1] }).collect();
        let (items, others) = pairs.split_at(n);
        row("counting, a line an item", n, rounds, || blocked(items, others));
        row("counting, anywhere", n, rounds, || anywhere(items, others));
        row("cuckoo", n, rounds, || cuckoos(items, others));
        #[cfg(feature = "peers")]
        row("cuckoofilter crate", n, rounds, || peer(items, others));
    }
}

fn row(name: &str, n: usize, rounds: usize, mut run: impl FnMut() -> [f64; 4]) {
    let mut best = [f64::MAX; 4];
    for _ in 0..rounds {
        best.iter_mut().zip(run()).for_each(|(best, now)| *best = best.min(now));
    }
    let [insert, present, absent, remove] = best.map(|seconds| seconds * 1e9 / n as f64);
    println!("{name},{n},{insert:.1},{present:.1},{absent:.1},{remove:.1}");
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn blocked(items: &[Hash128], others: &[Hash128]) -> [f64; 4] {
    let kernel = Kernel::best();
    // Not zero, so that every page is there before the clock runs.
    let mut blocks = vec![1; (items.len() * BITS_PER_ITEM).div_ceil(512) * 8];
    black_box(&mut blocks).fill(0);
    let mut answers = vec![0; items.len().div_ceil(64)];
    [
        seconds(|| _ = black_box(counting::insert_many(kernel, 6, &mut blocks, items))),
        seconds(|| counting::contains_many(kernel, 6, &blocks, items, black_box(&mut answers))),
        seconds(|| counting::contains_many(kernel, 6, &blocks, others, black_box(&mut answers))),
        seconds(|| {
            _ = black_box(counting::remove_many(kernel, 6, &mut blocks, items, &mut answers));
        }),
    ]
}

/// Counters of an item, anywhere in the table: the rate is best with seven at 40 bits an item.
fn spread(counters: u64, item: Hash128) -> impl Iterator<Item = (usize, u32)> {
    (0..7u64).map(move |i| {
        let hash = item.lo.wrapping_add(i.wrapping_mul(item.hi | 1));
        let at = ((u128::from(hash) * u128::from(counters)) >> 64) as u64;
        ((at / 16) as usize, (at % 16) as u32 * 4)
    })
}

fn anywhere(items: &[Hash128], others: &[Hash128]) -> [f64; 4] {
    let mut words = vec![1u64; (items.len() * BITS_PER_ITEM).div_ceil(64)];
    black_box(&mut words).fill(0);
    let counters = words.len() as u64 * 16;
    let ask = |words: &[u64], items: &[Hash128]| {
        let holds = |item: &&Hash128| {
            spread(counters, **item).all(|(word, shift)| words[word] >> shift & 15 != 0)
        };
        black_box(items.iter().filter(holds).count());
    };
    let insert = seconds(|| {
        for &item in items {
            for (word, shift) in spread(counters, item) {
                words[word] += u64::from(words[word] >> shift & 15 != 15) << shift;
            }
        }
    });
    let (present, absent) = (seconds(|| ask(&words, items)), seconds(|| ask(&words, others)));
    let remove = seconds(|| {
        for &item in items {
            for (word, shift) in spread(counters, item) {
                words[word] -= u64::from(!matches!(words[word] >> shift & 15, 0 | 15)) << shift;
            }
        }
    });
    [insert, present, absent, remove]
}

fn cuckoos(items: &[Hash128], others: &[Hash128]) -> [f64; 4] {
    let kernel = Kernel::best();
    let mut buckets = vec![1; items.len().div_ceil(4) * 20 / 19 + 1];
    black_box(&mut buckets).fill(0);
    let mut answers = vec![0; items.len().div_ceil(64)];
    [
        seconds(|| _ = black_box(cuckoo::insert_many(kernel, &mut buckets, items, &mut answers))),
        seconds(|| cuckoo::contains_many(kernel, &buckets, items, black_box(&mut answers))),
        seconds(|| cuckoo::contains_many(kernel, &buckets, others, black_box(&mut answers))),
        seconds(|| {
            for &item in items {
                black_box(cuckoo::remove(&mut buckets, item));
            }
        }),
    ]
}

/// At its default hasher and a power of two of buckets: often at a lower load than ours.
#[cfg(feature = "peers")]
fn peer(items: &[Hash128], others: &[Hash128]) -> [f64; 4] {
    type Peer = cuckoofilter::CuckooFilter<std::hash::DefaultHasher>;
    let mut filter: Peer = cuckoofilter::CuckooFilter::with_capacity(items.len());
    let count = |filter: &Peer, items: &[Hash128]| {
        black_box(items.iter().filter(|item| filter.contains(&item.lo)).count());
    };
    [
        seconds(|| items.iter().for_each(|item| _ = black_box(filter.add(&item.lo)))),
        seconds(|| count(&filter, items)),
        seconds(|| count(&filter, others)),
        seconds(|| items.iter().for_each(|item| _ = black_box(filter.delete(&item.lo)))),
    ]
}
