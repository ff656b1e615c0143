//! Crashes of the data folder alone, many and cheap: batches come, are verified, evicted, deleted,
//! written and removed; everything stops during some call of the disk; what was not safe is lost
//! or torn in any subset; the start after it may be stopped as well.
//!
//! Invariants checked: what a start loads equals what was written, to the last bit; no file is
//! refused; what was known to be safe is there; nothing unfinished is left; a second start finds
//! what the first one left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use bloomrf_engine::filter::{FilterPolicy, OpenColumn};
use bloomrf_engine::format::FileName;
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::persist::{PersistConfig, Persister, Recovery, TEMPORARY_PREFIX, recover};
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::store::{Store, StoreConfig};
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_kernels::params::Budget;
use bloomrf_kernels::{Kernel, SizeClasses};

use crate::canary::Canary;
use crate::disk::{DiskFaults, SimDisk};
use crate::epoch::Epoch;
use crate::node::{lies, origin_of, safe_files};
use crate::run::{Failure, Report, caught};
use crate::shared::Splitmix;
use crate::tally::Tally;
use crate::trace::{Line, Trace};

/// One crash, or two where the start after it is stopped as well.
pub fn run_crash(seed: u64, canary: Option<Canary>) -> Result<Report, Box<Failure>> {
    let mut tally = Tally::default();
    let mut trace = Trace::new();
    let ended = caught(|| Life::new(seed, canary, &mut tally, &mut trace).run());
    match ended {
        Ok(()) => Ok(Report { events: tally.of("calls"), digest: trace.digest(), tally }),
        Err(what) => {
            let trace: Vec<Line> = trace.last().copied().collect();
            Err(Box::new(Failure { events: trace.len() as u64, what, trace }))
        }
    }
}

/// A folder and what is known of it.
struct Life<'a> {
    rng: Splitmix,
    disk: SimDisk,
    config: PersistConfig,
    store_config: StoreConfig,
    /// Every batch that ever was, as it was sealed.
    originals: BTreeMap<BatchId, Arc<SealedBatch>>,
    now_ns: u64,
    tally: &'a mut Tally,
    trace: &'a mut Trace,
}

impl<'a> Life<'a> {
    fn new(seed: u64, canary: Option<Canary>, tally: &'a mut Tally, trace: &'a mut Trace) -> Self {
        let mut rng = Splitmix::new(seed ^ 0x000F_F00F_0000_0003);
        let disk = SimDisk::new(rng.next());
        disk.set_lies(lies(canary));
        let retain_batches = 1 + rng.below(6) as usize;
        let store_config = StoreConfig { retain_batches, arena_bytes: 1 << 30 };
        let epoch = &models().0;
        let schema = Arc::clone(&epoch.schema);
        let config = PersistConfig {
            retry_ns: 3,
            retry_max_ns: 20,
            scrub_ns: 40,
            ..PersistConfig::new(origin_of(epoch), schema, retain_batches, 1 << 30, epoch.seed)
        };
        let originals = BTreeMap::new();
        Life { rng, disk, config, store_config, originals, now_ns: 1, tally, trace }
    }

    fn run(&mut self) {
        let started = recover(&self.disk, &self.config);
        let mut recovery = started.unwrap_or_else(|error| panic!("an empty folder: {error}"));
        // The folder of the last one has a past.
        for life in 0..2 {
            let calls = self.rng.below(if life == 0 { 90 } else { 45 });
            let safe = self.live(&mut recovery, calls);
            recovery = self.start_again(&safe);
        }
        self.tally.add("calls", self.disk.calls());
    }

    /// A node's life until everything stops after so many calls of the disk.
    fn live(&mut self, recovery: &mut Recovery, calls: u64) -> Vec<FileName> {
        if self.rng.one_in(3) {
            let rate = *self.rng.pick(&[3, 10, 30]);
            self.disk.set_faults(DiskFaults {
                eio_one_in: rate,
                enospc_one_in: rate,
                read_one_in: 0,
            });
        }
        let mut store = Store::on(self.store_config, Kernel::Scalar, None);
        let mut persister = Persister::new(self.config.clone(), recovery);
        persister.on_gone(&store.restore(std::mem::take(&mut recovery.batches)));
        // An earlier life gave these names and could not make them safe; this one cannot know.
        let doubtful = self.disk.doubtful();
        self.disk.cut_after(calls);
        let reader = store.reader();
        for _ in 0..LIFE_STEPS {
            self.now_ns += 1 + self.rng.below(5);
            match self.rng.below(12) {
                0..4 => self.add_batch(&mut store, &mut persister),
                4 => self.drop_batch(&mut store, &mut persister),
                _ => {
                    let unix_us = self.now_ns as i64;
                    let snapshot = reader.load();
                    let (disk, now_ns) = (&self.disk, self.now_ns);
                    let step = persister.step(disk, &snapshot, &mut self.rng, now_ns, unix_us);
                    let status = persister.status();
                    self.trace.note(now_ns, "step", self.disk.calls(), status.written);
                    let _ = step;
                }
            }
            if self.disk.is_cut() {
                break;
            }
        }
        self.disk.set_faults(DiskFaults::default());
        let mut safe = safe_files(&persister, &store, &self.disk);
        safe.retain(|name| !doubtful.contains(&name.to_string()));
        safe
    }

