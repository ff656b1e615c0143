//! A whole node without a wire: its queues, sealer, session, store and lookups, driven by a script
//! of bytes. Hostile datagrams, stream bytes and lookups come between batches of an honest
//! sender. Nothing panics, every frame is accounted for, no reply is longer than its request,
//! and no lookup of a key that an honest, verified batch holds excludes it.

use std::collections::VecDeque;
use std::sync::Arc;

use bloomrf_engine::env::Clock;
use bloomrf_engine::filter::FilterPolicy;
use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::ingest::{IngestConfig, OpenBoard, Queue, QueueCommand, Tuning};
use bloomrf_engine::lookup::{Evaluator, LookupConfig};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::seal::{SealAction, Sealer, SealerConfig};
use bloomrf_engine::store::{Store, StoreConfig};
use bloomrf_engine::verify::{BatchHash, HashAlgorithm, Session, SessionConfig, SessionEvent};
use bloomrf_engine::wire::frame::{FrameHeader, LaneTotal, encode_close, encode_data};
use bloomrf_engine::wire::lookup::{Candidates, LookupRequest, reply_bytes};
use bloomrf_engine::wire::stream::{StreamMessage, Verdict};
use bloomrf_kernels::params::Budget;
use bloomrf_kernels::{Kernel, SizeClasses};

use crate::checksum::{seal_end, seal_frame, seal_stream};

/// Plays the script: operations of one byte, two bytes of length, and as many of content.
pub fn run(script: &[u8]) {
    let mut world = World::new();
    let mut rest = script;
    for _ in 0..OPERATIONS_MAX {
        let Some((&[op, low, high], tail)) = rest.split_first_chunk::<3>() else { break };
        let length = usize::from(u16::from_le_bytes([low, high])).min(tail.len());
        let (content, after) = tail.split_at(length);
        world.operate(op, content);
        rest = after;
    }
    world.check();
}

struct World {
    schema: Arc<Schema>,
    queues: Vec<Queue>,
    inbox: Vec<VecDeque<QueueCommand>>,
    sealer: Sealer,
    session: Session,
    store: Store,
    evaluator: Evaluator,
    now_ns: u64,
    /// Honest batches that the SCC verified.
    verified: Vec<BatchId>,
}

/// Time stands still during a lookup.
struct Still(u64);

impl Clock for Still {
    fn now_ns(&self) -> u64 {
        self.0
    }

    fn unix_us(&self) -> i64 {
        0
    }
}

impl World {
    fn new() -> Self {
        let schema = Arc::new(schema());
        let policy = FilterPolicy {
            budget: Budget { bits_per_key: 8, levels: 4 },
            sizes: SizeClasses::new(1),
            seed: 5,
            filtered: vec![true; schema.columns().len()],
            kernel: Kernel::best(),
            exact_keys_max: 64,
        };
        let ingest = IngestConfig {
            cluster: CLUSTER,
            schema: Arc::clone(&schema),
            policy: Arc::new(policy),
            board: Arc::new(OpenBoard::new(64)),
            idle_ns: 1_000_000_000,
            frames_max: 64,
            tuning: Tuning { chunk_rows: 64, ..Tuning::default() },
        };
        let sealer = Sealer::new(SealerConfig {
            ingest: ingest.clone(),
            queues: QUEUES,
            grace_ns: 1_000_000,
            retry_ns: 100_000,
            repair_ns: 0,
        });
        let fingerprint = schema.fingerprint();
        let session = Session::new(SessionConfig {
            cluster: CLUSTER,
            fingerprint,
            node: "fuzz".to_owned(),
            pending_max: 8,
        });
        let evaluator = Evaluator::new(LookupConfig {
            cluster: CLUSTER,
            schema: Arc::clone(&schema),
            probes_max: 256,
            budget_us: 10_000,
            kernel: Kernel::best(),
        });
        World {
            queues: (0..QUEUES).map(|_| Queue::new(ingest.clone())).collect(),
            inbox: (0..QUEUES).map(|_| VecDeque::new()).collect(),
            sealer,
            session,
            store: Store::new(StoreConfig { retain_batches: 6, arena_bytes: 64 << 10 }),
            evaluator,
            now_ns: 1,
            verified: Vec::new(),
            schema,
        }
    }

    fn operate(&mut self, op: u8, content: &[u8]) {
        let queue = usize::from(op >> 4) % QUEUES;
        match op & 7 {
            0 => self.queues[queue].on_datagram(content, self.now_ns),
            1 => {
                let mut frame = content.to_vec();
                seal_frame(&mut frame);
                self.queues[queue].on_datagram(&frame, self.now_ns);
            }
            2 => {
                let mut bytes = content.to_vec();
                seal_stream(&mut bytes);
                if self.session.on_bytes(&bytes).is_err() {
                    self.session.on_disconnected();
                }
            }
            3 => self.ask(content),
            4 => {
                self.now_ns += content.iter().map(|byte| u64::from(*byte) * 1_000_000).sum::<u64>()
            }
            5 => self.session.on_connected(),
            _ => self.send_honest(content),
        }
        self.pump();
    }

