//! Claims about lookups over UDP.

use bloomrf_engine::wire::lookup::{LookupReply, LookupStatus};

use super::*;

fn exactly_one(sent: &[Vec<u8>]) -> &[u8] {
    assert_eq!(sent.len(), 1);
    &sent[0]
}

#[test]
fn a_lookup_is_answered_with_its_ends_swapped_over_both_families_tagged_or_not() {
    for ips in [Ips::V4(IP, OWN), Ips::V6(IP_6, OWN_6)] {
        for vlan in [None, Some(7), Some(4_094)] {
            let mut bench = Bench::new();
            let request = Datagram { vlan, ips, ..Datagram::of(question(100, true)) };
            let sent = bench.give(&request.frame());
            let reply = read(exactly_one(&sent));
            assert_eq!((reply.macs, reply.ports), ((OWN_MAC, MAC), (LOOKUP, PORT)));
            assert_eq!(reply.vlan, vlan);
            match reply.ips {
                Ips::V4(from, to) => assert_eq!((from, to), (OWN, IP)),
                Ips::V6(from, to) => assert_eq!((from, to), (OWN_6, IP_6)),
            }
            assert!(sent[0].len() <= request.frame().len());
            let answer = LookupReply::parse(&reply.payload).unwrap();
            assert_eq!((answer.status, answer.query_id), (LookupStatus::Ok, 7));
            assert_eq!((answer.candidates, answer.no_filter), (100, 100));
            assert_eq!(bench.counted(PortOutcome::Answered), 1);
        }
    }
}

#[test]
fn a_reply_is_these_bytes() {
    let mut bench = Bench::new();
    let frame = Datagram::of(question(8, true)).frame();
    let sent = bench.give(&frame);
    let reply = exactly_one(&sent);
    let mut expected = vec![];
    expected.extend_from_slice(&MAC);
    expected.extend_from_slice(&OWN_MAC);
    // IPv4, 20 + 8 + 49 bytes, not to be fragmented, hop limit 64, UDP.
    expected.extend_from_slice(&[8, 0, 0x45, 0, 0, 77, 0, 0, 0x40, 0, 64, 17, 0x25, 0xd8]);
    expected.extend_from_slice(&[10, 99, 0, 1, 10, 99, 0, 2, 0x1b, 0x55, 0x9c, 0x40, 0, 57]);
    assert_eq!(reply[..expected.len()], expected);
    assert_eq!(reply.len(), 14 + 77);
    assert_eq!(&reply[42..46], b"BRFL");
}

#[test]
fn an_under_padded_lookup_gets_a_bare_too_short() {
    let mut bench = Bench::new();
    let request = Datagram::of(question(5_000, false));
    let sent = bench.give(&request.frame());
    let reply = read(exactly_one(&sent));
    assert!(reply.payload.len() <= request.payload.len());
    let answer = LookupReply::parse(&reply.payload).unwrap();
    assert_eq!((answer.status, answer.excluded.len()), (LookupStatus::TooShort, 0));
}

#[test]
fn a_reply_is_no_longer_than_a_frame_carries_over_ipv6_too() {
    for (ips, payload_max) in [(Ips::V4(IP, OWN), 1_472), (Ips::V6(IP_6, OWN_6), 1_452)] {
        // As many candidates as a reply of 1,472 bytes can tell of.
        for candidates in [11_000, 11_232, 11_233, 11_392, 11_393] {
            let mut bench = Bench::new();
            let mut payload = question(candidates, true);
            payload.truncate(1_472);
            let request = Datagram { ips, ..Datagram::of(payload) };
            for reply in bench.give(&request.frame()) {
                let reply = read(&reply);
                assert!(reply.payload.len() <= payload_max.min(request.payload.len()));
            }
        }
    }
}

