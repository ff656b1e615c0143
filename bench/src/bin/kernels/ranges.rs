//! bloomRF on every kernel set: inserts, points, and ranges by width and by how keys lie; the
//! measured rate of empty ranges beside the model's, where keys are uniform as the model takes
//! them to be, and the same keys as an exact kind, which has none.
//!
//! Kernel sets take turns on the same questions, chunk by chunk; that they say the same is checked.

use bloomrf_bench::record::Record;
use bloomrf_bench::rounds::{Row, Samples, Timing};
use bloomrf_bench::{Splitmix, timestamps, uniform};
use bloomrf_kernels::arena::{Arena, ArenaConfig, Words};
use bloomrf_kernels::exact::Exact;
use bloomrf_kernels::params::{fpr, layers_for};
use bloomrf_kernels::{Kernel, Layers, bloomrf};

use crate::arms::order;
use crate::keys::CHUNK;
use crate::lies::{Lie, Questioner};
use crate::options::Options;

/// Bits of filter for each key.
const BITS_PER_KEY: usize = 16;

const PROBES_MAX: u32 = 256;

/// Widths of the ranges, and their names in the records.
const WIDTHS: [(u64, &str); 5] =
    [(1, "1"), (16, "16"), (1 << 10, "1k"), (1 << 20, "1M"), (1 << 30, "2^30")];

/// False positives at which a measured rate is within some 2 % of the truth.
const EVENTS: f64 = 2_500.0;

/// Runs all sizes and returns the false negatives.
pub(crate) fn run(options: &Options, record: &mut Record) -> Result<Vec<String>, String> {
    let counts: &[usize] = if options.quick { &[4_096] } else { &[65_536, 1 << 20] };
    let mut wrong = Vec::new();
    for &count in counts {
        let config = ArenaConfig {
            pages: options.pages.wanted(),
            ..ArenaConfig::new(count * BITS_PER_KEY / 4 + (8 << 20))
        };
        let arena = Arena::new(config).map_err(|reason| format!("bloomRF: no arena: {reason}"))?;
        let size = if count >= 1 << 20 { "1M keys" } else { "64K keys" };
        let mut bench = Bench {
            kernels: Kernel::all(),
            layers: layers_for(64, 42),
            arena,
            quick: options.quick,
            size: if options.quick { "4K keys" } else { size },
            record,
        };
        println!("\nbloomRF, {}, {BITS_PER_KEY} bits/key", bench.size);
        bench.inserts(count)?;
        for lie in Lie::ALL {
            wrong.extend(bench.ranges(lie, count)?);
        }
    }
    Ok(wrong)
}

struct Bench<'a> {
    kernels: Vec<Kernel>,
    layers: Layers,
    arena: Arena,
    quick: bool,
    size: &'static str,
    record: &'a mut Record,
}

/// A filter and the keys in it.
struct Filter {
    layers: Layers,
    hashed: Words,
}

impl Filter {
    /// How many of the ranges are found; every chunk is timed.
    fn ranges(&self, kernel: Kernel, ranges: &[(u64, u64)], samples: &mut Samples) -> u64 {
        let Filter { layers, hashed } = self;
        let ask = |chunk: &[(u64, u64)], found: &mut [u64]| {
            bloomrf::range_many(kernel, layers, hashed, &[], chunk, PROBES_MAX, found);
        };
        count_found(ranges, samples, ask)
    }

    /// The same for points.
    fn points(&self, kernel: Kernel, keys: &[u64], samples: &mut Samples) -> u64 {
        let Filter { layers, hashed } = self;
        let ask = |chunk: &[u64], found: &mut [u64]| {
            bloomrf::contains_many(kernel, layers, hashed, &[], chunk, found);
        };
        count_found(keys, samples, ask)
    }
}

/// Asks chunk by chunk, times each, and counts what is found.
fn count_found<T>(asked: &[T], samples: &mut Samples, ask: impl Fn(&[T], &mut [u64])) -> u64 {
    let mut found = [0u64; CHUNK / 64];
    let count = |chunk: &[T]| {
        samples.time(chunk.len(), || {
            let found = &mut found[..chunk.len().div_ceil(64)];
            ask(chunk, found);
            found.iter().map(|word| u64::from(word.count_ones())).sum()
        })
    };
    asked.chunks(CHUNK).map(count).sum()
}

