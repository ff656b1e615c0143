//! `bloomrf replay`: what it says it sent is what arrives.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::time::Duration;

use bloomrf_engine::schema::Schema;
use bloomrf_engine::wire::frame::Frame;

use crate::binary::{bloomrf, code, stderr, stdout};

#[test]
fn a_replayed_capture_arrives_as_the_batches_that_were_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("small.pcap");
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
