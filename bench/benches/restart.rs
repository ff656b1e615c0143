//! A restart over a folder of stored batches: from the start of a node to the answer of its first
//! lookup, which must have asked every stored filter. Prints CSV; see `rounds::CSV_HEADER`.
//!
//! Words: batches (512), records of each (65,536), rounds (5). Besides: what a stored batch takes
//! (bytes, syncs, time). "Cached" starts find the files in the page cache, "cold" ones on the disk,
//! as far as the system forgets them when told to.

use std::fs::File;
use std::net::UdpSocket;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bloomrf_bench::flows::{self, CLUSTER};
use bloomrf_bench::rounds::{CSV_HEADER, Row, Samples};
use bloomrf_engine::env::Rng;
use bloomrf_engine::filter::FilterPolicy;
use bloomrf_engine::format::Origin;
use bloomrf_engine::ingest::{IngestConfig, OpenBoard, Queue, Tuning};
use bloomrf_engine::persist::{PersistConfig, Persister, Step, recover};
use bloomrf_engine::predicate::FloatOrder;
use bloomrf_engine::query::parse_where;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::seal::{SealAction, SealedBatch, Sealer, SealerConfig};
use bloomrf_engine::store::{Store, StoreConfig};
use bloomrf_engine::wire::lookup::{Candidates, LookupReply, LookupRequest};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_kernels::params::Budget;
use bloomrf_kernels::{Kernel, SizeClasses};
use bloomrf_node::disk::FolderDisk;
use bloomrf_node::{Config, Node};
use rustix::fs::{Advice, fadvise};

const ARENA_BYTES: usize = 2 << 30;
const SEED: u64 = 42;

fn main() {
    let words: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let word = |at: usize, default| words.get(at).copied().unwrap_or(default);
    let (batches, records, rounds) = (word(0, 512), word(1, 65_536), word(2, 5));
    println!("{CSV_HEADER}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let case = format!("{batches} batches of {records}");
    write(&case, folder.path(), batches as u64, records);
    let variants = ["cached", "cold"];
    let mut samples = vec![[Samples::default(), Samples::default()]; variants.len()];
    for _ in 0..rounds {
        for (variant, [start, answer]) in variants.iter().zip(&mut samples) {
            if *variant == "cold" {
                forget(folder.path());
            }
            let (started_ns, answered_ns) = restart(folder.path(), batches);
            start.push(started_ns, 1);
            answer.push(answered_ns, 1);
        }
    }
    for (variant, [start, answer]) in variants.iter().zip(&samples) {
        println!("{}", Row::timing("restart", &case, variant, "to ready", start.timing()));
        let measure = "to the first answer";
        println!("{}", Row::timing("restart", &case, variant, measure, answer.timing()));
    }
}

/// Starts a node and asks about all batches; nanoseconds until it was ready, and until the answer.
fn restart(folder: &Path, batches: usize) -> (u128, u128) {
    let config = node_config(folder, batches);
    let request = request(&config.schema, batches);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_read_timeout(Some(Duration::from_secs(30))).expect("a time limit");
    let begin = Instant::now();
    let node = Node::start(config).expect("a node");
    let ready_ns = begin.elapsed().as_nanos();
    socket.send_to(&request, node.ports().lookup).expect("a question");
    let mut buffer = [0; 2_048];
    let length = socket.recv(&mut buffer).expect("an answer");
    let answered_ns = begin.elapsed().as_nanos();
    let reply = LookupReply::parse(&buffer[..length]).expect("a right answer");
    assert_eq!(reply.evaluated as usize, batches, "every stored filter was asked");
    assert_eq!(node.status().persist.recovered as usize, batches);
    (ready_ns, answered_ns)
}

fn node_config(folder: &Path, batches: usize) -> Config {
    Config {
        listen: "127.0.0.1".parse().expect("an address"),
        production_port: 0,
        observability_port: 0,
        data_dir: folder.to_owned(),
        cluster: CLUSTER,
        schema: flows::schema(),
        retain_batches: batches,
        arena_bytes: ARENA_BYTES,
        // Whether all filters were asked is what is measured, not how many fit 10 ms.
        lookup_budget_us: 1_000_000,
        ..Config::default()
    }
}

fn request(schema: &Schema, batches: usize) -> Vec<u8> {
    let text = "dst_ip = '203.0.113.7' AND src_port BETWEEN 100 AND 200";
    let request = LookupRequest {
        query_id: 1,
        cluster: CLUSTER,
        fingerprint: schema.fingerprint(),
        budget_us: 0,
        float_order: FloatOrder::Unstated,
        candidates: Candidates::List((1..=batches as u64).collect()),
        predicate: parse_where(schema, text).expect("a question of this schema"),
    };
    let mut bytes = Vec::new();
    request.encode(&mut bytes, true);
    bytes
}

/// Seals batches and has each written, as a node does when its verdict arrives.
fn write(case: &str, folder: &Path, batches: u64, records: usize) {
    let schema = Arc::new(flows::schema());
    let origin = Origin {
        cluster: CLUSTER,
        fingerprint: schema.fingerprint(),
        schema_version: schema.version(),
    };
    let (retain_batches, arena_bytes) = (batches as usize, ARENA_BYTES);
    let config = PersistConfig::new(origin, Arc::clone(&schema), retain_batches, arena_bytes, SEED);
    let disk = FolderDisk::open(folder).expect("a folder");
    let recovery = recover(&disk, &config).expect("an empty folder");
    let mut persister = Persister::new(config, &recovery);
    let mut store = Store::new(StoreConfig { retain_batches, arena_bytes });
    let mut source = Source::new(&schema, records);
    let mut times = Samples::default();
    let mut rng = Draws(bloomrf_bench::Splitmix::new(SEED));
    let before = persister.status().clone();
    for id in 1..=batches {
        store.insert(Arc::new(source.seal(id))).expect("room");
        store.judge(id, Verdict::Verified);
        persister.on_verified(id);
        let snapshot = Arc::clone(&store.reader().load());
        let begin = Instant::now();
        let step = persister.step(&disk, &snapshot, &mut rng, 0, 0);
        times.push(begin.elapsed().as_nanos(), 1);
        assert!(matches!(step, Step::Written(_)), "{step:?}");
    }
    let status = persister.status();
    let per_batch = |sum: u64| sum as f64 / batches as f64;
    let value = |measure: &str, unit, value| {
        println!("{}", Row::value("restart", case, "written", measure, unit, value));
    };
    value("file of a batch", "B", per_batch(status.bytes_written));
    let filters: usize = store.list().iter().map(|(batch, _)| batch.filter_bytes()).sum();
    value("filters of a batch", "B", per_batch(filters as u64));
    value("syncs of a batch", "syncs", per_batch(status.syncs - before.syncs));
    println!("{}", Row::timing("restart", case, "written", "a batch", times.timing()));
}

/// Makes the system forget what it holds of the files.
fn forget(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let file = File::open(entry.expect("a file").path()).expect("a file");
        let _ = fadvise(&file, 0, None, Advice::DontNeed);
    }
}

