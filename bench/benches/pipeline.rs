//! The way of a record and of a question through the engine, without sockets, in one process:
//! every variant in turn, round after round. Prints CSV; see `rounds::CSV_HEADER`.
//! Ingest is per record, seal per record, lookups per candidate batch; whole questions
//! (request bytes to reply bytes) in ns per question.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use bloomrf_bench::flows::{self, CLUSTER, RECORD_BYTES};
use bloomrf_bench::rounds::{CSV_HEADER, Row, Samples};
use bloomrf_engine::env::Clock;
use bloomrf_engine::filter::{FilterPolicy, OpenColumn};
use bloomrf_engine::ingest::{IngestConfig, OpenBoard, Queue, Tuning};
use bloomrf_engine::lookup::{Evaluator, LookupConfig};
use bloomrf_engine::query::parse_where;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::seal::{SealAction, SealedBatch, Sealer, SealerConfig};
use bloomrf_engine::store::{Store, StoreConfig, StoreReader};
use bloomrf_engine::verify::{BatchHash, HashAlgorithm, frame_digest};
use bloomrf_engine::wire::frame::Frame;
use bloomrf_engine::wire::lookup::{Candidates, LookupRequest};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_kernels::SizeClasses;
use bloomrf_kernels::params::Budget;

const RECORDS: usize = 65_536;
const BATCHES: u64 = 512;
const BATCH_RECORDS: usize = 4_096;
const ROUNDS: usize = 15;
const QUESTION_ROUNDS: usize = 200;
/// Batches of the archive.
const ARCHIVE_BATCHES: u32 = 100_000;

fn main() {
    println!("{CSV_HEADER}");
    let schema = Arc::new(flows::schema());
    // One of "ingest", "lookups" and "archive"; without a word the first two.
    let is_asked = |part: &str| std::env::args().any(|arg| arg == part);
    let all = !["ingest", "lookups", "archive"].into_iter().any(is_asked);
    if all || is_asked("ingest") {
        ingest(&schema);
    }
    if all || is_asked("lookups") {
        lookups(&schema);
    }
    if is_asked("archive") {
        archive();
    }
}

/// Real time.
struct Wall(Instant);

impl Clock for Wall {
    fn now_ns(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }

    fn unix_us(&self) -> i64 {
        0
    }
}

fn config(schema: &Arc<Schema>, records: usize) -> IngestConfig {
    IngestConfig {
        cluster: CLUSTER,
        schema: Arc::clone(schema),
        policy: Arc::new(FilterPolicy {
            budget: Budget { bits_per_key: 8, levels: 4 },
            sizes: SizeClasses::new(1_024),
            seed: 42,
            filtered: vec![true; schema.columns().len()],
            kernel: bloomrf_kernels::Kernel::from_env()
                .expect("BLOOMRF_KERNEL names a set of this CPU"),
            exact_keys_max: 0,
        }),
        board: Arc::new(OpenBoard::new(records as u64)),
        idle_ns: u64::MAX,
        frames_max: 1 << 13,
        tuning: Tuning::default(),
    }
}

/// A queue and a sealer, joined by hand.
struct Node {
    queue: Queue,
    sealer: Sealer,
    config: IngestConfig,
}

impl Node {
    fn new(schema: &Arc<Schema>, records: usize) -> Self {
        let config = config(schema, records);
        let sealer = SealerConfig {
            ingest: config.clone(),
            queues: 1,
            grace_ns: 1_000_000_000,
            retry_ns: 1_000_000,
            repair_ns: 0,
        };
        Node { queue: Queue::new(config.clone()), sealer: Sealer::new(sealer), config }
    }

    /// Carries events and commands until the batch is sealed.
    fn seal(&mut self) -> Box<SealedBatch> {
        loop {
            while let Some(event) = self.queue.next_event() {
                self.sealer.on_event(0, event, 1);
            }
            let mut sealed = None;
            while let Some(action) = self.sealer.next_action() {
                match action {
                    SealAction::Queue(_, command) => self.queue.on_command(command, 1),
                    SealAction::Sealed(batch) => sealed = Some(batch),
                    SealAction::Repair { batch, .. } => panic!("batch {batch}: a gap"),
                    SealAction::Incomplete(batch, why) => panic!("batch {batch}: {why:?}"),
                }
            }
            if let Some(batch) = sealed {
                return batch;
            }
        }
    }
}

