//! A short comparison in one process: every variant in turn, round after round, so that a noisy
//! machine disturbs them alike. Prints CSV: question, variant, ns per key (quietest and median
//! round). The exact structures are the yardstick: what the same answers cost without a filter.

use std::collections::HashSet;
use std::hint::black_box;
use std::time::Instant;

use bloomrf_bench::{timestamps, uniform};
use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::plan::TopBits;
use bloomrf_kernels::scalar::bloomrf;
use bloomrf_kernels::{Layers, RangePlan};

const KEYS: usize = 65_536;
const WORDS: usize = 40_960;
const ROUNDS: usize = 31;
const PROBES_MAX: u32 = 256;

fn main() {
    println!("question,variant,ns_min,ns_median");
    let layers = layers_for(64, 42);
    for (name, keys) in
        [("insert uniform", uniform(1, 64, KEYS)), ("insert time order", timestamps(1, KEYS))]
    {
        insert(name, &layers, &keys);
    }
    points(&layers);
    ranges(&layers, 1_024);
    ranges(&layers, 1 << 20);
    batches(&layers);
}

/// A variant: its name, and a round that returns a sum nobody can leave out.
type Variant<'a> = (&'a str, Box<dyn FnMut() -> u64 + 'a>);

/// Runs the variants in turn and prints ns per operation of each.
fn compare(question: &str, operations: usize, mut variants: Vec<Variant<'_>>) {
    let mut rounds = vec![vec![]; variants.len()];
    for _ in 0..ROUNDS {
        for ((_, round), times) in variants.iter_mut().zip(&mut rounds) {
            let start = Instant::now();
            black_box(round());
            times.push(start.elapsed().as_nanos() as f64 / operations as f64);
        }
    }
    for ((name, _), times) in variants.iter().zip(&mut rounds) {
        times.sort_by(f64::total_cmp);
        println!("{question},{name},{:.1},{:.1}", times[0], times[ROUNDS / 2]);
    }
}

fn insert(question: &str, layers: &Layers, keys: &[u64]) {
    let each = || {
        let mut hashed = vec![0; black_box(WORDS)];
        for &key in keys {
            bloomrf::insert(layers, &mut hashed, &mut [], key);
        }
        hashed[7]
    };
    let many = || {
        let mut hashed = vec![0; black_box(WORDS)];
        bloomrf::insert_many(layers, &mut hashed, &mut [], keys);
        hashed[7]
    };
    let sort = || {
        let mut sorted = keys.to_vec();
        sorted.sort_unstable();
        sorted[7]
    };
    let set = || keys.iter().copied().collect::<HashSet<u64>>().len() as u64;
    let variants: Vec<Variant<'_>> = vec![
        ("insert each", Box::new(each)),
        ("insert_many", Box::new(many)),
        ("exact: sort_unstable", Box::new(sort)),
        ("exact: HashSet", Box::new(set)),
    ];
    compare(question, keys.len(), variants);
}

fn points(layers: &Layers) {
    let keys = uniform(1, 64, KEYS);
    let mut hashed = vec![0; black_box(WORDS)];
    bloomrf::insert_many(layers, &mut hashed, &mut [], &keys);
    let set: HashSet<u64> = keys.iter().copied().collect();
    for (question, asked) in [("point hit", keys.clone()), ("point miss", uniform(2, 64, KEYS))] {
        let (hashed, set, asked) = (&hashed, &set, &asked);
        let filter = move || {
            asked.iter().filter(|&&key| bloomrf::contains(layers, hashed, &[], key)).count() as u64
        };
        let exact = move || asked.iter().filter(|&key| set.contains(key)).count() as u64;
        let variants: Vec<Variant<'_>> =
            vec![("contains", Box::new(filter)), ("exact: HashSet", Box::new(exact))];
        compare(question, KEYS, variants);
    }
}

fn ranges(layers: &Layers, width: u64) {
    let mut sorted = uniform(1, 64, KEYS);
    let mut hashed = vec![0; black_box(WORDS)];
    bloomrf::insert_many(layers, &mut hashed, &mut [], &sorted);
    sorted.sort_unstable();
    let starts: Vec<u64> = uniform(3, 64, KEYS).iter().map(|s| s >> 1).collect();
    let direct = || {
        let found = |lo: &&u64| {
            bloomrf::range(layers, &hashed, &[], **lo, **lo + width - 1, PROBES_MAX).may_hold()
        };
        starts.iter().filter(found).count() as u64
    };
    let exact = || {
        let found = |lo: &&u64| {
            let next = sorted.partition_point(|key| key < *lo);
            sorted.get(next).is_some_and(|&key| key < **lo + width)
        };
        starts.iter().filter(found).count() as u64
    };
    let variants: Vec<Variant<'_>> =
        vec![("range", Box::new(direct)), ("exact: sorted search", Box::new(exact))];
    compare(&format!("range miss of {width}"), KEYS, variants);
}

/// 64 ranges of 1,024 keys, each asked of 512 batches of 4,096 records.
fn batches(layers: &Layers) {
    let filters: Vec<Vec<u64>> = (0..512)
        .map(|seed| {
            let mut hashed = vec![0; black_box(2_048)];
            bloomrf::insert_many(layers, &mut hashed, &mut [], &uniform(100 + seed, 64, 4_096));
            hashed
        })
        .collect();
    let starts: Vec<u64> = uniform(4, 64, 64).iter().map(|s| s >> 1).collect();
    let (filters, starts) = (&filters, &starts);
    let each = move || {
        let mut found = 0;
        for &lo in starts {
            for hashed in filters {
                let answer = bloomrf::range(layers, hashed, &[], lo, lo + 1_023, PROBES_MAX);
                found += u64::from(answer.may_hold());
            }
        }
        found
    };
    let mut plan = RangePlan::default();
    let once = move || {
        let mut found = 0;
        for &lo in starts {
            plan.build(layers, lo, lo + 1_023, PROBES_MAX);
            for hashed in filters {
                found += u64::from(plan.run(hashed, TopBits::None).may_hold());
            }
        }
        found
    };
    let variants: Vec<Variant<'_>> =
        vec![("hash for each filter", Box::new(each)), ("hash once", Box::new(once))];
    compare("512 batches", 512 * starts.len(), variants);
}
