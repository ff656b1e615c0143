//! Sealing, the verification stream, HTTP: what may take its time.
//!
//! The seal thread (of low priority) merges and folds; the control thread runs one small runtime
//! with the SCC client and HTTP. Neither ever makes ingest or a lookup wait.

mod http;
mod outcome;
mod own;
mod scc;
mod seal;
mod warn;

use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::limits::{FRAME_BYTES_MAX, REPAIR_BYTES_MAX};
use bloomrf_engine::verify::BatchHash;
use bloomrf_engine::wire::stream::Missing;
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

/// From the sealer to the SCC client.
#[derive(Debug)]
pub(crate) enum ToScc {
    /// A sealed batch, to be judged.
    Sealed(Offer),
    /// Frames to ask for.
    Missing(Missing),
}

/// From the SCC client to the sealer.
#[derive(Debug)]
pub(crate) enum FromScc {
    /// Whether an SCC is connected that sends frames again.
    Repairs(bool),
    /// A frame sent again; nothing in it was checked.
    Frame(Vec<u8>),
    /// Not everything that was asked for of this batch is kept.
    NotKept(BatchId),
}

/// The SCC client's way to the sealer.
pub(crate) struct SealerLink {
    /// Where it is full, the stream is not read.
    pub(crate) repaired: mpsc::Sender<FromScc>,
    /// To wake, once it runs.
    pub(crate) thread: Arc<OnceLock<Thread>>,
}

/// The control thread's own.
pub(crate) struct ControlLoop {
    /// Of the node.
    pub(crate) shared: Arc<Shared>,
    /// HTTP socket, bound and not blocking.
    pub(crate) http: std::net::TcpListener,
    /// From the sealer.
    pub(crate) reports: mpsc::Receiver<ToScc>,
    /// To the sealer.
    pub(crate) sealer: SealerLink,
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
            let Self { shared, http, reports, sealer, mut loaded, stop } = self;
            let client = scc::run(Arc::clone(&shared), reports, sealer, stop.clone());
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
/// Room for what is on its way to the SCC client; past it the sealer waits.
pub(crate) const TO_SCC_MAX: usize = 256;
/// Room for what is on its way back.
pub(crate) const FROM_SCC_MAX: usize = REPAIR_BYTES_MAX / FRAME_BYTES_MAX;
/// Niceness added to the control thread: after lookups, before sealing.
const CONTROL_NICENESS: i32 = 5;
