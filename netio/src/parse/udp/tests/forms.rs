//! Tags, options, extension headers and link layers, by etherparse's builder where it has them;
//! and that the fast path says what the slow one does.

use etherparse::{
    IpAuthHeader, IpFragOffset, IpNumber, Ipv4Options, Ipv6FragmentHeader, Ipv6RawExtHeader,
    Ipv6RoutingExtensions, VlanId,
};

use super::*;
use crate::seeded::Seeded;

fn tagged(frame: &[u8], tags: &[[u8; 2]]) -> Vec<u8> {
    let tags: Vec<u8> = tags.iter().flat_map(|kind| [kind[0], kind[1], 0x60, 9]).collect();
    [&frame[..12], &tags, &frame[12..]].concat()
}

fn padding(length: usize) -> Ipv6RawExtHeader {
    Ipv6RawExtHeader::new_raw(IpNumber(0), &vec![0; length]).unwrap()
}

fn auth() -> IpAuthHeader {
    IpAuthHeader::new(IpNumber(0), 1, 1, &[7; 12]).unwrap()
}

fn fragment(offset: u16, more: bool) -> Ipv6FragmentHeader {
    Ipv6FragmentHeader::new(IpNumber(0), IpFragOffset::try_new(offset).unwrap(), more, 9)
}

#[test]
fn up_to_eight_tags_of_any_kind_are_passed_over() {
    let kinds = [[0x81, 0], [0x88, 0xa8], [0x91, 0], [0x92, 0]];
    for frame in [plain_v4(), plain_v6()] {
        for kind in kinds {
            for count in 0..=8 {
                let read =
                    read(&tagged(&frame, &vec![kind; count])).map(|udp| udp.payload.to_vec());
                assert_eq!(read, Ok(PAYLOAD.to_vec()), "{count} tags");
            }
            refused(&tagged(&frame, &[kind; 9]), FrameRefusal::Tags);
            refused(&tagged(&frame, &[kind; 9])[..12 + 33], FrameRefusal::Short);
        }
        let tags = tagged(&frame, &kinds);
        let inner_arp = with(&tags, 12 + 16, &[8, 6]);
        refused(&inner_arp, FrameRefusal::NotIp);
    }
}

#[test]
fn what_the_builder_tags_is_accepted() {
    let id = |number| VlanId::try_new(number).unwrap();
    let ethernet = || PacketBuilder::ethernet2(MAC_A, MAC_B);
    let mut frames = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let one = ethernet().single_vlan(id(5));
    one.ipv4([10, 1, 2, 3], [10, 9, 8, 7], 9).udp(1, 2).write(&mut frames[0], PAYLOAD).unwrap();
    let two = ethernet().double_vlan(id(5), id(6));
    two.ipv4([10, 1, 2, 3], [10, 9, 8, 7], 9).udp(1, 2).write(&mut frames[1], PAYLOAD).unwrap();
    let one = ethernet().single_vlan(id(5));
    one.ipv6([1; 16], [2; 16], 9).udp(1, 2).write(&mut frames[2], PAYLOAD).unwrap();
    let two = ethernet().double_vlan(id(5), id(6));
    two.ipv6([1; 16], [2; 16], 9).udp(1, 2).write(&mut frames[3], PAYLOAD).unwrap();
    for frame in &frames {
        assert_eq!(read(frame).unwrap().payload, PAYLOAD);
    }
}

#[test]
fn options_and_authentication_over_ipv4_are_passed_over() {
    for words in 0..=10 {
        let options = Ipv4Options::try_from(&vec![1; words * 4][..]).unwrap();
        for auth in [None, Some(auth())] {
            let header = Ipv4Header { options: options.clone(), ..v4() };
            let frame = build(IpHeaders::Ipv4(header, Ipv4Extensions { auth }));
            assert_eq!(read(&frame).unwrap().payload, PAYLOAD, "{words} words");
        }
    }
    let frame = build(IpHeaders::Ipv4(v4(), Ipv4Extensions { auth: Some(auth()) }));
    refused(&with(&frame, IP + 21, &[0]), FrameRefusal::Extensions);
    refused(&with(&frame, IP + 21, &[200]), FrameRefusal::Extensions);
}

#[test]
fn extension_headers_of_one_whole_datagram_are_passed_over() {
    let routing =
        Ipv6RoutingExtensions { routing: padding(14), final_destination_options: Some(padding(6)) };
    let all = Ipv6Extensions {
        hop_by_hop_options: Some(padding(6)),
        destination_options: Some(padding(22)),
        routing: Some(routing),
        fragment: Some(fragment(0, false)),
        auth: Some(auth()),
    };
    assert_eq!(read(&build(of_v6(all))).unwrap().payload, PAYLOAD);
    for (offset, more) in [(0, true), (1, false), (1, true), (8_191, false)] {
        let fragment = Some(fragment(offset, more));
        refused(
            &build(of_v6(Ipv6Extensions { fragment, ..Ipv6Extensions::default() })),
            FrameRefusal::Fragment,
        );
    }
}

/// IPv6 with a chain written by hand: its first kind, and its bytes.
fn chained(first: u8, chain: &[u8]) -> Vec<u8> {
    let frame = plain_v6();
    let length = (chain.len() + 8 + PAYLOAD.len()) as u16;
    let mut frame = with(&frame, IP + 4, &length.to_be_bytes());
    frame[IP + 6] = first;
    frame.splice(UDP_V6..UDP_V6, chain.iter().copied());
    frame
}

