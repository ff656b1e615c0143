//! The dpdk link on virtual devices: exact counts, the same bytes, statistics that add up.
#![cfg(feature = "dpdk")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bloomrf_netio::capture::writer::PcapWriter;
use bloomrf_netio::link::{self, Port, PortOptions};
use bloomrf_netio::{BURST_MAX, Burst, Drops, Framing, Link, LinkError, LinkStats};

fn options(queues: usize) -> PortOptions {
    PortOptions {
        queues,
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        groups: Vec::new(),
        receive_buffer: 0,
        busy_poll_us: 0,
        sends: false,
        dpdk_args: vec!["memory_mib=192".into()],
    }
}

fn open(text: &str, options: &PortOptions) -> Result<Port, LinkError> {
    link::open(&text.parse().unwrap(), options)
}

fn frames(seed: usize, count: usize) -> Vec<Vec<u8>> {
    let frame = |i: usize| (0..60 + i % 1_454).map(|at| (at * 13 + i + seed) as u8).collect();
    (0..count).map(frame).collect()
}

fn write(path: &Path, frames: &[Vec<u8>]) {
    let mut writer = PcapWriter::new(std::fs::File::create(path).unwrap(), 1).unwrap();
    for frame in frames {
        writer.write(1, frame, frame.len() as u32).unwrap();
    }
    writer.finish().unwrap();
}

fn pcap(name: &str, paths: &[PathBuf]) -> String {
    let paths = paths.iter().map(|path| format!(",rx_pcap={}", path.display()));
    format!("dpdk:{name}{}", paths.collect::<String>())
}

/// Everything, up to the end of the capture, by a thread of its own.
fn play(mut link: Box<dyn Link>) -> (Vec<Vec<u8>>, LinkStats) {
    let thread = std::thread::spawn(move || {
        let mut all = Vec::new();
        while !link.is_exhausted() {
            let mut burst = Burst::new();
            link.rx_burst(&mut burst).unwrap();
            assert!(burst.iter().all(|frame| {
                frame.wire_bytes as usize == frame.bytes.len() && frame.link_type == 1
            }));
            all.extend(burst.iter().map(|frame| frame.bytes.to_vec()));
        }
        (all, link.stats())
    });
    thread.join().unwrap()
}

#[test]
fn a_capture_arrives_whole_over_one_and_two_queues() {
    let folder = tempfile::tempdir().unwrap();
    for (name, queues) in [("net_pcap0", 1), ("net_pcap1", 2)] {
        let sent: Vec<_> = (0..queues).map(|queue| frames(queue * 77, 2_000)).collect();
        let paths: Vec<_> =
            (0..queues).map(|queue| folder.path().join(format!("{name}.{queue}"))).collect();
        paths.iter().zip(&sent).for_each(|(path, frames)| write(path, frames));
        let port = open(&pcap(name, &paths), &options(queues)).unwrap();
        assert_eq!(port.links.len(), queues);
        for (queue, (link, sent)) in port.links.into_iter().zip(&sent).enumerate() {
            assert_eq!(link.framing(), Framing::Frames);
            assert_eq!(
                link.describe(),
                format!("dpdk {name} (net_pcap) queue {queue} of {queues}")
            );
            let (received, stats) = play(link);
            assert!(received == *sent, "{name} queue {queue}");
            let bytes = sent.iter().map(Vec::len).sum::<usize>() as u64;
            assert_eq!(stats, LinkStats { received: 2_000, bytes, ..LinkStats::default() });
        }
    }
}

#[test]
fn what_no_mbuf_holds_is_counted_and_moves_every_loss_mark() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [folder.path().join("long"), folder.path().join("short")];
    write(&paths[0], &[vec![1; 2_048], vec![2; 2_049], vec![3; 64], vec![4; 9_216]]);
    write(&paths[1], &[vec![5; 64]]);
    let links = open(&pcap("net_pcap2", &paths), &options(2)).unwrap().links;
    let played: Vec<_> = links.into_iter().map(play).collect();
    assert_eq!(played[0].0, [vec![1; 2_048], vec![3; 64]]);
    let lost = LinkStats { oversize: 2, loss_mark: 2, ..LinkStats::default() };
    assert_eq!(played[0].1, LinkStats { received: 2, bytes: 2_112, ..lost });
    assert_eq!(played[1].1, LinkStats { received: 1, bytes: 64, oversize: 0, ..lost });
}

#[test]
fn a_ring_gives_back_what_its_sender_sends() {
    let port = open("dpdk:net_ring0", &PortOptions { sends: true, ..options(1) }).unwrap();
    let (mut sender, mut links) = (port.sender.unwrap(), port.links);
    let link = &mut links[0];
    let sent = frames(5, 500);
    let mut received = Vec::new();
    for some in sent.chunks(BURST_MAX) {
        some.iter().for_each(|frame| assert!(sender.send(frame).unwrap()));
        let mut burst = Burst::new();
        link.rx_burst(&mut burst).unwrap();
        received.extend(burst.iter().map(|frame| frame.bytes.to_vec()));
    }
    assert!(received == sent);
    assert!(!link.is_exhausted());
    assert_eq!(link.stats().dropped, Drops::default());
    // A ring that nobody empties is full at some time, which is no error.
    let (mut room, begin) = (true, Instant::now());
    while room && begin.elapsed() < Duration::from_secs(20) {
        room = sender.send(&sent[0]).unwrap();
    }
    assert!(!room);
    assert!(matches!(sender.send(&[0; 2_049]), Err(LinkError::Dpdk(_))));
}

#[test]
fn a_wait_is_short_and_a_wake_ends_it() {
    let mut links = open("dpdk:net_ring1", &options(1)).unwrap().links;
    let link = &mut links[0];
    let waker = link.waker();
    waker.wake();
    let begin = Instant::now();
    for _ in 0..20 {
        link.wait(Duration::from_secs(60)).unwrap();
    }
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    let mut burst = Burst::new();
    link.rx_burst(&mut burst).unwrap();
    assert!(burst.is_empty());
}

#[test]
fn what_cannot_be_opened_says_what_to_do() {
    let error = |text: &str, options: &PortOptions| match open(text, options) {
        Ok(_) => panic!("{text} opened"),
        Err(error) => error.to_string(),
    };
    let missing = error("dpdk:net_pcap8,rx_pcap=/nonexistent/a.pcap", &options(1));
    assert!(missing.contains("/nonexistent/a.pcap: No such file"), "{missing}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one");
    write(&path, &frames(1, 1));
    let few = error(&pcap("net_pcap9", &[path]), &options(3));
    assert!(few.contains("has 1 receive queues and 3 are asked for"), "{few}");
    let wrong = PortOptions { dpdk_args: vec!["descriptors=1".into()], ..options(1) };
    let wrong = error("dpdk:net_null9", &wrong);
    assert_eq!(wrong, "descriptors=1: 64..=32768 descriptors");
}
