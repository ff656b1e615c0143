//! Classic Bloom filters on every kernel set, and shared ones, at half their bits set and seven
//! probes: in L2 and out of all caches. Hashes are ready on all sides.
//!
//! With the feature `peers`, `fastbloom` on the same bits and probes, item by item as its face has
//! it. Criterion's arguments: `cargo bench -p bloomrf-bench --bench classic --features peers --
//! --quick`.

use std::hint::black_box;

use bloomrf_bench::Splitmix;
use bloomrf_filter::{AtomicClassic, Classic};
use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::{Kernel, classic};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};

/// Items of a round; their lines are many times as many as any queue is long.
const ITEMS: usize = 16_384;

const K: u32 = 7;

/// 512 KiB and 128 MiB.
const SIZES: [(&str, u64); 2] = [("in L2", 1 << 22), ("out of cache", 1 << 30)];

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for (name, bits) in SIZES {
        // Half of all bits, as after as many inserts as the filter is for.
        let mut random = Splitmix::new(bits);
        let words: Vec<u64> = (0..bits / 64).map(|_| random.draw()).collect();
        let rounds: Vec<Vec<Hash128>> = (0..ROUNDS).map(|_| items(&mut random)).collect();
        insert(&mut criterion, name, &words, &rounds);
        for (what, is_in) in [("absent", false), ("present", true)] {
            let mut words = words.clone();
            for items in rounds.iter().filter(|_| is_in) {
                classic::insert_many(Kernel::best(), K, bits, &mut words, items);
            }
            contains(&mut criterion, &format!("{what} {name}"), words, &rounds);
        }
    }
    criterion.final_summary();
}

/// Items of one round after the other, or the caches would hold what one of them asks for.
const ROUNDS: usize = 16;

fn items(random: &mut Splitmix) -> Vec<Hash128> {
    (0..ITEMS).map(|_| Hash128 { lo: random.draw(), hi: random.draw() }).collect()
}

fn group<'a>(criterion: &'a mut Criterion, what: &str, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(format!("classic {what} {name}"));
    group.throughput(Throughput::Elements(ITEMS as u64)).sample_size(20);
    group
}

fn insert(criterion: &mut Criterion, name: &str, words: &[u64], rounds: &[Vec<Hash128>]) {
    let bits = 64 * words.len() as u64;
    let mut group = group(criterion, "insert", name);
    for kernel in Kernel::all() {
        let mut words = words.to_vec();
        let mut rounds = rounds.iter().cycle();
        group.bench_function(BenchmarkId::new("many", kernel), |b| {
            b.iter(|| {
                let items = rounds.next().map_or(&[][..], Vec::as_slice);
                classic::insert_many(kernel, K, bits, &mut words, black_box(items))
            });
        });
    }
    if let Some(shared) = shared(words.to_vec()) {
        let mut rounds = rounds.iter().cycle();
        group.bench_function("shared, many", |b| {
            b.iter(|| shared.insert_many(rounds.next().map_or(&[][..], Vec::as_slice)));
        });
    }
    #[cfg(feature = "peers")]
    {
        let mut peer = peer(words.to_vec());
        let mut rounds = rounds.iter().cycle();
        group.bench_function("fastbloom", |b| {
            b.iter(|| {
                let items = rounds.next().map_or(&[][..], Vec::as_slice);
                items.iter().for_each(|item| _ = black_box(peer.insert_hash(item.lo)));
            });
        });
    }
}

fn contains(criterion: &mut Criterion, name: &str, words: Vec<u64>, rounds: &[Vec<Hash128>]) {
    let bits = 64 * words.len() as u64;
    let mut group = group(criterion, "contains", name);
    let mut found = [0; ITEMS / 64];
    for kernel in Kernel::all() {
        let mut rounds = rounds.iter().cycle();
        group.bench_function(BenchmarkId::new("many", kernel), |b| {
            b.iter(|| {
                let items = rounds.next().map_or(&[][..], Vec::as_slice);
                classic::contains_many(kernel, K, bits, &words, black_box(items), &mut found);
            });
        });
    }
    #[cfg(feature = "peers")]
    {
        let mut peer = peer(words.clone());
        if name.starts_with("present") {
            // Its bits of an item are not ours.
            rounds.iter().flatten().for_each(|item| _ = peer.insert_hash(item.lo));
        }
        let mut rounds = rounds.iter().cycle();
        group.bench_function("fastbloom", |b| {
            b.iter(|| {
                let items = rounds.next().map_or(&[][..], Vec::as_slice);
                items.iter().filter(|item| peer.contains_hash(item.lo)).count()
            });
        });
    }
    let Some(shared) = shared(words) else { return };
    let mut rounds = rounds.iter().cycle();
    group.bench_function("shared, many", |b| {
        b.iter(|| {
            let items = rounds.next().map_or(&[][..], Vec::as_slice);
            shared.contains_many(black_box(items), &mut found);
        });
    });
}

/// The same bits, to be shared.
fn shared(words: Vec<u64>) -> Option<AtomicClassic> {
    let bits = 64 * words.len() as u64;
    Classic::from_words(K, bits, words, 0, 0).ok().map(AtomicClassic::from)
}

#[cfg(feature = "peers")]
fn peer(words: Vec<u64>) -> fastbloom::BloomFilter {
    fastbloom::BloomFilter::from_vec(words).hashes(K)
}
