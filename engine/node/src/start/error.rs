//! Why a node did not start: what, where, why, what to do.

use std::io;
use std::path::PathBuf;

use bloomrf_netio::link::LinkKind;
use bloomrf_netio::{LinkError, LinkSpec};

use crate::ConfigError;

/// Why a node did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A setting is impossible.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Another socket holds the port.
    #[error(
        "{protocol} port {port} ({what}) is in use: stop the process that holds it, or set {key} \
         (environment {env})"
    )]
    PortInUse {
        /// What it is for.
        what: &'static str,
        /// Port.
        port: u16,
        /// UDP or TCP.
        protocol: &'static str,
        /// TOML key to change.
        key: &'static str,
        /// Environment variable to change.
        env: &'static str,
    },
    /// A socket could not be set up for another reason.
    #[error("{what} on {protocol} {address}: {source} (settings listen and {key})")]
    Socket {
        /// What it is for.
        what: &'static str,
        /// UDP or TCP.
        protocol: &'static str,
        /// Address and port.
        address: std::net::SocketAddr,
        /// TOML key of the port.
        key: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The ingest link could not be set up for another reason.
    #[error("link = \"{spec}\": {error} (settings {})", link_keys(spec))]
    Link {
        /// As configured.
        spec: LinkSpec,
        /// Its reason.
        error: LinkError,
    },
    /// A key file cannot be used.
    #[error("{0} (settings lookup_keys and ingest_keys)")]
    Keys(#[from] crate::keys::KeyFileError),
    /// The data folder cannot be used.
    #[error(
        "data folder {}: {source}; create it for the user that runs the node (mkdir and chown), \
         or set data_dir (environment FERMIHDI_BLOOMRF_DATA_DIR) to a folder that it may write",
        path.display()
    )]
    DataDir {
        /// Folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A queue could not be pinned to its core.
    #[error(
        "core {core}: cannot pin an ingest queue to it ({reason}); change cores (environment \
         BLOOMRF_CORES)"
    )]
    Pin {
        /// Core.
        core: usize,
        /// Why not.
        reason: String,
    },
    /// Queues that poll would share cores.
    #[error(
        "{queues} ingest queues, and this process may use {cores} cores: each needs one of its \
         own; lower queues or cores (environment BLOOMRF_QUEUES, BLOOMRF_CORES), give the process \
         more cores (taskset, a cpuset), or leave cores empty and set idle = \"sleep\""
    )]
    Cores {
        /// Ingest queues.
        queues: usize,
        /// Cores that this process may use.
        cores: usize,
    },
    /// A thread could not be started.
    #[error("thread {name}: {source}; raise the limit on threads or lower queues")]
    Thread {
        /// Name of the thread.
        name: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Rights could not be given up.
    #[error(
        "sandbox, {step}: {reason}; set sandbox = \"try\" (environment BLOOMRF_SANDBOX) to start \
         without what this system lacks"
    )]
    Sandbox {
        /// Which right.
        step: &'static str,
        /// Why not.
        reason: String,
    },
    /// A source of randomness, or the metrics, could not be set up.
    #[error("{what}: {reason}")]
    Setup {
        /// What was set up.
        what: &'static str,
        /// Why not.
        reason: String,
    },
}

/// Settings that a failure to open the link may hang on.
fn link_keys(spec: &LinkSpec) -> &'static str {
    match spec.kind {
        LinkKind::Udp => "listen, groups and production_port",
        _ => "link, queues and cores",
    }
}
