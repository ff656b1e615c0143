//! Claims about a port that owns addresses, turn by turn, over rings and a sender in memory. Frames
//! to it are built, and its frames are read, by another library.

mod flood;
mod stack;
mod tcp;
mod udp;
mod wake;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bloomrf_engine::env::Clock;
use bloomrf_engine::predicate::{FloatOrder, Predicate};
use bloomrf_engine::store::{Store, StoreConfig};
use bloomrf_engine::wire::lookup::{Candidates, LookupRequest};
use bloomrf_netio::LinkError;
use etherparse::{EtherType, PacketBuilder, SlicedPacket, TransportSlice, VlanId};

use super::*;
use crate::Config;
use crate::config::PortAddress;
use crate::keys::Keys;
use crate::metrics::Metrics;

pub(super) const OWN_MAC: [u8; 6] = [0x02, 0, 0, 0, 0, 0x01];
pub(super) const MAC: [u8; 6] = [0x02, 0, 0, 0, 0, 0x02];
pub(super) const OWN: [u8; 4] = [10, 99, 0, 1];
pub(super) const IP: [u8; 4] = [10, 99, 0, 2];
pub(super) const OWN_6: [u8; 16] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
pub(super) const IP_6: [u8; 16] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
pub(super) const LOOKUP: u16 = 6_997;
pub(super) const PORT: u16 = 40_000;

/// Time that stands still until it is moved.
#[derive(Debug)]
struct HandClock(AtomicU64);

impl Clock for HandClock {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn unix_us(&self) -> i64 {
        0
    }
}

/// Keeps what is sent.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Vec<u8>>>>);

impl FrameSender for Kept {
    fn send(&mut self, frame: &[u8]) -> Result<bool, LinkError> {
        self.0.lock().unwrap().push(frame.to_vec());
        Ok(true)
    }

    fn mac(&self) -> [u8; 6] {
        OWN_MAC
    }
}

/// A port, and both ends of what it is connected with.
pub(super) struct Bench {
    pub(super) port: PortLoop,
    ring: rtrb::Producer<FrameSlot>,
    kept: Kept,
    clock: Arc<HandClock>,
    pub(super) shared: Arc<Shared>,
    pulse: Pulse,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(super) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config { lookup_budget_us: 1_000_000, ..Config::default() };
        config.link.addresses = vec![
            PortAddress { ip: OWN.into(), prefix: 24 },
            PortAddress { ip: OWN_6.into(), prefix: 64 },
        ];
        change(&mut config);
        let keys = Keys::load(&config).unwrap();
        let bounds = StoreConfig { retain_batches: 8, arena_bytes: 1 << 20 };
        let store = Store::on(bounds, config.kernel, None);
        let clock = Arc::new(HandClock(AtomicU64::new(1_000_000_000)));
        let metrics = Metrics::new().unwrap();
        let time: Arc<dyn Clock> = Arc::clone(&clock) as _;
        let shared = Arc::new(Shared::new(config, keys, store, metrics, time, vec![]));
        shared.ready.store(true, Ordering::Release);
        let own = Addresses::new(&shared.config.link.addresses, OWN_MAC);
        let (ring, frames) = rtrb::RingBuffer::new(TO_PORT_MAX);
        let kept = Kept::default();
        let sender = Box::new(kept.clone());
        let port = PortLoop::new(vec![frames], sender, own, LOOKUP, Arc::clone(&shared));
        Bench { port, ring, kept, clock, shared, pulse: Pulse::default() }
    }

    /// Hands the port a frame, and lets it turn until it rests; what it sends.
    pub(super) fn give(&mut self, frame: &[u8]) -> Vec<Vec<u8>> {
        assert!(self.push(frame), "the ring is full");
        self.rest()
    }

    pub(super) fn push(&mut self, frame: &[u8]) -> bool {
        FrameSlot::of(frame).is_some_and(|slot| self.ring.push(slot).is_ok())
    }

    pub(super) fn rest(&mut self) -> Vec<Vec<u8>> {
        while self.port.turn(&self.pulse) {}
        self.sent()
    }

    pub(super) fn turn(&mut self) -> bool {
        self.port.turn(&self.pulse)
    }

    pub(super) fn sent(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.kept.0.lock().unwrap())
    }

    /// Lets the port run in a thread of its own; what it sends, and the way to it.
    pub(super) fn run(self) -> (Running, ToPort) {
        let Bench { port, ring, kept, shared, .. } = self;
        let own = port.own.clone();
        let join = thread::spawn(move || port.run(&Pulse::default()));
        let to_port = ToPort::new(ring, join.thread().clone(), own, LOOKUP);
        (Running { join, kept, shared }, to_port)
    }

    /// Moves time; not beyond what the port waits for at once.
    pub(super) fn pass_ms(&self, ms: u64) {
        self.clock.0.fetch_add(ms * 1_000_000, Ordering::Relaxed);
    }

    pub(super) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    pub(super) fn counted(&self, outcome: PortOutcome) -> u64 {
        self.shared.metrics.port.counted(outcome)
    }
}

