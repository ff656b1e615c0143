//! Row 12: every key that was ingested is looked up while it lives, in every form that its filter
//! takes. A (key, batch, form) that had to say "found" counts as one.
//!
//! A *world* is some 200 batches of one policy, through [`crate::intake`] into a store that
//! retains 160: filters of every kind, folded and not, on every kernel set in turn. While a batch
//! is fresh its plain and exact filters are asked by themselves; when the chunks were sliced, the
//! engine's lookups are asked about all that live, and once more after the batches were taken out
//! of their groups, written to files, read and put into another store, as a restart does.

mod ask;
mod cells;
mod direct;
mod truth;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use bloomrf_engine::filter::FilterPolicy;
use bloomrf_engine::format::{self, FileName, Origin, Stamp};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::store::{Snapshot, Store, StoreConfig};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_kernels::params::Budget;
use bloomrf_kernels::{Kernel, SizeClasses};
use bloomrf_report::Report;

use self::ask::Asker;
use self::cells::{Cell, Source};
use self::truth::ColumnTruth;
use crate::chance::Chance;
use crate::intake::{CLUSTER, Intake};

/// How much to look up.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Lookups of keys that are there, at least.
    #[arg(long, default_value = "1e8", value_parser = bloomrf_report::count)]
    count: u64,
    /// Seed of the first world; the next ones follow.
    #[arg(long, env = "SEED", default_value_t = 12)]
    seed: u64,
}

/// Builds worlds and looks their keys up until the count is reached.
pub(crate) fn run(args: &Args) -> ExitCode {
    let mut report = Report::new(12, "lookups");
    let start = Instant::now();
    let mut sums = Sums::default();
    let mut seed = args.seed;
    while report.count() < args.count && report.failures() < FAILURES_MAX {
        let repeat = format!("bloomrf-faults lookups --count 1 --seed {seed}");
        match World::new(seed).and_then(|world| world.live(&mut report, &mut sums, &repeat)) {
            Ok(()) => {}
            Err(why) => report.fail(format!("world {seed}: {why}"), &repeat),
        }
        seed = seed.wrapping_add(1);
    }
    let [equal, wider, direct] = [sums.equal, sums.wider, sums.direct];
    report.note(format!(
        "{equal} by equality and {wider} by ranges and lists through lookups; {direct} of filters \
         alone; {:.1} % of the batches without the key excluded; {} worlds; {:.0} s",
        100.0 * sums.excluded as f64 / sums.others.max(1) as f64,
        seed.wrapping_sub(args.seed),
        start.elapsed().as_secs_f64(),
    ));
    report.finish()
}

/// How the lookups were made.
#[derive(Default)]
struct Sums {
    equal: u64,
    wider: u64,
    direct: u64,
    others: u64,
    excluded: u64,
}

struct World {
    chance: Chance,
    schema: Arc<Schema>,
    intake: Intake,
    kernels: Vec<Kernel>,
    sources: Vec<Source>,
    truth: Vec<ColumnTruth>,
    store: Store,
    filter_seed: u64,
}

impl World {
    fn new(seed: u64) -> Result<Self, String> {
        let mut chance = Chance::new(seed);
        let schema = Arc::new(cells::schema()?);
        let kernels = Kernel::all();
        let kernel = kernels[(seed % kernels.len() as u64) as usize];
        let policy = FilterPolicy {
            budget: Budget {
                bits_per_key: chance.pick(&[6, 8, 12]),
                levels: chance.pick(&[1, 4, 4, 4]),
            },
            sizes: SizeClasses::new(chance.pick(&[64, 1_024])),
            seed: chance.draw(),
            filtered: vec![true; schema.columns().len()],
            kernel,
            exact_keys_max: chance.pick(&[0, 1 << 10, 1 << 16]),
        };
        // Too few, and the filters are too full; too many, and they are folded.
        let expected = chance.pick(&[200, 2_000, 40_000]);
        let bounds = StoreConfig { retain_batches: RETAINED, arena_bytes: 1 << 30 };
        let sources = schema.columns().iter().map(|column| Source::new(column, &mut chance));
        Ok(World {
            sources: sources.collect(),
            truth: schema.columns().iter().map(|_| ColumnTruth::default()).collect(),
            filter_seed: policy.seed,
            intake: Intake::new(&schema, policy, expected),
            store: Store::on(bounds, kernels[(seed / 4 % kernels.len() as u64) as usize], None),
            chance,
            schema,
            kernels,
        })
    }

