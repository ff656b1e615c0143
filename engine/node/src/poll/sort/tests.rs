//! Claims about where frames go.

use bloomrf_netio::frame::{Endpoint, write_udp};

use super::*;
use crate::config::{Config, PortAddress};
use crate::port::{Addresses, FrameSlot};

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 5];
const NEIGHBOUR: [u8; 6] = [2, 0, 0, 0, 0, 9];
const LOOKUP: u16 = 6_997;

/// A sorter, and the other end of its ring where it has one of `room` frames.
fn sorter(room: Option<usize>) -> (Sorter, Option<rtrb::Consumer<FrameSlot>>) {
    let address = PortAddress { ip: "10.0.0.5".parse().unwrap(), prefix: 24 };
    let (to_port, frames) = room
        .map(|room| {
            let (ring, frames) = rtrb::RingBuffer::new(room);
            let own = Addresses::new(&[address], MAC);
            (ToPort::new(ring, std::thread::current(), own, LOOKUP), frames)
        })
        .unzip();
    (Sorter::new(&Config::default(), to_port), frames)
}

fn datagram(source: &str, target: &str, port: u16, payload: &[u8]) -> Vec<u8> {
    let from = Endpoint { mac: NEIGHBOUR, ip: source.parse().unwrap(), port: 40_000 };
    let to = Endpoint { mac: MAC, ip: target.parse().unwrap(), port };
    let mut frame = Vec::new();
    write_udp(&mut frame, &from, &to, None, payload);
    frame
}

/// Who has `target`? asks 10.0.0.9.
fn arp(target: [u8; 4]) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend(NEIGHBOUR);
    frame.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame.extend(NEIGHBOUR);
    frame.extend([10, 0, 0, 9, 0, 0, 0, 0, 0, 0]);
    frame.extend(target);
    frame.resize(60, 0);
    frame
}

/// What was sorted out for ingest, the sorter's numbers, and how many sources ingest refused.
fn sort(sorter: &mut Sorter, frames: &[Vec<u8>], allow: &str) -> (Vec<Vec<u8>>, SortNumbers, u64) {
    let (mut queue, _) = crate::poll::tests::queue();
    let allow = Networks::parse(allow).unwrap();
    let mut taken = Vec::new();
    for frames in frames.chunks(BURST_MAX) {
        let mut burst = Burst::new();
        frames.iter().for_each(|frame| burst.push(Received::ethernet(frame, 0)));
        let mut records = ArrayVec::new();
        sorter.sort(&burst, &allow, &mut queue, &mut records);
        taken.extend(records.iter().map(|record| record.to_vec()));
    }
    (taken, *sorter.numbers(), queue.stats().refused[RefuseReason::Source.index()])
}

#[test]
fn each_kind_of_frame_goes_where_it_belongs() {
    let port = Config::default().production_port;
    let (mut sorter, frames) = sorter(Some(8));
    let sent = [
        datagram("10.0.0.9", "239.1.2.3", port, b"one"),
        datagram("10.0.1.9", "10.0.0.5", port, b"from elsewhere"),
        datagram("10.0.0.9", "10.0.0.5", LOOKUP, b"asks"),
        datagram("10.0.0.9", "10.0.0.6", LOOKUP, b"asks another"),
        datagram("10.0.0.9", "10.0.0.5", 53, b"another port"),
        arp([10, 0, 0, 5]),
        arp([10, 0, 0, 6]),
        datagram("10.0.0.9", "239.1.2.3", port, b"two"),
        datagram("10.0.0.9", "239.1.2.3", port, &[7; 100])[..80].to_vec(),
    ];
    let (taken, numbers, refused) = sort(&mut sorter, &sent, "10.0.0.0/24");
    assert_eq!(taken, [b"one", b"two"]);
    assert_eq!((numbers.handed_over, numbers.ring_full, numbers.ignored, refused), (2, 0, 2, 1));
    assert_eq!(numbers.refused[FrameRefusal::NotIp.index()], 1);
    assert_eq!(numbers.refused[FrameRefusal::Length.index()], 1);
    assert_eq!(numbers.refused.iter().sum::<u64>(), 2);
    let mut frames = frames.unwrap();
    assert_eq!(frames.pop().unwrap().frame(), sent[2]);
    assert_eq!(frames.pop().unwrap().frame(), sent[5]);
    assert!(frames.pop().is_err());
}

#[test]
fn a_full_ring_drops_and_counts_and_a_port_without_addresses_is_asked_nothing() {
    let asks = vec![datagram("10.0.0.9", "10.0.0.5", LOOKUP, b"asks"); 5];
    let (mut full, _frames) = sorter(Some(3));
    let (_, numbers, _) = sort(&mut full, &asks, "any");
    assert_eq!((numbers.handed_over, numbers.ring_full, numbers.ignored), (3, 2, 0));
    let (mut deaf, _) = sorter(None);
    let (_, numbers, _) = sort(&mut deaf, &[asks, vec![arp([10, 0, 0, 5])]].concat(), "any");
    assert_eq!((numbers.handed_over, numbers.ring_full, numbers.ignored), (0, 0, 5));
    assert_eq!(numbers.refused[FrameRefusal::NotIp.index()], 1);
}

#[test]
fn every_frame_is_in_one_place_whatever_it_is() {
    let seed: u64 = std::env::var("SEED").map_or(1, |text| text.parse().unwrap());
    println!("SEED={seed}");
    let mut state = seed;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let port = Config::default().production_port;
    let good = [
        datagram("10.0.0.9", "239.1.2.3", port, b"records"),
        datagram("10.0.0.9", "10.0.0.5", LOOKUP, &[1; 40]),
        datagram("fd00::9", "fd00::5", port, &[2; 90]),
        datagram("10.0.0.9", "10.0.0.5", 53, b"another port"),
        arp([10, 0, 0, 5]),
    ];
    let frames: Vec<Vec<u8>> = (0..5_000)
        .map(|_| {
            let mut frame = good[next(good.len())].clone();
            for _ in 0..next(4) {
                let at = next(frame.len());
                frame[at] = next(256) as u8;
            }
            frame.truncate(if next(5) == 0 { next(frame.len()) } else { frame.len() });
            frame
        })
        .collect();
    let (mut sorter, _frames) = sorter(Some(100));
    let (taken, numbers, source) = sort(&mut sorter, &frames, "10.0.0.0/8");
    let SortNumbers { refused, handed_over, ring_full, ignored } = numbers;
    let refused: u64 = refused.iter().sum();
    let sum = taken.len() as u64 + source + refused + handed_over + ring_full + ignored;
    assert_eq!(sum, 5_000);
    for count in [taken.len() as u64, source, refused, handed_over, ring_full, ignored] {
        assert!(count > 0, "{numbers:?}");
    }
}
