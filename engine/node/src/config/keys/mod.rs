//! The table of all settings: TOML key, environment variable, unit, limit, how to read and show.

mod ingest;

use std::path::Path;

use bloomrf_kernels::Kernel;

use super::Config;
use super::read::{
    address, auto, columns, node_name, none, optional_path, pages, path, sandbox, schema, set,
    show_pages, show_sandbox, socket_address, user,
};
use super::value::{self, Expected};
use crate::networks::Networks;

/// One setting.
pub(super) struct Key {
    /// TOML key.
    pub(super) name: &'static str,
    /// Environment variable.
    pub(super) env: &'static str,
    /// Unit, or kind of value.
    pub(super) unit: &'static str,
    /// What is allowed.
    pub(super) limit: &'static str,
    /// Reads a value; relative paths count from the folder given.
    pub(super) apply: fn(&mut Config, &str, &Path) -> Result<(), Expected>,
    /// The value as text that `apply` reads back.
    pub(super) show: fn(&Config) -> String,
}

/// A variable that is known here but is no setting of the node.
pub(super) struct Foreign {
    /// Environment variable.
    pub(super) env: &'static str,
    /// Why it does nothing here.
    pub(super) note: &'static str,
}

/// Accepted and ignored: other parts of the cluster, or other commands, read them.
pub(super) const FOREIGN: &[Foreign] = &[
    Foreign { env: "FERMIHDI_BLOOMRF_MODE", note: "read by the SCC, ignored by the node" },
    Foreign { env: "FERMIHDI_BLOOMRF_TIMEOUT_MS", note: "read by the SCC, ignored by the node" },
    Foreign { env: "BLOOMRF_DATA", note: "read by the tests, ignored by the node" },
    Foreign { env: "BLOOMRF_LOG", note: "log filter of the commands, no setting of the node" },
    Foreign { env: "BLOOMRF_CONFIG", note: "path of the file, read by the commands" },
];

/// Need a DMS: refused while there is none.
pub(super) const NEED_DMS: &[&str] = &["FERMIHDI_DMS_URL", "FERMIHDI_BOOTSTRAP_TOKEN"];

/// All settings, in the order in which they are shown.
pub(super) fn keys() -> impl Iterator<Item = &'static Key> + Clone {
    KEYS.iter().chain(ingest::KEYS)
}