fn ingest(schema: &Arc<Schema>) {
    let rows = flows::records(1, RECORDS);
    let mut node = Node::new(schema, RECORDS);
    let mut times: [Vec<f64>; 4] = Default::default();
    for round in 0..ROUNDS as u64 {
        let frames = flows::batch(schema, round + 1, &rows);
        times[0].push(timed(RECORDS, || parse_all(&frames)));
        times[1].push(timed(RECORDS, || insert_rows(&node.config, &rows)));
        times[2].push(timed(RECORDS, || {
            for frame in &frames {
                node.queue.on_datagram(frame, 1);
            }
            node.queue.stats().records
        }));
        times[3].push(timed(RECORDS, || node.seal().records));
    }
    let names = ["parse and digest", "columns alone (fresh)", "queue, whole", "seal"];
    for (name, times) in names.into_iter().zip(times) {
        print("ingest of 65536", name, times);
    }
}

fn parse_all(frames: &[Vec<u8>]) -> u64 {
    let mut sum = 0;
    for bytes in frames {
        if let Ok(Frame::Data { payload, .. }) = Frame::parse(bytes, RECORD_BYTES) {
            sum += u64::from(frame_digest(HashAlgorithm::Xxh3, payload)[0]);
        }
    }
    sum
}

/// All rows into fresh columns, column after column: the inserts without frames around them.
fn insert_rows(config: &IngestConfig, rows: &[u8]) -> u64 {
    let shapes = config.policy.open_shapes(&config.schema, RECORDS as u64);
    let mut sum = 0;
    for (column, shape) in config.schema.columns().iter().zip(shapes) {
        let mut open = OpenColumn::new(column, shape);
        open.insert_rows(column, rows, RECORD_BYTES);
        sum += u64::from(open.shape().words);
    }
    sum
}

/// `{}` is another number of three digits each time.
const QUESTIONS: &[(&str, &str)] = &[
    ("point, uniform column", "counter = 9223372036854{}758"),
    ("range of 1M, uniform column", "counter BETWEEN 922337203{}0000000 AND 922337203{}1000000"),
    ("/24, address", "in_net(src_ip, '198.51.{}.0/24')"),
    ("port, exact", "src_port = 47{}"),
    ("AND of three", "dst_port = 445 AND proto = 6 AND in_net(dst_ip, '198.51.{}.0/24')"),
    ("time window (zone map)", "ts < '2026-01-01T00:00:00Z'"),
];

/// 512 batches of 4,096 records, all asked at once.
fn lookups(schema: &Arc<Schema>) {
    let mut node = Node::new(schema, BATCH_RECORDS);
    let mut store = Store::new(StoreConfig { retain_batches: 512, arena_bytes: 1 << 30 });
    for id in 1..=BATCHES {
        let rows = flows::records(id, BATCH_RECORDS);
        for frame in &flows::batch(schema, id, &rows) {
            node.queue.on_datagram(frame, 1);
        }
        store.insert(Arc::from(node.seal())).expect("the arena holds all batches");
        store.judge(id, Verdict::Verified);
    }
    ask("lookup of 512, plain", schema, &store.reader(), BATCHES as u32, QUESTIONS);
    while store.step() {}
    ask("lookup of 512", schema, &store.reader(), BATCHES as u32, QUESTIONS);
}

