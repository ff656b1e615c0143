//! The controller's two faces against peers that misbehave: any doubt reads everything.

#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bloomrf_engine::controller::{Mode, Unusable};
use bloomrf_engine::identity::{BatchId, ClusterId, Fingerprint};
use bloomrf_engine::predicate::{FloatOrder, Predicate};
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_engine::wire::lookup::{Candidates, LookupReply, LookupRequest, LookupStatus};
use bloomrf_engine::wire::stream::{
    FrameRange, Missing, RefuseReason, StreamDecoder, StreamMessage, VERSION, Verdict,
};
use bloomrf_refcluster::scc::{Consult, Via, ask};
use bloomrf_refcluster::{Ledger, Scc, SccConfig};

const CLUSTER: ClusterId = ClusterId(5);
const FINGERPRINT: Fingerprint = Fingerprint(6);

fn request() -> LookupRequest {
    LookupRequest {
        query_id: 77,
        cluster: CLUSTER,
        fingerprint: FINGERPRINT,
        budget_us: 0,
        float_order: FloatOrder::Unstated,
        candidates: Candidates::List(vec![3, 9, 4]),
        predicate: Predicate::Or(Vec::new()),
    }
}

/// Excludes 9 of 3, 9, 4.
fn reply(query_id: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    LookupReply {
        query_id,
        status: LookupStatus::Ok,
        candidates: 3,
        evaluated: 2,
        no_filter: 1,
        excluded_zone_map: 0,
        excluded_filter: 1,
        micros: 1,
        excluded: vec![0b010],
    }
    .encode(&mut bytes);
    bytes
}

/// Where an answer comes: a busy machine may take its time.
const PATIENCE: Duration = Duration::from_secs(20);
/// Where none ever comes.
const BRIEFLY: Duration = Duration::from_millis(300);

fn consult(node: SocketAddr, mode: Mode, timeout: Duration) -> Consult {
    Consult { mode, timeout, node, via: Via::Auto }
}

/// A node that answers one datagram with these.
fn udp_node(replies: Vec<Vec<u8>>) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut request = [0; 2_048];
        let (_, source) = socket.recv_from(&mut request).unwrap();
        for reply in replies {
            socket.send_to(&reply, source).unwrap();
        }
    });
    address
}

#[test]
fn the_mode_decides_what_becomes_of_an_answer() {
    let answered = |mode| consult(udp_node(vec![reply(77)]), mode, PATIENCE).plan(&request());
    let active = answered(Mode::Active);
    assert_eq!((active.read, active.excluded), (vec![3, 4], vec![9]));
    let passive = answered(Mode::Passive);
    assert_eq!((passive.read, passive.would_exclude), (vec![3, 9, 4], vec![9]));
    assert!(passive.excluded.is_empty());
    let off = consult(([127, 0, 0, 1], 1).into(), Mode::Off, PATIENCE).plan(&request());
    assert_eq!((off.read, off.answer, off.doubt), (vec![3, 9, 4], None, None));
}

#[test]
fn every_doubt_reads_everything() {
    let mut flipped = reply(77);
    let last = flipped.len() - 1;
    flipped[last] ^= 4;
    let cut = reply(77)[..20].to_vec();
    for (replies, doubt) in [
        (vec![], Unusable::Timeout),
        (vec![b"no reply at all".to_vec()], Unusable::Malformed),
        (vec![flipped], Unusable::Malformed),
        (vec![cut], Unusable::Malformed),
        (vec![reply(78)], Unusable::Timeout),
    ] {
        let timeout = if doubt == Unusable::Timeout { BRIEFLY } else { PATIENCE };
        let plan = consult(udp_node(replies), Mode::Active, timeout).plan(&request());
        assert_eq!(plan.doubt, Some(doubt));
        assert_eq!(plan.read, [3, 9, 4]);
        assert!(plan.excluded.is_empty());
    }
}

#[test]
fn a_late_answer_to_an_earlier_question_is_passed_over() {
    let node = udp_node(vec![reply(76), reply(77)]);
    let plan = consult(node, Mode::Active, PATIENCE).plan(&request());
    assert_eq!((plan.doubt, plan.excluded), (None, vec![9]));
}

#[test]
fn a_question_past_a_limit_is_not_sent_and_reads_everything() {
    let candidates = Candidates::Range { first: u64::MAX, count: 2 };
    let asked = LookupRequest { candidates, ..request() };
    let nobody = ([127, 0, 0, 1], 1).into();
    assert_eq!(ask(&asked, nobody, Via::Auto, PATIENCE), Err(Unusable::Question));
}

