//! Sealing, the verification stream, HTTP: what may take its time.
//!
//! The seal thread (of low priority) merges and folds; the control thread runs one small runtime
//! with the SCC client and HTTP. Neither ever makes ingest or a lookup wait.

mod http;
mod outcome;
mod scc;
mod seal;
mod warn;

use std::sync::Arc;
use std::time::Duration;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::verify::BatchHash;
use tokio::sync::{mpsc, watch};

use crate::shared::Shared;
use crate::watch::Pulse;

pub(crate) use outcome::Outcome;
pub(crate) use seal::{QueuePort, SealLoop};

/// A sealed batch on its way to the SCC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    /// Batch.
    pub(crate) batch: BatchId,
    /// Records.
    pub(crate) records: u64,
    /// What the node saw.
    pub(crate) hash: BatchHash,
}

/// The control thread's own.
pub(crate) struct ControlLoop {
    /// Of the node.
    pub(crate) shared: Arc<Shared>,
    /// HTTP socket, bound and not blocking.
    pub(crate) http: std::net::TcpListener,
    /// From the sealer.
    pub(crate) offers: mpsc::Receiver<Offer>,
    /// Becomes true when stored filters are loaded.
    pub(crate) loaded: watch::Receiver<bool>,
    /// Becomes true to end.
    pub(crate) stop: watch::Receiver<bool>,
}

impl ControlLoop {
    /// Runs until stopped.
    pub(crate) fn run(self, pulse: &Pulse) {
        // Of this thread alone: lookups come first. Without the right, it is merely less polite.
        let _ = rustix::process::nice(CONTROL_NICENESS);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => return tracing::error!(%error, "no control thread: no runtime"),
        };
        runtime.block_on(async {
            let Self { shared, http, offers, mut loaded, stop } = self;
            let client = scc::run(Arc::clone(&shared), offers, stop.clone());
            let scc = async {
                // Fails where the start did.
                if loaded.wait_for(|loaded| *loaded).await.is_ok() {
                    client.await;
                }
            };
            let keys = refresh_keys(&shared);
            let http = http::serve(Arc::clone(&shared), http, stop);
            let served = async { tokio::join!(scc, http) };
            tokio::select! {
                _ = served => {}
                () = keys => {}
                () = pulse.keep() => {}
            }
        });
    }
}

/// Takes changed key files into use, for as long as it is polled.
async fn refresh_keys(shared: &Shared) {
    loop {
        tokio::time::sleep(KEYS_LOOK).await;
        shared.keys.refresh();
    }
}

/// Between two looks at the key files.
const KEYS_LOOK: Duration = Duration::from_secs(1);
/// Room for sealed batches on their way to the SCC client; past it the sealer waits.
pub(crate) const OFFERS_MAX: usize = 256;
/// Niceness added to the control thread: after lookups, before sealing.
const CONTROL_NICENESS: i32 = 5;