/// As many candidates as an archive has, of one column.
fn archive() {
    let text = r#"{"name": "ids", "version": 1, "columns": [{"name": "counter", "type": "u64"}]}"#;
    let schema = Arc::new(Schema::from_json(text).expect("the schema is valid"));
    let config = config(&schema, BATCH_RECORDS);
    let shape = config.policy.open_shapes(&schema, BATCH_RECORDS as u64).remove(0);
    let column = &schema.columns()[0];
    let sealed: Vec<_> = (0..512)
        .map(|seed| {
            let rows: Vec<u8> = bloomrf_bench::uniform(seed, 64, BATCH_RECORDS)
                .iter()
                .flat_map(|key| key.to_le_bytes())
                .collect();
            let mut open = OpenColumn::new(column, shape);
            open.insert_rows(column, &rows, 8);
            Arc::new(open.seal(&config.policy, BATCH_RECORDS as u64))
        })
        .collect();
    let retain_batches = ARCHIVE_BATCHES as usize + 64;
    let mut store = Store::new(StoreConfig { retain_batches, arena_bytes: 6 << 30 });
    for id in 1..=u64::from(ARCHIVE_BATCHES) {
        store
            .insert(Arc::new(SealedBatch {
                batch: id,
                records: BATCH_RECORDS as u64,
                hash: BatchHash { algorithm: HashAlgorithm::Xxh3, digest: [0; 32] },
                columns: vec![Arc::clone(&sealed[id as usize % sealed.len()])],
            }))
            .expect("the arena holds all batches");
        store.judge(id, Verdict::Verified);
        store.step();
    }
    while store.step() {}
    ask("lookup of 100000", &schema, &store.reader(), ARCHIVE_BATCHES, &QUESTIONS[..2]);
}

/// The evaluation alone, per candidate; and the whole question, from bytes to bytes.
fn ask(
    stage: &str,
    schema: &Arc<Schema>,
    reader: &StoreReader,
    candidates: u32,
    questions: &[(&str, &str)],
) {
    let clock = Wall(Instant::now());
    let mut evaluator = Evaluator::new(LookupConfig {
        cluster: CLUSTER,
        schema: Arc::clone(schema),
        probes_max: 256,
        budget_us: 10_000_000,
        kernel: bloomrf_kernels::Kernel::from_env()
            .expect("BLOOMRF_KERNEL names a set of this CPU"),
    });
    let mut times = vec![(Vec::new(), Vec::new()); questions.len()];
    let (mut bytes, mut answer) = (Vec::new(), Vec::new());
    for round in 0..QUESTION_ROUNDS {
        for ((_, text), (alone, whole)) in questions.iter().zip(&mut times) {
            // Every question asks for another value, of which nothing is in the caches yet.
            let [first, second] = [2 * round, 2 * round + 1].map(|value| {
                request(schema, &text.replace("{}", &(100 + value % 150).to_string()), candidates)
            });
            alone.push(timed(candidates as usize, || {
                let reply = evaluator.answer(&first, &reader.load(), &clock);
                u64::from(reply.excluded_zone_map + reply.excluded_filter)
            }));
            bytes.clear();
            second.encode(&mut bytes, true);
            whole.push(timed(1, || {
                let request = LookupRequest::parse(&bytes).expect("we encoded it");
                let reply = evaluator.answer(&request, &reader.load(), &clock);
                answer.clear();
                reply.encode(&mut answer);
                answer.len() as u64
            }));
        }
    }
    for ((name, _), (alone, whole)) in questions.iter().zip(times) {
        print(stage, name, alone);
        print(&format!("{stage}, whole question"), name, whole);
    }
}

fn request(schema: &Schema, text: &str, candidates: u32) -> LookupRequest {
    LookupRequest {
        query_id: 1,
        cluster: CLUSTER,
        fingerprint: schema.fingerprint(),
        budget_us: 0,
        float_order: Default::default(),
        candidates: Candidates::Range { first: 1, count: candidates },
        predicate: parse_where(schema, text).expect("the bench's questions are valid"),
    }
}

/// ns per operation of one run of `work`, whose result nobody can leave out.
fn timed(operations: usize, work: impl FnOnce() -> u64) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_nanos() as f64 / operations as f64
}

fn print(stage: &str, variant: &str, times: Vec<f64>) {
    let timing = Samples::from(times).timing();
    println!("{}", Row::timing("pipeline", stage, "engine", variant, timing));
}
