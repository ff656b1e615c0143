//! The demo's cluster on loopback: node, controller and storage node, all on free ports.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_node::{Config, Node, NodePorts, NodeStatus};
use bloomrf_refcluster::pace::Progress;
use bloomrf_refcluster::{Ledger, Scc, SccConfig, StorageConfig, StorageNode};

use crate::outcome::CommandError;
use crate::progress;

/// What the cluster must be able to hold.
#[derive(Clone, Debug)]
pub(crate) struct ClusterShape {
    pub(crate) folder: PathBuf,
    pub(crate) queues: usize,
    pub(crate) batches: u64,
    pub(crate) batch_records: u64,
    pub(crate) timeout: Duration,
}

/// A running cluster. Dropping it stops it.
pub(crate) struct Cluster {
    // The node first: it is a client of the controller.
    node: Arc<Node>,
    scc: Scc,
    storage: StorageNode,
    ledger: Arc<Ledger>,
    schema: Arc<Schema>,
    batch_folder: PathBuf,
}

impl Cluster {
    pub(crate) const ID: ClusterId = ClusterId(0xde_0000_0000);
    pub(crate) const HASH: HashAlgorithm = HashAlgorithm::Xxh3;

    pub(crate) fn start(shape: &ClusterShape) -> Result<Self, CommandError> {
        let schema = Arc::new(Schema::packet());
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let batch_folder = shape.folder.join("batches");
        let data_dir = shape.folder.join("node");
        for folder in [&batch_folder, &data_dir] {
            std::fs::create_dir_all(folder)
                .map_err(|e| CommandError::failed(format!("{}: {e}", folder.display())))?;
        }
        let ledger = Arc::new(Ledger::new());
        let scc_config = SccConfig {
            listen: free,
            cluster: Self::ID,
            fingerprint: schema.fingerprint(),
            hash: Self::HASH,
            patience: STALL,
        };
        let scc = Scc::start(scc_config, ledger.clone()).map_err(CommandError::failed)?;
        let storage_config = StorageConfig {
            cluster: Self::ID,
            schema: schema.clone(),
            listen: free,
            folder: batch_folder.clone(),
            idle: STALL,
        };
        let storage =
            StorageNode::start(storage_config, ledger.clone()).map_err(CommandError::failed)?;
        let node = Node::start(node_config(shape, &schema, scc.address(), data_dir))
            .map_err(CommandError::failed)?;
        let cluster = Cluster { node: Arc::new(node), scc, storage, ledger, schema, batch_folder };
        cluster.wait_connected();
        Ok(cluster)
    }

    pub(crate) fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    pub(crate) fn batch_folder(&self) -> &Path {
        &self.batch_folder
    }

    pub(crate) fn ports(&self) -> NodePorts {
        self.node.ports()
    }

    pub(crate) fn status(&self) -> NodeStatus {
        self.node.status()
    }

    /// Where the broadcast goes.
    pub(crate) fn targets(&self) -> [SocketAddr; 2] {
        [self.node.ports().ingest, self.storage.address()]
    }

    /// Frames seen by each receiver, lost ones included as far as it knows.
    pub(crate) fn frame_progress(&self) -> Vec<Progress> {
        let node = self.node.clone();
        let seen = move || {
            let status = node.status();
            status.ingest.frames_in + status.dropped
        };
        vec![Box::new(seen), self.storage.progress()]
    }

    /// Batches that the node is done with.
    pub(crate) fn batch_progress(&self) -> Progress {
        let node = self.node.clone();
        Box::new(move || {
            let status = node.status();
            let store = status.store;
            store.verified + store.pending + store.rejected + store.evicted + status.incomplete
        })
    }

    /// Waits until `batches` are judged; returns the stored ones that are not verified.
    pub(crate) fn wait_verified(&self, batches: u64, hidden: bool) -> Vec<BatchId> {
        let bar = progress::bar("verify", batches, hidden);
        let mut last = (0, 0);
        let mut moved = Instant::now();
        loop {
            let status = self.node.status();
            let store = status.store;
            let judged = store.verified + store.rejected + store.evicted + status.incomplete;
            let settled = self.ledger.settled() as u64;
            bar.set_position(judged.min(settled));
            if (judged >= batches && settled >= batches) || moved.elapsed() > STALL {
                break;
            }
            if last != (judged, settled) {
                (last, moved) = ((judged, settled), Instant::now());
            }
            std::thread::sleep(POLL);
        }
        bar.finish_and_clear();
        self.ledger.unverified()
    }

    /// Ports, and commands to try: the question `text`, and two batches to have it explained for.
    pub(crate) fn invitation(&self, text: &str, batches: Option<(BatchId, BatchId)>) -> String {
        let NodePorts { ingest, lookup, http } = self.node.ports();
        let cluster = Self::ID;
        let (first, last) = batches.unwrap_or((1, 2));
        format!(
            "\nThe cluster keeps running until Ctrl-C.\n\
             \n  ingest  {ingest}/udp\n  lookup  {lookup}/udp and tcp\n  \
             http    http://{http}/  (lists its pages; a browser will do)\n\
             \nTry (`bloomrf` is this program; `cargo run --release --` until it is installed):\n\
             \n  bloomrf lookup --node {lookup} --http {http} --cluster {cluster} \\\n      \
             --where \"{text}\"\
             \n  bloomrf lookup --node {lookup} --http {http} --cluster {cluster} \\\n      \
             --where \"{text}\" --batches {first},{last} --explain\
             \n  curl 'http://{http}/metrics'\
             \n  curl 'http://{http}/batches?limit=1'\
             \n  curl -G 'http://{http}/explain' -d batches={first},{last} \\\n      \
             --data-urlencode \"where={text}\"\n"
        )
    }

    /// Bounded: a node that never connects shows as unverified batches.
    fn wait_connected(&self) {
        let deadline = Instant::now() + CONNECT;
        while self.scc.connections() == 0 && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
    }
}

fn node_config(
    shape: &ClusterShape,
    schema: &Arc<Schema>,
    scc: SocketAddr,
    data_dir: PathBuf,
) -> Config {
    let defaults = Config::default();
    Config {
        listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
        production_port: 0,
        lookup_port: None,
        observability_port: 0,
        retain_batches: defaults.retain_batches.max(shape.batches as usize),
        data_dir,
        lookup_budget_us: shape.timeout.as_micros().min(u128::from(u32::MAX)) as u32,
        scc: Some(scc),
        cluster: Cluster::ID,
        node_name: "demo".to_owned(),
        schema: Schema::clone(schema),
        chain_hash: Cluster::HASH,
        queues: shape.queues,
        expected_records: shape.batch_records,
        ..defaults
    }
}

/// Without any change for this long, what is missing is taken to stay missing.
const STALL: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(2);