#[test]
fn chains_that_no_honest_sender_writes_are_refused_by_name() {
    let to = |next: u8| [next, 0, 1, 4, 0, 0, 0, 0];
    // Routing: its fourth byte says how many places are left.
    assert!(read(&chained(43, &[17, 0, 4, 0, 0, 0, 0, 0])).is_ok());
    refused(&chained(43, &[17, 0, 4, 1, 0, 0, 0, 0]), FrameRefusal::Routing);
    // The option of jumbograms, first and behind padding.
    refused(&chained(0, &[17, 0, 0xc2, 4, 0, 1, 0, 0]), FrameRefusal::Jumbogram);
    let late = [17, 1, 0, 1, 2, 0, 0, 0xc2, 4, 0, 1, 0, 0, 0, 0, 0];
    refused(&chained(0, &late), FrameRefusal::Jumbogram);
    // The same byte as the content of an option is none.
    assert!(read(&chained(0, &[17, 0, 1, 4, 0xc2, 4, 0, 0])).is_ok());
    refused(&chained(60, &[to(0), to(17)].concat()), FrameRefusal::Extensions);
    refused(&chained(0, &[17, 200, 0, 0, 0, 0, 0, 0]), FrameRefusal::Extensions);
    refused(&chained(51, &[17, 0, 0, 0, 0, 0, 0, 0]), FrameRefusal::Extensions);
    for count in 1..=20 {
        let chain: Vec<u8> =
            (1..=count).flat_map(|i| to(if i < count { 60 } else { 17 })).collect();
        let frame = chained(60, &chain);
        match count {
            1..=16 => assert_eq!(read(&frame).unwrap().payload, PAYLOAD, "{count}"),
            _ => refused(&frame, FrameRefusal::Extensions),
        }
    }
    refused(&chained(60, &to(6)), FrameRefusal::NotUdp);
}

#[test]
fn raw_ip_and_cooked_captures_lead_to_the_same_datagram() {
    let (four, six) = (plain_v4()[IP..].to_vec(), plain_v6()[IP..].to_vec());
    let head = [0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
    let sll = |kind: [u8; 2], ip: &[u8]| [&head, &kind[..], ip].concat();
    let sll2 = |kind: [u8; 2], ip: &[u8]| {
        [&kind, &[0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0][..], ip].concat()
    };
    for (link_type, bytes) in [
        (12, four.clone()),
        (14, six.clone()),
        (101, four.clone()),
        (101, six.clone()),
        (228, four.clone()),
        (229, six.clone()),
        (113, sll([8, 0], &four)),
        (113, sll([0x86, 0xdd], &six)),
        (113, sll([0x81, 0], &[&[0, 5, 8, 0][..], &four].concat())),
        (276, sll2([8, 0], &four)),
        (276, sll2([0x86, 0xdd], &six)),
    ] {
        let read = read_as(link_type, &bytes, Checksums::Verify);
        assert_eq!(read.unwrap().payload, PAYLOAD, "{link_type}");
        assert_eq!(read_as(link_type, &[], Checksums::Verify), Err(FrameRefusal::Short));
    }
    let read = |link_type, bytes: &[u8]| read_as(link_type, bytes, Checksums::Trust).unwrap_err();
    assert_eq!(read(228, &six), FrameRefusal::IpHeader);
    assert_eq!(read(229, &four), FrameRefusal::IpHeader);
    assert_eq!(read(101, &[0x50; 60]), FrameRefusal::IpHeader);
    assert_eq!(read(113, &sll([0, 4], &four)), FrameRefusal::NotIp);
    // Netlink: its protocol field is no EtherType.
    assert_eq!(read(113, &with(&sll([8, 0], &four), 2, &[3, 0x38])), FrameRefusal::NotIp);
}

#[test]
fn the_fast_path_says_what_the_slow_one_does() {
    let mut seeded = Seeded::new("the_fast_path_says_what_the_slow_one_does");
    let plain = [plain_v4(), plain_v6()];
    let good: Vec<Vec<u8>> = plain
        .iter()
        .flat_map(|frame| {
            [frame.clone(), tagged(frame, &[[0x81, 0]]), tagged(frame, &[[0x88, 0xa8]])]
        })
        .collect();
    let mut by_fast = 0;
    for round in 0..200_000 {
        let mut bytes = good[round % good.len()].clone();
        for _ in 0..seeded.below(3) {
            let at = seeded.below(bytes.len());
            match seeded.below(4) {
                0 => bytes[at] ^= 1 << seeded.below(8),
                1 => bytes[at] = [0, 1, 8, 0x45, 0x11, 0x60, 0x81, 0xff][seeded.below(8)],
                2 => bytes.truncate(at),
                _ => bytes.extend(seeded.bytes(3)),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let received = Received::ethernet(&bytes, 0);
        for sums in [Checksums::Trust, Checksums::Verify] {
            if let Some(outcome) = fast::read(&bytes, sums) {
                by_fast += 1;
                assert_eq!(outcome, slow::read(&received, sums), "{bytes:02x?}");
            }
        }
    }
    assert!(by_fast > 100_000, "{by_fast}");
    // Every plain frame with at most one tag goes the fast way.
    for frame in &good {
        assert!(fast::read(frame, Checksums::Verify).is_some_and(|outcome| outcome.is_ok()));
    }
}