impl Bench<'_> {
    fn filter(&self, keys: &[u64]) -> Result<Filter, String> {
        let words = (keys.len() * BITS_PER_KEY).div_ceil(64);
        let mut hashed = self.arena.words(words).ok_or("bloomRF: the arena is too small")?;
        let kernel = self.kernels[self.kernels.len() - 1];
        bloomrf::insert_many(kernel, &self.layers, &mut hashed, &mut [], keys);
        Ok(Filter { layers: self.layers, hashed })
    }

    /// Inserts into a filter that is warm and holds the keys already: the same work, no page fault.
    fn inserts(&mut self, count: usize) -> Result<(), String> {
        for (name, keys) in
            [("uniform", uniform(1, 64, count)), ("time order", timestamps(1, count))]
        {
            let mut filter = self.filter(&keys)?;
            let rounds = self.rounds(count);
            let mut samples = vec![Samples::default(); self.kernels.len()];
            for round in 0..rounds {
                for way in order(self.kernels.len(), round) {
                    let kernel = self.kernels[way];
                    for chunk in keys.chunks(CHUNK) {
                        let hashed = &mut filter.hashed;
                        samples[way].time(chunk.len(), || {
                            bloomrf::insert_many(kernel, &self.layers, hashed, &mut [], chunk);
                            hashed[0]
                        });
                    }
                }
            }
            self.times(&format!("{} {name}", self.size), "insert", &samples)?;
        }
        self.points(count)
    }

    fn points(&mut self, count: usize) -> Result<(), String> {
        let keys = uniform(1, 64, count);
        let filter = self.filter(&keys)?;
        for (measure, asked) in [("hit", keys), ("miss", uniform(2, 64, count))] {
            let mut samples = vec![Samples::default(); self.kernels.len()];
            for round in 0..self.rounds(count) {
                for way in order(self.kernels.len(), round) {
                    let kernel = self.kernels[way];
                    filter.points(kernel, &asked, &mut samples[way]);
                }
            }
            self.times(&format!("{} uniform", self.size), measure, &samples)?;
        }
        Ok(())
    }

    fn rounds(&self, count: usize) -> u64 {
        if self.quick { 2 } else { ((4 << 20) / count as u64).max(16) }
    }

    /// Ranges of every width among keys that lie so.
    fn ranges(&mut self, lie: Lie, count: usize) -> Result<Vec<String>, String> {
        let mut keys = lie.keys(count);
        let filter = self.filter(&keys)?;
        keys.sort_unstable();
        keys.dedup();
        let exact = Exact::smallest(&keys, usize::MAX);
        let mut wrong = Vec::new();
        for (width, name) in WIDTHS {
            let case = format!("{} {} {name}", self.size, lie.name());
            let full = full_ranges(&keys, width);
            for &kernel in &self.kernels {
                let found = filter.ranges(kernel, &full, &mut Samples::default());
                if found != full.len() as u64 {
                    wrong.push(format!("{case} on {kernel}: {} ranges", full.len() as u64 - found));
                }
            }
            let model = fpr(&self.layers, filter.hashed.len(), count as u64, width);
            let questioner = Questioner::new(lie, &keys, width);
            if let Some(exact) =
                self.empty_ranges(&case, &filter, questioner, exact.as_ref(), model)?
            {
                self.exact(&case, exact, keys.len())?;
            }
        }
        Ok(wrong)
    }

    /// Empty ranges: times of every kernel set, and the rate; the exact form takes its turn among
    /// them, and comes back with its times. Nothing where hardly any range is empty.
    fn empty_ranges<'e>(
        &mut self,
        case: &str,
        filter: &Filter,
        mut questioner: Questioner<'_>,
        exact: Option<&'e Exact>,
        model: f64,
    ) -> Result<Option<(&'e Exact, Timing)>, String> {
        let asked = if self.quick { CHUNK } else { 65_536 };
        let chunks = match (self.quick, questioner.is_uniform()) {
            (true, _) => 2,
            (false, true) => (EVENTS / (model * asked as f64)).clamp(16.0, 80.0) as u64,
            (false, false) => 16,
        };
        let ways = self.kernels.len();
        let mut samples = vec![Samples::default(); ways + 1];
        let mut found = 0;
        for chunk in 0..chunks {
            let Some(ranges) = questioner.empty_ranges(asked) else { return Ok(None) };
            let mut said = None;
            for way in order(ways + usize::from(exact.is_some()), chunk) {
                let Some(&kernel) = self.kernels.get(way) else {
                    let wrong = exact.map(|exact| ask_exact(exact, &ranges, &mut samples[way]));
                    assert!(wrong.unwrap_or(0) == 0, "an exact form has no false positive: {case}");
                    continue;
                };
                let answers = filter.ranges(kernel, &ranges, &mut samples[way]);
                assert_eq!(*said.get_or_insert(answers), answers, "{kernel} disagrees: {case}");
            }
            found += said.unwrap_or(0);
        }
        self.times(case, "range", &samples)?;
        let rate = found as f64 / (chunks * asked as u64) as f64;
        let share = |measure, value| Row::value("bloomrf", case, "ours", measure, "share", value);
        self.record.push(share("fpr", rate))?;
        print!("    fpr {rate:.3e}");
        if questioner.is_uniform() {
            self.record.push(share("fpr model", model))?;
            self.record.push(Row::value("bloomrf", case, "ours", "events", "-", found as f64))?;
            print!(", model {model:.3e} ({:+.1} %)", 100.0 * (rate / model - 1.0));
        }
        Ok(exact.map(|exact| (exact, samples[ways].timing())))
    }

    /// What the same keys cost as an exact kind, which has no false positive.
    fn exact(
        &mut self,
        case: &str,
        (exact, timing): (&Exact, Timing),
        keys: usize,
    ) -> Result<(), String> {
        let bits = 8.0 * exact.bytes() as f64 / keys as f64;
        println!("; exact {} {:.2} ns, {bits:.1} bits/key", exact.name(), timing.quiet);
        let name = format!("exact {}", exact.name());
        self.record.push(Row::timing("bloomrf", case, &name, "range", timing))?;
        self.record.push(Row::value("bloomrf", case, &name, "bits per key", "bits", bits))
    }

    /// Records and prints one measure of every kernel set.
    fn times(&mut self, case: &str, measure: &str, samples: &[Samples]) -> Result<(), String> {
        let scalar = samples[0].timing().quiet;
        print!("  {case:<34} {measure:<7}");
        for (kernel, samples) in self.kernels.iter().zip(samples) {
            let timing = samples.timing();
            print!(" {kernel} {:.2} ({:.2} x)", timing.quiet, scalar / timing.quiet);
            let row = Row::timing("bloomrf", case, &kernel.to_string(), measure, timing);
            self.record.push(row)?;
        }
        println!();
        Ok(())
    }
}

/// How many of the ranges an exact form finds; every chunk is timed.
fn ask_exact(exact: &Exact, ranges: &[(u64, u64)], samples: &mut Samples) -> u64 {
    let any = |range: &&(u64, u64)| exact.any(range.0, range.1);
    let count = |chunk: &[(u64, u64)]| {
        samples.time(chunk.len(), || chunk.iter().filter(any).count() as u64)
    };
    ranges.chunks(CHUNK).map(count).sum()
}

/// Ranges that hold a key each: all must be found.
fn full_ranges(sorted: &[u64], width: u64) -> Vec<(u64, u64)> {
    let mut random = Splitmix::new(width);
    let step = (sorted.len() / CHUNK).max(1);
    sorted
        .iter()
        .step_by(step)
        .map(|&key| {
            let lo = key.saturating_sub(random.draw() % width);
            (lo, lo.saturating_add(width - 1))
        })
        .collect()
}
