//! The minimal Storage Cluster Controller: judges what filter nodes saw, and asks them.
//!
//! One thread accepts, one per connection speaks the verification stream. A batch that storage
//! does not know yet is judged as soon as it does, or `Unknown` after `patience`.

mod consult;
mod ledger;
mod repair;

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bloomrf_engine::identity::{BatchId, ClusterId, Fingerprint};
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_engine::wire::stream::{
    RefuseReason, StreamDecoder, StreamError, StreamMessage, VERSION, Verdict,
};

pub use consult::{Consult, ReadPlan, Via, ask, ask_with, mode_from_env, timeout_from_env};
pub use ledger::{Fate, Ledger};

/// What an SCC needs to know.
#[derive(Clone, Debug)]
pub struct SccConfig {
    /// TCP address of the verification stream; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Cluster.
    pub cluster: ClusterId,
    /// Schema of the records.
    pub fingerprint: Fingerprint,
    /// The elected chain hash.
    pub hash: HashAlgorithm,
    /// How long a report may wait for storage.
    pub patience: Duration,
}

/// Why an SCC did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SccError {
    /// Its socket.
    #[error("SCC cannot listen on {address}: {source}")]
    Listen {
        /// Address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
}

/// A running SCC. Dropping it stops it and closes all streams.
#[derive(Debug)]
pub struct Scc {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    config: SccConfig,
    ledger: Arc<Ledger>,
    stop: AtomicBool,
    connections: AtomicUsize,
}

impl Scc {
    /// Binds and starts.
    pub fn start(config: SccConfig, ledger: Arc<Ledger>) -> Result<Self, SccError> {
        let listen = |source| SccError::Listen { address: config.listen, source };
        let listener = TcpListener::bind(config.listen).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let stop = AtomicBool::new(false);
        let connections = AtomicUsize::new(0);
        let shared = Arc::new(Shared { config: config.clone(), ledger, stop, connections });
        let acceptor = {
            let shared = shared.clone();
            std::thread::Builder::new()
                .name("scc-accept".to_owned())
                .spawn(move || accept(&listener, &shared))
                .map_err(listen)?
        };
        Ok(Scc { address, shared, acceptor: Some(acceptor) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The ledger it judges by.
    #[must_use]
    pub fn ledger(&self) -> &Arc<Ledger> {
        &self.shared.ledger
    }

    /// Nodes connected and accepted at the moment.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Scc {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // A connection to ourselves ends the blocking accept.
        drop(TcpStream::connect_timeout(&self.address, Duration::from_millis(200)));
        if let Some(acceptor) = self.acceptor.take()
            && acceptor.join().is_err()
        {
            tracing::error!("the accept thread of the SCC panicked");
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for stream in listener.incoming() {
        if shared.stop.load(Ordering::Relaxed) {
            break;
        }
        threads.retain(|t| !t.is_finished());
        let Ok(stream) = stream else { continue };
        if threads.len() >= CONNECTIONS_MAX {
            tracing::warn!("SCC: too many connections, one was closed");
            continue;
        }
        let shared = shared.clone();
        let thread = std::thread::Builder::new().name("scc-stream".to_owned()).spawn(move || {
            if let Err(error) = Connection::new(&shared, stream).serve() {
                tracing::info!(%error, "verification stream ended");
            }
        });
        threads.extend(thread);
    }
    for thread in threads {
        if thread.join().is_err() {
            tracing::error!("a stream thread of the SCC panicked");
        }
    }
}

/// What a node reported and is not judged yet.
struct Report {
    batch: BatchId,
    records: u64,
    hash: BatchHash,
    since: Instant,
}

struct Connection<'s> {
    shared: &'s Shared,
    stream: TcpStream,
    decoder: StreamDecoder,
    welcomed: bool,
    /// Whether the node may ask for frames.
    repairs: bool,
    reports: Vec<Report>,
    deleted_position: usize,
    revoked_position: usize,
    output: Vec<u8>,
}

impl<'s> Connection<'s> {
    fn new(shared: &'s Shared, stream: TcpStream) -> Self {
        Connection {
            shared,
            stream,
            decoder: StreamDecoder::default(),
            welcomed: false,
            repairs: false,
            reports: Vec::new(),
            deleted_position: 0,
            revoked_position: 0,
            output: Vec::new(),
        }
    }

    fn serve(mut self) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        self.stream.set_read_timeout(Some(POLL))?;
        self.stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        let mut input = [0; 16_384];
        while !self.shared.stop.load(Ordering::Relaxed) {
            match self.stream.read(&mut input) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    self.decoder.push(&input[..count]);
                    self.take_messages()?;
                }
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(error),
            }
            if self.welcomed {
                self.judge();
                self.announce_deleted();
                self.announce_revoked();
            }
            self.flush()?;
        }
        Ok(())
    }