    fn add_batch(&mut self, store: &mut Store, persister: &mut Persister) {
        let id = 1 + self.originals.last_key_value().map_or(0, |last| *last.0);
        let model = self.rng.pick(&models().1);
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&id.to_le_bytes());
        let hash = BatchHash { algorithm: HashAlgorithm::Sha256, digest };
        let batch = Arc::new(SealedBatch { batch: id, hash, ..SealedBatch::clone(model) });
        self.originals.insert(id, Arc::clone(&batch));
        match store.insert(batch) {
            Ok(evicted) => persister.on_gone(&evicted),
            Err(error) => panic!("batch {id}: {error}"),
        }
        if store.judge(id, Verdict::Verified) {
            persister.on_verified(id);
        }
        self.trace.note(self.now_ns, "verified", id, 0);
    }

    fn drop_batch(&mut self, store: &mut Store, persister: &mut Persister) {
        let held: Vec<BatchId> = store.list().iter().map(|(batch, _)| batch.batch).collect();
        if !held.is_empty() {
            let batch = *self.rng.pick(&held);
            store.delete(&[batch]);
            persister.on_gone(&[batch]);
            self.trace.note(self.now_ns, "deleted", batch, 0);
        }
    }

    /// The power or the process is gone; starts until one gets through.
    fn start_again(&mut self, safe: &[FileName]) -> Recovery {
        let power = !self.rng.one_in(4);
        self.crash(power);
        let mut surplus = 0;
        for _ in 0..2 {
            if self.rng.one_in(2) {
                self.disk.cut_after(self.rng.below(12));
                let started = recover(&self.disk, &self.config);
                surplus += started.map_or(0, |recovery| recovery.report.surplus);
                if self.disk.is_cut() {
                    self.tally.one("cuts in a start");
                    let power = !self.rng.one_in(4);
                    self.crash(power);
                }
                self.disk.cut_never();
            }
        }
        let started = recover(&self.disk, &self.config);
        let recovery = started.unwrap_or_else(|error| panic!("no fault, and no start: {error}"));
        // What came back from the past may have taken the place of what was safe.
        let is_crowded = surplus + recovery.report.surplus > 0;
        self.check(&recovery, if is_crowded { &[] } else { safe });
        recovery
    }

    fn crash(&mut self, power: bool) {
        self.trace.note(self.now_ns, "crash", u64::from(power), self.disk.calls());
        self.tally.one(if power { "power cuts" } else { "kills" });
        self.disk.crash(power);
    }

    fn check(&mut self, recovery: &Recovery, safe: &[FileName]) {
        let report = &recovery.report;
        assert!(report.refused.is_empty(), "torn, and under its name: {:?}", report.refused);
        assert!(report.lost.is_empty() && report.unreadable.is_empty(), "{report:?}");
        for batch in &recovery.batches {
            let original = self.originals.get(&batch.batch);
            assert_eq!(Some(batch), original, "what was loaded is not what was sealed");
        }
        let loaded: BTreeSet<BatchId> = recovery.batches.iter().map(|b| b.batch).collect();
        assert_eq!(loaded.len(), recovery.batches.len(), "a batch was loaded twice");
        for name in safe {
            assert!(loaded.contains(&name.batch), "{name} was safe, and is gone");
        }
        self.tally.add("safe files", safe.len() as u64);
        let left = self.disk.contents();
        let unfinished = left.keys().find(|name| name.starts_with(TEMPORARY_PREFIX));
        assert_eq!(unfinished, None, "an unfinished file is left");
        self.tally.add("recovered", loaded.len() as u64);
        self.tally.add("unfinished removed", report.temporaries);
    }
}

/// A schema, and some sealed batches of it.
fn models() -> &'static (Epoch, Vec<SealedBatch>) {
    static MODELS: OnceLock<(Epoch, Vec<SealedBatch>)> = OnceLock::new();
    MODELS.get_or_init(|| {
        let rng = &mut Splitmix::new(3);
        let epoch = Epoch::draw(1, rng);
        let policy = FilterPolicy {
            budget: Budget { bits_per_key: 8, levels: 4 },
            sizes: SizeClasses::new(64),
            seed: epoch.seed,
            filtered: vec![true; epoch.pools.len()],
            kernel: Kernel::Scalar,
            exact_keys_max: 100,
        };
        let batches = [0, 1, 20, 90, 400].map(|count| sealed(&epoch, &policy, count, rng));
        (epoch, batches.into())
    })
}

fn sealed(epoch: &Epoch, policy: &FilterPolicy, count: u64, rng: &mut Splitmix) -> SealedBatch {
    let schema = &epoch.schema;
    let rows = epoch.records(count, 1, rng).concat();
    let shapes = policy.open_shapes(schema, count);
    let columns = schema.columns().iter().zip(shapes).map(|(column, shape)| {
        let mut open = OpenColumn::reserve(column, shape, policy, None);
        open.insert_rows(column, &rows, schema.record_bytes());
        Arc::new(OpenColumn::seal_shares(&mut [&mut open], policy, count))
    });
    let hash = BatchHash { algorithm: HashAlgorithm::Sha256, digest: [0; 32] };
    SealedBatch { batch: 0, records: count, hash, columns: columns.collect() }
}

/// Steps of a life that no cut ends.
const LIFE_STEPS: u64 = 150;
