//! `bloomrf replay`: what it says it sent is what arrives.

use std::collections::BTreeMap;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bloomrf_engine::schema::Schema;
use bloomrf_engine::wire::frame::Frame;
use bloomrf_node::{Config, Node};

use crate::binary::{bloomrf, code, run, stderr, stdout};

#[test]
fn a_replayed_capture_arrives_as_the_batches_that_were_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = small_capture(folder.path());
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let output = bloomrf()
        .args(["replay", path.to_str().expect("text")])
        .args(["--to", &socket.local_addr().expect("bound").to_string()])
        .args(["--batch-records", "40", "--lanes", "2", "--first-batch", "700"])
        .args(["--rate", "5000/s"])
        .output()
        .expect("it runs");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("95 records in 3 batches"), "{}", stdout(&output));
    socket.set_read_timeout(Some(Duration::from_millis(500))).expect("set");
    let record_bytes = Schema::packet().record_bytes();
    let (mut records, mut closed) = (BTreeMap::new(), BTreeMap::new());
    let mut buffer = [0; 2_048];
    while let Ok(length) = socket.recv(&mut buffer) {
        match Frame::parse(&buffer[..length], record_bytes).expect("a frame") {
            Frame::Data { header, records: count, .. } => {
                *records.entry(header.batch).or_insert(0u64) += u64::from(count);
            }
            Frame::Close { header, totals } => {
                let total: u64 = totals.iter().map(|t| t.records).sum();
                closed.insert(header.batch, total);
            }
        }
    }
    assert_eq!(records, BTreeMap::from([(700, 40), (701, 40), (702, 15)]));
    assert_eq!(records, closed);
}

#[test]
fn a_replay_that_plays_the_cluster_gets_its_batches_verified_by_a_node() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = small_capture(folder.path());
    // A port that was free a moment ago.
    let scc = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port");
    let node = Node::start(Config {
        listen: scc.ip(),
        production_port: 0,
        lookup_port: Some(0),
        observability_port: 0,
        data_dir: folder.path().join("node"),
        scc: Some(scc),
        ..Config::default()
    })
    .expect("it starts");
    let to = node.ports().ingest.to_string();
    let output = bloomrf()
        .args(["replay", path.to_str().expect("text"), "--to", &to, "--scc", &scc.to_string()])
        .args(["--batch-records", "2"])
        .output()
        .expect("it runs");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("48 of 48 batches verified"), "{}", stdout(&output));
    let lookup = node.ports().lookup.to_string();
    let output = run(&[
        "lookup",
        "--node",
        &lookup,
        "--batches",
        "1-48",
        "--timeout-ms",
        "20000",
        "--where",
        "dst_port = 445",
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("excluded: 1-48"), "{}", stdout(&output));
}

/// 95 small Ethernet packets.
fn small_capture(folder: &Path) -> PathBuf {
    let path = folder.join("small.pcap");
    let mut bytes = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
    bytes.extend([0; 8]);
    bytes.extend([0xff, 0xff, 0, 0, 1, 0, 0, 0]);
    for i in 0..95u32 {
        for word in [1_700_000_000 + i, 0, 14, 60] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5]);
    }
    std::fs::write(&path, bytes).expect("written");
    path
}