    fn live(mut self, report: &mut Report, sums: &mut Sums, repeat: &str) -> Result<(), String> {
        for batch in 1..=BATCHES {
            self.ingest(batch, report, sums, repeat)?;
        }
        while self.store.step() {}
        let first = BATCHES - RETAINED as u64 + 1;
        self.truth.iter_mut().for_each(|truth| truth.settle(first));
        let snapshot = self.store.reader().load().clone();
        self.ask(&snapshot, ("lookup", 1), report, sums, repeat)?;
        let mut restarted = Store::on(
            StoreConfig { retain_batches: RETAINED, arena_bytes: 1 << 30 },
            Kernel::best(),
            None,
        );
        let stored = (first..=BATCHES).map(|batch| self.stored(&snapshot, batch));
        let left_out = restarted.restore(stored.collect::<Result<_, String>>()?);
        if !left_out.is_empty() {
            return Err(format!("a restart had no room for {left_out:?}"));
        }
        // Before its chunks are sliced, and after. Plain filters are asked one after the other,
        // and were asked by themselves before: a few questions will do.
        let snapshot = restarted.reader().load().clone();
        self.ask(&snapshot, ("lookup after a restart, plain", 8), report, sums, repeat)?;
        while restarted.step() {}
        let snapshot = restarted.reader().load().clone();
        self.ask(&snapshot, ("lookup after a restart", 1), report, sums, repeat)
    }

    /// A batch as its file gives it back.
    fn stored(&self, snapshot: &Snapshot, batch: BatchId) -> Result<Arc<SealedBatch>, String> {
        let plain = snapshot.plain(batch).ok_or("a live batch is not in the snapshot")?;
        let origin = Origin {
            cluster: CLUSTER,
            fingerprint: self.schema.fingerprint(),
            schema_version: self.schema.version(),
        };
        let seed = self.filter_seed;
        let stamp = Stamp { uuid: batch.into(), generation: 1, built_at_us: 0, seed };
        let bytes = format::encode(&plain, &origin, &stamp)
            .map_err(|why| format!("batch {batch} is not written: {why:?}"))?;
        let name = FileName { batch, generation: 1 };
        let stored = format::decode(&bytes, &name, &origin, &self.schema)
            .map_err(|why| format!("batch {batch} is not read: {why:?}"))?;
        match stored.lost.first() {
            None => Ok(Arc::new(stored.batch)),
            Some(lost) => Err(format!("batch {batch} lost a filter: {lost:?}")),
        }
    }

    /// One batch through the real path; its fresh filters are asked about every key.
    fn ingest(
        &mut self,
        batch: BatchId,
        report: &mut Report,
        sums: &mut Sums,
        repeat: &str,
    ) -> Result<(), String> {
        let records = self.chance.pick(&[60, 900, 1_500, 2_500]);
        let (rows, cells) = self.draw(records);
        let sealed = Arc::new(self.intake.batch(batch, &rows)?);
        if sealed.records != records {
            return Err(format!("batch {batch}: {} records of {records}", sealed.records));
        }
        for (ordinal, cells) in cells.into_iter().enumerate() {
            self.check_direct(&sealed, ordinal, &cells, report, sums, repeat);
            self.truth[ordinal].add(batch, &cells);
        }
        self.store.insert(sealed).map_err(|why| format!("batch {batch}: {why}"))?;
        self.store.judge(batch, Verdict::Verified);
        Ok(())
    }

