//! A filter over a million keys, points and ranges: measured rates beside expected ones, and times.
//!
//! `cargo run --release -p bloomrf-kernels --example filter`; `BLOOMRF_KERNEL=scalar` in front of
//! it runs portable code.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use bloomrf_kernels::{Kernel, PointFilter, RangeFilter, hash};

const KEYS: usize = 1_000_000;
const WIDTH: u64 = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let kernel = Kernel::from_env()?;
    // `hash::key` never gives two numbers one hash: the keys are distinct, and none is asked.
    let random = |i: usize| hash::key(i as u64, 1);
    let keys: Vec<u64> = (0..KEYS).map(random).collect();
    let others: Vec<u64> = (KEYS..2 * KEYS).map(random).collect();
    let ranges: Vec<(u64, u64)> =
        others.iter().map(|&lo| (lo, lo.saturating_add(WIDTH - 1))).collect();
    let mut found = Vec::new();

    let mut points = PointFilter::builder(KEYS as u64).bits_per_key(10.0).kernel(kernel).build()?;
    println!("{KEYS} keys, kernel set {kernel}");
    println!("PointFilter, 10 bits a key");
    time("insert, into fresh pages", || points.insert_many(&keys));
    time("ask for keys that are there", || points.contains_many(&keys, &mut found));
    assert_eq!(ones(&found), KEYS, "a false negative");
    time("ask for keys that are not", || points.contains_many(&others, &mut found));
    rates(&found, points.fpr_with(KEYS as u64));

    let mut filter = RangeFilter::builder(KEYS as u64).bits_per_key(16.0).kernel(kernel).build()?;
    println!("RangeFilter, 16 bits a key");
    time("insert, into fresh pages", || filter.insert_many(&keys))?;
    time("ask for keys that are there", || filter.contains_many(&keys, &mut found));
    assert_eq!(ones(&found), KEYS, "a false negative");
    time("ask for keys that are not", || filter.contains_many(&others, &mut found));
    rates(&found, filter.fpr_with(KEYS as u64, 1));
    time("ask for ranges of 1,000 keys", || filter.range_many(&ranges, &mut found));
    rates(&found, filter.fpr_with(KEYS as u64, WIDTH));
    Ok(())
}

/// Runs `work` over `KEYS` keys and prints what one took.
fn time<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = black_box(work());
    println!("  {what:28} {:7.1} ns a key", start.elapsed().as_nanos() as f64 / KEYS as f64);
    result
}

/// Ranges are so few of 2^64 that next to none of them holds a key.
fn rates(found: &[u64], expected: f64) {
    let measured = ones(found) as f64 / KEYS as f64;
    println!(
        "  {:28} {:8.4} %, expected {:.4} %",
        "found all the same",
        100.0 * measured,
        100.0 * expected
    );
}

fn ones(found: &[u64]) -> usize {
    found.iter().map(|word| word.count_ones() as usize).sum()
}
