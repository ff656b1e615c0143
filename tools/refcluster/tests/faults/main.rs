//! The whole promise under seeded faults: a relay between broadcaster and a two-queue node
//! reorders, duplicates, damages, loses and misroutes frames, and adds foreign ones.
//!
//! Invariants checked: a batch with a lost frame is never verified; a verified batch never causes
//! a false negative; every frame is counted once; ingest goes on. `SEED=n` repeats a run.

#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

mod loss;
mod relay;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bloomrf_engine::controller::Mode;
use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::{PacketFields, Schema};
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_engine::wire::lookup::{Candidates, LookupRequest};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_node::{Config, Node};
use bloomrf_refcluster::scc::{Consult, Via};
use bloomrf_refcluster::truth::{self, Judge};
use bloomrf_refcluster::{
    BroadcastConfig, Broadcaster, Fate, Ledger, Pace, Scc, SccConfig, StorageConfig, StorageNode,
};

use relay::{Chance, Harm, Relay, Sent};

const CLUSTER: ClusterId = ClusterId(0xfa17);
const BATCH_RECORDS: u64 = 240;
const FAULTY_BATCHES: u64 = 40;
const CLEAN_BATCHES: u64 = 8;

/// Everything between a record and a verdict.
struct World {
    node: Arc<Node>,
    scc: Scc,
    storage: StorageNode,
    ledger: Arc<Ledger>,
    schema: Arc<Schema>,
    folder: tempfile::TempDir,
    sent: Arc<Sent>,
}

impl World {
    /// Nothing that was lost is sent again.
    fn start(hash: HashAlgorithm) -> Self {
        Self::start_keeping(hash, 0)
    }

    /// Storage keeps so many bytes of frames to be sent again.
    fn start_keeping(hash: HashAlgorithm, kept_bytes: usize) -> Self {
        let schema = Arc::new(Schema::packet());
        let ledger = Arc::new(Ledger::keeping(kept_bytes));
        let folder = tempfile::tempdir().unwrap();
        let batches = folder.path().join("batches");
        std::fs::create_dir(&batches).unwrap();
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let fingerprint = schema.fingerprint();
        let patience = Duration::from_secs(5);
        let scc_config = SccConfig { listen, cluster: CLUSTER, fingerprint, hash, patience };
        let scc = Scc::start(scc_config, ledger.clone()).unwrap();
        let storage_config = StorageConfig {
            cluster: CLUSTER,
            schema: schema.clone(),
            listen,
            folder: batches,
            idle: Duration::from_secs(20),
        };
        let storage = StorageNode::start(storage_config, ledger.clone()).unwrap();
        let node = Node::start(Config {
            listen: Ipv4Addr::LOCALHOST.into(),
            production_port: 0,
            lookup_port: None,
            observability_port: 0,
            data_dir: folder.path().join("node"),
            lookup_budget_us: 5_000_000,
            scc: Some(scc.address()),
            cluster: CLUSTER,
            chain_hash: hash,
            queues: 2,
            expected_records: BATCH_RECORDS,
            batch_idle_ms: 2_000,
            close_grace_ms: 250,
            ..Config::default()
        })
        .unwrap();
        let world = World {
            node: Arc::new(node),
            scc,
            storage,
            ledger,
            schema,
            folder,
            sent: Arc::default(),
        };
        wait_until("the node to connect", || world.scc.connections() > 0);
        world
    }

