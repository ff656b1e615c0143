//! Claims about ARP, neighbour discovery and pings.

use etherparse::{IcmpEchoHeader, Icmpv4Type, Icmpv6Type};

use super::*;

/// An echo request.
pub(super) fn ping(mac: [u8; 6], ip: [u8; 4], bytes: usize) -> Vec<u8> {
    let mut frame = Vec::new();
    PacketBuilder::ethernet2(mac, OWN_MAC)
        .ipv4(ip, OWN, 64)
        .icmpv4_echo_request(5, 6)
        .write(&mut frame, &vec![0xa5; bytes])
        .unwrap();
    frame
}

/// An ARP request for `target`, of `source`.
pub(super) fn arp(source: [u8; 4], target: [u8; 4], to: [u8; 6]) -> Vec<u8> {
    let mut frame = [to, MAC].concat();
    frame.extend_from_slice(&[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame.extend_from_slice(&MAC);
    frame.extend_from_slice(&source);
    frame.extend_from_slice(&[0; 6]);
    frame.extend_from_slice(&target);
    frame.resize(60, 0);
    frame
}

fn tagged(frame: &[u8], tag: u16) -> Vec<u8> {
    let [high, low] = tag.to_be_bytes();
    [&frame[..12], &[0x81, 0, high, low], &frame[12..]].concat()
}

#[test]
fn arp_is_answered_for_own_addresses_alone() {
    let mut bench = Bench::new();
    for to in [[0xff; 6], OWN_MAC] {
        let sent = bench.give(&arp(IP, OWN, to));
        assert_eq!(sent.len(), 1);
        let mut expected = [MAC, OWN_MAC].concat();
        expected.extend_from_slice(&[8, 6, 0, 1, 8, 0, 6, 4, 0, 2]);
        expected.extend_from_slice(&OWN_MAC);
        expected.extend_from_slice(&OWN);
        expected.extend_from_slice(&MAC);
        expected.extend_from_slice(&IP);
        expected.resize(60, 0);
        assert_eq!(sent[0], expected);
    }
    let stack = bench.counted(PortOutcome::Stack);
    for (source, target) in [
        (IP, [10, 99, 0, 3]),
        (IP, [10, 99, 0, 255]),
        (IP, [0; 4]),
        (OWN, OWN),
        ([0; 4], OWN),
        ([255; 4], OWN),
        ([10, 99, 0, 255], OWN),
    ] {
        assert!(bench.give(&arp(source, target, [0xff; 6])).is_empty(), "{source:?} {target:?}");
    }
    assert!(bench.give(&arp(IP, OWN, [2; 6])).is_empty(), "for another host");
    assert_eq!(bench.counted(PortOutcome::Stack), stack);
}

#[test]
fn a_tagged_question_is_answered_with_its_tag() {
    let mut bench = Bench::new();
    for tag in [5, 0x2fff] {
        let sent = bench.give(&tagged(&arp(IP, OWN, [0xff; 6]), tag));
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0][12..16], [0x81, 0, (tag >> 8) as u8, tag as u8]);
        assert_eq!(sent[0][16..18], [8, 6]);
        let sent = bench.give(&tagged(&ping(MAC, IP, 1_472), tag));
        assert_eq!(sent[0].len(), 1_518);
        assert_eq!(sent[0][12..18], [0x81, 0, (tag >> 8) as u8, tag as u8, 8, 0]);
    }
    let sent = bench.give(&arp(IP, OWN, [0xff; 6]));
    assert_eq!(sent[0][12..14], [8, 6]);
}

#[test]
fn a_ping_is_answered_with_its_own_bytes() {
    let mut bench = Bench::new();
    bench.give(&arp(IP, OWN, [0xff; 6]));
    for bytes in [0, 1, 56, 1_472] {
        let sent = bench.give(&ping(MAC, IP, bytes));
        assert_eq!(sent.len(), 1);
        let packet = SlicedPacket::from_ethernet(&sent[0]).unwrap();
        let Some(TransportSlice::Icmpv4(icmp)) = packet.transport else { panic!("no ICMP") };
        let echo = IcmpEchoHeader { id: 5, seq: 6 };
        assert_eq!(icmp.icmp_type(), Icmpv4Type::EchoReply(echo));
        assert_eq!(icmp.payload(), vec![0xa5; bytes]);
        assert_eq!(icmp.header().icmp_type.calc_checksum(icmp.payload()), icmp.header().checksum);
    }
}

#[test]
fn nobody_but_a_host_is_answered_a_ping() {
    let mut bench = Bench::new();
    bench.give(&arp(IP, OWN, [0xff; 6]));
    for ip in [[10, 99, 0, 255], [255; 4], [0; 4], OWN, [224, 0, 0, 1], [127, 0, 0, 1]] {
        assert!(bench.give(&ping(MAC, ip, 8)).is_empty(), "{ip:?}");
    }
    for mac in [[0xff; 6], [1; 6], OWN_MAC, [0; 6]] {
        assert!(bench.give(&ping(mac, IP, 8)).is_empty(), "{mac:?}");
    }
    // To a broadcast address of either layer.
    for (target_mac, target) in [([0xff; 6], OWN), (OWN_MAC, [10, 99, 0, 255]), (OWN_MAC, IP)] {
        let mut frame = Vec::new();
        let builder = PacketBuilder::ethernet2(MAC, target_mac).ipv4(IP, target, 64);
        builder.icmpv4_echo_request(5, 6).write(&mut frame, &[0; 8]).unwrap();
        assert!(bench.give(&frame).is_empty(), "{target:?}");
    }
}