    /// An honest batch over both queues; bits of the content leave frames out or repeat them.
    fn send_honest(&mut self, content: &[u8]) {
        let batch = BatchId::from(content.first().copied().unwrap_or(1) % 8) + 100;
        let holes = content.get(1).copied().unwrap_or(0);
        for (sequence, payload) in payloads(batch).iter().enumerate() {
            let mut frame = Vec::new();
            let header = self.header(batch, sequence as u32);
            encode_data(&mut frame, &header, self.schema.record_bytes(), payload);
            if holes >> sequence & 1 == 0 {
                self.queues[sequence % QUEUES].on_datagram(&frame, self.now_ns);
            }
            if holes >> 7 == 1 {
                self.queues[(sequence + 1) % QUEUES].on_datagram(&frame, self.now_ns);
            }
        }
        let records = (FRAMES * ROWS) as u64;
        let totals = [LaneTotal { frames: FRAMES as u32, records }];
        let mut close = Vec::new();
        encode_close(&mut close, &self.header(batch, 0), &totals);
        self.queues[0].on_datagram(&close, self.now_ns);
    }

    fn header(&self, batch: BatchId, sequence: u32) -> FrameHeader {
        FrameHeader {
            cluster: CLUSTER,
            fingerprint: self.schema.fingerprint(),
            batch,
            hash: HashAlgorithm::Xxh3,
            lane: 0,
            lanes: 1,
            sequence,
        }
    }

    fn pump(&mut self) {
        for _ in 0..3 {
            for queue in 0..QUEUES {
                while let Some(command) = self.inbox[queue].pop_front() {
                    self.queues[queue].on_command(command, self.now_ns);
                }
                self.queues[queue].on_tick(self.now_ns);
                while let Some(event) = self.queues[queue].next_event() {
                    self.sealer.on_event(queue, event, self.now_ns);
                }
                let stats = self.queues[queue].stats();
                assert_eq!(stats.frames_in, stats.accounted(), "every frame is accounted for");
            }
            self.sealer.on_tick(self.now_ns);
            while let Some(action) = self.sealer.next_action() {
                self.act(action);
            }
        }
        let _ = self.session.take_output();
        while let Some(event) = self.session.next_event() {
            self.on_event(event);
        }
        while self.store.step() {}
    }

    fn act(&mut self, action: SealAction) {
        match action {
            SealAction::Queue(queue, command) => self.inbox[queue].push_back(command),
            SealAction::Sealed(batch) => {
                let (id, records, hash) = (batch.batch, batch.records, batch.hash);
                if self.store.insert(Arc::from(batch)).is_err() {
                    return;
                }
                // The SCC is honest: it verifies what is as it stored it, and nothing else.
                let honest = honest_hash(&self.schema, id) == hash;
                self.session.offer(id, records, hash);
                if honest && self.store.judge_report(id, &hash, Verdict::Verified) {
                    self.verified.push(id);
                }
            }
            _ => {}
        }
    }

    fn on_event(&mut self, event: SessionEvent) {
        match event {
            // Verdicts of hostile bytes: only those that take a filter away are believed here.
            SessionEvent::Judged(batch, hash, verdict) if verdict != Verdict::Verified => {
                self.store.judge_report(batch, &hash, verdict);
            }
            SessionEvent::Deleted(batches) => self.store.delete(&batches),
            _ => {}
        }
    }

    /// A hostile question: answered within its length, or not at all.
    fn ask(&mut self, content: &[u8]) {
        let mut message = content.to_vec();
        seal_end(&mut message);
        let Ok(request) = LookupRequest::parse(&message) else { return };
        if reply_bytes(request.candidates.len()) > message.len() {
            return;
        }
        let reply =
            self.evaluator.answer(&request, &self.store.reader().load(), &Still(self.now_ns));
        let mut bytes = Vec::new();
        reply.encode(&mut bytes);
        assert!(bytes.len() <= message.len());
        assert_eq!(reply.candidates as usize, request.candidates.len());
    }

    /// No key of a verified batch is excluded.
    fn check(&mut self) {
        let verified = std::mem::take(&mut self.verified);
        let snapshot = self.store.reader().load();
        for batch in verified {
            for key in keys(batch) {
                let literal = Literal::Unsigned(u64::from(key));
                let request = LookupRequest {
                    query_id: 1,
                    cluster: CLUSTER,
                    fingerprint: self.schema.fingerprint(),
                    budget_us: 0,
                    float_order: FloatOrder::Unstated,
                    candidates: Candidates::List(vec![batch]),
                    predicate: Predicate::Compare { column: 1, op: CompareOp::Eq, literal },
                };
                let reply = self.evaluator.answer(&request, &snapshot, &Still(self.now_ns));
                assert!(!reply.is_excluded(0), "batch {batch} holds {key} and was excluded");
            }
        }
    }
}

