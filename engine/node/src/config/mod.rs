//! Configuration: environment over TOML file over defaults; every value knows where it came from.
//!
//! One table (`keys`) drives parsing, `bloomrf node check-config` and the test that keeps
//! `deploy/node.toml` in step. An unknown key is an error: a setting that is not read is worse
//! than a node that does not start.

mod caution;
mod check;
mod error;
mod keys;
mod link;
mod load;
mod read;
mod value;
mod whole;

#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_kernels::Kernel;
use bloomrf_kernels::arena::PagesWanted;

use crate::networks::Networks;

pub use caution::Caution;
pub use check::check_config;
pub use error::ConfigError;
pub use link::{Checksums, Idle, LinkConfig, LinkUse, PortAddress};
pub use load::{Origin, Provenance, Setting};

/// Usual port of the ingest broadcast, UDP.
pub const PRODUCTION_PORT: u16 = 6_987;
/// Distance from the production port to the usual lookup port, UDP and TCP.
pub const LOOKUP_PORT_OFFSET: u16 = 10;
/// Usual port of HTTP.
pub const OBSERVABILITY_PORT: u16 = 8_080;

/// A complete, valid configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address for all sockets.
    pub listen: IpAddr,
    /// `FERMIHDI_PRODUCTION_PORT`, UDP ingest; 0 picks a free one.
    pub production_port: u16,
    /// Lookup port; `None`: production + 10 (or a free one where production is 0).
    pub lookup_port: Option<u16>,
    /// `FERMIHDI_OBSERVABILITY_PORT`; 0 picks a free one.
    pub observability_port: u16,
    /// `FERMIHDI_SEASTAR_MEMORY`, bytes.
    pub arena_bytes: usize,
    /// `BLOOMRF_PAGES`: pages that filters lie on.
    pub pages: PagesWanted,
    /// `BLOOMRF_NUMA_NODE`: node that filters lie on.
    pub numa_node: Option<u32>,
    /// `FERMIHDI_BLOOMRF_RETAIN_BATCHES`.
    pub retain_batches: usize,
    /// `FERMIHDI_BLOOMRF_COLUMNS`: names, or `None` for all.
    pub columns: Option<Vec<String>>,
    /// `FERMIHDI_BLOOMRF_BITS_PER_KEY`.
    pub bits_per_key: u32,
    /// `FERMIHDI_BLOOMRF_LEVELS`.
    pub levels: u32,
    /// `FERMIHDI_BLOOMRF_MAX_PROBES`.
    pub max_probes: u32,
    /// `FERMIHDI_BLOOMRF_MAX_KIB_PER_COLUMN`.
    pub max_kib_per_column: u32,
    /// `BLOOMRF_EXACT_KEYS`: keys that a column keeps while its batch is open, to store them
    /// exactly at close where that takes no more than a filter; 0: never.
    pub exact_keys: usize,
    /// `FERMIHDI_BLOOMRF_DATA_DIR`.
    pub data_dir: PathBuf,
    /// `BLOOMRF_SANDBOX`: whether rights are given up once the node has what it needs.
    pub sandbox: Sandbox,
    /// `BLOOMRF_USER`: user to become in the sandbox, a name or `uid:gid`; `None`: as started.
    pub user: Option<String>,
    /// `BLOOMRF_SCRUB_HOURS`: stored files and resident filters are all looked at again in this
    /// time; 0: never.
    pub scrub_hours: u64,
    /// Lookup budget inside the node, microseconds.
    pub lookup_budget_us: u32,
    /// `BLOOMRF_LOOKUP_KEYS`: key file; then only lookups sealed with one of its keys are answered.
    pub lookup_keys: Option<PathBuf>,
    /// `BLOOMRF_LOOKUP_RATE`: questions a second of one source network; 0: no limit.
    pub lookup_rate: u32,
    /// `BLOOMRF_LOOKUP_ALLOW`: networks whose lookups are answered.
    pub lookup_allow: Networks,
    /// `BLOOMRF_INGEST_KEYS`: key file; then only frames sealed with one of its keys are taken.
    pub ingest_keys: Option<PathBuf>,
    /// `BLOOMRF_INGEST_ALLOW`: networks whose frames are taken.
    pub ingest_allow: Networks,
    /// `BLOOMRF_KERNEL`: kernel set of ingest, seal and lookups.
    pub kernel: Kernel,
    /// SCC's verification address, if there is one.
    pub scc: Option<SocketAddr>,
    /// Cluster.
    pub cluster: ClusterId,
    /// Name in logs and towards the SCC.
    pub node_name: String,
    /// Record schema.
    pub schema: Schema,
    /// Where the schema came from: `packet` (built in) or the path of a file.
    pub schema_source: String,
    /// Chain hash expected of the cluster; another one that the SCC elects is warned about.
    pub chain_hash: HashAlgorithm,
    /// How frames come in, and what becomes of them.
    pub link: LinkConfig,
    /// Multicast groups to join.
    pub groups: Vec<IpAddr>,
    /// Cores to pin the ingest queues to, one queue each; empty: one queue, not pinned.
    pub cores: Vec<usize>,
    /// Ingest queues where `cores` is empty.
    pub queues: usize,
    /// Wanted receive buffer of each ingest socket, bytes.
    pub receive_buffer_bytes: usize,
    /// Records expected in the first batch.
    pub expected_records: u64,
    /// Without a frame for this long an open batch is given up, milliseconds.
    pub batch_idle_ms: u64,
    /// After CLOSE, how long to wait for frames that are still on their way, milliseconds.
    pub close_grace_ms: u64,
    /// How long to wait for frames that the SCC is asked for again, milliseconds; 0: never asked.
    pub repair_ms: u64,
}

