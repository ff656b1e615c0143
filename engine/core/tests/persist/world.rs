//! A store, its persister and a disk, driven through time by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use bloomrf_engine::env::Rng;
use bloomrf_engine::filter::{ColumnFlags, ColumnZone, Filter, SealedColumn, Top16};
use bloomrf_engine::format::{FileName, Origin};
use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::persist::{PersistConfig, Persister, RecoveryReport, Step, recover};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::store::{Store, StoreConfig};
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::{Kernel, Zone, bloomrf};

use crate::disk::FakeDisk;

pub(crate) const SEED: u64 = 42;
pub(crate) const CLUSTER: ClusterId = ClusterId(0xC1);

const SCHEMA: &str = r#"
name = "two"
version = 3
[[columns]]
name = "a"
type = "u64"
[[columns]]
name = "b"
type = "u8"
"#;

/// A node's store and folder.
pub(crate) struct World {
    pub(crate) disk: FakeDisk,
    pub(crate) config: PersistConfig,
    pub(crate) store: Store,
    pub(crate) persister: Persister,
    /// Of the last start.
    pub(crate) report: RecoveryReport,
    pub(crate) now_ns: u64,
    /// Every batch that was ever verified, as it was sealed.
    pub(crate) sealed: BTreeMap<BatchId, SealedBatch>,
}

/// Numbers in order: what is random is of no matter here.
pub(crate) struct Count(u64);

impl Rng for Count {
    fn next_u64(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

pub(crate) fn schema() -> Arc<Schema> {
    Arc::new(Schema::from_toml(SCHEMA).unwrap())
}

pub(crate) fn config(retain_batches: usize) -> PersistConfig {
    let schema = schema();
    let origin = Origin {
        cluster: CLUSTER,
        fingerprint: schema.fingerprint(),
        schema_version: schema.version(),
    };
    PersistConfig::new(origin, schema, retain_batches, 1 << 20, SEED)
}

/// The batch `id`, its filters made with `seed`.
pub(crate) fn batch(id: BatchId, seed: u64) -> SealedBatch {
    let keys: Vec<u64> = (0..20).map(|i| id * 1_000 + i * 7).collect();
    let layers = layers_for(64, seed);
    let mut hashed = vec![0; 32];
    bloomrf::insert_many(Kernel::Scalar, &layers, &mut hashed, &mut [], &keys);
    let mut small = [0; 4];
    small[0] = 1 << (id % 64);
    let column = |zone: Zone<u64>, filter| {
        let flags = ColumnFlags { has_value: true, ..ColumnFlags::default() };
        Arc::new(SealedColumn { flags, zone: ColumnZone::Narrow(zone), filter })
    };
    let zone = |keys: &[u64]| {
        let mut zone = Zone::default();
        keys.iter().for_each(|&key| zone.insert(key));
        zone
    };
    let mut digest = [0; 32];
    digest[..8].copy_from_slice(&id.to_le_bytes());
    SealedBatch {
        batch: id,
        records: 20,
        hash: BatchHash { algorithm: HashAlgorithm::Xxh3, digest },
        columns: vec![
            column(
                zone(&keys),
                Filter::BloomRf { layers, hashed: hashed.into(), top: Top16::None },
            ),
            column(zone(&[id % 64]), Filter::Bitmap8(small)),
        ],
    }
}

impl World {
    pub(crate) fn new(retain_batches: usize) -> Self {
        Self::on(FakeDisk::default(), config(retain_batches))
    }

    /// A start on that disk.
    pub(crate) fn on(disk: FakeDisk, config: PersistConfig) -> Self {
        let mut recovery = recover(&disk, &config).unwrap();
        let mut persister = Persister::new(config.clone(), &recovery);
        let mut store = Store::new(StoreConfig {
            retain_batches: config.retain_batches,
            arena_bytes: config.arena_bytes,
        });
        let left_out = store.restore(std::mem::take(&mut recovery.batches));
        persister.on_gone(&left_out);
        let (report, sealed) = (recovery.report, BTreeMap::new());
        World { disk, config, store, persister, report, now_ns: 0, sealed }
    }

    /// Ends without a word, and starts again.
    pub(crate) fn restart(self) -> Self {
        let World { disk, config, sealed, .. } = self;
        World { sealed, ..World::on(disk, config) }
    }

    pub(crate) fn verify(&mut self, id: BatchId) {
        self.verify_made_with(id, SEED);
    }

    pub(crate) fn verify_made_with(&mut self, id: BatchId, seed: u64) {
        let batch = batch(id, seed);
        self.sealed.insert(id, batch.clone());
        let evicted = self.store.insert(Arc::new(batch)).unwrap();
        self.persister.on_gone(&evicted);
        assert!(self.store.judge(id, Verdict::Verified));
        self.persister.on_verified(id);
    }

    pub(crate) fn delete(&mut self, ids: &[BatchId]) {
        self.store.delete(ids);
        self.persister.on_gone(ids);
    }

    pub(crate) fn step(&mut self) -> Step {
        let snapshot = self.store.reader().load().clone();
        let mut rng = Count(self.now_ns);
        self.persister.step(&self.disk, &snapshot, &mut rng, self.now_ns, 1_700_000_000_000_000)
    }

    /// Steps until nothing is due before the next file is to be looked at; pauses are skipped.
    pub(crate) fn run(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        for _ in 0..10_000 {
            let status = self.persister.status();
            let step = match self.persister.next_step_ns() {
                Some(due) if due <= self.now_ns => self.step(),
                Some(due) if status.failing_since_ns.is_some() => {
                    self.now_ns = due;
                    continue;
                }
                _ => return steps,
            };
            if step == Step::Idle {
                return steps;
            }
            steps.push(step);
        }
        panic!("it never ends: {:?}", self.persister.status());
    }

    /// Ids that may be consulted.
    pub(crate) fn live(&self) -> Vec<BatchId> {
        let mut live: Vec<BatchId> = self.store.list().iter().map(|(b, _)| b.batch).collect();
        live.sort_unstable();
        live
    }

    pub(crate) fn stored(&self) -> Vec<BatchId> {
        self.persister.stored().collect()
    }

    /// Names of the batches' files.
    pub(crate) fn files(&self) -> Vec<FileName> {
        self.disk.names().iter().filter_map(|name| name.parse().ok()).collect()
    }

    /// What must hold whenever all work is done and the disk works.
    pub(crate) fn check(&self) {
        let live = self.live();
        assert_eq!(self.stored(), live);
        let mut files: Vec<BatchId> = self.files().iter().map(|name| name.batch).collect();
        files.sort_unstable();
        assert_eq!(files, live, "one file for each: {:?}", self.disk.names());
        assert!(!self.disk.names().iter().any(|name| name.starts_with("tmp-")), "{self}");
        let status = self.persister.status();
        assert_eq!((status.failing_since_ns, status.waiting, status.removing), (None, 0, 0));
        let bytes: usize = self
            .disk
            .state()
            .files
            .iter()
            .map(|(name, bytes)| if name.parse::<FileName>().is_ok() { bytes.len() } else { 0 })
            .sum();
        assert_eq!((status.files, status.bytes), (live.len() as u64, bytes as u64));
        self.check_content();
    }

    /// Whatever the store holds is what was sealed.
    pub(crate) fn check_content(&self) {
        for (held, _) in self.store.list() {
            assert_eq!(*held, self.sealed[&held.batch], "batch {}", held.batch);
        }
    }
}

impl std::fmt::Display for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {:?}", self.disk.names(), self.persister.status())
    }
}
