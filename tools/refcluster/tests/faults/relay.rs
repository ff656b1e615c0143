//! The relay: storage gets every frame at once and in order, the node gets what chance leaves.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::wire::frame::{Frame, FrameHeader, encode_data};
use bloomrf_netio::LinkError;
use bloomrf_netio::link::udp::UdpSender;
use bloomrf_refcluster::FrameSink;

/// Seeded chance (xorshift64*).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % bound
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// What the relay does to the node's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harm {
    None,
    All,
    /// Frames of both kinds are lost, so many in a hundred, and nothing else happens to them.
    Loss(u64),
}

/// Between broadcaster, node and storage.
pub(crate) struct Relay {
    /// Sockets of several source ports: the kernel sends each to one queue of the node.
    node: Vec<UdpSender>,
    storage: UdpSender,
    record_bytes: usize,
    harm: Harm,
    chance: Chance,
    /// Frames held back, each with the number of frames to let pass first.
    held: Vec<(u64, Vec<u8>)>,
    /// Batches whose every CLOSE is lost.
    mute: BTreeSet<BatchId>,
    seen: BTreeSet<BatchId>,
    damaged: Arc<Mutex<BTreeSet<BatchId>>>,
    sent: Arc<Sent>,
}

/// Frames passed on so far: a sender that outruns a receiver's socket loses frames by itself.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) node: AtomicU64,
    pub(crate) storage: AtomicU64,
}

impl Relay {
    pub(crate) fn new(
        (node, storage): (SocketAddr, SocketAddr),
        record_bytes: usize,
        harm: Harm,
        seed: u64,
        damaged: Arc<Mutex<BTreeSet<BatchId>>>,
        sent: Arc<Sent>,
    ) -> Self {
        Relay {
            node: (0..6).map(|_| UdpSender::connect(&[node]).unwrap()).collect(),
            storage: UdpSender::connect(&[storage]).unwrap(),
            record_bytes,
            harm,
            chance: Chance::new(seed),
            held: Vec::new(),
            mute: BTreeSet::new(),
            seen: BTreeSet::new(),
            damaged,
            sent,
        }
    }

    fn pass_on(&mut self, lane: u8, frame: &[u8]) -> Result<(), LinkError> {
        // Another source port may mean another queue: lanes are not tied to any.
        let misrouted = self.harm == Harm::All && self.chance.percent(25);
        let socket = if misrouted {
            self.chance.below(self.node.len() as u64) as usize
        } else {
            usize::from(lane) % self.node.len()
        };
        self.node[socket].send(frame)?;
        self.sent.node.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn harm_frame(&mut self, lane: u8, frame: &[u8]) -> Result<(), LinkError> {
        let Ok(parsed) = Frame::parse(frame, self.record_bytes) else { panic!("our own frame") };
        let (header, is_data) = match parsed {
            Frame::Data { header, .. } => (header, true),
            Frame::Close { header, .. } => (header, false),
        };
        if self.seen.insert(header.batch) {
            self.meet(&header)?;
        }
        if is_data && self.chance.percent(3) {
            self.damage(header.batch);
            return Ok(());
        }
        if !is_data && (self.mute.contains(&header.batch) || self.chance.percent(20)) {
            return Ok(());
        }
        if self.chance.percent(6) {
            let mut flipped = frame.to_vec();
            let at = self.chance.below(flipped.len() as u64) as usize;
            flipped[at] ^= 1 << self.chance.below(8);
            self.pass_on(lane, &flipped)?;
        }
        if self.chance.percent(10) {
            self.pass_on(lane, frame)?;
        }
        if self.chance.percent(25) {
            let pass = self.chance.below(8) + 1;
            self.held.push((pass, frame.to_vec()));
            return Ok(());
        }
        self.pass_on(lane, frame)
    }

    /// A batch begins: some lose every CLOSE, some are joined by strangers.
    fn meet(&mut self, header: &FrameHeader) -> Result<(), LinkError> {
        if self.chance.percent(6) {
            self.mute.insert(header.batch);
            self.damage(header.batch);
        }
        let mut stranger = *header;
        match self.chance.below(12) {
            0 => stranger.batch += 1_000_000,
            1 => stranger.cluster = ClusterId(header.cluster.0 + 1),
            2 => stranger.fingerprint.0 ^= 1,
            _ => return Ok(()),
        }
        let mut frame = Vec::new();
        encode_data(&mut frame, &stranger, self.record_bytes, &vec![0x55; self.record_bytes]);
        self.pass_on(stranger.lane, &frame)
    }

    fn lose(&self, frame: &[u8]) -> Result<(), LinkError> {
        if let Ok(Frame::Data { header, .. }) = Frame::parse(frame, self.record_bytes) {
            self.damage(header.batch);
        }
        Ok(())
    }

    fn damage(&self, batch: BatchId) {
        self.damaged.lock().unwrap().insert(batch);
    }

    fn release(&mut self, all: bool) -> Result<(), LinkError> {
        let held = std::mem::take(&mut self.held);
        for (pass, frame) in held {
            if all || pass <= 1 {
                let lane = self.chance.below(2) as u8;
                self.pass_on(lane, &frame)?;
            } else {
                self.held.push((pass - 1, frame));
            }
        }
        Ok(())
    }
}

impl FrameSink for Relay {
    fn send(&mut self, lane: u8, frame: &[u8]) -> Result<(), LinkError> {
        self.storage.send(frame)?;
        self.sent.storage.fetch_add(1, Ordering::Relaxed);
        if self.harm == Harm::None {
            return self.pass_on(lane, frame);
        }
        if let Harm::Loss(percent) = self.harm {
            if self.chance.percent(percent) {
                return self.lose(frame);
            }
            return self.pass_on(lane, frame);
        }
        self.release(false)?;
        self.harm_frame(lane, frame)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.release(true).unwrap();
    }
}