    fn take_messages(&mut self) -> io::Result<()> {
        let broken =
            |error: StreamError| io::Error::new(io::ErrorKind::InvalidData, format!("{error:?}"));
        loop {
            let message = match self.decoder.next_message() {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(()),
                Err(StreamError::Version) if !self.welcomed => {
                    return Err(self.refuse(RefuseReason::Version, "of another version"));
                }
                Err(error) => return Err(broken(error)),
            };
            match message {
                StreamMessage::Hello { cluster, fingerprint, node, version } if !self.welcomed => {
                    self.greet(cluster, fingerprint, &node, version)?;
                }
                StreamMessage::Seen { batch, records, hash } if self.welcomed => {
                    self.reports.retain(|r| r.batch != batch);
                    self.reports.push(Report { batch, records, hash, since: Instant::now() });
                }
                StreamMessage::Missing(missing) if self.repairs => self.send_again(&missing)?,
                other => {
                    let text = format!("unexpected message {other:?}");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, text));
                }
            }
        }
    }

    fn greet(
        &mut self,
        cluster: ClusterId,
        fingerprint: Fingerprint,
        node: &str,
        version: u8,
    ) -> io::Result<()> {
        let config = &self.shared.config;
        let reason = if cluster != config.cluster {
            Some(RefuseReason::Cluster)
        } else if fingerprint != config.fingerprint {
            Some(RefuseReason::Schema)
        } else {
            None
        };
        if let Some(reason) = reason {
            return Err(self.refuse(reason, node));
        }
        let repairs = (version == VERSION).then(|| self.shared.ledger.kept().is_on());
        self.repairs = repairs.unwrap_or_default();
        StreamMessage::Welcome { hash: config.hash, repairs }.encode(&mut self.output);
        tracing::info!(node, "filter node connected");
        self.welcomed = true;
        self.shared.connections.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Says why, and is the error that ends the connection.
    fn refuse(&mut self, reason: RefuseReason, node: &str) -> io::Error {
        StreamMessage::Refused { reason }.encode(&mut self.output);
        let text = format!("node {node:?} refused: {reason:?}");
        self.flush().err().unwrap_or(io::Error::new(io::ErrorKind::PermissionDenied, text))
    }

    fn judge(&mut self) {
        // Past the limit the oldest is not waited for any longer: it was reported, so it is told.
        let surplus = self.reports.len().saturating_sub(REPORTS_MAX);
        let mut position = 0;
        let Shared { ledger, config, .. } = self.shared;
        let output = &mut self.output;
        self.reports.retain(|report| {
            position += 1;
            let verdict = match ledger.judge(report.batch, report.records, report.hash) {
                Some(verdict) => verdict,
                None if position > surplus && report.since.elapsed() < config.patience => {
                    return true;
                }
                None => {
                    ledger.note(report.batch, Verdict::Unknown);
                    Verdict::Unknown
                }
            };
            if verdict != Verdict::Verified {
                tracing::warn!(batch = report.batch, ?verdict, "batch not verified");
            }
            let (batch, hash) = (report.batch, report.hash);
            StreamMessage::Verdict { batch, hash, verdict }.encode(output);
            false
        });
    }

    fn announce_deleted(&mut self) {
        let deleted = self.shared.ledger.deleted_from(self.deleted_position);
        self.deleted_position += deleted.len();
        for batches in deleted.chunks(DELETED_PER_MESSAGE) {
            StreamMessage::Deleted { batches: batches.to_vec() }.encode(&mut self.output);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.output.is_empty() {
            self.stream.write_all(&self.output)?;
            self.output.clear();
        }
        Ok(())
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        if self.welcomed {
            self.shared.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Longest wait for bytes before reports are looked at again.
const POLL: Duration = Duration::from_millis(5);
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// Filter nodes of a cluster.
const CONNECTIONS_MAX: usize = 64;
/// Reports of one node that wait for storage.
const REPORTS_MAX: usize = 65_536;
const DELETED_PER_MESSAGE: usize = 4_096;
