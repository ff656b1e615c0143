//! The client of the verification stream: connects, reports sealed batches, applies verdicts.
//! Runs on the control thread; without an SCC every batch stays pending and nothing is
//! excluded, unless the node is a tap and judges its batches itself.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::Thread;
use std::time::Duration;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::verify::{BatchHash, Session, SessionConfig, SessionEvent};
use bloomrf_engine::wire::stream::Verdict;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

use super::{FromScc, Offer, Outcome, SealerLink, ToScc};
use crate::config::LinkUse;
use crate::shared::Shared;

/// Serves the stream until the node stops.
pub(super) async fn run(
    shared: Arc<Shared>,
    mut reports: mpsc::Receiver<ToScc>,
    sealer: SealerLink,
    mut stop: watch::Receiver<bool>,
) {
    let Some(address) = shared.config.scc else {
        match shared.config.link.link_use {
            LinkUse::Ingest => {
                tracing::warn!("no SCC is configured: no batch will be verified, none excluded");
            }
            LinkUse::Tap => tracing::info!("a tap: batches around which nothing is lost exclude"),
        }
        // Keep taking reports, so that the sealer never waits.
        tokio::select! {
            () = stopped(&mut stop) => {}
            () = async { while reports.recv().await.is_some() {} } => {}
        }
        return;
    };
    let session = Session::new(SessionConfig {
        cluster: shared.config.cluster,
        fingerprint: shared.schema.fingerprint(),
        node: shared.config.node_name.clone(),
        // The store remembers no more batches than this either.
        pending_max: shared.config.retain_batches,
    });
    let client = Client {
        shared,
        session,
        reports,
        sealer,
        for_sealer: VecDeque::new(),
        stop,
        address,
        backoff: BACKOFF_MIN,
    };
    client.run().await;
}

struct Client {
    shared: Arc<Shared>,
    session: Session,
    reports: mpsc::Receiver<ToScc>,
    sealer: SealerLink,
    /// What one read brought for the sealer, until it is given away.
    for_sealer: VecDeque<FromScc>,
    stop: watch::Receiver<bool>,
    address: SocketAddr,
    backoff: Duration,
}

/// Waits until the node is to stop, or is gone.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

/// The node stops.
struct Stopped;

impl Client {
    async fn run(mut self) {
        let mut failures = 0_u64;
        loop {
            let connect = timeout(CONNECT_MAX, TcpStream::connect(self.address));
            let Ok(connected) = self.meanwhile(connect).await else { return };
            let outcome = match connected {
                Ok(Ok(stream)) => self.converse(stream).await,
                Ok(Err(error)) => Ok(error.to_string()),
                Err(_) => Ok("no answer to the connection request".to_owned()),
            };
            let Ok(reason) = outcome else { return };
            self.shared.metrics.seal.scc_connected.set(0);
            failures += 1;
            self.shared.metrics.seal.scc_failures.inc();
            if failures.is_power_of_two() {
                let (scc, pending) = (self.address, self.session.pending());
                tracing::warn!(%scc, reason, pending, "no verification stream; trying again");
            }
            let pause = sleep(self.backoff);
            if self.meanwhile(pause).await.is_err() {
                return;
            }
            self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
        }
    }

    /// Waits for something else and takes reports meanwhile.
    async fn meanwhile<F: Future>(&mut self, wait: F) -> Result<F::Output, Stopped> {
        tokio::pin!(wait);
        loop {
            tokio::select! {
                biased;
                () = stopped(&mut self.stop) => return Err(Stopped),
                report = self.reports.recv() => self.take(report.ok_or(Stopped)?),
                output = &mut wait => return Ok(output),
            }
        }
    }

    fn take(&mut self, report: ToScc) {
        match report {
            ToScc::Sealed(Offer { batch, records, hash }) => {
                self.session.offer(batch, records, hash);
            }
            ToScc::Missing(missing) => self.session.ask(missing),
        }
        self.on_events();
    }

    /// Hands over what is for the sealer; while that is behind, the stream is not read.
    async fn hand_over(&mut self) -> Result<(), Stopped> {
        while let Some(message) = self.for_sealer.pop_front() {
            let repaired = self.sealer.repaired.clone();
            // Fails only when the sealer has ended, and the node with it.
            let _ = self.meanwhile(repaired.send(message)).await?;
            self.sealer.thread.get().into_iter().for_each(Thread::unpark);
        }
        Ok(())
    }

    /// One connection, to its end; the reason why it ended.
    async fn converse(&mut self, mut stream: TcpStream) -> Result<String, Stopped> {
        keep_alive(&stream);
        self.offer_stored();
        self.session.on_connected();
        let ended = self.exchange(&mut stream).await;
        self.session.on_disconnected();
        self.for_sealer.push_back(FromScc::Repairs(false));
        self.on_events();
        self.hand_over().await?;
        ended
    }