/// A neighbour solicitation for `target` to its group.
fn solicit(target: [u8; 16], hop_limit: u8) -> Vec<u8> {
    let mut group = [0; 16];
    (group[0], group[1], group[11], group[12]) = (0xff, 2, 1, 0xff);
    group[13..].copy_from_slice(&target[13..]);
    let mac = [0x33, 0x33, 0xff, target[13], target[14], target[15]];
    let mut frame = Vec::new();
    let mut body = target.to_vec();
    body.extend_from_slice(&[1, 1]);
    body.extend_from_slice(&MAC);
    PacketBuilder::ethernet2(MAC, mac)
        .ipv6(IP_6, group, hop_limit)
        .icmpv6_raw(135, 0, [0; 4])
        .write(&mut frame, &body)
        .unwrap();
    frame
}

#[test]
fn neighbours_are_told_of_own_addresses_alone() {
    let mut bench = Bench::new();
    let sent = bench.give(&solicit(OWN_6, 255));
    assert_eq!(sent.len(), 1);
    let packet = SlicedPacket::from_ethernet(&sent[0]).unwrap();
    assert_eq!(sent[0][..12], [MAC, OWN_MAC].concat());
    let Some(TransportSlice::Icmpv6(icmp)) = packet.transport else { panic!("no ICMPv6") };
    assert_eq!(icmp.type_u8(), 136);
    assert!(icmp.is_checksum_valid(OWN_6, IP_6));
    assert_eq!(icmp.payload()[..16], OWN_6);
    assert_eq!(icmp.payload()[18..24], OWN_MAC);
    // The same group, another address; another group; one that a router has passed on.
    let mut same_group = OWN_6;
    same_group[5] = 9;
    let mut other = OWN_6;
    other[15] = 3;
    for (target, hop_limit) in [(same_group, 255), (other, 255), (OWN_6, 254)] {
        assert!(bench.give(&solicit(target, hop_limit)).is_empty(), "{target:?}");
    }
    let mut frame = Vec::new();
    PacketBuilder::ethernet2(MAC, OWN_MAC)
        .ipv6(IP_6, OWN_6, 64)
        .icmpv6_echo_request(1, 2)
        .write(&mut frame, b"bytes")
        .unwrap();
    let sent = bench.give(&frame);
    let packet = SlicedPacket::from_ethernet(&sent[0]).unwrap();
    let Some(TransportSlice::Icmpv6(icmp)) = packet.transport else { panic!("no ICMPv6") };
    assert!(icmp.is_checksum_valid(OWN_6, IP_6));
    assert_eq!(icmp.icmp_type(), Icmpv6Type::EchoReply(IcmpEchoHeader { id: 1, seq: 2 }));
}

fn sum_again(frame: &mut [u8]) {
    let (header, _) = etherparse::Ipv4Header::from_slice(&frame[14..]).unwrap();
    frame[24..26].copy_from_slice(&header.calc_header_checksum().to_be_bytes());
}

#[test]
fn what_the_port_has_nothing_to_say_about_raises_no_word() {
    let mut bench = Bench::new();
    bench.give(&arp(IP, OWN, [0xff; 6]));
    let mut frames = Vec::new();
    let build = || PacketBuilder::ethernet2(MAC, OWN_MAC).ipv4(IP, OWN, 64);
    let mut frame = Vec::new();
    build().tcp(PORT, 80, 1, 1_000).syn().write(&mut frame, &[]).unwrap();
    frames.push((std::mem::take(&mut frame), PortOutcome::Kind));
    build().icmpv4_raw(13, 0, [0; 4]).write(&mut frame, &[0; 12]).unwrap();
    frames.push((std::mem::take(&mut frame), PortOutcome::Kind));
    // A protocol that nobody knows.
    let mut unknown = ping(MAC, IP, 8);
    unknown[23] = 200;
    sum_again(&mut unknown);
    frames.push((unknown, PortOutcome::Kind));
    let mut fragment = ping(MAC, IP, 8);
    fragment[20] = 0x20;
    sum_again(&mut fragment);
    frames.push((fragment, PortOutcome::Fragment));
    frames.push((ping(MAC, IP, 8)[..30].to_vec(), PortOutcome::Damaged));
    for (frame, outcome) in frames {
        let (before, frames) = (bench.counted(outcome), bench.shared.metrics.port.frames());
        assert!(bench.give(&frame).is_empty(), "{outcome:?}");
        let after = (bench.counted(outcome), bench.shared.metrics.port.frames());
        assert_eq!(after, (before + 1, frames + 1), "{outcome:?}");
    }
}
