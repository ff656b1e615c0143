//! A node on loopback with an SCC beside it, and the broadcaster that feeds both.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::{PacketFields, Schema};
use bloomrf_engine::verify::{BatchHash, ChainHasher, HashAlgorithm, frame_digest};
use bloomrf_engine::wire::frame::{
    FrameHeader, LaneTotal, encode_close, encode_data, records_per_frame,
};
use bloomrf_engine::wire::lookup::{Candidates, LookupReply, LookupRequest};
use bloomrf_netio::link::udp::UdpSender;
use bloomrf_node::{Config, Node};
use tempfile::TempDir;

use crate::scc::Scc;

pub(crate) const CLUSTER: ClusterId = ClusterId(0xC1);
pub(crate) const LANES: u8 = 2;

/// A node, its SCC and its data folder.
pub(crate) struct World {
    pub(crate) node: Node,
    pub(crate) scc: Scc,
    pub(crate) schema: Arc<Schema>,
    lanes: Vec<UdpSender>,
    /// Where it is the world's own.
    _folder: Option<TempDir>,
}

/// A configuration for loopback, everything on free ports.
pub(crate) fn config(folder: &TempDir, scc: Option<SocketAddr>) -> Config {
    Config {
        listen: "127.0.0.1".parse().unwrap(),
        production_port: 0,
        observability_port: 0,
        data_dir: folder.path().join("data"),
        cluster: CLUSTER,
        node_name: "test-node".to_owned(),
        queues: 2,
        max_kib_per_column: 64,
        expected_records: 500,
        arena_bytes: 64 << 20,
        batch_idle_ms: 10_000,
        close_grace_ms: 300,
        // Debug builds on a busy machine: the tests are about answers, not about time.
        lookup_budget_us: 1_000_000,
        scc,
        ..Config::default()
    }
}

impl World {
    pub(crate) fn start() -> Self {
        Self::start_with(|_| {})
    }

    pub(crate) fn start_with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scc = Scc::start();
        let mut config = config(&folder, Some(scc.address));
        change(&mut config);
        let schema = Arc::new(config.schema.clone());
        let node = Node::start(config).unwrap();
        let target = [node.ports().ingest];
        let lanes = (0..LANES).map(|_| UdpSender::connect(&target).unwrap()).collect();
        World { node, scc, schema, lanes, _folder: Some(folder) }
    }

    /// A node that was started elsewhere.
    pub(crate) fn of(node: Node, scc: Scc, schema: Arc<Schema>, lanes: Vec<UdpSender>) -> Self {
        World { node, scc, schema, lanes, _folder: None }
    }

    pub(crate) fn into_parts(self) -> (Node, Scc) {
        (self.node, self.scc)
    }

    /// Tells the SCC of a batch and broadcasts it.
    pub(crate) fn send(&mut self, batch: BatchId, packets: &[PacketFields]) -> BatchHash {
        let frames = Frames::of(&self.schema, batch, packets);
        self.scc.with(|scc| scc.right.insert(batch, frames.hash));
        self.broadcast(&frames);
        frames.hash
    }

    /// Broadcasts frames as they are.
    pub(crate) fn broadcast(&mut self, frames: &Frames) {
        for (lane, frame) in frames.data.iter().chain(&frames.close) {
            self.send_frame(*lane, frame);
        }
    }

    pub(crate) fn send_frame(&mut self, lane: u8, frame: &[u8]) {
        self.lanes[usize::from(lane)].send(frame).unwrap();
    }

    pub(crate) fn wait_verified(&self, batches: u64) {
        wait_for("batches to be verified", || self.node.status().store.verified == batches);
    }

    pub(crate) fn request(&self, predicate: Predicate, candidates: Candidates) -> LookupRequest {
        request(&self.schema, predicate, candidates)
    }

    /// Asks over UDP, padded.
    pub(crate) fn ask(&self, predicate: Predicate, batches: &[BatchId]) -> LookupReply {
        let request = self.request(predicate, Candidates::List(batches.to_vec()));
        let mut bytes = Vec::new();
        request.encode(&mut bytes, true);
        let reply = exchange(self.node.ports().lookup, &bytes).expect("an answer");
        assert!(reply.len() <= bytes.len());
        LookupReply::parse(&reply).unwrap()
    }

    pub(crate) fn port_is(&self, port: u16) -> Predicate {
        port_is(&self.schema, port)
    }
}

