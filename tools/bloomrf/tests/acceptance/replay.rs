//! `bloomrf replay`: what it says it sent is what arrives.

use std::collections::BTreeMap;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bloomrf_engine::schema::Schema;
use bloomrf_engine::wire::frame::Frame;
use bloomrf_node::{Config, Node};
use serde_json::Value;

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

#[test]
fn balanced_lanes_of_a_replay_come_from_the_ports_it_prints() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = small_capture(folder.path());
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let to = socket.local_addr().expect("bound").to_string();
    let arguments = ["replay", text(&path), "--to", &to, "--lanes", "6", "--balance", "4"];
    let output = run(&[arguments.as_slice(), &["--batch-records", "20", "--json"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(report["lanes"][0]["target"], to);
    let queues = report["lanes"][0]["queues"].as_array().expect("queues");
    let mut loads: Vec<_> = queues.iter().map(|q| q.as_array().expect("lanes").len()).collect();
    loads.sort_unstable();
    assert_eq!(loads, [1, 1, 2, 2]);
    let expected: BTreeMap<u64, u64> = queues
        .iter()
        .flat_map(|queue| queue.as_array().expect("lanes"))
        .map(|lane| (number(&lane["lane"]), number(&lane["source_port"])))
        .collect();
    socket.set_read_timeout(Some(Duration::from_millis(300))).expect("set");
    let (mut seen, mut buffer) = (BTreeMap::new(), [0; 2_048]);
    while let Ok((length, from)) = socket.recv_from(&mut buffer) {
        let record_bytes = Schema::packet().record_bytes();
        let (Frame::Data { header, .. } | Frame::Close { header, .. }) =
            Frame::parse(&buffer[..length], record_bytes).expect("a frame");
        seen.insert(u64::from(header.lane), u64::from(from.port()));
    }
    assert_eq!(seen, expected);
    let output = run(&[arguments.as_slice(), &["--batch-records", "20"]].concat());
    assert!(stdout(&output).contains("\n  queue 3: "), "{}", stdout(&output));
}

#[test]
fn a_replay_says_how_far_it_fell_short_of_the_rate_and_how_often_it_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = small_capture(folder.path());
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let to = socket.local_addr().expect("bound").to_string();
    let replay = |more: &[&str]| {
        let output = run(&[&["replay", text(&path), "--to", &to, "--json"], more].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).expect("JSON")
    };
    let report = replay(&["--speed", "1e15", "--loop", "3"]);
    assert_eq!((number(&report["records"]), number(&report["passes"])), (285, 3));
    assert!(report["reached"].as_f64().expect("a share") < 0.5, "{report}");
    assert_eq!(report["asked_records_per_second"], 1e15);
    let report = replay(&["--speed", "max"]);
    assert_eq!((number(&report["passes"]), &report["reached"]), (1, &Value::Null));
    // Half a second: a busy machine may fall a little short of it.
    let report = replay(&["--rate", "200/s"]);
    let reached = report["reached"].as_f64().expect("a share");
    assert!((0.5..=1.0).contains(&reached), "{report}");
    let output = run(&["replay", text(&path), "--to", &to, "--loop", "--scc", "127.0.0.1:0"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("give it a COUNT"), "{}", stderr(&output));
}

#[test]
fn a_replay_at_the_files_own_speed_takes_as_long_as_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = capture(folder.path(), 5, 60_000);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let to = socket.local_addr().expect("bound").to_string();
    let output =
        run(&["replay", text(&path), "--to", &to, "--speed", "original", "--loop", "2", "--json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    // Ten packets 60 ms apart.
    assert!(report["seconds"].as_f64().expect("seconds") >= 0.54, "{report}");
    let asked = report["asked_records_per_second"].as_f64().expect("a rate");
    assert!((asked - 10.0 / 0.54).abs() < 1e-6, "{report}");
    // Each went out when it was due, not when a frame was full.
    assert!(number(&report["frames"]) >= 10, "{report}");
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// 95 small Ethernet packets, a second apart.
fn small_capture(folder: &Path) -> PathBuf {
    capture(folder, 95, 1_000_000)
}

/// Small Ethernet packets.
fn capture(folder: &Path, packets: u32, distance_us: u32) -> PathBuf {
    let path = folder.join("small.pcap");
    let mut bytes = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
    bytes.extend([0; 8]);
    bytes.extend([0xff, 0xff, 0, 0, 1, 0, 0, 0]);
    for i in 0..packets {
        let us = i * distance_us;
        for word in [1_700_000_000 + us / 1_000_000, us % 1_000_000, 14, 60] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5]);
    }
    std::fs::write(&path, bytes).expect("written");
    path
}