    fn check_direct(
        &mut self,
        sealed: &SealedBatch,
        ordinal: usize,
        cells: &[Cell],
        report: &mut Report,
        sums: &mut Sums,
        repeat: &str,
    ) {
        let column = &self.schema.columns()[ordinal];
        let keys = truth::keys(column, cells);
        let spread = 1 << self.chance.below(34);
        for &kernel in &self.kernels {
            let asked = direct::ask(kernel, &sealed.columns[ordinal], &keys, spread);
            report.add(asked.count);
            sums.direct += asked.count;
            for (at, form) in asked.missed {
                let key = match &keys {
                    direct::Keys::Narrow(keys) => format!("key {:#x}", keys[at]),
                    direct::Keys::Wide(keys) => format!("key {:x?}", keys[at]),
                };
                let (name, batch) = (column.name(), sealed.batch);
                let what = format!("{name} {key} of batch {batch}, {form} on {kernel}");
                report.fail(what, repeat);
            }
        }
    }

    /// Records, and the distinct cells of every column.
    fn draw(&mut self, records: u64) -> (Vec<u8>, Vec<Vec<Cell>>) {
        let World { schema, sources, chance, .. } = self;
        sources.iter_mut().for_each(|source| source.start(chance));
        let record_bytes = schema.record_bytes();
        let mut rows = vec![0; record_bytes * records as usize];
        let mut cells = vec![Vec::with_capacity(records as usize); sources.len()];
        for (row, record) in rows.chunks_exact_mut(record_bytes).enumerate() {
            for (at, (column, source)) in schema.columns().iter().zip(&mut *sources).enumerate() {
                match source.draw(row as u64, chance) {
                    Some(cell) => {
                        let place = column.offset()..column.offset() + column.width();
                        record[place].copy_from_slice(&cell[..column.width()]);
                        cells[at].push(cell);
                    }
                    None => {
                        let bit = column.null_bit().unwrap_or_default();
                        record[usize::from(bit / 8)] |= 1 << (bit % 8);
                    }
                }
            }
        }
        for cells in &mut cells {
            cells.sort_unstable();
            cells.dedup();
        }
        (rows, cells)
    }

    /// One in so many keys of every column that lives, through the engine's lookups.
    fn ask(
        &mut self,
        snapshot: &Snapshot,
        (form, every): (&str, usize),
        report: &mut Report,
        sums: &mut Sums,
        repeat: &str,
    ) -> Result<(), String> {
        let first = BATCHES - RETAINED as u64 + 1;
        let mut asker = Asker::new(&self.schema, snapshot, first, RETAINED as u32);
        for (ordinal, truth) in self.truth.iter().enumerate() {
            asker.column(ordinal as u16, truth, every, &mut self.chance);
            for missed in asker.missed.drain(..) {
                let name = self.schema.columns()[ordinal].name();
                let (batch, cell) = (missed.batch, missed.cell);
                let what =
                    format!("{name} cell {cell:x?} of batch {batch}, {form}, {}", missed.form);
                report.fail(what, repeat);
            }
        }
        let (others, excluded) = asker.others;
        report.add(asker.equal + asker.wider);
        sums.equal += asker.equal;
        sums.wider += asker.wider;
        sums.others += others;
        sums.excluded += excluded;
        // Found is easy to say: a lookup that excludes nothing would pass everything above.
        if excluded < others / 2 {
            return Err(format!("{form}: {excluded} of {others} batches without the key excluded"));
        }
        Ok(())
    }
}

/// Batches of a world: three chunks and a part.
const BATCHES: u64 = 200;
/// Of which the newest live.
const RETAINED: usize = 160;
/// Failures after which there is no need for more worlds.
const FAILURES_MAX: u64 = 1_000;
