//! Known packets of every link type and header; `hostile` cuts and damages them.

mod hostile;

use etherparse::PacketBuilder;

use super::*;

const MAC_A: [u8; 6] = [2, 0, 0, 0, 0, 1];
const MAC_B: [u8; 6] = [2, 0, 0, 0, 0, 2];
const V4: ([u8; 4], [u8; 4]) = ([10, 1, 2, 3], [192, 168, 7, 9]);
const V6: ([u8; 16], [u8; 16]) = ([0xfd; 16], [0x20; 16]);

fn built(build: etherparse::PacketBuilderStep<etherparse::TcpHeader>) -> Vec<u8> {
    let mut bytes = Vec::new();
    build.write(&mut bytes, b"payload").unwrap();
    bytes
}

fn tcp4() -> Vec<u8> {
    built(PacketBuilder::ethernet2(MAC_A, MAC_B).ipv4(V4.0, V4.1, 64).tcp(1234, 445, 1, 9).syn())
}

fn tcp6() -> Vec<u8> {
    built(PacketBuilder::ethernet2(MAC_A, MAC_B).ipv6(V6.0, V6.1, 64).tcp(1234, 445, 1, 9).fin())
}

/// An IPv6 packet over no link layer: `chain` stands between the header and what follows.
fn raw6(next: u8, chain: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0, 0, chain.len() as u8, next, 64];
    bytes.extend(V6.0.iter().chain(&V6.1).chain(chain));
    bytes
}

/// An IPv4 packet over no link layer; `fragment` is the word of flags and offset.
fn raw4(protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x45, 0, 0, 20 + payload.len() as u8, 0, 0];
    bytes.extend(fragment.to_be_bytes());
    bytes.extend([64, protocol, 0, 0]);
    bytes.extend(V4.0.iter().chain(&V4.1).chain(payload));
    bytes
}

const UDP_53: [u8; 8] = [0x12, 0x34, 0, 53, 0, 8, 0, 0];
const RAW: u32 = 101;

#[test]
fn ethernet_gives_every_field_of_tcp_over_ipv4_and_ipv6() {
    let (headers, trouble) = headers(1, &tcp4());
    let common = Headers {
        src_mac: Some(MAC_A),
        dst_mac: Some(MAC_B),
        proto: Some(6),
        ports: Some((1234, 445)),
        ..Headers::default()
    };
    let expected =
        Headers { ethertype: Some(0x0800), ip4: Some(V4), tcp_flags: Some(2), ..common.clone() };
    assert_eq!((headers, trouble), (expected, None));
    let expected = Headers { ethertype: Some(0x86dd), ip6: Some(V6), tcp_flags: Some(1), ..common };
    assert_eq!(super::headers(1, &tcp6()), (expected, None));
}

#[test]
fn the_outer_vlan_and_the_ethertype_behind_all_tags_are_kept() {
    for tags in 1..=8_u8 {
        let mut bytes = tcp4();
        let tag = |i: u8| {
            [if i == 0 { 0x88 } else { 0x81 }, if i == 0 { 0xa8 } else { 0 }, 0xe0, 100 + i]
        };
        bytes.splice(12..12, (0..tags).flat_map(tag));
        let (headers, trouble) = headers(1, &bytes);
        assert_eq!(headers.vlan, Some(100));
        if tags < 8 {
            assert_eq!((headers.ethertype, headers.ports), (Some(0x0800), Some((1234, 445))));
        } else {
            assert_eq!((headers.ethertype, trouble), (None, Some(Trouble::LinkHeader)));
        }
    }
}

