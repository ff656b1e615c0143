//! A capture played once: the file is read while it is played.
//!
//! Hot path: reads the file; no allocation once its buffers have grown, at most `READS_MAX` packets
//! read per burst.

use super::schedule::{Schedule, since};
use super::{PcapConfig, READS_MAX, Spread, received, words};
use crate::burst::{BUFFER_BYTES, BURST_MAX, Burst};
use crate::capture::{Capture, Cut, Packet};
use crate::link::LinkStats;

#[derive(Debug)]
pub(super) struct Finite {
    capture: Capture,
    config: PcapConfig,
    schedule: Schedule,
    spread: Spread,
    /// The burst that is out, and behind it perhaps a packet that is not due yet.
    packets: Vec<Packet>,
    out: usize,
    /// When the packet behind the burst is due.
    ahead_due_ns: Option<u64>,
    /// Packets read, of all queues.
    index: u64,
    first_ts_ns: i64,
    done: bool,
}

/// Of a packet: a longer one, which is rare, makes its place grow once.
fn room() -> Vec<u8> {
    const ROOM_BYTES: usize = 2_048;
    Vec::with_capacity(ROOM_BYTES)
}

impl Finite {
    pub(super) fn new(
        capture: Capture,
        config: &PcapConfig,
        schedule: Schedule,
        spread: Spread,
    ) -> Self {
        Finite {
            capture,
            config: config.clone(),
            schedule,
            spread,
            packets: (0..BURST_MAX)
                .map(|_| Packet { bytes: room(), ..Packet::default() })
                .collect(),
            out: 0,
            ahead_due_ns: None,
            index: 0,
            first_ts_ns: 0,
            done: false,
        }
    }

    pub(super) fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>, stats: &mut LinkStats) {
        self.fill(stats);
        for packet in self.packets.iter().take(self.out) {
            let link_type = link_type(packet);
            burst.push(received(&packet.bytes, packet.ts_ns, packet.wire_bytes, link_type));
            stats.received += 1;
            stats.bytes += packet.bytes.len() as u64;
        }
    }

    fn fill(&mut self, stats: &mut LinkStats) {
        let elapsed_ns = self.schedule.elapsed_ns();
        if self.ahead_due_ns.is_some() {
            self.packets.swap(0, self.out);
        }
        self.out = 0;
        for _ in 0..READS_MAX {
            if self.ahead_due_ns.is_none() {
                self.ahead_due_ns = self.read(stats);
            }
            match self.ahead_due_ns {
                Some(due_ns) if due_ns > elapsed_ns => break,
                Some(_) => {
                    self.ahead_due_ns = None;
                    self.out += 1;
                }
                None if self.done => break,
                None => {}
            }
            if self.out == BURST_MAX {
                break;
            }
        }
    }

    /// Reads a packet to behind the burst, and says when it is due; `None` where it is none of
    /// this queue's, or at the end.
    fn read(&mut self, stats: &mut LinkStats) -> Option<u64> {
        let packet = self.packets.get_mut(self.out)?;
        if self.done || !self.capture.next_into(packet) {
            self.end(stats);
            return None;
        }
        let index = self.index;
        self.index += 1;
        if self.first_ts_ns == 0 {
            self.first_ts_ns = packet.ts_ns;
        }
        let mine = self.spread.is_mine(packet);
        if packet.bytes.len() > BUFFER_BYTES {
            stats.oversize += u64::from(mine);
            stats.loss_mark += 1;
            packet.bytes = Vec::new();
            return None;
        }
        let since_first_ns = since(self.first_ts_ns, packet.ts_ns);
        mine.then(|| self.schedule.due_ns(index, since_first_ns))
    }

    /// What lies behind a cut is lost to every queue; the first one counts it.
    fn end(&mut self, stats: &mut LinkStats) {
        if let Some(cut) = self.capture.cut().filter(|_| !self.done) {
            stats.loss_mark += 1;
            if self.spread.queue == 0 {
                stats.dropped.errors += 1;
                tracing::warn!("{}", words(&self.config, cut));
            }
        }
        self.done = true;
    }

    /// How long until something is due; `None` where nothing will ever be.
    pub(super) fn idle_ns(&self) -> Option<u64> {
        match self.ahead_due_ns {
            Some(due_ns) => Some(due_ns.saturating_sub(self.schedule.elapsed_ns())),
            None => (!self.done).then_some(0),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done && self.ahead_due_ns.is_none()
    }

    pub(super) fn cut(&self) -> Option<&Cut> {
        self.capture.cut()
    }
}

/// Kinds beyond 16 bits are of no parser's: another such one stands for them.
pub(super) fn link_type(packet: &Packet) -> u16 {
    u16::try_from(packet.link_type).unwrap_or(u16::MAX)
}
