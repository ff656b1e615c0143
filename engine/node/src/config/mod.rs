//! Configuration: environment over TOML file over defaults; every value knows where it came from.

use std::net::SocketAddr;
use std::path::PathBuf;

use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::verify::HashAlgorithm;

/// A complete, valid configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address for all sockets.
    pub listen: std::net::IpAddr,
    /// `FERMIHDI_PRODUCTION_PORT`, UDP ingest; 0 picks a free one.
    pub production_port: u16,
    /// Lookup port; `None`: production + 10 (or a free one where production is 0).
    pub lookup_port: Option<u16>,
    /// `FERMIHDI_OBSERVABILITY_PORT`; 0 picks a free one.
    pub observability_port: u16,
    /// `FERMIHDI_SEASTAR_MEMORY`, bytes.
    pub arena_bytes: usize,
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
    /// `FERMIHDI_BLOOMRF_DATA_DIR`.
    pub data_dir: PathBuf,
    /// Lookup budget inside the node, microseconds.
    pub lookup_budget_us: u32,
    /// SCC's verification address, if there is one.
    pub scc: Option<SocketAddr>,
    /// Cluster.
    pub cluster: ClusterId,
    /// Name in logs and towards the SCC.
    pub node_name: String,
    /// Record schema.
    pub schema: Schema,
    /// Chain hash expected of the cluster.
    pub chain_hash: HashAlgorithm,
    /// Ingest link: `udp` (the only one so far).
    pub link: String,
    /// Multicast groups to join.
    pub groups: Vec<std::net::IpAddr>,
    /// Cores to pin the ingest queues to, one queue each; empty: one queue, not pinned.
    pub cores: Vec<usize>,
    /// Ingest queues where `cores` is empty.
    pub queues: usize,
    /// Records expected in the first batch.
    pub expected_records: u64,
}

/// Why a configuration was refused: key, where it came from, what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A value that cannot be.
    #[error("{key} = {value:?} (from {origin}): {expected}")]
    Value {
        /// Key.
        key: String,
        /// Value as given.
        value: String,
        /// Environment variable, or file and line.
        origin: String,
        /// What was expected.
        expected: String,
    },
}

impl Default for Config {
    fn default() -> Self {
        todo!("node")
    }
}