    async fn exchange(&mut self, stream: &mut TcpStream) -> Result<String, Stopped> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            self.hand_over().await?;
            let output = self.session.take_output();
            if !output.is_empty() {
                let write = timeout(WRITE_MAX, stream.write_all(&output));
                match self.meanwhile(write).await? {
                    Ok(Ok(())) => continue,
                    Ok(Err(error)) => return Ok(error.to_string()),
                    Err(_) => return Ok("it does not read what we send".to_owned()),
                }
            }
            let read = tokio::select! {
                biased;
                () = stopped(&mut self.stop) => return Err(Stopped),
                report = self.reports.recv() => {
                    self.take(report.ok_or(Stopped)?);
                    continue;
                }
                read = stream.read(&mut buffer) => read,
            };
            let bytes = match read {
                Ok(0) => return Ok("it closed the connection".to_owned()),
                Ok(length) => buffer.get(..length).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Ok(error.to_string()),
            };
            if let Err(error) = self.session.on_bytes(bytes) {
                return Ok(format!("broken stream: {error:?}"));
            }
            if self.on_events() {
                return Ok("it refused us".to_owned());
            }
        }
    }

    /// Offers every batch of the store anew, judged or not: the SCC may have lost or replaced some
    /// while we were apart, and its verdicts drop those.
    fn offer_stored(&mut self) {
        let stored = self.shared.store().list();
        for (batch, _) in stored {
            self.session.offer(batch.batch, batch.records, batch.hash);
        }
    }

    /// Applies what the session has learned; true where the SCC refused us.
    fn on_events(&mut self) -> bool {
        let mut refused = false;
        while let Some(event) = self.session.next_event() {
            match event {
                SessionEvent::Welcome(hash) => {
                    self.backoff = BACKOFF_MIN;
                    self.shared.metrics.seal.scc_connected.set(1);
                    let repairs = self.session.repairs();
                    self.for_sealer.push_back(FromScc::Repairs(repairs));
                    let (scc, expected) = (self.address, self.shared.config.chain_hash);
                    tracing::info!(%scc, chain_hash = ?hash, repairs, "welcomed by the SCC");
                    if hash != expected {
                        tracing::warn!(?expected, elected = ?hash, "another chain hash is elected");
                    }
                }
                SessionEvent::Refused(reason) => {
                    refused = true;
                    self.backoff = BACKOFF_MAX;
                    tracing::error!(scc = %self.address, ?reason, "the SCC refused this node");
                }
                SessionEvent::Judged(batch, hash, verdict) => {
                    self.judge(batch, &hash, verdict, true);
                }
                SessionEvent::Revoked(batch, hash, verdict) => {
                    self.judge(batch, &hash, verdict, false);
                }
                SessionEvent::Frame(bytes) => self.for_sealer.push_back(FromScc::Frame(bytes)),
                SessionEvent::NotKept(batch) => {
                    self.for_sealer.push_back(FromScc::NotKept(batch));
                }
                SessionEvent::OtherHash { elected, seen } => {
                    tracing::error!(
                        ?elected,
                        ?seen,
                        "the broadcaster uses another chain hash than the SCC elected: no batch \
                         will be verified"
                    );
                }
                SessionEvent::Deleted(batches) => {
                    self.shared.delete(&batches);
                    tracing::debug!(batches = batches.len(), "deleted on word of the SCC");
                }
                SessionEvent::GivenUp(batch) => {
                    tracing::warn!(batch, "too many unjudged batches: never to be verified");
                }
            }
        }
        refused
    }

    /// Applies a verdict to the batch of this hash. One that nobody `awaited` can only be against
    /// a filter, and concerns us where we hold it.
    fn judge(&self, batch: BatchId, hash: &BatchHash, verdict: Verdict, awaited: bool) {
        let held = self.shared.store().judge_report(batch, hash, verdict);
        if held {
            match verdict {
                Verdict::Verified => self.shared.announce(Outcome::Verified(batch)),
                Verdict::Mismatch | Verdict::Unknown => {
                    self.shared.announce(Outcome::Gone(&[batch]));
                }
            }
        }
        if verdict == Verdict::Mismatch && (held || awaited) {
            self.shared.metrics.seal.verify_mismatch.inc();
            tracing::warn!(batch, awaited, "the SCC has another hash: filter rejected");
        }
        tracing::debug!(batch, ?verdict, held, awaited, "judged");
    }
}

/// Notices an SCC that vanished without a word. Without the right to set it, a write will.
fn keep_alive(stream: &TcpStream) {
    let probes = socket2::TcpKeepalive::new()
        .with_time(Duration::from_secs(10))
        .with_interval(Duration::from_secs(5));
    let _ = socket2::SockRef::from(stream).set_tcp_keepalive(&probes);
    let _ = stream.set_nodelay(true);
}

/// First pause after a lost or failed connection; doubled up to the longest.
const BACKOFF_MIN: Duration = Duration::from_millis(100);
/// Longest pause, and the one after a refusal.
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// Longest wait for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(3);
/// Longest wait for the SCC to take what we send.
const WRITE_MAX: Duration = Duration::from_secs(10);
/// Bytes read at once.
const READ_BYTES: usize = 16 << 10;
