//! Ports of virtual devices: what they receive and send, exactly, and that all of it comes back.
#![cfg(feature = "dpdk")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use std::time::{Duration, Instant};

use bloomrf_dpdk::{BURST, PortConfig, RxQueue, leaked_mbufs};
use common::{eal, frame, pcap, pcap_of};

/// Frames of a queue until `count` are there or nothing has come for a while.
fn receive(queue: &mut RxQueue, count: usize) -> Vec<Vec<u8>> {
    let (mut frames, mut last) = (Vec::new(), Instant::now());
    while frames.len() < count && last.elapsed() < Duration::from_millis(300) {
        let burst = queue.burst();
        assert!(burst.len() <= BURST);
        if !burst.is_empty() {
            last = Instant::now();
        }
        frames.extend(burst.iter().map(|frame| frame.bytes().to_vec()));
    }
    frames
}

#[test]
fn null_gives_frames_of_its_size_without_end() {
    let device = eal().probe("net_null0,size=64").unwrap();
    assert_eq!(device.driver(), "net_null");
    let port = device.open(&PortConfig::default()).unwrap();
    let handle = port.handle.clone();
    let mut queues = port.queues;
    let polled = std::thread::scope(|scope| {
        let queue = &mut queues[0];
        let poller = scope.spawn(move || {
            queue.register().unwrap();
            queue.register().unwrap();
            receive(queue, 100 * BURST)
        });
        poller.join().unwrap()
    });
    assert!(polled.iter().all(|frame| frame.len() == 64));
    assert_eq!(polled.len(), 100 * BURST);
    assert_eq!(handle.mbufs_in_use(), BURST as u32);
    drop(queues);
    assert_eq!(handle.mbufs_in_use(), 0);
    assert_eq!(handle.stats().unwrap().received, 100 * BURST as u64);
}

#[test]
fn what_is_sent_into_a_ring_comes_back() {
    let device = eal().probe("net_ring0").unwrap();
    let port = device.open(&PortConfig { sends: true, ..PortConfig::default() }).unwrap();
    let (handle, mut sender, mut queues) = (port.handle, port.sender.unwrap(), port.queues);
    let sent: Vec<_> = (0..500).map(|i| frame(i, 60 + i % 1400)).collect();
    for some in sent.chunks(100) {
        some.iter().for_each(|frame| assert!(sender.send(frame).unwrap()));
        assert_eq!(receive(&mut queues[0], 100), some);
    }
    assert!(sender.send(&frame(1, 2_049)).is_err());
    let stats = handle.stats().unwrap();
    assert_eq!((stats.sent, stats.received), (500, 500));
    assert!(handle.xstats().unwrap().contains(&("rx_good_packets".into(), 500)));
    // What nobody receives does not stay out, either.
    assert!(sender.send(&sent[0]).unwrap());
    drop((sender, queues, handle));
    assert_eq!(leaked_mbufs(), 0);
}

#[test]
fn a_capture_is_replayed_byte_by_byte_over_one_and_two_queues() {
    let folder = tempfile::tempdir().unwrap();
    for (name, queues) in [("net_pcap0", 1), ("net_pcap1", 2)] {
        let frames: Vec<Vec<_>> = (0..queues)
            .map(|queue| (0..1_000).map(|i| frame(i + queue, 60 + i % 1_454)).collect())
            .collect();
        let paths: Vec<_> =
            (0..queues).map(|i| folder.path().join(format!("{name}.{i}"))).collect();
        for (frames, path) in frames.iter().zip(&paths) {
            pcap(path, frames);
        }
        let device = eal().probe(&pcap_of(name, &paths)).unwrap();
        assert_eq!(device.rx_queues_max(), queues);
        let port = device.open(&PortConfig { queues, ..PortConfig::default() }).unwrap();
        let handle = port.handle;
        for (mut queue, frames) in port.queues.into_iter().zip(&frames) {
            assert!(receive(&mut queue, frames.len() + 1) == *frames, "{name}");
        }
        let stats = handle.stats().unwrap();
        assert_eq!(stats.received, 1_000 * queues as u64);
        let bytes = frames.iter().flatten().map(Vec::len).sum::<usize>();
        assert_eq!(stats.received_bytes, bytes as u64);
        assert_eq!(handle.mbufs_in_use(), 0);
        assert!(handle.link().unwrap().up);
    }
    assert_eq!(leaked_mbufs(), 0);
}

#[test]
fn a_frame_longer_than_an_mbuf_is_told_as_segmented() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long");
    pcap(&path, &[frame(1, 2_048), frame(2, 2_049), frame(3, 9_000), frame(4, 60)]);
    let device = eal().probe(&pcap_of("net_pcap3", &[path])).unwrap();
    let mut queues = device.open(&PortConfig::default()).unwrap().queues;
    let seen: Vec<_> =
        queues[0].burst().iter().map(|f| (f.is_segmented(), f.frame_bytes())).collect();
    assert_eq!(seen, [(false, 2_048), (true, 2_049), (true, 9_000), (false, 60)]);
    drop(queues);
    assert_eq!(leaked_mbufs(), 0);
}
