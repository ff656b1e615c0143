//! A sender, a network and a node of two queues, all driven by one seed. Test-only: include it
//! with `mod seeded; mod ingest_world;`.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bloomrf_engine::filter::{Dedupe, FilterPolicy, OpenColumn, SealedColumn};
use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::ingest::{IngestConfig, OpenBoard, Queue, QueueCommand, Tuning};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::seal::{IncompleteReason, SealAction, SealedBatch, Sealer, SealerConfig};
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_engine::wire::frame::{FrameHeader, LaneTotal, encode_close, encode_data};
use bloomrf_engine::wire::stream::Missing;
use bloomrf_kernels::params::Budget;
use bloomrf_kernels::{Kernel, SizeClasses};

use crate::seeded::{Splitmix, seed_of_env};

/// One frame's time on the wire.
pub(crate) const SLOT_NS: u64 = 1_000;
pub(crate) const IDLE_NS: u64 = 150 * SLOT_NS;
pub(crate) const GRACE_NS: u64 = 60 * SLOT_NS;
pub(crate) const REPAIR_NS: u64 = 200 * SLOT_NS;
pub(crate) const CLUSTER: ClusterId = ClusterId(0xFEED);

const COLUMNS: &str = r#"{"name": "flow", "version": 3, "columns": [
    {"name": "proto", "type": "u8", "nullable": true},
    {"name": "port", "type": "u16"},
    {"name": "ip", "type": "ipv4", "nullable": true},
    {"name": "ts", "type": "timestamp(ns)"},
    {"name": "load", "type": "f32"},
    {"name": "ip6", "type": "ipv6", "nullable": true}]}"#;

/// The seeds to run: `SEED` alone, or `count` of them.
pub(crate) fn seeds(count: u64) -> Vec<u64> {
    match seed_of_env() {
        Some(seed) => vec![seed],
        None => (1..=count).collect(),
    }
}

/// A batch as its sender knows it.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) id: u64,
    pub(crate) hash: HashAlgorithm,
    /// Payloads of the frames, per lane, in sequence order.
    pub(crate) lanes: Vec<Vec<Vec<u8>>>,
}

impl Batch {
    pub(crate) fn random(id: u64, schema: &Schema, frames: u64, chance: &mut Splitmix) -> Self {
        let mut lanes = vec![Vec::new(), Vec::new()];
        let base = chance.next();
        for _ in 0..frames {
            let lane = chance.below(2) as usize;
            let records = 1 + chance.below(12) as usize;
            lanes[lane].push(rows(schema, records, base, chance));
        }
        let hash = HashAlgorithm::ALL[chance.below(3) as usize];
        Batch { id, hash, lanes }
    }

    pub(crate) fn header(&self, schema: &Schema, lane: usize, sequence: usize) -> FrameHeader {
        FrameHeader {
            cluster: CLUSTER,
            fingerprint: schema.fingerprint(),
            batch: self.id,
            hash: self.hash,
            lane: lane as u8,
            lanes: self.lanes.len() as u8,
            sequence: sequence as u32,
        }
    }

    pub(crate) fn data(&self, schema: &Schema, lane: usize, sequence: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let header = self.header(schema, lane, sequence);
        encode_data(&mut out, &header, schema.record_bytes(), &self.lanes[lane][sequence]);
        out
    }

    pub(crate) fn totals(&self, schema: &Schema) -> Vec<LaneTotal> {
        let records = |frames: &[Vec<u8>]| {
            frames.iter().map(|payload| (payload.len() / schema.record_bytes()) as u64).sum()
        };
        let lanes = self.lanes.iter();
        lanes.map(|f| LaneTotal { frames: f.len() as u32, records: records(f) }).collect()
    }

    pub(crate) fn close(&self, schema: &Schema, lane: usize) -> Vec<u8> {
        self.close_with(schema, lane, &self.totals(schema))
    }

    pub(crate) fn close_with(&self, schema: &Schema, lane: usize, totals: &[LaneTotal]) -> Vec<u8> {
        let mut out = Vec::new();
        encode_close(&mut out, &self.header(schema, lane, 0), totals);
        out
    }

