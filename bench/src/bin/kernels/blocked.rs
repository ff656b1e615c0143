//! The contest of the point filters at one size: inserts, then hits, misses and both, every filter
//! and every way in shuffled turns on the same keys; the random-line limit in the same rounds.

use std::time::Instant;

use bloomrf_bench::record::Record;
use bloomrf_bench::rounds::{Row, Samples};
use bloomrf_kernels::arena::{Arena, ArenaConfig};
use indicatif::{ProgressBar, ProgressStyle};

use crate::arms::{self, Entrant, Filter, Shape, order};
use crate::keys::{Ask, CHUNK, Questions, stored};
use crate::limit::Limit;
use crate::options::{Options, Size};
use crate::ours;

/// Bits of filter for each key.
const BITS_PER_KEY: usize = 10;

/// Chunks that a filter takes in before the next one has its turn.
const TURN: usize = 48;

/// Chunks of a turn that bring a filter back into the cache and do not count.
const WARM: usize = 4;

/// A filter in the contest, with what was measured of it.
struct Arm {
    filter: Box<dyn Filter>,
    ways: Vec<Way>,
    refused: u64,
    found_absent: u64,
    absent: u64,
}

/// One way of working on a filter (a kernel set of ours).
#[derive(Clone, Default)]
struct Way {
    name: String,
    insert: Samples,
    asked: [Samples; Ask::ALL.len()],
    lost: u64,
}

/// Runs one size and returns the false negatives.
pub(crate) fn run(
    options: &Options,
    size: Size,
    record: &mut Record,
) -> Result<Vec<String>, String> {
    let case = format!("{} {}", size.name(), options.pages.name());
    let blocks = ours::FORMS + Limit::BLOCKS + usize::from(cfg!(feature = "peers"));
    // A block that is no power of two, or has a guard, takes more than its words.
    let bytes = (blocks + 1) * (size.0 + (2 << 20)) * 5 / 4;
    let config = ArenaConfig { pages: options.pages.wanted(), ..ArenaConfig::new(bytes) };
    let arena = Arena::new(config).map_err(|reason| format!("{case}: no arena: {reason}"))?;
    let mut limit = Limit::new(&arena, size.0).ok_or_else(|| format!("{case}: arena too small"))?;
    let contest = Contest {
        entrants: arms::entrants()?.into_iter().filter(|e| options.takes(&e.name)).collect(),
        shape: Shape { bytes: size.0, keys: (8 * size.0 / BITS_PER_KEY) as u64, arena: &arena },
        quick: options.quick,
        case,
    };
    let mut arms = contest.insert();
    contest.ask(&mut arms, &mut limit);
    println!("\n{} ({} keys, {} pages)", contest.case, contest.shape.keys, arena.pages().name());
    limit.record(&contest.case, record)?;
    contest.record_memory(&arena, record)?;
    contest.report(&arms, record)
}

struct Contest<'a> {
    entrants: Vec<Entrant>,
    shape: Shape<'a>,
    quick: bool,
    case: String,
}