#[test]
fn the_budget_is_kept_whatever_the_node_does() {
    // TCP: accepts and trickles, refuses, closes at once.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let trickling = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        while stream.write_all(&[0]).is_ok() {
            std::thread::sleep(Duration::from_millis(60));
        }
    });
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let closing = listener.local_addr().unwrap();
    std::thread::spawn(move || drop(listener.accept()));
    for node in [trickling, nobody, closing] {
        let started = Instant::now();
        let consult = Consult { via: Via::Tcp, ..consult(node, Mode::Active, BRIEFLY) };
        let plan = consult.plan(&request());
        assert!(plan.doubt.is_some() && plan.read.len() == 3);
        assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
    }
}

fn scc(patience_ms: u64) -> (Scc, Arc<Ledger>) {
    let ledger = Arc::new(Ledger::new());
    let config = SccConfig {
        listen: (Ipv4Addr::LOCALHOST, 0).into(),
        cluster: CLUSTER,
        fingerprint: FINGERPRINT,
        hash: HashAlgorithm::Blake3,
        patience: Duration::from_millis(patience_ms),
    };
    (Scc::start(config, ledger.clone()).unwrap(), ledger)
}

struct Peer {
    stream: TcpStream,
    decoder: StreamDecoder,
}

impl Peer {
    fn connect(scc: &Scc) -> Self {
        let stream = TcpStream::connect(scc.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Peer { stream, decoder: StreamDecoder::default() }
    }

    fn greet(&mut self, cluster: ClusterId, fingerprint: Fingerprint) {
        let (node, version) = ("n".to_owned(), 1);
        self.send(&StreamMessage::Hello { cluster, fingerprint, node, version });
    }

    fn send(&mut self, message: &StreamMessage) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.stream.write_all(&bytes).unwrap();
    }

    /// `None`: the stream ended.
    fn receive(&mut self) -> Option<StreamMessage> {
        loop {
            if let Some(message) = self.decoder.next_message().unwrap() {
                return Some(message);
            }
            let mut bytes = [0; 256];
            match self.stream.read(&mut bytes) {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.decoder.push(&bytes[..count]),
            }
        }
    }
}

/// What storage would have kept.
fn keep(ledger: &Ledger, batch: BatchId) {
    for sequence in 0..5 {
        ledger.kept().keep_data(batch, 0, sequence, &[sequence as u8; 64]);
    }
    ledger.kept().keep_close(batch, &[9; 64]);
}

#[test]
fn missing_frames_are_sent_again_and_what_is_not_kept_is_said() {
    let (scc, ledger) = scc(1_000);
    keep(&ledger, 7);
    let mut peer = Peer::connect(&scc);
    let (cluster, fingerprint, node) = (CLUSTER, FINGERPRINT, "n".to_owned());
    peer.send(&StreamMessage::Hello { cluster, fingerprint, node, version: VERSION });
    let welcome = StreamMessage::Welcome { hash: HashAlgorithm::Blake3, repairs: Some(true) };
    assert_eq!(peer.receive(), Some(welcome));
    let missing = |batch, close, first, count| {
        let ranges = vec![FrameRange { lane: 0, first, count }];
        StreamMessage::Missing(Missing { batch, close, ranges })
    };
    let frame = |fill| Some(StreamMessage::Frame { bytes: vec![fill; 64] });
    peer.send(&missing(7, true, 1, 2));
    assert_eq!([peer.receive(), peer.receive(), peer.receive()], [frame(1), frame(2), frame(9)]);
    peer.send(&missing(7, false, 4, 2));
    let not_kept = |batch| Some(StreamMessage::NotKept { batch });
    assert_eq!([peer.receive(), peer.receive()], [frame(4), not_kept(7)]);
    ledger.delete(&[7]);
    assert_eq!(peer.receive(), Some(StreamMessage::Deleted { batches: vec![7] }));
    peer.send(&missing(7, false, 1, 1));
    assert_eq!(peer.receive(), not_kept(7));
}