    pub(crate) fn records(&self, schema: &Schema) -> u64 {
        self.totals(schema).iter().map(|total| total.records).sum()
    }

    /// The batch hash, straight from its definition in docs/WIRE.md.
    pub(crate) fn reference_hash(&self, schema: &Schema) -> [u8; 32] {
        let mut all = Vec::new();
        for (lane, frames) in self.lanes.iter().enumerate() {
            let mut start = CLUSTER.0.to_le_bytes().to_vec();
            start.extend(schema.fingerprint().0.to_le_bytes());
            start.extend(self.id.to_le_bytes());
            start.push(lane as u8);
            let mut chain = self.h(&start);
            for payload in frames {
                chain = self.h(&[chain, self.h(payload)].concat());
            }
            all.extend(chain);
        }
        all.extend(self.records(schema).to_le_bytes());
        self.h(&all)
    }

    fn h(&self, bytes: &[u8]) -> [u8; 32] {
        use sha2::Digest as _;
        match self.hash {
            HashAlgorithm::Xxh3 => {
                let mut out = [0; 32];
                out[..16].copy_from_slice(&xxhash_rust::xxh3::xxh3_128(bytes).to_le_bytes());
                out
            }
            HashAlgorithm::Blake3 => blake3::hash(bytes).into(),
            HashAlgorithm::Sha256 => sha2::Sha256::digest(bytes).into(),
        }
    }

    /// The columns as one queue would have built them from the rows in order.
    pub(crate) fn reference_columns(&self, config: &IngestConfig, sized: u64) -> Vec<SealedColumn> {
        let rows = self.lanes.concat().concat();
        let shapes = config.policy.open_shapes(&config.schema, sized);
        let columns = config.schema.columns().iter().zip(shapes);
        columns
            .map(|(column, shape)| {
                let mut open = OpenColumn::reserve(column, shape, &config.policy, None);
                open.insert_rows(column, &rows, config.schema.record_bytes());
                let records = self.records(&config.schema);
                match config.policy.exact_keys_max {
                    0 => open.seal(&config.policy, records),
                    _ => OpenColumn::seal_shares(&mut [&mut open], &config.policy, records),
                }
            })
            .collect()
    }
}

/// Rows with clustered and scattered values, nulls and NaN.
fn rows(schema: &Schema, count: usize, base: u64, chance: &mut Splitmix) -> Vec<u8> {
    let mut rows = vec![0; count * schema.record_bytes()];
    for record in rows.chunks_exact_mut(schema.record_bytes()) {
        record[0] = chance.next() as u8 & chance.next() as u8 & 7;
        for column in schema.columns() {
            let cell = &mut record[column.offset()..][..column.width()];
            match chance.below(4) {
                0 => cell.fill(0xFF),
                1 => cell.copy_from_slice(&base.to_le_bytes().repeat(2)[..cell.len()]),
                _ => cell.fill_with(|| chance.next() as u8),
            }
        }
    }
    rows
}

/// A node without a wire: its queues, its sealer, and what they have come to.
pub(crate) struct Node {
    pub(crate) config: IngestConfig,
    pub(crate) queues: Vec<Queue>,
    pub(crate) sealer: Sealer,
    pub(crate) sealed: BTreeMap<u64, SealedBatch>,
    pub(crate) incomplete: BTreeMap<u64, IncompleteReason>,
    /// What the sealer wants of the SCC.
    pub(crate) requests: Vec<Missing>,
    inbox: Vec<VecDeque<QueueCommand>>,
}

impl Node {
    pub(crate) fn new(queues: usize) -> Self {
        let kernel = Kernel::from_env().expect("BLOOMRF_KERNEL names a set of this CPU");
        Node::tuned(queues, kernel, Tuning::default(), 0)
    }

    /// As `seeded`, with repair of what is missing.
    pub(crate) fn repairing(queues: usize, seed: u64) -> Self {
        let (kernel, tuning) = Node::of_seed(seed);
        Node::tuned(queues, kernel, tuning, REPAIR_NS)
    }

    /// A node of one of the kernel sets, with chunks and caches as the seed has it: none of it may
    /// change what is sealed.
    pub(crate) fn seeded(queues: usize, seed: u64) -> Self {
        let (kernel, tuning) = Node::of_seed(seed);
        Node::tuned(queues, kernel, tuning, 0)
    }

