//! The cluster's side of a replay, so that a node can verify what it saw: a storage node that
//! keeps the batches for as long as the replay runs, and an SCC that judges the node's hashes.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::schema::Schema;
use bloomrf_refcluster::pace::Progress;
use bloomrf_refcluster::{Ledger, Pace, Scc, SccConfig, StorageConfig, StorageNode};
use tempfile::TempDir;

use crate::args::ReplayArgs;
use crate::outcome::{CommandError, complain};
use crate::signals::Stop;

/// A running judge. Dropping it removes the batches that it kept.
pub(super) struct Judge {
    scc: Scc,
    storage: StorageNode,
    ledger: Arc<Ledger>,
    _folder: TempDir,
}

impl Judge {
    /// Takes verification streams on `listen`.
    pub(super) fn start(
        args: &ReplayArgs,
        listen: SocketAddr,
        schema: &Arc<Schema>,
    ) -> Result<Self, CommandError> {
        let folder = tempfile::Builder::new()
            .prefix("bloomrf-replay-")
            .tempdir()
            .map_err(|e| CommandError::failed(format!("temporary folder: {e}")))?;
        let ledger = Arc::new(Ledger::new());
        let scc = SccConfig {
            listen,
            cluster: args.cluster,
            fingerprint: schema.fingerprint(),
            hash: args.hash,
            patience: QUIET_MAX,
        };
        let storage = StorageConfig {
            cluster: args.cluster,
            schema: schema.clone(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            folder: folder.path().to_path_buf(),
            idle: QUIET_MAX,
        };
        Ok(Judge {
            scc: Scc::start(scc, ledger.clone()).map_err(CommandError::failed)?,
            storage: StorageNode::start(storage, ledger.clone()).map_err(CommandError::failed)?,
            ledger,
            _folder: folder,
        })
    }

    /// Where the judge's own copy of the broadcast goes.
    pub(super) fn target(&self) -> SocketAddr {
        self.storage.address()
    }

    /// No faster than the judge itself keeps up, and one batch ahead of its verdicts: a node that
    /// has not sealed yet is not overrun by small batches.
    pub(super) fn pace(&self) -> Pace {
        let ledger = self.ledger.clone();
        let judged: Progress = Box::new(move || ledger.judged() as u64);
        Pace::window(vec![self.storage.progress()], FRAMES_AHEAD_MAX, Some(judged), STALL)
    }

    /// Waits for a node: what it has not heard it cannot verify.
    pub(super) fn wait_connected(&self, stop: &Stop) -> Result<(), CommandError> {
        let started = Instant::now();
        let mut said = false;
        while self.scc.connections() == 0 {
            stop.check()?;
            if !said && started.elapsed() > STALL {
                let address = self.scc.address();
                complain("note", format!("waiting for a node whose `scc` is {address}"));
                said = true;
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Waits until the batches from `first` on are judged, or nothing moves any more; returns how
    /// many of them are verified.
    pub(super) fn wait_judged(&self, first: BatchId, batches: u64, stop: &Stop) -> u64 {
        let (mut last, mut moved) = (0, Instant::now());
        loop {
            let ids = || (0..batches).map(|i| first.saturating_add(i));
            let judged = ids().filter(|&id| self.ledger.verdict(id).is_some()).count() as u64;
            if judged == batches || moved.elapsed() > QUIET_MAX || stop.is_set() {
                let open = self.ledger.unverified();
                let stored = self.ledger.stored();
                return (stored.len() - open.len()) as u64;
            }
            if judged != last {
                (last, moved) = (judged, Instant::now());
            }
            std::thread::sleep(POLL);
        }
    }
}

/// As in the demo: what a small socket buffer holds.
const FRAMES_AHEAD_MAX: u64 = 96;
/// A receiver without progress for this long has lost what is missing.
const STALL: Duration = Duration::from_secs(1);
/// Without a further verdict for this long, the rest will not be judged.
const QUIET_MAX: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);