#[test]
fn a_node_of_another_version_is_refused_and_one_of_the_first_may_not_ask() {
    let (scc, _) = scc(1_000);
    let mut peer = Peer::connect(&scc);
    let mut hello = Vec::new();
    let (cluster, fingerprint, node) = (CLUSTER, FINGERPRINT, "n".to_owned());
    let version = VERSION + 1;
    StreamMessage::Hello { cluster, fingerprint, node, version }.encode(&mut hello);
    peer.stream.write_all(&hello).unwrap();
    let reason = RefuseReason::Version;
    assert_eq!(peer.receive(), Some(StreamMessage::Refused { reason }));
    assert_eq!(peer.receive(), None);
    let mut peer = Peer::connect(&scc);
    peer.greet(CLUSTER, FINGERPRINT);
    assert!(matches!(peer.receive(), Some(StreamMessage::Welcome { repairs: None, .. })));
    peer.send(&StreamMessage::Missing(Missing { batch: 1, close: true, ranges: vec![] }));
    assert_eq!(peer.receive(), None, "it said that it does not know the message");
}

#[test]
fn two_connections_at_once_are_each_answered_and_a_changed_hash_is_taken_back() {
    let (scc, ledger) = scc(10_000);
    ledger.store(1, 10, hash(1));
    let mut peers = [Peer::connect(&scc), Peer::connect(&scc)];
    for peer in &mut peers {
        peer.greet(CLUSTER, FINGERPRINT);
        peer.receive().unwrap();
        peer.send(&seen(1, 1));
    }
    let verdict = |fill, verdict| StreamMessage::Verdict { batch: 1, hash: hash(fill), verdict };
    for peer in &mut peers {
        assert_eq!(peer.receive(), Some(verdict(1, Verdict::Verified)));
    }
    ledger.store(1, 10, hash(1));
    ledger.store(1, 10, hash(2));
    for peer in &mut peers {
        assert_eq!(peer.receive(), Some(verdict(1, Verdict::Mismatch)));
        peer.send(&seen(1, 2));
        assert_eq!(peer.receive(), Some(verdict(2, Verdict::Verified)));
    }
}

fn hash(fill: u8) -> BatchHash {
    BatchHash { algorithm: HashAlgorithm::Blake3, digest: [fill; 32] }
}

fn seen(batch: BatchId, fill: u8) -> StreamMessage {
    StreamMessage::Seen { batch, records: 10, hash: hash(fill) }
}

#[test]
fn a_stranger_is_refused_with_the_reason() {
    let (scc, _) = scc(1_000);
    for (cluster, fingerprint, reason) in [
        (ClusterId(9), FINGERPRINT, RefuseReason::Cluster),
        (CLUSTER, Fingerprint(9), RefuseReason::Schema),
    ] {
        let mut peer = Peer::connect(&scc);
        peer.greet(cluster, fingerprint);
        assert_eq!(peer.receive(), Some(StreamMessage::Refused { reason }));
        assert_eq!(peer.receive(), None);
    }
    let mut peer = Peer::connect(&scc);
    peer.send(&seen(1, 1));
    assert_eq!(peer.receive(), None, "no report before a greeting");
    assert_eq!(scc.connections(), 0);
}

#[test]
fn reports_wait_for_storage_and_are_judged_by_hash() {
    let (scc, ledger) = scc(2_000);
    let mut peer = Peer::connect(&scc);
    peer.greet(CLUSTER, FINGERPRINT);
    let welcome = StreamMessage::Welcome { hash: HashAlgorithm::Blake3, repairs: None };
    assert_eq!(peer.receive(), Some(welcome));
    ledger.store(1, 10, hash(1));
    ledger.store(2, 10, hash(2));
    let judged = |peer: &mut Peer| match peer.receive() {
        Some(StreamMessage::Verdict { batch, verdict, .. }) => (batch, verdict),
        other => panic!("{other:?}"),
    };
    peer.send(&seen(1, 1));
    assert_eq!(judged(&mut peer), (1, Verdict::Verified));
    peer.send(&seen(2, 7));
    assert_eq!(judged(&mut peer), (2, Verdict::Mismatch));
    peer.send(&seen(3, 3));
    std::thread::sleep(Duration::from_millis(50));
    ledger.store(3, 10, hash(3));
    assert_eq!(judged(&mut peer), (3, Verdict::Verified));
    peer.send(&seen(4, 4));
    assert_eq!(judged(&mut peer), (4, Verdict::Unknown), "after its patience");
    ledger.delete(&[1]);
    assert_eq!(peer.receive(), Some(StreamMessage::Deleted { batches: vec![1] }));
    drop(scc);
    assert_eq!(peer.receive(), None);
}