fn schema() -> Schema {
    Schema::from_json(
        r#"{"name": "fuzz", "version": 1, "columns": [
            {"name": "proto", "type": "u8"}, {"name": "flow", "type": "u32"},
            {"name": "address", "type": "ipv6"}, {"name": "load", "type": "f32"}]}"#,
    )
    .expect("a schema of ours")
}

/// The keys of column `flow` in an honest batch.
fn keys(batch: BatchId) -> Vec<u32> {
    (0..(FRAMES * ROWS) as u32).map(|i| (batch as u32 * 1_000_003).wrapping_mul(i + 1)).collect()
}

fn payloads(batch: BatchId) -> Vec<Vec<u8>> {
    let schema = schema();
    let frames: Vec<u32> = keys(batch);
    let frame = |keys: &[u32]| {
        let mut rows = vec![0; keys.len() * schema.record_bytes()];
        for (row, key) in rows.chunks_exact_mut(schema.record_bytes()).zip(keys) {
            let column = &schema.columns()[1];
            row[column.offset()..column.offset() + 4].copy_from_slice(&key.to_le_bytes());
        }
        rows
    };
    frames.chunks(ROWS).map(frame).collect()
}

/// The hash of an honest batch, as the SCC has it.
fn honest_hash(schema: &Schema, batch: BatchId) -> BatchHash {
    use bloomrf_engine::verify::{ChainHasher, frame_digest};
    let algorithm = HashAlgorithm::Xxh3;
    let mut hasher = ChainHasher::new(algorithm, CLUSTER, schema.fingerprint(), batch, 1);
    for payload in payloads(batch) {
        hasher.frame(0, &frame_digest(algorithm, &payload));
    }
    hasher.finish((FRAMES * ROWS) as u64)
}

/// Scripts to start from: honest batches with and without holes, and hostile frames between.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let schema = schema();
    let mut welcome = Vec::new();
    StreamMessage::Welcome { hash: HashAlgorithm::Xxh3, repairs: Some(true) }.encode(&mut welcome);
    let mut deleted = Vec::new();
    StreamMessage::Deleted { batches: vec![100, 101] }.encode(&mut deleted);
    let header = FrameHeader {
        cluster: CLUSTER,
        fingerprint: schema.fingerprint(),
        batch: 101,
        hash: HashAlgorithm::Xxh3,
        lane: 0,
        lanes: 1,
        sequence: 1,
    };
    let mut forged = Vec::new();
    encode_data(&mut forged, &header, schema.record_bytes(), &payloads(7)[0]);
    let mut question = Vec::new();
    LookupRequest {
        query_id: 1,
        cluster: CLUSTER,
        fingerprint: schema.fingerprint(),
        budget_us: 0,
        float_order: FloatOrder::Unstated,
        candidates: Candidates::Range { first: 98, count: 12 },
        predicate: Predicate::Compare {
            column: 1,
            op: CompareOp::Lt,
            literal: Literal::Unsigned(77),
        },
    }
    .encode(&mut question, true);
    let op = |op: u8, content: &[u8]| {
        let length = (content.len() as u16).to_le_bytes();
        [&[op], &length[..], content].concat()
    };
    let honest = |batch: u8, holes: u8| op(6, &[batch, holes]);
    let plain = [op(5, &[]), op(2, &welcome), honest(0, 0), honest(1, 0x80), op(3, &question)];
    let gaps = [honest(0, 2), op(4, &[5]), honest(0, 0), op(4, &[200, 200, 200, 200, 255])];
    let attack = [op(1, &forged), honest(1, 0), op(0x11, &forged), op(4, &[9]), op(3, &question)];
    // A forged frame in place of the honest one: the batch seals, with another hash.
    let polluted = [op(1, &forged), honest(1, 2), op(4, &[9]), op(3, &question)];
    let taken = [honest(0, 0), honest(1, 0), op(5, &[]), op(2, &welcome), op(2, &deleted)];
    let many: Vec<Vec<u8>> = (0..8).map(|batch| honest(batch, 0)).collect();
    vec![
        plain.concat(),
        gaps.concat(),
        attack.concat(),
        polluted.concat(),
        taken.concat(),
        many.concat(),
    ]
}

const CLUSTER: ClusterId = ClusterId(7);
const QUEUES: usize = 2;
/// Frames of an honest batch, and rows of each.
const FRAMES: usize = 4;
const ROWS: usize = 6;
/// Operations of one script that are played.
const OPERATIONS_MAX: usize = 200;