/// Whether a node gives up the rights that it does not need once it runs. They go for good, for the
/// thread that starts the node and for all that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// Not at all: for a node inside another program.
    Off,
    /// As far as the system can, with a warning for what it cannot.
    Try,
    /// All of them, or the node does not start.
    Require,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            production_port: PRODUCTION_PORT,
            lookup_port: None,
            observability_port: OBSERVABILITY_PORT,
            arena_bytes: 512 << 20,
            pages: PagesWanted::Auto,
            numa_node: None,
            retain_batches: 512,
            columns: None,
            bits_per_key: 8,
            levels: 4,
            max_probes: 256,
            max_kib_per_column: 1_024,
            exact_keys: 1 << 17,
            data_dir: PathBuf::from("/var/lib/fermihdi/bloomrf"),
            sandbox: Sandbox::Off,
            user: None,
            scrub_hours: 24,
            lookup_budget_us: 10_000,
            lookup_keys: None,
            lookup_rate: 100_000,
            lookup_allow: Networks::default(),
            ingest_keys: None,
            ingest_allow: Networks::default(),
            kernel: Kernel::best(),
            scc: None,
            cluster: ClusterId(0),
            node_name: "bloomrf".to_owned(),
            schema: Schema::packet(),
            schema_source: "packet".to_owned(),
            chain_hash: HashAlgorithm::Xxh3,
            link: LinkConfig::default(),
            groups: Vec::new(),
            cores: Vec::new(),
            queues: 1,
            receive_buffer_bytes: 16 << 20,
            expected_records: 65_536,
            batch_idle_ms: 30_000,
            close_grace_ms: 1_000,
            repair_ms: 2_000,
        }
    }
}

impl Config {
    /// Number of ingest queues: one per core, or `queues` where none is named.
    #[must_use]
    pub fn queue_count(&self) -> usize {
        if self.cores.is_empty() { self.queues } else { self.cores.len() }
    }

    /// Port to answer lookups on; 0: a free one.
    #[must_use]
    pub fn lookup_port_wanted(&self) -> u16 {
        self.lookup_port.unwrap_or(match self.production_port {
            0 => 0,
            port => port.saturating_add(LOOKUP_PORT_OFFSET),
        })
    }

    /// Per column of the schema: filter it, or keep only its zone map.
    #[must_use]
    pub fn filtered_columns(&self) -> Vec<bool> {
        let chosen = |name: &str| self.columns.as_ref().is_none_or(|c| c.iter().any(|n| n == name));
        self.schema.columns().iter().map(|c| chosen(c.name())).collect()
    }
}
