//! What is written is read back as it was meant, by us and by etherparse.

use etherparse::{NetSlice, SlicedPacket, TransportSlice};

use super::*;
use crate::parse::FrameRefusal;

fn ends(v6: bool) -> (Endpoint, Endpoint) {
    let ip = |n: u8| -> IpAddr {
        if v6 {
            [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, n].into()
        } else {
            [10, 1, 2, n].into()
        }
    };
    let from = Endpoint { mac: [2, 0, 0, 0, 0, 1], ip: ip(3), port: 6_997 };
    (from, Endpoint { mac: [2, 0, 0, 0, 0, 2], ip: ip(4), port: 40_000 })
}

fn mapped(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().to_bits(),
        IpAddr::V6(ip) => ip.to_bits(),
    }
}

#[test]
fn a_written_frame_is_read_back_whole_and_with_right_sums() {
    for v6 in [false, true] {
        for vlan in [None, Some(0), Some(0x6064)] {
            for length in (0..130).chain([1_472, 1_473, 9_000]) {
                let (from, to) = ends(v6);
                let payload: Vec<u8> = (0..length).map(|i| (i * 7) as u8).collect();
                let mut frame = vec![9; 3];
                write_udp(&mut frame, &from, &to, vlan, &payload);
                let frame = &frame[3..];
                assert!(frame.len() >= FRAME_BYTES_MIN);
                let read = udp(&Received::ethernet(frame, 0), Checksums::Verify).unwrap();
                assert_eq!(read.payload, payload);
                assert_eq!((read.source, read.source_port), (mapped(from.ip), from.port));
                assert_eq!((read.target, read.target_port), (mapped(to.ip), to.port));
                check_by_etherparse(frame, &payload);
                let back = reply_path(frame).unwrap();
                assert_eq!(back, ReplyPath { from: to, to: from, vlan });
            }
        }
    }
}

fn check_by_etherparse(frame: &[u8], payload: &[u8]) {
    let sliced = SlicedPacket::from_ethernet(frame).unwrap();
    let Some(TransportSlice::Udp(udp)) = sliced.transport else { panic!("{sliced:?}") };
    let header = udp.to_header();
    let sum = match sliced.net {
        Some(NetSlice::Ipv4(ip)) => {
            let ip = ip.header().to_header();
            assert_eq!((ip.header_checksum, ip.dont_fragment), (ip.calc_header_checksum(), true));
            header.calc_checksum_ipv4(&ip, payload)
        }
        Some(NetSlice::Ipv6(ip)) => header.calc_checksum_ipv6(&ip.header().to_header(), payload),
        other => panic!("{other:?}"),
    };
    assert_eq!((udp.payload(), Ok(udp.checksum())), (payload, sum));
}

#[test]
fn a_sum_of_zero_is_written_as_its_other_form() {
    for v6 in [false, true] {
        let (from, to) = ends(v6);
        // Some payload of two bytes brings the sum to zero: try all.
        let found = (0..=u16::MAX).any(|word| {
            let mut frame = Vec::new();
            write_udp(&mut frame, &from, &to, None, &word.to_be_bytes());
            let at = if v6 { 14 + 40 + 6 } else { 14 + 20 + 6 };
            assert_ne!(frame[at..at + 2], [0, 0]);
            frame[at..at + 2] == [0xff, 0xff]
        });
        assert!(found);
    }
}

#[test]
fn no_reply_goes_to_or_from_a_group_or_nobody() {
    let (from, to) = ends(false);
    let path = |from: Endpoint, to: Endpoint| {
        let mut frame = Vec::new();
        write_udp(&mut frame, &from, &to, None, b"request");
        reply_path(&frame)
    };
    assert!(path(from, to).is_some());
    let with_ip = |ip: [u8; 4]| Endpoint { ip: ip.into(), ..from };
    let with_mac = |mac| Endpoint { mac, ..from };
    let bad = [
        with_ip([224, 0, 0, 1]),
        with_ip([255, 255, 255, 255]),
        with_ip([0, 0, 0, 0]),
        with_mac([0xff; 6]),
        with_mac([1, 0, 0x5e, 0, 0, 1]),
        with_mac([0; 6]),
        Endpoint { port: 0, ..from },
    ];
    for end in bad {
        assert_eq!((path(end, to), path(to, end)), (None, None), "{end:?}");
    }
}

#[test]
fn several_tags_and_frames_without_a_datagram_have_no_way_back() {
    let (from, to) = ends(true);
    let mut frame = Vec::new();
    write_udp(&mut frame, &from, &to, Some(7), b"request");
    let mut tagged = frame.clone();
    tagged.splice(12..12, [0x88, 0xa8, 0, 9]);
    let read = udp(&Received::ethernet(&tagged, 0), Checksums::Verify);
    assert_eq!(read.map(|datagram| datagram.payload), Ok(&b"request"[..]));
    assert_eq!(reply_path(&tagged), None);
    let single = [&frame[..12], &[0x88, 0xa8], &frame[14..]].concat();
    assert_eq!(reply_path(&single), None);
    frame.truncate(40);
    let read = udp(&Received::ethernet(&frame, 0), Checksums::Trust);
    assert_eq!((reply_path(&frame), read), (None, Err(FrameRefusal::Short)));
}
