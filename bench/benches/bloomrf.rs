//! The scalar bloomRF: insert, point, range, and one question to 512 filters.

use std::hint::black_box;

use bloomrf_bench::{addresses, timestamps, uniform};
use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::plan::TopBits;
use bloomrf_kernels::scalar::{bitmap, bloomrf, words};
use bloomrf_kernels::{Layers, RangePlan};
use criterion::{BenchmarkId, Criterion, Throughput};

/// Keys of one batch.
const KEYS: usize = 65_536;

/// Words at the default budget of 32 bits a record: 65,536 keys in the class of 40,960 words.
const WORDS: usize = 40_960;

const PROBES_MAX: u32 = 256;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    insert(&mut criterion);
    contains(&mut criterion);
    range(&mut criterion);
    plan_over_batches(&mut criterion);
    fold(&mut criterion);
    criterion.final_summary();
}

/// A filter of `keys`.
struct Filter {
    layers: Layers,
    hashed: Vec<u64>,
    top: Vec<u64>,
}

impl Filter {
    fn new(bits: u8, size: usize, keys: &[u64]) -> Self {
        let layers = layers_for(bits, 42);
        let top = if layers.has_exact_top() { bitmap::WORDS_16 } else { 0 };
        let mut filter = Filter { layers, hashed: vec![0; black_box(size)], top: vec![0; top] };
        filter.insert_many(keys);
        filter
    }

    fn insert_many(&mut self, keys: &[u64]) {
        bloomrf::insert_many(&self.layers, &mut self.hashed, &mut self.top, keys);
    }
}

/// One column after the other: into an open filter that is already warm.
fn insert(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("insert");
    group.throughput(Throughput::Elements(KEYS as u64));
    for (name, bits, keys) in [
        ("u64 uniform", 64, uniform(1, 64, KEYS)),
        ("timestamps", 64, timestamps(1, KEYS)),
        ("u32 uniform", 32, uniform(1, 32, KEYS)),
        ("ipv4 addresses", 32, addresses(1, KEYS)),
    ] {
        let mut filter = Filter::new(bits, WORDS, &[]);
        group.bench_function(BenchmarkId::new("each", name), |b| {
            b.iter(|| {
                for &key in &keys {
                    bloomrf::insert(&filter.layers, &mut filter.hashed, &mut filter.top, key);
                }
            });
        });
        group.bench_function(BenchmarkId::new("many", name), |b| {
            b.iter(|| filter.insert_many(&keys));
        });
    }
}

fn contains(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("contains");
    for bits in [32, 64] {
        let stored = uniform(1, u32::from(bits), KEYS);
        let absent = uniform(2, u32::from(bits), KEYS);
        let filter = Filter::new(bits, WORDS, &stored);
        group.throughput(Throughput::Elements(KEYS as u64));
        for (name, keys) in [("hit", &stored), ("miss", &absent)] {
            group.bench_function(BenchmarkId::new(name, bits), |b| {
                b.iter(|| {
                    let found = |key: &&u64| {
                        bloomrf::contains(&filter.layers, &filter.hashed, &filter.top, **key)
                    };
                    black_box(keys.iter().filter(found).count())
                });
            });
        }
    }
}

fn range(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("range");
    let starts = uniform(3, 64, 4_096);
    group.throughput(Throughput::Elements(starts.len() as u64));
    for bits in [32u8, 64] {
        let filter = Filter::new(bits, WORDS, &uniform(1, u32::from(bits), KEYS));
        for width_bits in [0, 4, 10, 16, 20, 30] {
            let width = 1u64 << width_bits;
            group.bench_function(BenchmarkId::new(format!("{bits} bits"), width), |b| {
                b.iter(|| {
                    let found = |start: &&u64| {
                        let lo = (**start >> (64 - bits)).min(filter.layers.key_max() - width);
                        let (hashed, top) = (&filter.hashed, &filter.top);
                        bloomrf::range(&filter.layers, hashed, top, lo, lo + width - 1, PROBES_MAX)
                            .may_hold()
                    };
                    black_box(starts.iter().filter(found).count())
                });
            });
        }
    }
}

/// One question to 512 batches of 4,096 records: hashed for every filter, or once.
fn plan_over_batches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("512 filters");
    let filters: Vec<_> =
        (0..512).map(|i| Filter::new(64, 2_048, &uniform(100 + i, 64, 4_096))).collect();
    let layers = filters[0].layers;
    group.throughput(Throughput::Elements(512));
    for width in [1u64, 1_024, 1 << 20] {
        let lo = 0x0123_4567_89AB_CDEF;
        let hi = lo + width - 1;
        group.bench_function(BenchmarkId::new("hash each", width), |b| {
            b.iter(|| {
                let found = |f: &&Filter| {
                    bloomrf::range(&layers, &f.hashed, &[], lo, black_box(hi), PROBES_MAX)
                        .may_hold()
                };
                black_box(filters.iter().filter(found).count())
            });
        });
        let mut plan = RangePlan::default();
        group.bench_function(BenchmarkId::new("hash once", width), |b| {
            b.iter(|| {
                plan.build(&layers, lo, black_box(hi), PROBES_MAX);
                let found = |f: &&Filter| plan.run(&f.hashed, TopBits::None).may_hold();
                black_box(filters.iter().filter(found).count())
            });
        });
    }
}

fn fold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fold 960 KiB");
    let open = Filter::new(64, 122_880, &uniform(1, 64, 4_096)).hashed;
    group.throughput(Throughput::Bytes(8 * open.len() as u64));
    for factor in [2, 3, 15, 60] {
        group.bench_function(BenchmarkId::from_parameter(factor), |b| {
            b.iter_batched_ref(
                || open.clone(),
                |filter| words::fold(filter, factor),
                criterion::BatchSize::LargeInput,
            );
        });
    }
}
