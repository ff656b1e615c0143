//! The storage node: receives the broadcast, keeps whole batches as files in a folder.
//!
//! Threads: one receives and assembles, one writes files (a sync may take long, and frames do
//! not wait). The ledger hears of a batch only after its file is in place; it also holds the frames
//! of recent batches as they came, for filter nodes that missed some.

pub mod assemble;
pub mod file;
pub mod kept;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::schema::Schema;
use bloomrf_netio::link::udp::{DropGauge, UdpConfig, UdpLink};
use bloomrf_netio::{Burst, Link, LinkError, LinkStats, Waker};

use crate::Ledger;
use assemble::{AssembleStats, Assembler, Ended, Origin};
use file::FileError;

/// What a storage node needs to know.
#[derive(Clone, Debug)]
pub struct StorageConfig {
    /// Cluster.
    pub cluster: ClusterId,
    /// Schema.
    pub schema: Arc<Schema>,
    /// UDP address of the broadcast; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Folder of batch files; must exist.
    pub folder: PathBuf,
    /// Without a frame for this long an open batch is given up.
    pub idle: Duration,
}

/// Why a storage node did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// Its socket.
    #[error("storage node: {0}")]
    Link(#[from] LinkError),
    /// Its folder.
    #[error("storage node cannot write to {folder}: {source}")]
    Folder {
        /// Folder.
        folder: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A thread of its own.
    #[error("storage node cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// Counters of a storage node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageStats {
    /// Frames and gaps.
    pub assemble: AssembleStats,
    /// Datagrams that the link and the system know to be lost.
    pub dropped: u64,
    /// Batches stored.
    pub stored: u64,
    /// Batches whose file could not be written.
    pub failed: u64,
}

/// A running storage node. Dropping it stops it.
#[derive(Debug)]
pub struct StorageNode {
    address: SocketAddr,
    shared: Arc<Shared>,
    waker: Waker,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    frames: AtomicU64,
    stats: Mutex<StorageStats>,
}

impl StorageNode {
    /// Binds the socket, tries the folder, starts the threads.
    pub fn start(config: StorageConfig, ledger: Arc<Ledger>) -> Result<Self, StorageError> {
        let probe = config.folder.join(".writable");
        std::fs::write(&probe, b"").and_then(|()| std::fs::remove_file(&probe)).map_err(
            |source| StorageError::Folder { folder: config.folder.display().to_string(), source },
        )?;
        let udp = UdpConfig {
            listen: config.listen,
            groups: Vec::new(),
            receive_buffer: RECEIVE_BUFFER_BYTES,
            queues: 1,
        };
        let mut links = UdpLink::open(&udp)?;
        let link = links.remove(0);
        let (address, waker) = (link.local_addr(), link.waker());
        let shared = Arc::new(Shared::default());
        let (to_writer, from_receiver) = sync_channel(WRITE_QUEUE_MAX);
        let receiver = {
            let (shared, config, ledger) = (shared.clone(), config.clone(), ledger.clone());
            std::thread::Builder::new()
                .name("storage-rx".to_owned())
                .spawn(move || receive(link, &config, &shared, &ledger, &to_writer))
        };
        let writer = {
            let shared = shared.clone();
            std::thread::Builder::new()
                .name("storage-write".to_owned())
                .spawn(move || write(&from_receiver, &config, &shared, &ledger))
        };
        let threads = [receiver, writer]
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
            .map_err(StorageError::Thread)?;
        Ok(StorageNode { address, shared, waker, threads })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> StorageStats {
        *self.shared.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A counter of frames seen (lost ones included as far as known), for a sender's window.
    #[must_use]
    pub fn progress(&self) -> crate::pace::Progress {
        let shared = self.shared.clone();
        Box::new(move || shared.frames.load(Ordering::Relaxed))
    }
}

impl Drop for StorageNode {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.waker.wake();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the storage node panicked");
            }
        }
    }
}

fn receive(
    mut link: UdpLink,
    config: &StorageConfig,
    shared: &Shared,
    ledger: &Ledger,
    to_writer: &SyncSender<Ended>,
) {
    let mut assembler = Assembler::new(Origin {
        cluster: config.cluster,
        fingerprint: config.schema.fingerprint(),
        record_bytes: config.schema.record_bytes(),
    });
    let started = Instant::now();
    let idle_ns = config.idle.as_nanos() as u64;
    let (gauge, mut dropped_by_system, mut look_ns) = (link.drop_gauge(), 0, 0);
    let mut ended = Vec::new();
    while !shared.stop.load(Ordering::Relaxed) {
        let mut burst = Burst::new();
        if let Err(error) = link.rx_burst(&mut burst) {
            tracing::warn!(%error, "storage node");
            std::thread::sleep(TICK);
            continue;
        }
        let now_ns = started.elapsed().as_nanos() as u64;
        for received in burst.iter() {
            let new = assembler.on_datagram(received.bytes, now_ns, &mut ended);
            if let Some(frame) = new {
                ledger.kept().keep(&frame, received.bytes);
            }
        }
        let is_idle = burst.is_empty();
        drop(burst);
        if is_idle {
            assembler.on_tick(now_ns, idle_ns, &mut ended);
        }
        // A sender that waits for us leaves the socket empty: soon enough to look then.
        if is_idle && now_ns >= look_ns {
            let told = gauge.as_ref().and_then(DropGauge::read);
            dropped_by_system = told.unwrap_or(dropped_by_system);
            look_ns = now_ns + TICK.as_nanos() as u64;
        }
        let LinkStats { dropped, oversize, .. } = link.stats();
        let dropped = dropped_by_system + dropped.sum() + oversize;
        {
            let mut stats = shared.stats.lock().unwrap_or_else(PoisonError::into_inner);
            stats.assemble = assembler.stats();
            stats.dropped = dropped;
        }
        shared.frames.store(assembler.stats().frames + dropped, Ordering::Relaxed);
        for end in ended.drain(..) {
            if to_writer.send(end).is_err() {
                return;
            }
        }
        if is_idle && link.wait(TICK).is_err() {
            std::thread::sleep(TICK);
        }
    }
}

fn write(
    from_receiver: &Receiver<Ended>,
    config: &StorageConfig,
    shared: &Shared,
    ledger: &Ledger,
) {
    for end in from_receiver {
        match end {
            Ended::Gap(batch) => {
                tracing::warn!(batch, "storage node gave a batch up: it is not whole");
                ledger.give_up(batch);
            }
            Ended::Whole(stored) => {
                let result: Result<(), FileError> = file::write_batch(&config.folder, &stored);
                let mut stats = shared.stats.lock().unwrap_or_else(PoisonError::into_inner);
                match result {
                    Ok(()) => {
                        stats.stored += 1;
                        drop(stats);
                        ledger.store(stored.batch, stored.len() as u64, stored.hash);
                    }
                    Err(error) => {
                        stats.failed += 1;
                        drop(stats);
                        tracing::error!(batch = stored.batch, %error, "batch not stored");
                        ledger.give_up(stored.batch);
                    }
                }
            }
        }
    }
}

/// Wanted socket buffer, bytes; the system may give less.
const RECEIVE_BUFFER_BYTES: usize = 4 << 20;
/// Batches between receiver and writer.
const WRITE_QUEUE_MAX: usize = 16;
/// Longest sleep of the receiver.
const TICK: Duration = Duration::from_millis(20);