    fn of_seed(seed: u64) -> (Kernel, Tuning) {
        let mut chance = Splitmix::new(seed ^ 0x7E57);
        let tuning = Tuning {
            chunk_rows: *chance.pick(&[1, 5, 64, 4_096]),
            dedupe: *chance.pick(&[Dedupe::Adaptive, Dedupe::Always, Dedupe::Never]),
            arena: None,
        };
        (*chance.pick(&Kernel::all()), tuning)
    }

    fn tuned(queues: usize, kernel: Kernel, tuning: Tuning, repair_ns: u64) -> Self {
        let schema = Arc::new(Schema::from_json(COLUMNS).unwrap());
        let policy = FilterPolicy {
            budget: Budget { bits_per_key: 8, levels: 4 },
            sizes: SizeClasses::new(64),
            seed: 0xB10,
            filtered: vec![true; schema.columns().len()],
            kernel,
            // Nodes of two queues may store keys exactly; enough for every batch, however its
            // frames fall to the queues and whatever caches leave out.
            exact_keys_max: if queues == 2 { 1_000 } else { 0 },
        };
        let config = IngestConfig {
            cluster: CLUSTER,
            schema,
            policy: Arc::new(policy),
            board: Arc::new(OpenBoard::new(300)),
            idle_ns: IDLE_NS,
            frames_max: 1_024,
            tuning,
        };
        let sealer = SealerConfig {
            ingest: config.clone(),
            queues,
            grace_ns: GRACE_NS,
            retry_ns: 5 * SLOT_NS,
            repair_ns,
        };
        Node {
            queues: (0..queues).map(|_| Queue::new(config.clone())).collect(),
            sealer: Sealer::new(sealer),
            config,
            sealed: BTreeMap::new(),
            incomplete: BTreeMap::new(),
            requests: Vec::new(),
            inbox: (0..queues).map(|_| VecDeque::new()).collect(),
        }
    }

    /// One turn of a queue's poll loop besides receiving: commands in, events out.
    pub(crate) fn pump_queue(&mut self, queue: usize, now_ns: u64) {
        while let Some(command) = self.inbox[queue].pop_front() {
            self.queues[queue].on_command(command, now_ns);
        }
        self.queues[queue].on_tick(now_ns);
        while let Some(event) = self.queues[queue].next_event() {
            self.sealer.on_event(queue, event, now_ns);
        }
        let stats = self.queues[queue].stats();
        assert_eq!(stats.frames_in, stats.accounted(), "every frame is accounted for");
    }

    /// One turn of the sealer.
    pub(crate) fn pump_sealer(&mut self, now_ns: u64) {
        self.sealer.on_tick(now_ns);
        while let Some(action) = self.sealer.next_action() {
            match action {
                SealAction::Queue(queue, command) => self.inbox[queue].push_back(command),
                SealAction::Sealed(batch) => {
                    assert!(!self.incomplete.contains_key(&batch.batch));
                    assert!(self.sealed.insert(batch.batch, *batch).is_none(), "sealed once");
                }
                SealAction::Repair { batch, close, ranges } => {
                    let missing = Missing { batch, close, ranges };
                    assert!(missing.is_sound(), "{missing:?}");
                    self.requests.push(missing);
                }
                SealAction::Incomplete(batch, reason) => {
                    assert!(!self.sealed.contains_key(&batch));
                    assert!(self.incomplete.insert(batch, reason).is_none(), "given up once");
                }
            }
        }
    }

    pub(crate) fn pump(&mut self, now_ns: u64) {
        for _ in 0..3 {
            for queue in 0..self.queues.len() {
                self.pump_queue(queue, now_ns);
            }
            self.pump_sealer(now_ns);
        }
    }

    /// Frames refused on all queues for the reason with this label.
    pub(crate) fn refused(&self, label: &str) -> u64 {
        use bloomrf_engine::ingest::RefuseReason;
        let index = RefuseReason::LABELS.iter().position(|l| *l == label).unwrap();
        self.queues.iter().map(|queue| queue.stats().refused[index]).sum()
    }
}
