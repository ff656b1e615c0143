//! Which operations are still wanted, what was compared, and how that is told.

use std::fmt::Write as _;
use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bloomrf_kernels::Kernel;

use crate::case::SHORT;
use crate::operations::OPERATIONS;
use crate::order::Order;

/// What all workers have done so far.
pub(crate) struct Tally {
    rows: Vec<Row>,
    started: Instant,
    time_max: Option<Duration>,
    failed: AtomicBool,
}

/// One operation.
struct Row {
    operation: usize,
    cases_wanted: u64,
    visits_wanted: u64,
    visits: AtomicU64,
    nanoseconds: AtomicU64,
    cases: Vec<AtomicU64>,
}

/// Visits that every operation gets: every short length, and as many of all lengths.
const VISITS_MIN: u64 = 2 * SHORT;

const TOLD_EVERY: Duration = Duration::from_secs(5);

impl Tally {
    /// Nothing yet, for the operations that are asked for.
    pub(crate) fn new(order: &Order, sets: usize) -> Self {
        let chosen = OPERATIONS.iter().enumerate().filter(|(_, o)| o.name.contains(&order.only));
        let chosen: Vec<usize> = chosen.map(|(index, _)| index).collect();
        let visits_wanted = if order.visit.is_some() { 1 } else { VISITS_MIN };
        let cases_wanted = match order.visit {
            Some(_) => 0,
            None => order.cases.div_ceil(chosen.len().max(1) as u64),
        };
        let row = |operation| Row {
            operation,
            cases_wanted,
            visits_wanted,
            visits: AtomicU64::new(0),
            nanoseconds: AtomicU64::new(0),
            cases: (0..sets).map(|_| AtomicU64::new(0)).collect(),
        };
        let rows = chosen.into_iter().map(row).collect();
        let (started, time_max) = (Instant::now(), order.time_max);
        Tally { rows, started, time_max, failed: AtomicBool::new(false) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Indices of the operations asked for.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows.iter().map(|row| row.operation)
    }

    /// Whether the operation needs that visit.
    pub(crate) fn wants(&self, operation: usize, visit: u64) -> bool {
        let row = self.rows.iter().find(|row| row.operation == operation);
        row.is_some_and(|row| visit < row.visits_wanted || row.cases() < row.cases_wanted)
    }

    /// Ends the run: a visit has failed.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Relaxed);
    }

    /// Whether no operation needs another visit.
    pub(crate) fn is_done(&self) -> bool {
        self.failed.load(Relaxed)
            || self.is_out_of_time()
            || self.rows.iter().all(|row| {
                row.visits.load(Relaxed) >= row.visits_wanted && row.cases() >= row.cases_wanted
            })
    }

    /// Whether the run has taken as long as it may.
    pub(crate) fn is_out_of_time(&self) -> bool {
        self.time_max.is_some_and(|time_max| self.started.elapsed() >= time_max)
    }

    /// Adds a visit.
    pub(crate) fn add(&self, operation: usize, compared: &[u64], took: Duration) {
        let Some(row) = self.rows.iter().find(|row| row.operation == operation) else { return };
        row.cases.iter().zip(compared).for_each(|(sum, &more)| {
            sum.fetch_add(more, Relaxed);
        });
        row.nanoseconds.fetch_add(took.as_nanos() as u64, Relaxed);
        row.visits.fetch_add(1, Relaxed);
    }

    /// Cases so far, of all operations and sets.
    pub(crate) fn cases(&self) -> u64 {
        self.rows.iter().map(Row::cases).sum()
    }

    /// A line every few seconds, where somebody looks.
    pub(crate) fn tell_progress(&self, told: &mut Instant) {
        if told.elapsed() < TOLD_EVERY || !stderr().is_terminal() {
            return;
        }
        *told = Instant::now();
        let wanted: u64 = self.rows.iter().map(|row| row.cases_wanted).sum();
        let (cases, seconds) = (self.cases(), self.started.elapsed().as_secs_f64());
        let rate = cases as f64 / seconds / 1e6;
        eprintln!("{cases} of {wanted} cases, {seconds:.0} s, {rate:.1} million/s");
    }

    /// Cases per operation and set, and the time they took.
    pub(crate) fn summary(&self, sets: &[Kernel]) -> String {
        let mut text = format!("{:<22} {:>8}", "operation", "visits");
        sets.iter().for_each(|set| _ = write!(text, " {:>15}", set.name()));
        text += "   seconds\n";
        for row in &self.rows {
            let name = OPERATIONS[row.operation].name;
            _ = write!(text, "{name:<22} {:>8}", row.visits.load(Relaxed));
            row.cases.iter().for_each(|sum| _ = write!(text, " {:>15}", sum.load(Relaxed)));
            let seconds = row.nanoseconds.load(Relaxed) as f64 / 1e9;
            _ = writeln!(text, " {seconds:>9.2}");
        }
        let seconds = self.started.elapsed().as_secs_f64();
        _ = writeln!(text, "{} cases agree, {seconds:.1} s", self.cases());
        // For `cargo xtask campaign`, which fails on the exit code.
        _ = write!(text, "campaign row=10 count={} unit=cases failures=0", self.cases());
        text
    }
}

impl Row {
    fn cases(&self) -> u64 {
        self.cases.iter().map(|sum| sum.load(Relaxed)).sum()
    }
}
