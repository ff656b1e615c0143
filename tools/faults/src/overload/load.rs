//! Those who load a node: a flood at a rate, an honest asker, one who looks whether it is well.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::chance::Chance;

/// Runs until dropped.
#[derive(Debug)]
pub(super) struct Runs<T> {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<T>>,
}

impl<T: Send + 'static> Runs<T> {
    fn start(run: impl FnOnce(&AtomicBool) -> T + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        Runs { stop, thread: Some(std::thread::spawn(move || run(&stopped))) }
    }

    /// Ends it; what it came to.
    pub(super) fn end(mut self) -> Option<T> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl<T> Drop for Runs<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Where a flood says that it comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// Any network of the loopback.
    Everywhere,
    /// One /24.
    OneNetwork,
}

/// Sends `datagrams` in turn to `target`, `per_second` of them, and hears nothing. The count sent.
pub(super) fn flood(
    target: SocketAddr,
    from: Origin,
    per_second: u64,
    datagrams: Vec<Vec<u8>>,
    seed: u64,
) -> Result<Runs<u64>, String> {
    let mut chance = Chance::new(seed);
    let sockets: Result<Vec<UdpSocket>, _> =
        (0..SOURCES).map(|_| UdpSocket::bind((source(from, &mut chance), 0))).collect();
    let sockets = sockets.map_err(|e| format!("a source for the flood: {e}"))?;
    Ok(Runs::start(move |stop| {
        let (begin, mut sent) = (Instant::now(), 0_u64);
        let mut next = datagrams.iter().cycle();
        while !stop.load(Ordering::Relaxed) {
            let due = (begin.elapsed().as_micros() as u64).saturating_mul(per_second) / 1_000_000;
            // Never a long burst after a pause: the rate is what is promised.
            sent = sent.max(due.saturating_sub(BURST));
            while sent < due {
                let socket = &sockets[sent as usize % sockets.len()];
                if let Some(datagram) = next.next() {
                    // Refused by nobody: what finds no room in the node's buffer is lost.
                    let _ = socket.send_to(datagram, target);
                }
                sent += 1;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        sent
    }))
}

fn source(from: Origin, chance: &mut Chance) -> Ipv4Addr {
    let [a, b, c, _] = (chance.draw() as u32).to_be_bytes();
    match from {
        // Not those of the honest asker.
        Origin::Everywhere => Ipv4Addr::new(127, 16 + a % 200, b, 1 + c % 250),
        Origin::OneNetwork => Ipv4Addr::new(127, 9, 9, 1 + c % 250),
    }
}

/// How an honest asker fared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fared {
    pub(super) asked: u64,
    /// Answered within the budget.
    pub(super) answered: u64,
}

/// Asks the same question `per_second` times a second from a network of its own, and counts the
/// answers that come within `within`.
pub(super) fn honest(
    target: SocketAddr,
    per_second: u64,
    question: Vec<u8>,
    within: Duration,
) -> Result<Runs<Fared>, String> {
    let socket = UdpSocket::bind((Ipv4Addr::new(127, 8, 8, 8), 0)).map_err(|e| e.to_string())?;
    socket.connect(target).map_err(|e| e.to_string())?;
    socket.set_read_timeout(Some(within)).map_err(|e| e.to_string())?;
    Ok(Runs::start(move |stop| {
        let (begin, mut fared) = (Instant::now(), Fared::default());
        let mut buffer = [0; 2_048];
        let mut question = question;
        while !stop.load(Ordering::Relaxed) {
            let due = (begin.elapsed().as_micros() as u64).saturating_mul(per_second) / 1_000_000;
            if fared.asked >= due {
                std::thread::sleep(Duration::from_micros(50));
                continue;
            }
            fared.asked += 1;
            number(&mut question, fared.asked);
            if socket.send(&question).is_err() {
                continue;
            }
            let asked = Instant::now();
            while asked.elapsed() < within {
                // Late ones to earlier questions are no answers.
                let Ok(length) = socket.recv(&mut buffer) else { break };
                let id = buffer.get(8..16).filter(|_| length > 16);
                if id == Some(&fared.asked.to_le_bytes()[..]) {
                    fared.answered += 1;
                    break;
                }
            }
        }
        fared
    }))
}

/// Gives a question another query id, and a right checksum.
fn number(question: &mut [u8], query_id: u64) {
    let end = question.len().saturating_sub(4);
    if let Some(field) = question.get_mut(8..16) {
        field.copy_from_slice(&query_id.to_le_bytes());
    }
    let crc = crc32c::crc32c(question.get(..end).unwrap_or_default());
    if let Some(field) = question.get_mut(end..) {
        field.copy_from_slice(&crc.to_le_bytes());
    }
}

/// What `/healthz` took, microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Health {
    /// Slowest of 99 in a hundred.
    pub(super) p99_us: u64,
    /// Slowest of all; without an answer the greatest number.
    pub(super) slowest_us: u64,
}

/// `/healthz`, looked at all the time.
pub(super) fn health(http: SocketAddr) -> (Runs<Health>, Arc<AtomicU64>) {
    let looks = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&looks);
    let run = Runs::start(move |stop| {
        let mut took_us = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let begin = Instant::now();
            let well =
                crate::cluster::page(http, "/healthz").is_ok_and(|(status, _)| status == 200);
            let took = begin.elapsed().as_micros() as u64;
            took_us.push(if well { took } else { u64::MAX });
            counted.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(10));
        }
        took_us.sort_unstable();
        let p99_us = took_us.get(took_us.len() * 99 / 100).copied().unwrap_or(u64::MAX);
        Health { p99_us, slowest_us: took_us.last().copied().unwrap_or(u64::MAX) }
    });
    (run, looks)
}

/// Addresses that a flood comes from.
const SOURCES: usize = 512;
/// Datagrams that a flood sends at once, at most.
const BURST: u64 = 2_000;
