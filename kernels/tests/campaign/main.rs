//! The campaign: every operation of every kernel set against the reference, on seeded random cases.
//!
//! A *case* is one key, row, word or range compared on one set. The work is made of *visits*: one
//! operation at one length, on all sets. Odd visits of an operation walk through every length of
//! 0..=4,097 in turn, even ones through the short lengths, where the tails are. A visit depends on
//! the seed, the operation and its number alone, so that it can be repeated by itself.
//!
//! | variable | meaning | default |
//! | --- | --- | --- |
//! | `SEED` | seed, decimal | fixed |
//! | `CASES` | cases in all; at least every short length of every operation | 10^7 |
//! | `ONLY` | operations whose name contains this | all |
//! | `SECONDS` | ends the run after so long, with what it has | none |
//! | `VISIT` | this visit of each operation, alone | all |
//!
//! `cargo xtask campaign kernels` runs it in release, with a summary.

mod blocked;
mod bloomrf;
mod case;
mod classic;
mod columns;
mod columns_kept;
mod gather;
mod hashes;
mod inputs;
mod operations;
mod order;
mod placed;
mod sliced_asked;
mod sliced_rows;
mod split_block;
mod tally;
mod words;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use bloomrf_kernels::Kernel;

use crate::case::Case;
use crate::operations::OPERATIONS;
use crate::order::Order;
use crate::tally::Tally;

#[test]
fn every_set_agrees_with_the_reference_on_every_case() {
    let order = Order::from_env();
    let sets = Kernel::all();
    let tally = Tally::new(&order, sets.len());
    assert!(!tally.is_empty(), "no operation has {:?} in its name", order.only);
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> =
            (0..threads).map(|_| scope.spawn(|| work(&order, &sets, &tally, &next))).collect();
        let mut told = Instant::now();
        while !workers.iter().all(|worker| worker.is_finished()) {
            thread::park_timeout(Duration::from_millis(20));
            tally.tell_progress(&mut told);
        }
    });
    println!("{}", tally.summary(&sets));
    let is_cut_short = order.visit.is_some() || tally.is_out_of_time();
    assert!(is_cut_short || tally.cases() >= order.cases);
}

/// Takes visits, one operation after the other, until no operation wants more.
fn work(order: &Order, sets: &[Kernel], tally: &Tally, next: &AtomicU64) {
    let chosen: Vec<usize> = tally.chosen().collect();
    while !tally.is_done() {
        let number = next.fetch_add(1, Relaxed);
        let operation = chosen[number as usize % chosen.len()];
        let visit = match (order.visit, number / chosen.len() as u64) {
            (None, visit) => visit,
            (Some(visit), 0) => visit,
            (Some(_), _) => return,
        };
        if !tally.wants(operation, visit) {
            continue;
        }
        let repeat = Repeat { seed: order.seed, operation, visit, tally };
        let begun = Instant::now();
        let mut case = Case::new(order.seed, operation, visit, sets);
        (OPERATIONS[operation].visit)(&mut case);
        tally.add(operation, case.compared(), begun.elapsed());
        std::mem::forget(repeat);
    }
}

/// Dropped only where a visit panics: tells how to repeat it.
struct Repeat<'a> {
    seed: u64,
    operation: usize,
    visit: u64,
    tally: &'a Tally,
}

impl Drop for Repeat<'_> {
    fn drop(&mut self) {
        self.tally.fail();
        let Repeat { seed, visit, .. } = self;
        let name = OPERATIONS[self.operation].name;
        eprintln!("{name} failed at visit {visit} of seed {seed}; repeat with:");
        eprintln!(
            "SEED={seed} ONLY={name} VISIT={visit} cargo test -p bloomrf-kernels --test campaign"
        );
    }
}