impl Contest<'_> {
    fn enter(&self) -> Vec<Arm> {
        let made = self.entrants.iter().filter_map(|entrant| (entrant.make)(&self.shape));
        made.map(|filter| {
            let way = |name| Way { name, ..Way::default() };
            let ways = filter.ways().into_iter().map(way).collect();
            Arm { filter, ways, refused: 0, found_absent: 0, absent: 0 }
        })
        .collect()
    }

    /// Fills every filter, small ones often, and keeps the last of each.
    fn insert(&self) -> Vec<Arm> {
        let chunks = self.shape.keys.div_ceil(CHUNK as u64);
        let builds = match self.quick {
            true => 2,
            false => (1_600 / chunks).clamp(1, 100),
        };
        let bar = progress(&format!("{} insert", self.case), builds * chunks);
        let mut arms = self.enter();
        let mut buffer = vec![0; CHUNK];
        for build in 0..builds {
            if build > 0 {
                // The old filters go first: the arena has room for one set.
                let mut measured = Vec::new();
                arms.drain(..).for_each(|arm| measured.push(arm.ways));
                arms = self.enter();
                arms.iter_mut().zip(measured).for_each(|(arm, ways)| arm.ways = ways);
            }
            for first in (0..chunks).step_by(TURN) {
                let turn = first..chunks.min(first + TURN as u64);
                for at in order(arms.len(), build * chunks + first) {
                    arms[at].insert(build, turn.clone(), self.shape.keys, &mut buffer);
                }
                bar.inc(turn.end - turn.start);
            }
            arms.iter_mut().for_each(|arm| arm.finish(self.shape.keys));
        }
        bar.finish_and_clear();
        arms
    }

    /// Rounds of questions, and of the limit.
    fn ask(&self, arms: &mut [Arm], limit: &mut Limit) {
        let small = self.shape.bytes <= 4 << 20;
        let (rounds, chunks) = match (self.quick, small) {
            (true, _) => (2, 2),
            (false, true) => (15, 32),
            (false, false) => (7, 64),
        };
        let bar = progress(&format!("{} lookup", self.case), rounds);
        let turns: Vec<(usize, usize)> = arms
            .iter()
            .enumerate()
            .flat_map(|(arm, a)| (0..a.ways.len()).map(move |way| (arm, way)))
            .collect();
        let mut buffer = vec![0; CHUNK];
        for round in 0..rounds {
            let mut found = vec![None; arms.len()];
            for at in order(turns.len(), round) {
                let (arm, way) = turns[at];
                let mut questions = Questions::new(round, self.shape.keys);
                let answers = arms[arm].ask(way, &mut questions, chunks, &mut buffer);
                let first = *found[arm].get_or_insert(answers);
                assert_eq!(first, answers, "kernels disagree: {}", arms[arm].ways[way].name);
            }
            limit.round(chunks);
            bar.inc(1);
        }
        for arm in arms {
            let chunks = if self.quick { 16 } else { 1_024 };
            let mut questions = Questions::new(rounds, self.shape.keys);
            arm.ask_absent(&mut questions, chunks, &mut buffer);
        }
        bar.finish_and_clear();
    }

    /// How much of the process is on huge pages: what peers really got.
    fn record_memory(&self, arena: &Arena, record: &mut Record) -> Result<(), String> {
        let pages = format!("arena {}", arena.pages().name());
        record.push(Row::value("memory", &self.case, &pages, "obtained", "-", 1.0))?;
        let Some(share) = huge_share() else { return Ok(()) };
        println!("  memory: {:.0} % of the process on huge pages", 100.0 * share);
        let row = Row::value("memory", &self.case, "process", "huge pages", "share", share);
        record.push(row)
    }

    /// Prints and records what was measured; returns the false negatives.
    fn report(&self, arms: &[Arm], record: &mut Record) -> Result<Vec<String>, String> {
        let ways = arms.iter().flat_map(|arm| &arm.ways);
        let mut ours = ways.filter(|way| way.name.contains("blocked k=6"));
        let ours = ours.next_back().map(|way| way.asked[Ask::Miss as usize].timing().quiet);
        let mut wrong = Vec::new();
        println!("{:<32} bits/key   insert      hit     miss    mixed    FPR %   miss/ours", "");
        for arm in arms {
            let bits = 8.0 * arm.filter.bytes() as f64 / self.shape.keys as f64;
            for way in &arm.ways {
                let fpr = arm.found_absent as f64 / arm.absent as f64;
                let (insert, asked) =
                    (way.insert.timing(), way.asked.each_ref().map(Samples::timing));
                let ratio = asked[1].quiet / ours.unwrap_or(f64::NAN);
                println!(
                    "{:<32} {bits:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>8.4} {ratio:>10.2}",
                    way.name,
                    insert.quiet,
                    asked[0].quiet,
                    asked[1].quiet,
                    asked[2].quiet,
                    100.0 * fpr
                );
                let timing =
                    |measure, ns| Row::timing("blocked", &self.case, &way.name, measure, ns);
                let value = |measure, unit, value| {
                    Row::value("blocked", &self.case, &way.name, measure, unit, value)
                };
                record.push(timing("insert", insert))?;
                for (ask, ns) in Ask::ALL.iter().zip(asked) {
                    record.push(timing(ask.name(), ns))?;
                }
                record.push(value("fpr", "share", fpr))?;
                record.push(value("bits per key", "bits", bits))?;
                record.push(value("false negatives", "keys", way.lost as f64))?;
                record.push(value("refused", "keys", arm.refused as f64))?;
                if way.lost > 0 && !arm.filter.may_lose() {
                    wrong.push(format!("{} of {}: {} keys", self.case, way.name, way.lost));
                }
            }
        }
        Ok(wrong)
    }
}