/// All but those of ingest.
const KEYS: &[Key] = &[
    Key {
        name: "production_port",
        env: "FERMIHDI_PRODUCTION_PORT",
        unit: "UDP port",
        limit: "0..=65525; 0: a free one; the lookup port is 10 above",
        apply: |c, v, _| set(&mut c.production_port, value::number(v, 0..=65_525)),
        show: |c| c.production_port.to_string(),
    },
    Key {
        name: "lookup_port",
        env: "BLOOMRF_LOOKUP_PORT",
        unit: "UDP and TCP port",
        limit: "auto (production_port + 10), or 0..=65535; 0: a free one",
        apply: |c, v, _| set(&mut c.lookup_port, auto(v, |v| value::number(v, 0..=65_535))),
        show: |c| c.lookup_port.map_or_else(|| "auto".to_owned(), |p| p.to_string()),
    },
    Key {
        name: "observability_port",
        env: "FERMIHDI_OBSERVABILITY_PORT",
        unit: "TCP port, HTTP",
        limit: "0..=65535; 0: a free one",
        apply: |c, v, _| set(&mut c.observability_port, value::number(v, 0..=65_535)),
        show: |c| c.observability_port.to_string(),
    },
    Key {
        name: "listen",
        env: "BLOOMRF_LISTEN",
        unit: "IP address",
        limit: "an IPv4 or IPv6 address of this machine; 0.0.0.0 or ::, all of them",
        apply: |c, v, _| set(&mut c.listen, address(v)),
        show: |c| c.listen.to_string(),
    },
    Key {
        name: "arena_memory",
        env: "FERMIHDI_SEASTAR_MEMORY",
        unit: "bytes, with K, M or G",
        limit: "1M..=16T; filters beyond it evict the oldest batch",
        apply: |c, v, _| set(&mut c.arena_bytes, value::size(v, 1 << 20..=16 << 40)),
        show: |c| value::show_size(c.arena_bytes),
    },
    Key {
        name: "pages",
        env: "BLOOMRF_PAGES",
        unit: "kind of memory pages",
        limit: "auto (reserved 2 MiB pages, else transparent huge ones), transparent or small",
        apply: |c, v, _| set(&mut c.pages, pages(v)),
        show: |c| show_pages(c.pages).to_owned(),
    },
    Key {
        name: "numa_node",
        env: "BLOOMRF_NUMA_NODE",
        unit: "NUMA node of the filters",
        limit: "none (wherever it is touched first), or 0..=1023",
        apply: |c, v, _| set(&mut c.numa_node, none(v, |v| value::number(v, 0..=1_023))),
        show: |c| c.numa_node.map_or_else(|| "none".to_owned(), |node| node.to_string()),
    },
    Key {
        name: "retain_batches",
        env: "FERMIHDI_BLOOMRF_RETAIN_BATCHES",
        unit: "batches",
        limit: "1..=65536",
        apply: |c, v, _| set(&mut c.retain_batches, value::number(v, 1..=1 << 16)),
        show: |c| c.retain_batches.to_string(),
    },
    Key {
        name: "columns",
        env: "FERMIHDI_BLOOMRF_COLUMNS",
        unit: "column names",
        limit: "all, or columns of the schema; zone maps cover every column regardless",
        apply: |c, v, _| set(&mut c.columns, columns(v)),
        show: |c| c.columns.as_ref().map_or_else(|| "all".to_owned(), |names| names.join(",")),
    },
    Key {
        name: "bits_per_key",
        env: "FERMIHDI_BLOOMRF_BITS_PER_KEY",
        unit: "bits",
        limit: "1..=64; a column's filter takes bits_per_key x levels bits per record",
        apply: |c, v, _| set(&mut c.bits_per_key, value::number(v, 1..=64)),
        show: |c| c.bits_per_key.to_string(),
    },
    Key {
        name: "levels",
        env: "FERMIHDI_BLOOMRF_LEVELS",
        unit: "factor",
        limit: "1..=8; 1: equality only, ranges are \"no opinion\"",
        apply: |c, v, _| set(&mut c.levels, value::number(v, 1..=8)),
        show: |c| c.levels.to_string(),
    },
    Key {
        name: "max_probes",
        env: "FERMIHDI_BLOOMRF_MAX_PROBES",
        unit: "filter words per range and batch",
        limit: "1..=65536; past it: no opinion",
        apply: |c, v, _| set(&mut c.max_probes, value::number(v, 1..=65_536)),
        show: |c| c.max_probes.to_string(),
    },
    Key {
        name: "max_kib_per_column",
        env: "FERMIHDI_BLOOMRF_MAX_KIB_PER_COLUMN",
        unit: "KiB",
        limit: "1..=65536; largest open filter of one column and batch",
        apply: |c, v, _| set(&mut c.max_kib_per_column, value::number(v, 1..=65_536)),
        show: |c| c.max_kib_per_column.to_string(),
    },
    Key {
        name: "exact_keys",
        env: "BLOOMRF_EXACT_KEYS",
        unit: "keys per column, open batch and queue",
        limit: "0..=16777216; kept to be stored exactly where that pays; 0: filters only",
        apply: |c, v, _| set(&mut c.exact_keys, value::number(v, 0..=1 << 24)),
        show: |c| c.exact_keys.to_string(),
    },
    Key {
        name: "data_dir",
        env: "FERMIHDI_BLOOMRF_DATA_DIR",
        unit: "folder",
        limit: "a folder that the node may write",
        apply: |c, v, base| set(&mut c.data_dir, path(v, base)),
        show: |c| c.data_dir.display().to_string(),
    },
    Key {
        name: "sandbox",
        env: "BLOOMRF_SANDBOX",
        unit: "how rights are given up after the start",
        limit: "off, try (as far as the system can) or require (else the node does not start)",
        apply: |c, v, _| set(&mut c.sandbox, sandbox(v)),
        show: |c| show_sandbox(c.sandbox).to_owned(),
    },
    Key {
        name: "user",
        env: "BLOOMRF_USER",
        unit: "user to become in the sandbox",
        limit: "none (as started), a name, or uid:gid",
        apply: |c, v, _| set(&mut c.user, none(v, user)),
        show: |c| c.user.clone().unwrap_or_else(|| "none".to_owned()),
    },
    Key {
        name: "scrub_hours",
        env: "BLOOMRF_SCRUB_HOURS",
        unit: "hours",
        limit: "0..=8760; within them all stored and resident filters are checked; 0: never",
        apply: |c, v, _| set(&mut c.scrub_hours, value::number(v, 0..=8_760)),
        show: |c| c.scrub_hours.to_string(),
    },
    Key {
        name: "lookup_budget_us",
        env: "BLOOMRF_LOOKUP_BUDGET_US",
        unit: "microseconds per lookup",
        limit: "100..=1000000",
        apply: |c, v, _| set(&mut c.lookup_budget_us, value::number(v, 100..=1_000_000)),
        show: |c| c.lookup_budget_us.to_string(),
    },
    Key {
        name: "lookup_keys",
        env: "BLOOMRF_LOOKUP_KEYS",
        unit: "key file",
        limit: "none, or the path of a file of mode 600; then unkeyed lookups are not answered",
        apply: |c, v, base| set(&mut c.lookup_keys, none(v, |v| path(v, base))),
        show: |c| optional_path(c.lookup_keys.as_deref()),
    },
    Key {
        name: "lookup_rate",
        env: "BLOOMRF_LOOKUP_RATE",
        unit: "lookups per second and source network (/24, /56)",
        limit: "0..=10000000; 0: no limit",
        apply: |c, v, _| set(&mut c.lookup_rate, value::number(v, 0..=10_000_000)),
        show: |c| c.lookup_rate.to_string(),
    },
    Key {
        name: "lookup_allow",
        env: "BLOOMRF_LOOKUP_ALLOW",
        unit: "source networks",
        limit: "any, or at most 256 networks such as 10.0.0.0/8; lookups of others are dropped",
        apply: |c, v, _| set(&mut c.lookup_allow, Networks::parse(v)),
        show: |c| c.lookup_allow.to_string(),
    },
    Key {
        name: "ingest_keys",
        env: "BLOOMRF_INGEST_KEYS",
        unit: "key file",
        limit: "none, or the path of a file of mode 600; then unkeyed frames are refused",
        apply: |c, v, base| set(&mut c.ingest_keys, none(v, |v| path(v, base))),
        show: |c| optional_path(c.ingest_keys.as_deref()),
    },
    Key {
        name: "ingest_allow",
        env: "BLOOMRF_INGEST_ALLOW",
        unit: "source networks",
        limit: "any, or at most 256 networks such as 10.0.0.0/8; frames of others are refused",
        apply: |c, v, _| set(&mut c.ingest_allow, Networks::parse(v)),
        show: |c| c.ingest_allow.to_string(),
    },
    Key {
        name: "kernel",
        env: "BLOOMRF_KERNEL",
        unit: "kernel set",
        limit: "auto (the best that the CPU has), scalar, avx2, avx512 or avx512-no-vbmi",
        apply: |c, v, _| set(&mut c.kernel, Kernel::named(v.trim()).map_err(|e| e.to_string())),
        show: |c| if c.kernel == Kernel::best() { "auto" } else { c.kernel.name() }.to_owned(),
    },
    Key {
        name: "scc",
        env: "BLOOMRF_SCC",
        unit: "IP address and port",
        limit: "none, or e.g. 10.0.0.1:6990; none: no batch is ever verified or excluded",
        apply: |c, v, _| set(&mut c.scc, none(v, socket_address)),
        show: |c| c.scc.map_or_else(|| "none".to_owned(), |a| a.to_string()),
    },
    Key {
        name: "cluster",
        env: "BLOOMRF_CLUSTER",
        unit: "cluster id",
        limit: "up to 32 hex digits; dashes do not count",
        apply: |c, v, _| set(&mut c.cluster, value::parsed(v)),
        show: |c| c.cluster.to_string(),
    },
    Key {
        name: "node_name",
        env: "FERMIHDI_NODE_NAME",
        unit: "text",
        limit: "1..=64 bytes; shown in logs and told to the SCC",
        apply: |c, v, _| set(&mut c.node_name, node_name(v)),
        show: |c| c.node_name.clone(),
    },
    Key {
        name: "schema",
        env: "BLOOMRF_SCHEMA",
        unit: "name or file",
        limit: "packet (built in), or the path of a .toml or .json schema",
        apply: schema,
        show: |c| c.schema_source.clone(),
    },
    Key {
        name: "chain_hash",
        env: "BLOOMRF_CHAIN_HASH",
        unit: "name",
        limit: "xxh3, blake3 or sha256",
        apply: |c, v, _| set(&mut c.chain_hash, value::parsed(v)),
        show: |c| c.chain_hash.to_string(),
    },
];