struct Draws(bloomrf_bench::Splitmix);

impl Rng for Draws {
    fn next_u64(&mut self) -> u64 {
        self.0.draw()
    }
}

/// A queue and a sealer, joined by hand.
struct Source {
    schema: Arc<Schema>,
    records: usize,
    queue: Queue,
    sealer: Sealer,
}

impl Source {
    fn new(schema: &Arc<Schema>, records: usize) -> Self {
        let policy = FilterPolicy {
            budget: Budget { bits_per_key: 8, levels: 4 },
            sizes: SizeClasses::new(1_024),
            seed: SEED,
            filtered: vec![true; schema.columns().len()],
            kernel: Kernel::best(),
            exact_keys_max: 1 << 17,
        };
        let ingest = IngestConfig {
            cluster: CLUSTER,
            schema: Arc::clone(schema),
            policy: Arc::new(policy),
            board: Arc::new(OpenBoard::new(records as u64)),
            idle_ns: u64::MAX,
            frames_max: 1 << 17,
            tuning: Tuning::default(),
        };
        let sealer = SealerConfig {
            ingest: ingest.clone(),
            queues: 1,
            grace_ns: 1_000_000_000,
            retry_ns: 1_000_000,
            repair_ns: 0,
        };
        let (queue, sealer) = (Queue::new(ingest), Sealer::new(sealer));
        Source { schema: Arc::clone(schema), records, queue, sealer }
    }

    fn seal(&mut self, id: u64) -> SealedBatch {
        let rows = flows::busy_records(id, self.records);
        for frame in flows::batch(&self.schema, id, &rows) {
            self.queue.on_datagram(&frame, 1);
        }
        loop {
            while let Some(event) = self.queue.next_event() {
                self.sealer.on_event(0, event, 1);
            }
            while let Some(action) = self.sealer.next_action() {
                match action {
                    SealAction::Queue(_, command) => self.queue.on_command(command, 1),
                    SealAction::Sealed(batch) => return *batch,
                    other => panic!("batch {id}: {other:?}"),
                }
            }
        }
    }
}