/// Each with what it is counted as.
fn unanswerable() -> Vec<(&'static str, Datagram, PortOutcome)> {
    let good = Datagram::of(question(8, true));
    let (v4, v6) = (|from, to| Ips::V4(from, to), |from, to| Ips::V6(from, to));
    let mut group_6 = OWN_6;
    (group_6[0], group_6[1]) = (0xff, 2);
    let mut v6_mapped = [0; 16];
    v6_mapped[10..].copy_from_slice(&[0xff, 0xff, 10, 99, 0, 2]);
    let mut malformed = good.payload.clone();
    malformed[20] ^= 1;
    vec![
        ("reflected", Datagram { ports: (LOOKUP, LOOKUP), ..good.clone() }, PortOutcome::Refused),
        ("port 0", Datagram { ports: (0, LOOKUP), ..good.clone() }, PortOutcome::Refused),
        ("another port", Datagram { ports: (PORT, 53), ..good.clone() }, PortOutcome::Kind),
        ("to all", Datagram { macs: (MAC, [0xff; 6]), ..good.clone() }, PortOutcome::Refused),
        ("to a group", Datagram { macs: (MAC, [1; 6]), ..good.clone() }, PortOutcome::Refused),
        ("to another", Datagram { macs: (MAC, [2; 6]), ..good.clone() }, PortOutcome::Refused),
        ("of all", Datagram { macs: ([0xff; 6], OWN_MAC), ..good.clone() }, PortOutcome::Refused),
        ("of us", Datagram { macs: (OWN_MAC, OWN_MAC), ..good.clone() }, PortOutcome::Refused),
        ("ip to all", Datagram { ips: v4(IP, [255; 4]), ..good.clone() }, PortOutcome::Target),
        (
            "ip to all of the network",
            Datagram { ips: v4(IP, [10, 99, 0, 255]), ..good.clone() },
            PortOutcome::Target,
        ),
        ("ip to another", Datagram { ips: v4(IP, IP), ..good.clone() }, PortOutcome::Target),
        ("ip of all", Datagram { ips: v4([255; 4], OWN), ..good.clone() }, PortOutcome::Refused),
        (
            "ip of all of the network",
            Datagram { ips: v4([10, 99, 0, 255], OWN), ..good.clone() },
            PortOutcome::Refused,
        ),
        ("of a group", Datagram { ips: v4([224; 4], OWN), ..good.clone() }, PortOutcome::Refused),
        ("of nobody", Datagram { ips: v4([0; 4], OWN), ..good.clone() }, PortOutcome::Refused),
        ("of ourselves", Datagram { ips: v4(OWN, OWN), ..good.clone() }, PortOutcome::Refused),
        (
            "of the loop",
            Datagram { ips: v4([127, 0, 0, 1], OWN), ..good.clone() },
            PortOutcome::Refused,
        ),
        ("v6 group", Datagram { ips: v6(IP_6, group_6), ..good.clone() }, PortOutcome::Target),
        (
            "v6 of a group",
            Datagram { ips: v6(group_6, OWN_6), ..good.clone() },
            PortOutcome::Refused,
        ),
        (
            "v6 of nobody",
            Datagram { ips: v6([0; 16], OWN_6), ..good.clone() },
            PortOutcome::Refused,
        ),
        ("mapped", Datagram { ips: v6(v6_mapped, OWN_6), ..good.clone() }, PortOutcome::Damaged),
        ("malformed", Datagram { payload: malformed, ..good.clone() }, PortOutcome::Refused),
        ("empty", Datagram { payload: vec![], ..good.clone() }, PortOutcome::Refused),
        ("too long", Datagram { payload: vec![0; 1_473], ..good }, PortOutcome::Refused),
    ]
}

#[test]
fn who_must_not_be_answered_is_not_and_is_counted() {
    for (what, datagram, outcome) in unanswerable() {
        for vlan in [None, Some(9)] {
            let mut bench = Bench::new();
            let frame = Datagram { vlan, ..datagram.clone() }.frame();
            assert_eq!(bench.give(&frame), Vec::<Vec<u8>>::new(), "{what}");
            assert_eq!(bench.counted(outcome), 1, "{what}");
            assert_eq!(bench.shared.metrics.port.frames(), 1, "{what}");
        }
    }
}

#[test]
fn wrong_checksums_are_refused_unless_they_are_trusted() {
    for ips in [Ips::V4(IP, OWN), Ips::V6(IP_6, OWN_6)] {
        let mut frame = Datagram { ips, ..Datagram::of(question(8, true)) }.frame();
        let at = frame.len() - question(8, true).len() - 2;
        frame[at] ^= 0x55;
        let mut bench = Bench::new();
        assert!(bench.give(&frame).is_empty());
        assert_eq!(bench.counted(PortOutcome::Damaged), 1);
        let mut bench = Bench::with(|c| c.link.checksums = crate::config::Checksums::Trust);
        read(exactly_one(&bench.give(&frame)));
    }
}

#[test]
fn networks_that_are_not_allowed_or_ask_too_often_hear_nothing() {
    let frame = Datagram::of(question(8, true)).frame();
    let allow = |text: &str| crate::Networks::parse(text).unwrap();
    let mut bench = Bench::with(|c| c.lookup_allow = allow("10.98.0.0/16"));
    assert!(bench.give(&frame).is_empty());
    let mut bench = Bench::with(|c| {
        (c.lookup_allow, c.lookup_rate) = (allow("10.99.0.0/16"), 1);
    });
    let answered: Vec<usize> = (0..3).map(|_| bench.give(&frame).len()).collect();
    assert_eq!(answered, [1, 0, 0]);
    bench.pass_ms(1_001);
    assert_eq!(bench.give(&frame).len(), 1);
}

#[test]
fn with_keys_only_sealed_questions_are_answered_and_the_reply_is_sealed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    std::fs::write(&path, "1 000102030405060708090a0b0c0d0e0f\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let ring = crate::keys::load(&path).unwrap();
    let mut bench = Bench::with(|config| config.lookup_keys = Some(path));
    assert!(bench.give(&Datagram::of(question(8, true)).frame()).is_empty());

    let request = LookupRequest::parse(&question(8, true)).unwrap();
    let mut sealed = Vec::new();
    let seal = request.encode_keyed(&mut sealed, true, ring.signer());
    let sent = bench.give(&Datagram::of(sealed.clone()).frame());
    let reply = read(exactly_one(&sent)).payload;
    assert!(reply.len() <= sealed.len());
    bloomrf_engine::wire::lookup::authenticate_reply(&reply, ring.signer(), seal).unwrap();
    // The reverse: nobody who seals believes a node without keys.
    assert!(Bench::new().give(&Datagram::of(sealed).frame()).is_empty());
}
