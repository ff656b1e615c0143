//! Known frames, each accepted whole or refused for the reason that it was made to show. What
//! etherparse makes of frames is in `tests/udp_by_etherparse.rs`.

mod forms;

use etherparse::{
    IpHeaders, Ipv4Extensions, Ipv4Header, Ipv6Extensions, Ipv6Header, PacketBuilder,
};

use super::*;
use crate::parse::checksum;

const MAC_A: [u8; 6] = [2, 0, 0, 0, 0, 1];
const MAC_B: [u8; 6] = [2, 0, 0, 0, 0, 2];
const PAYLOAD: &[u8] = b"twenty bytes of text";

/// Where headers begin in the plain frames.
const IP: usize = 14;
const UDP_V4: usize = IP + 20;
const UDP_V6: usize = IP + 40;

fn v4() -> Ipv4Header {
    let (source, destination) = ([10, 1, 2, 3], [10, 9, 8, 7]);
    Ipv4Header { time_to_live: 64, source, destination, ..Ipv4Header::default() }
}

fn of_v6(extensions: Ipv6Extensions) -> IpHeaders {
    let (source, destination) = ([0xfd; 16], [0x20; 16]);
    let header = Ipv6Header { hop_limit: 64, source, destination, ..Ipv6Header::default() };
    IpHeaders::Ipv6(header, extensions)
}

fn build(ip: IpHeaders) -> Vec<u8> {
    let mut bytes = Vec::new();
    let builder = PacketBuilder::ethernet2(MAC_A, MAC_B).ip(ip).udp(4_000, 6_987);
    builder.write(&mut bytes, PAYLOAD).unwrap();
    bytes
}

fn plain_v4() -> Vec<u8> {
    build(IpHeaders::Ipv4(v4(), Ipv4Extensions::default()))
}

fn plain_v6() -> Vec<u8> {
    build(of_v6(Ipv6Extensions::default()))
}

fn read_as(link_type: u16, bytes: &[u8], sums: Checksums) -> Result<UdpDatagram<'_>, FrameRefusal> {
    let wire_bytes = bytes.len() as u32;
    udp(&Received { bytes, wire_bytes, link_type, ..Received::default() }, sums)
}

fn read(bytes: &[u8]) -> Result<UdpDatagram<'_>, FrameRefusal> {
    read_as(1, bytes, Checksums::Verify)
}

fn trust(bytes: &[u8]) -> Result<UdpDatagram<'_>, FrameRefusal> {
    read_as(1, bytes, Checksums::Trust)
}

/// Refused for this reason, whether sums are looked at or not.
#[track_caller]
fn refused(bytes: &[u8], reason: FrameRefusal) {
    assert_eq!((trust(bytes), read(bytes)), (Err(reason), Err(reason)), "{bytes:02x?}");
}