    /// Sends `batches` batches through the relay, each given some time to be sealed.
    fn broadcast(
        &self,
        first_batch: BatchId,
        batches: u64,
        hash: HashAlgorithm,
        relay: Relay,
        chance: &mut Chance,
    ) {
        let mut config = BroadcastConfig::new(CLUSTER, self.schema.clone());
        config.batch_records = BATCH_RECORDS;
        config.lanes = 2;
        config.first_batch = first_batch;
        config.hash = hash;
        let mut broadcaster = Broadcaster::over(config, Box::new(relay), Pace::Free).unwrap();
        let mut record = vec![0; self.schema.record_bytes()];
        for _ in 0..batches {
            let done_before = self.done();
            for _ in 0..BATCH_RECORDS {
                packet(chance).encode(&mut record);
                broadcaster.push(&record).unwrap();
            }
            wait_until("both receivers to take what was sent", || self.is_taken());
            let patience = Instant::now() + Duration::from_millis(60);
            while self.done() == done_before && Instant::now() < patience {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        broadcaster.finish().unwrap();
    }

    /// Whether both receivers have seen every frame sent so far.
    fn is_taken(&self) -> bool {
        let node = self.node.status().ingest.frames_in;
        let storage = self.storage.stats().assemble.frames;
        node == self.sent.node.load(Ordering::Relaxed)
            && storage == self.sent.storage.load(Ordering::Relaxed)
    }

    /// Batches that the node is done with.
    fn done(&self) -> u64 {
        let status = self.node.status();
        let store = status.store;
        store.verified + store.pending + store.rejected + store.evicted + status.incomplete
    }

    fn batch_folder(&self) -> std::path::PathBuf {
        self.folder.path().join("batches")
    }

    fn is_verified(&self, batch: BatchId) -> bool {
        self.ledger.verdict(batch) == Some(Verdict::Verified)
    }

    /// Asks about rows of every stored batch; the number of exclusions and of false negatives.
    fn ask(&self, ids: &[BatchId], chance: &mut Chance) -> (u64, u64) {
        let predicates = predicates(chance);
        let judges: Vec<Judge> =
            predicates.iter().map(|p| Judge::new(&self.schema, p).unwrap()).collect();
        let fields = truth::fields(&self.schema);
        let node = self.node.ports().lookup;
        let timeout = Duration::from_secs(10);
        let consult = Consult { mode: Mode::Active, timeout, node, via: Via::Auto };
        let plans: Vec<_> = predicates
            .into_iter()
            .enumerate()
            .map(|(number, predicate)| {
                let plan = consult.plan(&LookupRequest {
                    query_id: number as u64 + 1,
                    cluster: CLUSTER,
                    fingerprint: self.schema.fingerprint(),
                    budget_us: 0,
                    float_order: FloatOrder::Unstated,
                    candidates: Candidates::List(ids.to_vec()),
                    predicate,
                });
                assert_eq!(plan.doubt, None, "the node answers");
                plan
            })
            .collect();
        let (mut excluded, mut negatives) = (0, 0);
        for &batch in ids {
            let counts =
                truth::count_matches(&self.batch_folder(), batch, &fields, &judges).unwrap();
            for (plan, matches) in plans.iter().zip(counts) {
                let is_excluded = plan.excluded.contains(&batch);
                assert!(!is_excluded || self.is_verified(batch), "batch {batch} is not verified");
                excluded += u64::from(is_excluded);
                negatives += u64::from(is_excluded && matches > 0);
            }
        }
        (excluded, negatives)
    }
}

/// Few enough values that questions hit, many enough that they exclude.
fn packet(chance: &mut Chance) -> PacketFields {
    PacketFields {
        ts_ns: 1_700_000_000_000_000_000 + chance.below(1 << 40) as i64,
        src_ip4: Some([10, 0, chance.below(8) as u8, chance.below(256) as u8]),
        dst_ip4: Some([192, 168, 0, chance.below(40) as u8]),
        src_port: Some(1_024 + chance.below(20_000) as u16),
        dst_port: (chance.below(10) > 0).then(|| chance.below(2_000) as u16),
        length: 60 + chance.below(1_400) as u32,
        ..PacketFields::default()
    }
}

fn predicates(chance: &mut Chance) -> Vec<Predicate> {
    let schema = Schema::packet();
    let column = |name| schema.ordinal(name).unwrap();
    let mut predicates = Vec::new();
    for _ in 0..60 {
        let row = packet(chance);
        let (ip, port) = (column("src_ip4"), column("src_port"));
        let op = CompareOp::Eq;
        let address = Literal::Ipv4(row.src_ip4.unwrap());
        predicates.push(Predicate::Compare { column: ip, op, literal: address });
        let low = u64::from(row.src_port.unwrap());
        let (low, high) = (Literal::Unsigned(low), Literal::Unsigned(low + 15));
        predicates.push(Predicate::Between { column: port, low, high });
    }
    predicates
}

fn wait_until(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn seed() -> u64 {
    let seed = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    println!("SEED={seed}");
    seed
}

#[test]
fn damaged_batches_never_verify_and_verified_ones_are_right() {
    let mut chance = Chance::new(seed());
    for hash in [HashAlgorithm::Xxh3, HashAlgorithm::Blake3, HashAlgorithm::Sha256] {
        run(hash, &mut chance);
    }
}

fn run(hash: HashAlgorithm, chance: &mut Chance) {
    let world = World::start(hash);
    let damaged = Arc::new(Mutex::new(BTreeSet::new()));
    let targets = (world.node.ports().ingest, world.storage.address());
    let record_bytes = world.schema.record_bytes();
    let relay_seed = chance.below(1 << 32);
    let relay = |harm| {
        Relay::new(targets, record_bytes, harm, relay_seed, damaged.clone(), world.sent.clone())
    };
    world.broadcast(1, FAULTY_BATCHES, hash, relay(Harm::All), chance);
    // What was lost must not hold up what comes after it.
    let clean_first = FAULTY_BATCHES + 1;
    world.broadcast(clean_first, CLEAN_BATCHES, hash, relay(Harm::None), chance);
    let all = FAULTY_BATCHES + CLEAN_BATCHES;
    assert!(world.ledger.wait_settled(all as usize, Duration::from_secs(20)));
    let ids: Vec<BatchId> = world.ledger.stored();
    assert_eq!(ids.len() as u64, all, "storage gets everything: {:?}", world.storage.stats());
    wait_until("clean batches to be verified", || {
        (clean_first..=all).all(|batch| world.is_verified(batch))
    });
    wait_until("the store to hear of it", || {
        let verified = ids.iter().filter(|&&b| world.is_verified(b)).count() as u64;
        world.node.status().store.verified == verified
    });
    let damaged = damaged.lock().unwrap().clone();
    assert!(damaged.len() > 5, "the relay does damage: {damaged:?}");
    for &batch in &damaged {
        assert!(!world.is_verified(batch), "batch {batch} lost a frame and is verified");
    }
    let whole: Vec<BatchId> =
        (1..=FAULTY_BATCHES).filter(|batch| !damaged.contains(batch)).collect();
    let verified = whole.iter().filter(|&&batch| world.is_verified(batch)).count();
    println!(
        "{hash:?}: {} damaged, {verified} of {} whole ones verified",
        damaged.len(),
        whole.len()
    );
    assert!(verified * 100 > whole.len() * 85, "disorder alone must not spoil batches");
    check_counters(&world);
    let (excluded, negatives) = world.ask(&ids, chance);
    assert_eq!(negatives, 0);
    assert!(excluded > 500, "only {excluded} exclusions");
}

/// frames in = ingested + duplicates + refused.
fn check_counters(world: &World) {
    let ingest = world.node.status().ingest;
    let refused: u64 = ingest.refused.iter().sum();
    assert_eq!(ingest.frames_in, ingest.data + ingest.close + ingest.duplicate + refused);
    assert!(ingest.duplicate > 0 && refused > 0, "{ingest:?}");
}

#[test]
fn deleted_batches_are_no_longer_excluded() {
    let world = World::start(HashAlgorithm::Xxh3);
    let mut chance = Chance::new(seed());
    let targets = (world.node.ports().ingest, world.storage.address());
    let damaged = Arc::new(Mutex::new(BTreeSet::new()));
    let (bytes, sent) = (world.schema.record_bytes(), world.sent.clone());
    let relay = Relay::new(targets, bytes, Harm::None, 1, damaged, sent);
    world.broadcast(1, 4, HashAlgorithm::Xxh3, relay, &mut chance);
    wait_until("four verified batches", || world.node.status().store.verified == 4);
    world.ledger.delete(&[2, 3]);
    wait_until("two to be gone", || world.node.status().store.verified == 2);
    assert_eq!(world.ledger.fate(2), Some(Fate::Deleted));
    let timeout = Duration::from_secs(10);
    let node = world.node.ports().lookup;
    let plan = Consult { mode: Mode::Active, timeout, node, via: Via::Tcp }.plan(&LookupRequest {
        query_id: 9,
        cluster: CLUSTER,
        fingerprint: world.schema.fingerprint(),
        budget_us: 0,
        float_order: FloatOrder::Unstated,
        candidates: Candidates::List(vec![4, 3, 2, 1]),
        predicate: Predicate::Or(Vec::new()),
    });
    assert_eq!(plan.excluded, [4, 1]);
    assert_eq!(plan.read, [3, 2]);
}