impl Arm {
    /// Inserts the chunks of one turn. The best of several ways does most of it; the others take a
    /// chunk each of every eight. Where there are few chunks, all take turns.
    fn insert(&mut self, build: u64, chunks: std::ops::Range<u64>, keys: u64, buffer: &mut [u64]) {
        let best = self.ways.len() - 1;
        let is_short = chunks.end - chunks.start < 2 * WARM as u64;
        for (at, chunk) in chunks.enumerate() {
            let first = chunk * CHUNK as u64;
            let chunk = &mut buffer[..CHUNK.min((keys - first) as usize)];
            stored(first, chunk);
            let turn = at + build as usize;
            let way = if is_short { turn % (best + 1) } else { (turn % 8).min(best) };
            let start = Instant::now();
            let accepted = self.filter.insert_many(way, chunk);
            let ns = start.elapsed().as_nanos();
            self.refused += (chunk.len() - accepted) as u64;
            let counts = (at >= WARM || is_short) && chunk.len() == CHUNK;
            if counts && !self.filter.is_static() {
                self.ways[way].insert.push(ns, CHUNK);
            }
        }
    }

    fn finish(&mut self, keys: u64) {
        let start = Instant::now();
        self.filter.finish();
        if self.filter.is_static() {
            self.ways[0].insert.push(start.elapsed().as_nanos(), keys as usize);
        }
    }

    /// One turn of questions; returns how many keys were found, for every kind of question.
    fn ask(
        &mut self,
        way: usize,
        questions: &mut Questions,
        chunks: usize,
        buffer: &mut [u64],
    ) -> [u64; 3] {
        let Arm { filter, ways, .. } = self;
        let way_name = way;
        let way = &mut ways[way];
        for _ in 0..WARM {
            questions.fill(Ask::Hit, buffer);
            std::hint::black_box(filter.count_found(way_name, buffer));
        }
        let asked = (chunks * CHUNK) as u64;
        let found = Ask::ALL.map(|ask| {
            let samples = &mut way.asked[ask as usize];
            let mut found = 0;
            for _ in 0..chunks {
                questions.fill(ask, buffer);
                found += samples.time(CHUNK, || filter.count_found(way_name, buffer));
            }
            found
        });
        way.lost += asked - found[Ask::Hit as usize];
        found
    }

    /// The rate, by more questions than the clock needs; every way gives the same answers.
    fn ask_absent(&mut self, questions: &mut Questions, chunks: usize, buffer: &mut [u64]) {
        let best = self.ways.len() - 1;
        for _ in 0..chunks {
            questions.fill(Ask::Miss, buffer);
            self.found_absent += self.filter.count_found(best, buffer);
            self.absent += buffer.len() as u64;
        }
    }
}

/// A bar on terminals, nothing elsewhere.
fn progress(name: &str, steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:>24} {bar:40} {percent:>3} % {eta}");
    let bar = ProgressBar::new(steps).with_message(name.to_owned());
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

/// Share of the process's anonymous memory that lies on transparent huge pages (Linux).
fn huge_share() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let kib = |name: &str| -> Option<f64> {
        text.lines().find_map(|l| l.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
    };
    Some(kib("AnonHugePages:")? / kib("Anonymous:")?)
}
