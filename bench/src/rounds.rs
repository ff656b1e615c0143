//! Interleaved measuring in one process: every variant in turn, round after round in shuffled
//! order, so that a noisy machine disturbs them alike; and the rows that `bench/record/` keeps.
//!
//! Numbers of two runs are never compared. "Quiet" is the mean of the quietest quarter of the
//! rounds: it forgets what strangers on the machine did, but is no single lucky round.

use std::fmt;
use std::hint::black_box;
use std::time::Instant;

use crate::Splitmix;

/// The first line of every CSV that [`Row`]s make.
pub const CSV_HEADER: &str = "section,case,variant,measure,unit,quiet,median";

/// One line of a record.
#[derive(Clone, Debug)]
pub struct Row {
    /// What is compared, e.g. `blocked`.
    pub section: String,
    /// On what, e.g. `256 MiB huge`: rows of one section, case and measure are one comparison.
    pub case: String,
    /// Who, e.g. `ours avx512`.
    pub variant: String,
    /// Which figure, e.g. `insert`.
    pub measure: String,
    /// Its unit, e.g. `ns/key`.
    pub unit: &'static str,
    /// The quietest quarter of the rounds, or the one value where there are no rounds.
    pub quiet: f64,
    /// The median round, or the same one value.
    pub median: f64,
}

impl Row {
    /// A row of times.
    #[must_use]
    pub fn timing(section: &str, case: &str, variant: &str, measure: &str, ns: Timing) -> Self {
        Row {
            section: section.to_owned(),
            case: case.to_owned(),
            variant: variant.to_owned(),
            measure: measure.to_owned(),
            unit: "ns",
            quiet: ns.quiet,
            median: ns.median,
        }
    }

    /// A row of one value that has no rounds.
    #[must_use]
    pub fn value(
        section: &str,
        case: &str,
        variant: &str,
        measure: &str,
        unit: &'static str,
        value: f64,
    ) -> Self {
        let ns = Timing { quiet: value, median: value };
        Row { unit, ..Row::timing(section, case, variant, measure, ns) }
    }
}

impl fmt::Display for Row {
    /// A CSV line; a comma in a name becomes a semicolon.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in [&self.section, &self.case, &self.variant, &self.measure] {
            write!(f, "{},", name.replace(',', ";"))?;
        }
        write!(f, "{},{:.6},{:.6}", self.unit, self.quiet, self.median)
    }
}

/// Times of one variant, one per round (or per call): ns per operation.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<f64>);

/// What is kept of [`Samples`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Mean of the quietest quarter, ns per operation.
    pub quiet: f64,
    /// Median, ns per operation.
    pub median: f64,
}

impl Samples {
    /// Adds `ns` that `operations` took in all.
    pub fn push(&mut self, ns: u128, operations: usize) {
        self.0.push(ns as f64 / operations.max(1) as f64);
    }

    /// Calls `work` once, times it, consumes its sum and returns it.
    pub fn time(&mut self, operations: usize, work: impl FnOnce() -> u64) -> u64 {
        let start = Instant::now();
        let sum = black_box(work());
        self.push(start.elapsed().as_nanos(), operations);
        sum
    }

    /// Whether nothing was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Quietest quarter and median; NaN where nothing was measured.
    #[must_use]
    pub fn timing(&self) -> Timing {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let quarter = &sorted[..sorted.len().div_ceil(4)];
        let quiet = quarter.iter().sum::<f64>() / quarter.len() as f64;
        Timing { quiet, median: sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN) }
    }
}

impl From<Vec<f64>> for Samples {
    /// Times that were taken elsewhere, ns per operation.
    fn from(times_ns: Vec<f64>) -> Self {
        Samples(times_ns)
    }
}

/// A variant: its name and one round of it, which returns a sum that nobody can leave out.
pub struct Variant<'a> {
    /// Name, as in [`Row::variant`].
    pub name: String,
    /// One round.
    pub round: Box<dyn FnMut() -> u64 + 'a>,
}

impl<'a> Variant<'a> {
    /// A variant.
    pub fn new(name: impl Into<String>, round: impl FnMut() -> u64 + 'a) -> Self {
        Variant { name: name.into(), round: Box::new(round) }
    }
}

/// Runs the variants in turn for `rounds` rounds, after one that does not count; returns the
/// times of each per operation, in the order given. A round of a variant is `operations`.
pub fn interleave(
    rounds: usize,
    operations: usize,
    variants: &mut [Variant<'_>],
) -> Vec<(String, Timing)> {
    let mut samples = vec![Samples::default(); variants.len()];
    let mut order: Vec<usize> = (0..variants.len()).collect();
    let mut random = Splitmix::new(rounds as u64);
    for round in 0..=rounds {
        shuffle(&mut order, &mut random);
        for &at in &order {
            let mut first = Samples::default();
            let kept = if round == 0 { &mut first } else { &mut samples[at] };
            kept.time(operations, &mut variants[at].round);
        }
    }
    let names = variants.iter().map(|variant| variant.name.clone());
    names.zip(samples.iter().map(Samples::timing)).collect()
}

/// Another order, every one as likely.
pub fn shuffle<T>(items: &mut [T], random: &mut Splitmix) {
    for last in (1..items.len()).rev() {
        items.swap(last, (random.draw() % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_is_the_mean_of_the_quietest_quarter() {
        let mut samples = Samples::default();
        for ns in [80, 10, 30, 70, 20, 60, 50, 40] {
            samples.push(ns, 1);
        }
        assert_eq!(samples.timing(), Timing { quiet: 15.0, median: 50.0 });
        assert!(Samples::default().timing().quiet.is_nan());
    }

    #[test]
    fn every_variant_runs_once_a_round_and_once_before() {
        let (mut a, mut b) = (0, 0);
        let mut variants = [
            Variant::new("a", || {
                a += 1;
                a
            }),
            Variant::new("b", || {
                b += 1;
                b
            }),
        ];
        let timings = interleave(5, 1, &mut variants);
        assert_eq!(timings.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        drop(variants);
        assert_eq!((a, b), (6, 6));
    }

    #[test]
    fn a_row_has_the_columns_of_the_header() {
        let row = Row::value("s", "c", "v, too", "fpr", "share", 0.0105).to_string();
        assert_eq!(row, "s,c,v; too,fpr,share,0.010500,0.010500");
        assert_eq!(row.split(',').count(), CSV_HEADER.split(',').count());
    }
}
