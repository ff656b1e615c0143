//! False positives, counted, over rates, sizes and shapes of items.

use bloomrf_filter::{Build, Classic, Presence, Spec};
use bloomrf_kernels::classic;
use bloomrf_kernels::hash::Hash128;

use crate::is_full;
use crate::seeded::Splitmix;
use crate::shapes::{self, NUMBERS, Shape};

/// Questions of a cell, spread over its filters.
const ASKED: u64 = 60_000;
const ASKED_FULL: u64 = 10_000_000;

/// Filters of a cell, at most: the fewer items, the more their rates differ.
const FILTERS: u64 = 400;

/// A cell of the grid: false positives, and those that random probes would have.
struct Cell {
    found: u64,
    expected: f64,
    asked: f64,
    /// Standard deviation of `found`: by chance, and since filters differ.
    deviation: f64,
}

fn count(shape: &Shape, items: u64, fpr: f64, asked: u64, random: &mut Splitmix) -> Cell {
    let filters = (100_000 / items).clamp(1, FILTERS);
    let asked = asked / filters;
    let mut cell = Cell { found: 0, expected: 0.0, asked: 0.0, deviation: 0.0 };
    let empty = Classic::build(&Spec { items, fpr }).expect("a rate and a size");
    let rate = classic::fpr(empty.k(), empty.bits(), items);
    for _ in 0..filters {
        let mut filter = empty.clone();
        let start = random.below(NUMBERS - items - asked);
        let numbered = |i| (shape.item)(start + i);
        let members: Vec<Hash128> = (0..items).map(numbered).collect();
        filter.insert_many(&members);
        cell.found += false_positives(&filter, (items..items + asked).map(numbered));
        cell.expected += asked as f64 * rate;
        cell.asked += asked as f64;
    }
    // A rate is the k-th power of a fill, whose variance is 0.31 / m: about a log-normal number.
    let differ = ((0.21 * f64::from(empty.k()) / items as f64).exp() - 1.0) / filters as f64;
    cell.deviation = (cell.expected + differ * cell.expected.powi(2)).sqrt();
    cell
}

fn false_positives(filter: &Classic, asked: impl Iterator<Item = Hash128>) -> u64 {
    let asked: Vec<Hash128> = asked.collect();
    let mut found = vec![0; asked.len().div_ceil(64)];
    filter.contains_many(&asked, &mut found);
    found.iter().map(|word| u64::from(word.count_ones())).sum()
}

#[test]
fn no_shape_and_no_size_has_more_than_1_3_times_its_rate() {
    let mut random = Splitmix::of("no_shape_and_no_size_has_more_than_1_3_times_its_rate");
    let sizes: &[u64] = if is_full() {
        &[1, 2, 3, 5, 10, 20, 50, 100, 200, 350, 500, 1_000, 10_000, 100_000, 1_000_000]
    } else {
        &[1, 3, 10, 50, 500, 10_000]
    };
    let asked = if is_full() { ASKED_FULL } else { ASKED };
    let mut worst = (0.0, String::new());
    for shape in shapes::all() {
        for &items in sizes {
            for fpr in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
                let cell = count(shape, items, fpr, asked, &mut random);
                let name = format!("{}, {items} items at {fpr:e}", shape.name);
                let (found, theory) = (cell.found as f64, cell.expected.min(fpr * cell.asked));
                let spread = 5.5 * cell.deviation + 6.0;
                let limit = if spread < 0.3 * theory { 1.3 * theory } else { theory + spread };
                assert!(found <= limit, "{name}: {found}, expected {theory:.1}, most {limit:.1}");
                if theory > 500.0 && found / theory > worst.0 {
                    worst = (found / theory, name);
                }
            }
        }
    }
    println!("worst of those with more than 500 expected: {:.3} times, {}", worst.0, worst.1);
}

#[test]
fn the_rate_of_hashed_keys_is_that_of_random_probes() {
    let mut random = Splitmix::of("the_rate_of_hashed_keys_is_that_of_random_probes");
    let asked = if is_full() { 10_000_000 } else { 1_000_000 };
    for shape in shapes::HASHED {
        for items in [1_000, 20_000] {
            let cell = count(shape, items, 0.01, asked, &mut random);
            let ratio = cell.found as f64 / cell.expected;
            assert!((0.93..1.07).contains(&ratio), "{}, {items} items: {ratio:.3}", shape.name);
        }
    }
}