fn with(bytes: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

/// The same, with the sum over the IPv4 header made right again.
fn with_v4(bytes: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = with(bytes, at, new);
    let end = IP + usize::from(bytes[IP] & 15) * 4;
    bytes[IP + 10..IP + 12].fill(0);
    if let Some(header) = bytes.get(IP..end) {
        let sum = !checksum::fold(checksum::sum(header));
        bytes[IP + 10..IP + 12].copy_from_slice(&sum.to_ne_bytes());
    }
    bytes
}

#[test]
fn a_datagram_has_its_payload_and_both_ends() {
    let ends_v4 = (mapped([10, 1, 2, 3]), mapped([10, 9, 8, 7]));
    let ends_v6 = (u128::from_be_bytes([0xfd; 16]), u128::from_be_bytes([0x20; 16]));
    for (frame, (source, target)) in [(plain_v4(), ends_v4), (plain_v6(), ends_v6)] {
        let (source_port, target_port) = (4_000, 6_987);
        let whole = UdpDatagram { payload: PAYLOAD, source, target, source_port, target_port };
        assert_eq!((read(&frame), trust(&frame)), (Ok(whole), Ok(whole)));
    }
    assert_eq!(
        mapped([10, 1, 2, 3]),
        "::ffff:10.1.2.3".parse::<std::net::Ipv6Addr>().unwrap().to_bits()
    );
}

#[test]
fn padding_behind_the_packet_is_cut_off_and_so_is_what_udp_leaves_of_ip() {
    for frame in [plain_v4(), plain_v6()] {
        for padding in [1, 3, 18, 300] {
            let padded = [&frame[..], &vec![0x55; padding]].concat();
            assert_eq!(read(&padded).unwrap().payload, PAYLOAD);
        }
    }
    // IP says three bytes more than UDP does: options of UDP, which are no payload.
    let longer = |bytes: Vec<u8>| [&bytes[..], &[1, 2, 3]].concat();
    let four = longer(with_v4(&plain_v4(), IP + 2, &[0, 51]));
    assert_eq!(read(&four).unwrap().payload, PAYLOAD);
    let six = longer(with(&plain_v6(), IP + 4, &[0, 31]));
    assert_eq!(read(&six).unwrap().payload, PAYLOAD);
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let (four, six) = (plain_v4(), plain_v6());
    // Longer than IP says, by one and by all; within padding too.
    for (frame, at) in [(&four, UDP_V4), (&six, UDP_V6)] {
        let padded = [&frame[..], &[0; 40]].concat();
        for frame in [frame, &padded] {
            refused(&with(frame, at + 4, &[0, 29]), FrameRefusal::Length);
            refused(&with(frame, at + 4, &[0xff, 0xff]), FrameRefusal::Length);
        }
        for short in 1..8 {
            refused(&with(frame, at + 4, &[0, short]), FrameRefusal::Length);
        }
        refused(&with(frame, at + 4, &[0, 0]), FrameRefusal::LengthZero);
    }
    // IP longer than the frame.
    refused(&with_v4(&four, IP + 2, &[0, 49]), FrameRefusal::Length);
    refused(&with(&six, IP + 4, &[0, 29]), FrameRefusal::Length);
    // IP that ends within the UDP header.
    for short in 0..8 {
        refused(&with_v4(&four, IP + 2, &[0, 20 + short]), FrameRefusal::UdpHeader);
    }
    for short in 1..8 {
        refused(&with(&six, IP + 4, &[0, short]), FrameRefusal::UdpHeader);
    }
    refused(&with(&six, IP + 4, &[0, 0]), FrameRefusal::Jumbogram);
    // IP shorter than its own header.
    refused(&with_v4(&four, IP + 2, &[0, 19]), FrameRefusal::IpHeader);
    refused(&with_v4(&four, IP + 2, &[0, 0]), FrameRefusal::IpHeader);
    refused(&with_v4(&four, IP, &[0x44]), FrameRefusal::IpHeader);
    refused(&with(&four, IP, &[0x65]), FrameRefusal::IpHeader);
    refused(&with(&six, IP, &[0x40]), FrameRefusal::IpHeader);
    refused(&with_v4(&four, IP, &[0x4d]), FrameRefusal::IpHeader);
}

#[test]
fn a_datagram_of_no_payload_is_a_datagram() {
    for udp_at in [UDP_V4, UDP_V6] {
        let frame = if udp_at == UDP_V4 { plain_v4() } else { plain_v6() };
        let empty = with(&frame, udp_at + 4, &[0, 8]);
        assert_eq!(trust(&empty).unwrap().payload, b"");
    }
}

#[test]
fn fragments_are_refused_and_the_two_bits_that_say_nothing_are_not() {
    let four = plain_v4();
    for fragment in [[0x20, 0], [0, 1], [0x1f, 0xff], [0x3f, 0xff], [0x20, 1], [0x60, 0]] {
        refused(&with_v4(&four, IP + 6, &fragment), FrameRefusal::Fragment);
    }
    for whole in [[0x40, 0], [0x80, 0], [0xc0, 0]] {
        assert_eq!(read(&with_v4(&four, IP + 6, &whole)).unwrap().payload, PAYLOAD);
    }
}

#[test]
fn other_protocols_are_told_apart_from_other_packets() {
    refused(&with_v4(&plain_v4(), IP + 9, &[6]), FrameRefusal::NotUdp);
    refused(&with(&plain_v6(), IP + 6, &[58]), FrameRefusal::NotUdp);
    // UDP-Lite is another protocol, mobility and the like are none that datagrams come behind.
    for protocol in [136, 135, 139, 140, 50, 59] {
        refused(&with(&plain_v6(), IP + 6, &[protocol]), FrameRefusal::NotUdp);
    }
    for ethertype in [[8, 6], [0x88, 0xcc], [0, 46], [0x88, 0x64]] {
        refused(&with(&plain_v4(), 12, &ethertype), FrameRefusal::NotIp);
    }
    assert_eq!(read_as(147, &plain_v4(), Checksums::Trust), Err(FrameRefusal::LinkType));
}

#[test]
fn sums_are_verified_where_asked_and_zero_is_none_over_ipv4_alone() {
    let (four, six) = (plain_v4(), plain_v6());
    let wrong = with(&four, IP + 8, &[63]);
    assert_eq!((read(&wrong), trust(&wrong)), (Err(FrameRefusal::IpChecksum), trust(&four)));
    for (frame, at) in [(&four, UDP_V4), (&six, UDP_V6)] {
        for place in (at..frame.len()).filter(|place| !(at + 4..at + 6).contains(place)) {
            let wrong = with(frame, place, &[frame[place] ^ 0x10]);
            assert_eq!(read(&wrong), Err(FrameRefusal::UdpChecksum), "byte {place}");
            assert!(trust(&wrong).is_ok());
        }
    }
    let none = with(&four, UDP_V4 + 6, &[0, 0]);
    assert_eq!(read(&none), trust(&four));
    let none = with(&six, UDP_V6 + 6, &[0, 0]);
    assert_eq!((read(&none), trust(&none)), (Err(FrameRefusal::UdpChecksum), trust(&six)));
    // Addresses are summed, too.
    let other = with(&six, IP + 20, &[0xfc]);
    assert_eq!(read(&other), Err(FrameRefusal::UdpChecksum));
    let other = with_v4(&four, IP + 12, &[11]);
    assert_eq!(read(&other), Err(FrameRefusal::UdpChecksum));
}

#[test]
fn a_mapped_address_does_not_travel() {
    let address = mapped([10, 0, 0, 1]).to_be_bytes();
    for at in [IP + 8, IP + 24] {
        refused(&with(&plain_v6(), at, &address), FrameRefusal::MappedAddress);
    }
}

#[test]
fn every_cut_says_whether_the_wire_had_more() {
    for frame in [plain_v4(), plain_v6()] {
        for length in 0..frame.len() {
            let bytes = &frame[..length];
            let wire_bytes = frame.len() as u32;
            let received = Received { bytes, wire_bytes, link_type: 1, ..Received::default() };
            assert_eq!(udp(&received, Checksums::Verify), Err(FrameRefusal::Cut), "{length}");
            let reason = read(bytes).unwrap_err();
            assert!(matches!(reason, FrameRefusal::Short | FrameRefusal::Length), "{length}");
        }
        // Only padding was cut off: the datagram is whole.
        let wire_bytes = frame.len() as u32 + 20;
        let received = Received { bytes: &frame, wire_bytes, link_type: 1, ..Received::default() };
        assert_eq!(udp(&received, Checksums::Verify).unwrap().payload, PAYLOAD);
    }
}

#[test]
fn labels_and_indices_are_those_of_the_list() {
    for (index, refusal) in FrameRefusal::ALL.into_iter().enumerate() {
        assert_eq!(refusal.index(), index);
    }
    let labels: std::collections::BTreeSet<_> =
        FrameRefusal::ALL.iter().map(|refusal| refusal.label()).collect();
    assert_eq!(labels.len(), FrameRefusal::ALL.len());
}