pub(crate) fn request(
    schema: &Schema,
    predicate: Predicate,
    candidates: Candidates,
) -> LookupRequest {
    LookupRequest {
        query_id: 7,
        cluster: CLUSTER,
        fingerprint: schema.fingerprint(),
        budget_us: 0,
        float_order: FloatOrder::Unstated,
        candidates,
        predicate,
    }
}

pub(crate) fn port_is(schema: &Schema, port: u16) -> Predicate {
    let column = schema.ordinal("dst_port").unwrap();
    Predicate::Compare { column, op: CompareOp::Eq, literal: Literal::Unsigned(port.into()) }
}

/// A batch as datagrams, with its hash.
pub(crate) struct Frames {
    pub(crate) data: Vec<(u8, Vec<u8>)>,
    pub(crate) close: Vec<(u8, Vec<u8>)>,
    pub(crate) hash: BatchHash,
}

impl Frames {
    pub(crate) fn of(schema: &Schema, batch: BatchId, packets: &[PacketFields]) -> Self {
        let hash = HashAlgorithm::Xxh3;
        let size = schema.record_bytes();
        let header = |lane, sequence| FrameHeader {
            cluster: CLUSTER,
            fingerprint: schema.fingerprint(),
            batch,
            hash,
            lane,
            lanes: LANES,
            sequence,
        };
        let mut chain = ChainHasher::new(hash, CLUSTER, schema.fingerprint(), batch, LANES);
        let mut totals = [LaneTotal::default(); LANES as usize];
        let mut data = Vec::new();
        for (i, chunk) in packets.chunks(records_per_frame(size, 600)).enumerate() {
            let lane = (i % usize::from(LANES)) as u8;
            let mut payload = vec![0; chunk.len() * size];
            for (packet, record) in chunk.iter().zip(payload.chunks_exact_mut(size)) {
                packet.encode(record);
            }
            let total = &mut totals[usize::from(lane)];
            let mut frame = Vec::new();
            encode_data(&mut frame, &header(lane, total.frames), size, &payload);
            chain.frame(lane, &frame_digest(hash, &payload));
            total.frames += 1;
            total.records += chunk.len() as u64;
            data.push((lane, frame));
        }
        let close = (0..LANES)
            .map(|lane| {
                let mut frame = Vec::new();
                encode_close(&mut frame, &header(lane, 0), &totals);
                (lane, frame)
            })
            .collect();
        Frames { data, close, hash: chain.finish(packets.len() as u64) }
    }
}

/// `count` packets to `port`, `port + 2`, ... in turn over 20 ports.
pub(crate) fn packets(count: usize, port: u16) -> Vec<PacketFields> {
    let packet = |i: usize| PacketFields {
        ts_ns: 1_700_000_000_000_000_000 + i as i64,
        src_ip4: Some([10, 0, (i % 7) as u8, (i % 251) as u8]),
        dst_ip4: Some([192, 168, 1, (i % 13) as u8]),
        proto: Some(6),
        src_port: Some(40_000 + (i % 1_000) as u16),
        dst_port: Some(port + 2 * (i % 20) as u16),
        length: 60 + (i % 1_400) as u32,
        ..PacketFields::default()
    };
    (0..count).map(packet).collect()
}

/// Sends one datagram and waits a while for an answer.
pub(crate) fn exchange(target: SocketAddr, bytes: &[u8]) -> Option<Vec<u8>> {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(bytes, target).unwrap();
    receive(&socket, Duration::from_secs(10))
}

pub(crate) fn receive(socket: &UdpSocket, patience: Duration) -> Option<Vec<u8>> {
    socket.set_read_timeout(Some(patience)).unwrap();
    let mut buffer = vec![0; 65_536];
    let (length, _) = socket.recv_from(&mut buffer).ok()?;
    buffer.truncate(length);
    Some(buffer)
}

pub(crate) fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