#[test]
fn every_link_layer_leads_to_the_same_ip_packet() {
    let ip = tcp4()[14..].to_vec();
    let ip6 = tcp6()[14..].to_vec();
    let prefixes: [(u32, &[u8], &[u8]); 14] = [
        (0, &[2, 0, 0, 0], &[30, 0, 0, 0]),
        (0, &[0, 0, 0, 2], &[0, 0, 0, 24]),
        (108, &[0, 0, 0, 2], &[0, 0, 0, 28]),
        (9, &[0xff, 3, 0, 0x21], &[0xff, 3, 0, 0x57]),
        (9, &[0x21], &[0x57]),
        (50, &[0x0f, 0, 8, 0], &[0x0f, 0, 0x86, 0xdd]),
        (51, &[0x11, 0, 0, 1, 0xff, 0xff, 0, 0x21], &[0x11, 0, 0, 1, 0xff, 0xff, 0, 0x57]),
        (12, &[], &[]),
        (14, &[], &[]),
        (101, &[], &[]),
        (104, &[0x8f, 0, 8, 0], &[0x8f, 0, 0x86, 0xdd]),
        (204, &[1, 0xff, 3, 0, 0x21], &[0, 0xff, 3, 0, 0x57]),
        (
            113,
            &[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0],
            &[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0x86, 0xdd],
        ),
        (
            276,
            &[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0],
            &[0x86, 0xdd, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0],
        ),
    ];
    for (link_type, four, six) in prefixes {
        let (found, trouble) = headers(link_type, &[four, &ip].concat());
        assert_eq!((found.ip4, found.ports, trouble), (Some(V4), Some((1234, 445)), None));
        if link_type == 113 || link_type == 276 {
            assert_eq!((found.src_mac, found.ethertype), (Some(MAC_A), Some(0x0800)));
        }
        let (found, trouble) = headers(link_type, &[six, &ip6].concat());
        assert_eq!((found.ip6, found.ports, trouble), (Some(V6), Some((1234, 445)), None));
    }
    assert_eq!(headers(228, &ip).0.ip4, Some(V4));
    assert_eq!(headers(229, &ip6).0.ip6, Some(V6));
    assert_eq!(headers(228, &ip6).1, Some(Trouble::IpHeader));
    assert_eq!(headers(147, &ip), (Headers::default(), Some(Trouble::LinkType)));
    assert_eq!(headers(1, &[]), (Headers::default(), Some(Trouble::LinkHeader)));
}

#[test]
fn pppoe_snap_and_vn_tags_lead_to_ip_and_mpls_does_not() {
    let frame = |between: &[u8]| [&tcp4()[..12], between, &tcp4()[14..]].concat();
    let ports = |between: &[u8]| super::headers(1, &frame(between)).0.ports;
    let known = Some((1234, 445));
    assert_eq!(ports(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 100, 0, 0x21]), known);
    assert_eq!(ports(&[0, 60, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]), known);
    assert_eq!(ports(&[0x89, 0x26, 1, 2, 3, 4, 8, 0]), known);
    for (between, ethertype) in [
        (&[0x88, 0x47, 0, 0, 0x11, 64][..], Some(0x8847)),
        (&[8, 6], Some(0x0806)),
        (&[0, 60, 0x42, 0x42, 3], None),
    ] {
        let (headers, trouble) = headers(1, &frame(between));
        assert_eq!((headers.ethertype, trouble), (ethertype, Some(Trouble::NotIp)));
        assert_eq!((headers.src_mac, headers.proto), (Some(MAC_A), None));
    }
}

#[test]
fn ipv6_extension_headers_are_followed_and_bounded() {
    let hop_to = |next: u8| [next, 0, 1, 4, 0, 0, 0, 0];
    let auth_to_udp = [17, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1];
    for (first, chain) in [
        (0, [hop_to(60), hop_to(43), hop_to(17)].concat()),
        (51, auth_to_udp.to_vec()),
        (135, [hop_to(140), hop_to(139), hop_to(17)].concat()),
        (60, (1..=15).map(|i| hop_to(if i < 15 { 60 } else { 17 })).collect::<Vec<_>>().concat()),
    ] {
        let (found, trouble) = headers(RAW, &raw6(first, &[&chain[..], &UDP_53].concat()));
        assert_eq!((found.proto, found.ports, trouble), (Some(17), Some((0x1234, 53)), None));
    }
    let endless: Vec<u8> = (0..30).flat_map(|_| hop_to(60)).collect();
    let (found, trouble) = headers(RAW, &raw6(60, &endless));
    assert_eq!((found.ip6, found.proto, trouble), (Some(V6), None, Some(Trouble::IpHeader)));
    let (found, trouble) = headers(RAW, &raw6(0, &[17, 200, 0, 0, 0, 0, 0, 0]));
    assert_eq!((found.ip6, found.proto, trouble), (Some(V6), None, Some(Trouble::IpHeader)));
    for protocol in [50, 58, 59, 4, 41, 47] {
        let (found, trouble) = headers(RAW, &raw6(protocol, &[7; 40]));
        assert_eq!((found.proto, found.ports, trouble), (Some(protocol), None, None));
    }
}

