//! A whole node beside a true controller, on loopback or on links in memory, and batches of
//! packets to send and to ask for.

mod frames;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_engine::wire::lookup::{Candidates, LookupReply, LookupRequest, LookupStatus};
use bloomrf_node::{Config, Node, Surroundings};
use bloomrf_refcluster::{Ledger, Scc, SccConfig};
use tempfile::TempDir;

pub(crate) use frames::{CLUSTER, Frames};

/// A node, its controller and its data folder.
pub(crate) struct Cluster {
    pub(crate) node: Node,
    pub(crate) scc: Scc,
    pub(crate) schema: Arc<Schema>,
    /// Kept as long as the node runs.
    _folder: Option<TempDir>,
}

/// A node for loopback, everything on free ports, data in `folder`.
pub(crate) fn config(folder: &std::path::Path) -> Config {
    Config {
        listen: [127, 0, 0, 1].into(),
        production_port: 0,
        observability_port: 0,
        data_dir: folder.join("data"),
        cluster: CLUSTER,
        node_name: "fault-node".to_owned(),
        max_kib_per_column: 64,
        expected_records: 500,
        arena_bytes: 64 << 20,
        batch_idle_ms: 60_000,
        close_grace_ms: 2_000,
        // About answers, not about time.
        lookup_budget_us: 1_000_000,
        ..Config::default()
    }
}

impl Cluster {
    /// Starts controller and node; `change` has the last word on the configuration.
    pub(crate) fn start(
        change: impl FnOnce(&mut Config),
        surroundings: Surroundings,
    ) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
        let mut config = config(folder.path());
        change(&mut config);
        let mut cluster = Self::start_in(config, surroundings)?;
        cluster._folder = Some(folder);
        Ok(cluster)
    }

    /// The same with data in a folder of the caller.
    pub(crate) fn start_in(mut config: Config, surroundings: Surroundings) -> Result<Self, String> {
        let ledger = Arc::new(Ledger::new());
        let scc = Scc::start(
            SccConfig {
                listen: ([127, 0, 0, 1], 0).into(),
                cluster: config.cluster,
                fingerprint: config.schema.fingerprint(),
                hash: HashAlgorithm::Xxh3,
                patience: Duration::from_secs(2),
            },
            ledger,
        );
        let scc = scc.map_err(|e| e.to_string())?;
        config.scc = Some(scc.address());
        let schema = Arc::new(config.schema.clone());
        let node = Node::start_in(config, surroundings).map_err(|e| e.to_string())?;
        Ok(Cluster { node, scc, schema, _folder: None })
    }

    /// A batch of `packets` packets; the controller will confirm it.
    pub(crate) fn batch(&self, batch: BatchId, packets: u64) -> Frames {
        let frames = Frames::of(&self.schema, batch, packets);
        self.scc.ledger().store(batch, frames.records, frames.hash);
        frames
    }

    /// Waits for so many verified batches in the store.
    pub(crate) fn wait_verified(&self, batches: u64) -> Result<(), String> {
        wait_for(&format!("{batches} verified batches"), || {
            self.node.status().store.verified >= batches
        })
    }

    /// Asks over UDP for a packet that every batch holds which was made of its id: `None` where no
    /// answer came.
    pub(crate) fn ask(&self, about: BatchId, batches: &[BatchId]) -> Option<LookupReply> {
        let mut bytes = Vec::new();
        self.question(about, batches).encode(&mut bytes, true);
        let reply = exchange(self.node.ports().lookup, &bytes)?;
        LookupReply::parse(&reply).ok()
    }

    /// The question for a port that only batch `about` has.
    pub(crate) fn question(&self, about: BatchId, batches: &[BatchId]) -> LookupRequest {
        LookupRequest {
            query_id: about,
            cluster: CLUSTER,
            fingerprint: self.schema.fingerprint(),
            budget_us: 0,
            float_order: FloatOrder::Unstated,
            candidates: Candidates::List(batches.to_vec()),
            predicate: Predicate::Compare {
                column: self.schema.ordinal("dst_port").unwrap_or_default(),
                op: CompareOp::Eq,
                literal: Literal::Unsigned(frames::port_of(about).into()),
            },
        }
    }

    /// Asks about each batch what only it holds. The error names a wrong answer.
    pub(crate) fn judge_answers(&self, batches: &[BatchId]) -> Result<(), String> {
        for (index, &about) in batches.iter().enumerate() {
            let Some(reply) = self.ask(about, batches) else {
                return Err(format!("no answer about batch {about}"));
            };
            if reply.excluded.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1) {
                return Err(format!("batch {about} is excluded and holds what is asked for"));
            }
            if !matches!(reply.status, LookupStatus::Ok | LookupStatus::TimedOut) {
                return Err(format!("batch {about}: status {:?}", reply.status));
            }
        }
        Ok(())
    }

    /// Status and body of a page.
    pub(crate) fn page(&self, path: &str) -> Result<(u16, String), String> {
        page(self.node.ports().http, path).map_err(|e| format!("{path}: {e}"))
    }

    /// The number of a metric.
    pub(crate) fn metric(&self, name: &str) -> Option<f64> {
        metric(self.node.ports().http, name)
    }
}

/// The number of a metric; `name` with its labels as `/metrics` shows it.
pub(crate) fn metric(http: SocketAddr, name: &str) -> Option<f64> {
    let (_, text) = page(http, "/metrics").ok()?;
    text.lines()
        .filter_map(|line| line.strip_prefix("fermihdi_bloomrf_")?.strip_prefix(name))
        .find_map(|rest| rest.strip_prefix(' ')?.parse().ok())
}

/// One page of a node.
pub(crate) fn page(http: SocketAddr, path: &str) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(http)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let status = text.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or_default();
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    Ok((status, body.unwrap_or_default()))
}

/// Sends one datagram and waits a while for an answer.
pub(crate) fn exchange(target: SocketAddr, bytes: &[u8]) -> Option<Vec<u8>> {
    let socket = UdpSocket::bind("127.0.0.1:0").ok()?;
    socket.set_read_timeout(Some(PATIENCE)).ok()?;
    socket.send_to(bytes, target).ok()?;
    let mut buffer = vec![0; 65_536];
    let (length, _) = socket.recv_from(&mut buffer).ok()?;
    buffer.truncate(length);
    Some(buffer)
}

/// Waits; the error says for what in vain.
pub(crate) fn wait_for(what: &str, mut done: impl FnMut() -> bool) -> Result<(), String> {
    let end = Instant::now() + PATIENCE;
    while !done() {
        if Instant::now() > end {
            return Err(format!("waited in vain for {what}"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
