//! A node and the controller that judges it, both in this process, on free ports of loopback.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_node::{Config, Node, NodeStatus};
use bloomrf_refcluster::{Ledger, Scc, SccConfig};
use tempfile::TempDir;

use super::traffic;

/// What a node is to hold.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Batches retained.
    pub retain_batches: usize,
    /// Records of a batch.
    pub records: u64,
    /// Bytes of filters.
    pub arena_bytes: usize,
    /// Core of the ingest queue; `None`: anywhere.
    pub ingest_core: Option<usize>,
}

/// A running node and its controller. Dropping it stops both.
pub struct Cluster {
    // The node first: it is a client of the controller.
    node: Node,
    ledger: Arc<Ledger>,
    schema: Arc<Schema>,
    scc: Scc,
    retain_batches: u64,
    _folder: TempDir,
}

impl Cluster {
    /// Starts both and waits for the node to be known to the controller.
    pub fn start(options: &ClusterOptions) -> Result<Self, String> {
        let schema = traffic::schema();
        let folder = tempfile::tempdir().map_err(|why| format!("temporary folder: {why}"))?;
        let ledger = Arc::new(Ledger::new());
        let scc = SccConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            cluster: traffic::CLUSTER,
            fingerprint: schema.fingerprint(),
            hash: HashAlgorithm::Xxh3,
            patience: Duration::from_secs(5),
        };
        let scc = Scc::start(scc, Arc::clone(&ledger)).map_err(|why| why.to_string())?;
        let config = Config {
            listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
            production_port: 0,
            lookup_port: None,
            observability_port: 0,
            data_dir: folder.path().join("node"),
            retain_batches: options.retain_batches,
            arena_bytes: options.arena_bytes,
            expected_records: options.records,
            cores: options.ingest_core.into_iter().collect(),
            scc: Some(scc.address()),
            cluster: traffic::CLUSTER,
            node_name: "live".to_owned(),
            schema: schema.clone(),
            schema_source: "live".to_owned(),
            ..Config::default()
        };
        let node = Node::start(config).map_err(|why| why.to_string())?;
        let retain_batches = options.retain_batches as u64;
        let schema = Arc::new(schema);
        let cluster = Cluster { node, ledger, schema, scc, retain_batches, _folder: folder };
        cluster.wait("the verification stream", || cluster.scc.connections() > 0)?;
        Ok(cluster)
    }

    /// The schema of its records.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Where it hears records.
    #[must_use]
    pub fn ingest(&self) -> SocketAddr {
        self.node.ports().ingest
    }

    /// Where it is asked.
    #[must_use]
    pub fn lookup(&self) -> SocketAddr {
        self.node.ports().lookup
    }

    /// The node's numbers.
    #[must_use]
    pub fn status(&self) -> NodeStatus {
        self.node.status()
    }

    /// The controller knows this batch: a node that saw the same is told so. What the node let go
    /// of long ago the controller forgets, so that its memory does not look like the node's.
    pub fn know(&self, batch: BatchId, records: u64, hash: BatchHash) {
        self.ledger.store(batch, records, hash);
        if batch.is_multiple_of(self.retain_batches.max(1)) {
            self.ledger.forget_before(batch.saturating_sub(8 * self.retain_batches));
        }
    }

    /// Batches that the node is done with, kept or not.
    #[must_use]
    pub fn batches_done(&self) -> u64 {
        let NodeStatus { store, incomplete, .. } = self.status();
        store.verified + store.pending + store.rejected + store.evicted + incomplete
    }

    /// Waits for something to come true.
    pub fn wait(&self, what: &str, is_true: impl Fn() -> bool) -> Result<(), String> {
        let end = Instant::now() + PATIENCE;
        while !is_true() {
            if Instant::now() > end {
                return Err(format!("waited in vain for {what}: {:?}", self.status()));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// Stops the node, then the controller.
    pub fn stop(self) {
        self.node.stop();
    }
}

/// For everything that takes milliseconds on a machine of its own.
const PATIENCE: Duration = Duration::from_secs(30);
