//! Any bytes of any link type: no panic, and never a field that is not in the bytes.

use super::*;
use crate::seeded::Seeded;

/// Good packets with all that can stand before ports.
fn good() -> Vec<(u32, Vec<u8>)> {
    let mut vlan = tcp4();
    vlan.splice(12..12, [0x88, 0xa8, 0, 7, 0x81, 0, 0, 9]);
    let hop_to = |next: u8| [next, 0, 1, 4, 0, 0, 0, 0];
    let auth_to = |next: u8| [next, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1];
    let fragment_to = |next: u8| [next, 0, 0, 1, 0, 0, 0, 9];
    let chain = [&hop_to(43)[..], &hop_to(44), &fragment_to(51), &auth_to(17), &UDP_53].concat();
    let mut options = raw4(17, 0, &[&[1; 8][..], &UDP_53].concat());
    options[0] = 0x47;
    let cooked = [&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0][..], &tcp4()[14..]].concat();
    let cooked2 =
        [&[0x86, 0xdd, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0][..], &tcp6()[14..]]
            .concat();
    vec![
        (1, tcp4()),
        (1, tcp6()),
        (1, vlan),
        (RAW, raw6(0, &chain)),
        (RAW, raw4(51, 0, &[&auth_to(6)[..], &tcp4()[34..]].concat())),
        (RAW, options),
        (113, cooked),
        (276, cooked2),
        (9, [&[0xff, 3, 0, 0x21][..], &tcp4()[14..]].concat()),
        (0, [&[30, 0, 0, 0][..], &tcp6()[14..]].concat()),
    ]
}

#[test]
fn a_packet_cut_anywhere_keeps_only_true_fields_and_says_so() {
    for (link_type, bytes) in good() {
        let (whole, trouble) = headers(link_type, &bytes);
        assert_eq!((trouble, whole.ports.is_some()), (None, true), "{link_type}");
        let mut known_before = 0;
        let mut complete = false;
        for length in 0..=bytes.len() {
            let (cut, trouble) = headers(link_type, &bytes[..length]);
            let known = known_fields(&cut, &whole).unwrap_or_else(|| {
                panic!("{link_type}, {length} bytes: {cut:?} is not of {whole:?}");
            });
            assert!(known >= known_before, "{link_type}, {length}: fields were lost again");
            known_before = known;
            // Once all is there it stays so, and until then there is a reason.
            assert!(trouble.is_some() || cut == whole, "{link_type}, {length}");
            assert!(!complete || trouble.is_none(), "{link_type}, {length}");
            complete = trouble.is_none();
        }
        assert!(complete);
    }
}

/// How many fields `cut` has, all equal to those of `whole`.
fn known_fields(cut: &Headers, whole: &Headers) -> Option<usize> {
    fn one<T: PartialEq>(cut: &Option<T>, whole: &Option<T>) -> Option<usize> {
        match cut {
            None => Some(0),
            Some(_) => (cut == whole).then_some(1),
        }
    }
    Some(
        one(&cut.src_mac, &whole.src_mac)?
            + one(&cut.dst_mac, &whole.dst_mac)?
            + one(&cut.ethertype, &whole.ethertype)?
            + one(&cut.vlan, &whole.vlan)?
            + one(&cut.ip4, &whole.ip4)?
            + one(&cut.ip6, &whole.ip6)?
            + one(&cut.proto, &whole.proto)?
            + one(&cut.ports, &whole.ports)?
            + one(&cut.tcp_flags, &whole.tcp_flags)?,
    )
}

/// Fields of one packet that exclude or need each other.
fn check_sense(link_type: u32, bytes: &[u8]) {
    let (headers, trouble) = headers(link_type, bytes);
    let context = || format!("link type {link_type}: {headers:?} {trouble:?} of {bytes:02x?}");
    assert!(headers.ip4.is_none() || headers.ip6.is_none(), "{}", context());
    let ip = headers.ip4.is_some() || headers.ip6.is_some();
    assert!(headers.proto.is_none() || ip, "{}", context());
    let with_ports = matches!(headers.proto, Some(6 | 17 | 33 | 132 | 136));
    assert!(headers.ports.is_none() || with_ports, "{}", context());
    assert!(headers.tcp_flags.is_none() || headers.proto == Some(6), "{}", context());
    assert!(headers.vlan.is_none_or(|v| v < 4_096), "{}", context());
    assert!(trouble.is_some() || ip, "{}", context());
}

#[test]
fn random_bytes_of_every_link_type_make_sense() {
    let mut seeded = Seeded::new("random_bytes_of_every_link_type_make_sense");
    for round in 0..60_000_u32 {
        let count = seeded.below(120);
        check_sense(round % 300, &seeded.bytes(count));
    }
}

#[test]
fn mutations_of_good_packets_make_sense() {
    let mut seeded = Seeded::new("mutations_of_good_packets_make_sense");
    let good = good();
    for round in 0..60_000 {
        let (link_type, mut bytes) = good[round % good.len()].clone();
        for _ in 0..=seeded.below(4) {
            let at = seeded.below(bytes.len());
            match seeded.below(4) {
                0 => bytes[at] ^= 1 << seeded.below(8),
                1 => bytes[at] = [0, 1, 43, 44, 51, 60, 0x45, 0xff][seeded.below(8)],
                2 => bytes.truncate(at.max(1)),
                _ => drop(bytes.splice(at..at, seeded.bytes(4))),
            }
        }
        check_sense(link_type, &bytes);
        check_sense(seeded.below(300) as u32, &bytes);
    }
}