/// A port that turns by itself.
pub(super) struct Running {
    join: thread::JoinHandle<()>,
    kept: Kept,
    shared: Arc<Shared>,
}

impl Running {
    pub(super) fn sent(&self) -> usize {
        self.kept.0.lock().unwrap().len()
    }

    pub(super) fn end(self) {
        self.shared.stop.raise();
        self.join.thread().unpark();
        self.join.join().unwrap();
    }
}

/// A question about `candidates` batches, padded or not.
pub(super) fn question(candidates: u32, pad: bool) -> Vec<u8> {
    let config = Config::default();
    let request = LookupRequest {
        query_id: 7,
        cluster: config.cluster,
        fingerprint: config.schema.fingerprint(),
        budget_us: 0,
        float_order: FloatOrder::Unstated,
        candidates: Candidates::Range { first: 1, count: candidates },
        predicate: Predicate::Unknown,
    };
    let mut bytes = Vec::new();
    request.encode(&mut bytes, pad);
    bytes
}

/// A datagram in a frame; what a test does not name is as it should be.
#[derive(Clone)]
pub(super) struct Datagram {
    pub(super) macs: ([u8; 6], [u8; 6]),
    pub(super) vlan: Option<u16>,
    pub(super) ips: Ips,
    pub(super) ports: (u16, u16),
    pub(super) payload: Vec<u8>,
}

#[derive(Clone, Copy)]
pub(super) enum Ips {
    V4([u8; 4], [u8; 4]),
    V6([u8; 16], [u8; 16]),
}

impl Datagram {
    pub(super) fn of(payload: Vec<u8>) -> Self {
        let (macs, ports) = ((MAC, OWN_MAC), (PORT, LOOKUP));
        Datagram { macs, vlan: None, ips: Ips::V4(IP, OWN), ports, payload }
    }

    pub(super) fn frame(&self) -> Vec<u8> {
        let mut frame = Vec::new();
        let (source_port, target_port) = self.ports;
        let link = PacketBuilder::ethernet2(self.macs.0, self.macs.1);
        let payload = &self.payload;
        match (self.vlan, self.ips) {
            (None, Ips::V4(from, to)) => {
                link.ipv4(from, to, 64).udp(source_port, target_port).write(&mut frame, payload)
            }
            (None, Ips::V6(from, to)) => {
                link.ipv6(from, to, 64).udp(source_port, target_port).write(&mut frame, payload)
            }
            (Some(tag), Ips::V4(from, to)) => link
                .single_vlan(VlanId::try_new(tag).unwrap())
                .ipv4(from, to, 64)
                .udp(source_port, target_port)
                .write(&mut frame, payload),
            (Some(tag), Ips::V6(from, to)) => link
                .single_vlan(VlanId::try_new(tag).unwrap())
                .ipv6(from, to, 64)
                .udp(source_port, target_port)
                .write(&mut frame, payload),
        }
        .unwrap();
        let padded = frame.len().max(60);
        frame.resize(padded, 0);
        frame
    }
}

/// Reads a frame of the port: it must be whole, with right lengths and sums.
pub(super) fn read(frame: &[u8]) -> Datagram {
    let packet = SlicedPacket::from_ethernet(frame).unwrap();
    let ethernet = etherparse::Ethernet2Header::from_slice(frame).unwrap().0;
    let vlan = packet.vlan().map(|vlan| {
        let etherparse::VlanSlice::SingleVlan(vlan) = vlan else { panic!("two tags") };
        assert_ne!(vlan.ether_type(), EtherType::VLAN_TAGGED_FRAME);
        vlan.vlan_identifier().value()
    });
    let Some(TransportSlice::Udp(udp)) = packet.transport else { panic!("no datagram") };
    let (header, payload) = (udp.to_header(), udp.payload().to_vec());
    let ips = match packet.net.as_ref().unwrap() {
        etherparse::NetSlice::Ipv4(ip) => {
            let ip = ip.header().to_header();
            assert_eq!(ip.calc_header_checksum(), ip.header_checksum);
            assert_eq!(header.calc_checksum_ipv4(&ip, &payload).unwrap(), header.checksum);
            Ips::V4(ip.source, ip.destination)
        }
        etherparse::NetSlice::Ipv6(ip) => {
            let ip = ip.header().to_header();
            assert_eq!(header.calc_checksum_ipv6(&ip, &payload).unwrap(), header.checksum);
            Ips::V6(ip.source, ip.destination)
        }
        _ => panic!("no IP"),
    };
    let macs = (ethernet.source, ethernet.destination);
    let ports = (header.source_port, header.destination_port);
    Datagram { macs, vlan, ips, ports, payload }
}
