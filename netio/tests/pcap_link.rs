//! Every capture of the data folder, played as a link: over all queues together exactly the
//! packets that are in the file, each queue in the file's order.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bloomrf_netio::burst::BUFFER_BYTES;
use bloomrf_netio::capture::{Capture, Packet};
use bloomrf_netio::link::pcap::{Monotonic, PcapConfig, PcapLink, Speed};
use bloomrf_netio::{Burst, Link};

/// Larger files would make the test slow.
const FILE_BYTES_MAX: u64 = 16 << 20;

#[test]
fn queues_together_play_exactly_the_packets_of_every_capture() {
    let Some(folder) = folder() else { return println!("skipped: no data") };
    let (mut files, mut packets) = (0, 0);
    for path in captures(&folder) {
        // What is no capture is an error of both.
        let Ok(mut capture) = Capture::open(&path) else {
            assert!(open(&path, 1).is_none(), "{}", path.display());
            continue;
        };
        let mut expected: Vec<Packet> = capture.by_ref().collect();
        let oversize = expected.len();
        expected.retain(|packet| packet.bytes.len() <= BUFFER_BYTES);
        let oversize = (oversize - expected.len()) as u64;
        for queues in [1, 2] {
            let mut links = open(&path, queues).unwrap();
            let seen: Vec<_> = links.iter_mut().map(play).collect();
            merge(&expected, &seen, &path);
            let sum = |count: fn(&PcapLink) -> u64| links.iter().map(count).sum::<u64>();
            assert_eq!(sum(|l| l.stats().received), expected.len() as u64);
            assert_eq!(sum(|l| l.stats().oversize), oversize);
            assert_eq!(sum(|l| l.stats().dropped.errors), u64::from(capture.cut().is_some()));
        }
        (files, packets) = (files + 1, packets + expected.len());
    }
    println!("{files} captures, {packets} packets");
    assert!(files > 0);
}

fn open(path: &Path, queues: usize) -> Option<Vec<PcapLink>> {
    let config = PcapConfig { path: path.to_owned(), looped: false, speed: Speed::Max, queues };
    PcapLink::open(&config, Arc::new(Monotonic::new())).ok().map(|(links, _)| links)
}

fn play(link: &mut PcapLink) -> Vec<Packet> {
    let mut seen = Vec::new();
    while !link.is_exhausted() {
        let mut burst = Burst::new();
        link.rx_burst(&mut burst).expect("a replay does not fail");
        seen.extend(burst.iter().map(|r| Packet {
            ts_ns: r.ts_ns,
            link_type: r.link_type.into(),
            bytes: r.bytes.to_vec(),
            wire_bytes: r.wire_bytes,
        }));
    }
    seen
}

/// Takes each packet from the queue that has it next; nothing may be left.
fn merge(expected: &[Packet], seen: &[Vec<Packet>], path: &Path) {
    let mut rest: Vec<&[Packet]> = seen.iter().map(Vec::as_slice).collect();
    for (i, packet) in expected.iter().enumerate() {
        let queue = rest.iter_mut().find(|queue| queue.first() == Some(packet));
        let queue = queue.unwrap_or_else(|| panic!("{}: packet {i} is missing", path.display()));
        *queue = &queue[1..];
    }
    assert!(rest.iter().all(|queue| queue.is_empty()), "{}", path.display());
}

fn captures(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for kind in ["packets", "ugly"] {
        let Ok(entries) = std::fs::read_dir(folder.join(kind)) else { continue };
        for entry in entries.flatten() {
            let small = entry.metadata().is_ok_and(|m| m.is_file() && m.len() <= FILE_BYTES_MAX);
            if small {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("BLOOMRF_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"),
        PathBuf::from,
    );
    folder.is_dir().then_some(folder)
}
