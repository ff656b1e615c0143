//! Exact bitmaps and the blocked filter of 16-byte columns.

use std::hint::black_box;

use bloomrf_bench::uniform;
use bloomrf_kernels::hash;
use bloomrf_kernels::scalar::{bitmap, blocked};
use criterion::{BenchmarkId, Criterion, Throughput};

/// Keys of one batch.
const KEYS: usize = 65_536;

/// Words at 8 bits a record, rounded up to a class.
const WORDS: usize = 10_240;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    blocked_filter(&mut criterion);
    bitmaps(&mut criterion);
    criterion.final_summary();
}

fn blocked_filter(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("blocked");
    group.throughput(Throughput::Elements(KEYS as u64));
    let pairs = uniform(1, 64, 2 * KEYS);
    let values: Vec<[u8; 16]> = pairs
        .chunks_exact(2)
        .map(|pair| (u128::from(pair[0]) << 64 | u128::from(pair[1])).to_be_bytes())
        .collect();
    let mut filter = vec![0; black_box(WORDS)];
    group.bench_function("insert, hash and all", |b| {
        b.iter(|| {
            for value in &values {
                blocked::insert(blocked::K_DEFAULT, &mut filter, hash::bytes(value, 42));
            }
        });
    });
    let hits: Vec<u64> = values.iter().map(|value| hash::bytes(value, 42)).collect();
    let misses = uniform(2, 64, KEYS);
    for (name, hashes) in [("hit", &hits), ("miss", &misses)] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let found = |hash: &&u64| blocked::contains(blocked::K_DEFAULT, &filter, **hash);
                black_box(hashes.iter().filter(found).count())
            });
        });
    }
}

fn bitmaps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bitmap of 2 bytes");
    let keys: Vec<u16> = uniform(1, 16, KEYS).iter().map(|&key| key as u16).collect();
    let mut full = vec![0; bitmap::WORDS_16];
    group.throughput(Throughput::Elements(KEYS as u64));
    group.bench_function("insert", |b| {
        b.iter(|| {
            for &key in &keys {
                bitmap::insert(&mut full, key);
            }
        });
    });
    let empty = vec![0; bitmap::WORDS_16];
    group.throughput(Throughput::Elements(1));
    for width in [1u16, 100, 10_000, u16::MAX] {
        group.bench_function(BenchmarkId::new("empty range", width), |b| {
            b.iter(|| bitmap::any(black_box(&empty), 0, black_box(width)));
        });
    }
}