#[test]
fn only_the_first_fragment_has_ports() {
    let (first, later) = (0x2000, 0x2001);
    let (found, trouble) = headers(RAW, &raw4(17, first, &UDP_53));
    assert_eq!((found.proto, found.ports, trouble), (Some(17), Some((0x1234, 53)), None));
    let (found, trouble) = headers(RAW, &raw4(17, later, &UDP_53));
    assert_eq!((found.ip4, found.proto, found.ports, trouble), (Some(V4), Some(17), None, None));

    let fragment = |next: u8, offset: u8| [next, 0, 0, offset, 0, 0, 0, 9];
    let of = |next, offset| headers(RAW, &raw6(44, &[fragment(next, offset), UDP_53].concat()));
    let (found, trouble) = of(17, 1);
    assert_eq!((found.proto, found.ports, trouble), (Some(17), Some((0x1234, 53)), None));
    let (found, trouble) = of(17, 9);
    assert_eq!((found.proto, found.ports, trouble), (Some(17), None, None));
    // Destination options come first: what the protocol is stands in the first fragment.
    let (found, trouble) = of(60, 9);
    assert_eq!((found.proto, found.ports, trouble), (None, None, None));
}

#[test]
fn padding_is_no_payload_and_a_length_of_zero_is_unknown() {
    let mut padded = raw4(6, 0, &[]);
    padded.extend([9; 26]);
    let (found, trouble) = headers(RAW, &padded);
    assert_eq!((found.proto, found.ports), (Some(6), None));
    assert_eq!(trouble, Some(Trouble::TransportHeader));
    let mut jumbo = raw4(17, 0, &UDP_53);
    jumbo[3] = 0;
    assert_eq!(headers(RAW, &jumbo).0.ports, Some((0x1234, 53)));
    jumbo[3] = 19;
    let (found, trouble) = headers(RAW, &jumbo);
    assert_eq!((found.ip4, found.proto, found.ports), (Some(V4), Some(17), None));
    assert_eq!(trouble, Some(Trouble::IpHeader));
}

#[test]
fn malformed_headers_keep_what_is_known() {
    let mut short_offset = tcp4();
    short_offset[14 + 20 + 12] = 0x10;
    let (found, trouble) = headers(1, &short_offset);
    assert_eq!((found.ports, found.tcp_flags), (Some((1234, 445)), Some(2)));
    assert_eq!(trouble, Some(Trouble::TransportHeader));
    let mut long_options = raw4(17, 0, &UDP_53);
    long_options[0] = 0x4f;
    let (found, trouble) = headers(RAW, &long_options);
    assert_eq!((found.ip4, found.proto, found.ports), (Some(V4), Some(17), None));
    assert_eq!(trouble, Some(Trouble::IpHeader));
    for protocol in [33, 132, 136] {
        let payload = [&UDP_53[..], &[0; 8]].concat();
        let (found, trouble) = headers(RAW, &raw4(protocol, 0, &payload));
        assert_eq!((found.ports, found.tcp_flags, trouble), (Some((0x1234, 53)), None, None));
    }
    let (found, trouble) = headers(RAW, &raw4(1, 0, &[8, 0, 1, 2, 3, 4]));
    assert_eq!((found.proto, found.ports, trouble), (Some(1), None, None));
}

#[test]
fn labels_and_indices_are_those_of_the_list() {
    for (index, trouble) in Trouble::ALL.into_iter().enumerate() {
        assert_eq!(trouble.index(), index);
    }
    let labels: std::collections::BTreeSet<_> = Trouble::ALL.iter().map(|t| t.label()).collect();
    assert_eq!(labels.len(), Trouble::ALL.len());
}
