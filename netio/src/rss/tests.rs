use std::net::{Ipv4Addr, Ipv6Addr};

use super::*;
use crate::seeded::Seeded;

/// Target, source, hash of the addresses, hash with ports: as the RSS specification lists them.
const PUBLISHED: [(&str, &str, u32, u32); 8] = [
    ("161.142.100.80:1766", "66.9.149.187:2794", 0x323e_8fc2, 0x51cc_c178),
    ("65.69.140.83:4739", "199.92.111.2:14230", 0xd718_262a, 0xc626_b0ea),
    ("12.22.207.184:38024", "24.19.198.95:12898", 0xd2d0_a5de, 0x5c2b_394a),
    ("209.142.163.6:2217", "38.27.205.30:48228", 0x8298_9176, 0xafc7_327f),
    ("202.188.127.2:1303", "153.39.163.191:44251", 0x5d18_09c5, 0x10e8_28a2),
    ("[3ffe:2501:200:3::1]:1766", "[3ffe:2501:200:1fff::7]:2794", 0x2cc1_8cd5, 0x4020_7d3d),
    ("[ff02::1]:4739", "[3ffe:501:8::260:97ff:fe40:efab]:14230", 0x0f0c_461c, 0xdde5_1bbf),
    (
        "[fe80::200:f8ff:fe21:67cf]:38024",
        "[3ffe:1900:4545:3:200:f8ff:fe21:67cf]:44251",
        0x4b61_e985,
        0x02d1_feef,
    ),
];

#[test]
fn hashes_are_those_that_the_specification_publishes() {
    let hash = Toeplitz::new(&KEY_OF_SPECIFICATION);
    for (target, source, addresses, ports) in PUBLISHED {
        let flow = Flow::between(source.parse().unwrap(), target.parse().unwrap()).unwrap();
        assert_eq!(hash.hash(&flow), ports, "{source} to {target}");
        assert_eq!(hash.hash(&Flow { ports: None, ..flow }), addresses, "{source} to {target}");
    }
}

/// The specification's loop: bit after bit, the key shifted along.
fn naive(key: &[u8; KEY_BYTES], input: &[u8]) -> u32 {
    let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
    let mut sum = 0;
    for at in 0..8 * input.len() {
        if bit(input, at) == 1 {
            sum ^= (at..at + 32).fold(0, |word, i| word << 1 | u32::from(bit(key, i)));
        }
    }
    sum
}

fn any_flow(seeded: &mut Seeded) -> (Flow, Vec<u8>) {
    let input = seeded.bytes(36);
    let ports = (seeded.next() as u16, seeded.next() as u16);
    let (addresses, mut bytes) = if seeded.below(2) == 0 {
        let input: [u8; 8] = input[..8].try_into().unwrap();
        let [a, b, c, d, e, f, g, h] = input;
        (Addresses::V4([a, b, c, d], [e, f, g, h]), input.to_vec())
    } else {
        let half = |at: usize| input[at..at + 16].try_into().unwrap();
        (Addresses::V6(half(0), half(16)), input[..32].to_vec())
    };
    let ports = Some(ports).filter(|_| seeded.below(3) > 0);
    for port in ports.iter().flat_map(|&(s, t)| [s, t]) {
        bytes.extend(port.to_be_bytes());
    }
    (Flow { addresses, ports }, bytes)
}

#[test]
fn tables_give_the_hash_of_the_bit_by_bit_form_under_any_key() {
    let mut seeded = Seeded::new("tables_give_the_hash_of_the_bit_by_bit_form_under_any_key");
    for _ in 0..50 {
        let key: [u8; KEY_BYTES] = seeded.bytes(KEY_BYTES).try_into().unwrap();
        let hash = Toeplitz::new(&key);
        for _ in 0..20 {
            let (flow, bytes) = any_flow(&mut seeded);
            assert_eq!(hash.hash(&flow), naive(&key, &bytes), "{flow:?}");
        }
    }
}

#[test]
fn both_directions_of_a_flow_share_a_queue_under_the_symmetric_key() {
    let mut seeded = Seeded::new("both_directions_of_a_flow_share_a_queue_under_the_symmetric_key");
    let rss = Rss::symmetric(8);
    let mut differ = false;
    for _ in 0..1_000 {
        let (flow, _) = any_flow(&mut seeded);
        let back = Flow {
            addresses: match flow.addresses {
                Addresses::V4(source, target) => Addresses::V4(target, source),
                Addresses::V6(source, target) => Addresses::V6(target, source),
            },
            ports: flow.ports.map(|(source, target)| (target, source)),
        };
        assert_eq!(rss.queue(&flow), rss.queue(&back), "{flow:?}");
        let other = Toeplitz::new(&KEY_OF_SPECIFICATION);
        differ |= other.hash(&flow) != other.hash(&back);
    }
    assert!(differ, "the specification's key is not symmetric");
}

#[test]
fn random_flows_spread_over_all_queues() {
    let mut seeded = Seeded::new("random_flows_spread_over_all_queues");
    for queues in 1..=16 {
        let rss = Rss::symmetric(queues);
        let mut counts = vec![0; queues];
        for _ in 0..4_000 {
            counts[rss.queue(&any_flow(&mut seeded).0)] += 1;
        }
        // Tables of 128 entries over 13 queues: 9 or 10 entries each.
        let fair = 4_000 / queues;
        assert!(counts.iter().all(|&c| c > fair / 2 && c < fair * 2), "{queues}: {counts:?}");
    }
}

#[test]
fn the_table_is_read_at_the_low_bits_of_the_hash() {
    let hash = Toeplitz::new(&KEY_OF_SPECIFICATION);
    for (queues, size, rounded) in [(1, 1, 1), (3, 128, 128), (5, 100, 128), (16, 512, 512)] {
        let rss = Rss::new(&KEY_OF_SPECIFICATION, queues, size);
        for (target, source, _, _) in PUBLISHED {
            let flow = Flow::between(source.parse().unwrap(), target.parse().unwrap()).unwrap();
            let expected = (hash.hash(&flow) % rounded) as usize % queues;
            assert_eq!(rss.queue(&flow), expected);
        }
    }
    assert_eq!(Rss::symmetric(0).queues(), 1);
    // More queues than the table has entries would leave some without any.
    let many = Rss::symmetric(300);
    assert_eq!(many.reta.len(), 512);
}

#[test]
fn balanced_lanes_differ_by_at_most_one_per_queue() {
    let v4 = (IpAddr::from(Ipv4Addr::new(10, 1, 2, 3)), "10.9.8.7:6987".parse().unwrap());
    let v6 = (IpAddr::from(Ipv6Addr::LOCALHOST), "[2001:db8::7]:6987".parse().unwrap());
    for (source, target) in [v4, v6] {
        for queues in 1..=16 {
            let rss = Rss::symmetric(queues);
            for lanes in [0, 1, 2, 7, 16, 64] {
                let ports =
                    rss.balance(source, target, lanes, 40_000..=65_535, |port| port % 3 != 0);
                assert_eq!(ports.len(), lanes);
                assert!(ports.iter().all(|port| port % 3 != 0), "a port that cannot be had");
                let mut load = vec![0; queues];
                rss.predict(source, target, &ports).for_each(|queue| load[queue] += 1);
                let (least, most) = (load.iter().min().unwrap(), load.iter().max().unwrap());
                assert!(most - least <= 1, "{lanes} lanes over {queues}: {load:?}");
                if queues.is_power_of_two() {
                    load.sort_unstable();
                    let other = SocketAddr::new(target.ip(), 7_001);
                    let mut there = vec![0; queues];
                    rss.predict(source, other, &ports).for_each(|queue| there[queue] += 1);
                    there.sort_unstable();
                    assert_eq!(there, load, "another target");
                }
            }
        }
    }
}

#[test]
fn candidates_that_run_out_leave_lanes_without_port() {
    let rss = Rss::symmetric(4);
    let (source, target) = (Ipv4Addr::LOCALHOST.into(), (Ipv4Addr::LOCALHOST, 6987).into());
    assert!(rss.balance(source, target, 64, 1_000..1_010, |_| true).len() <= 10);
    assert!(rss.balance(source, target, 4, 1_000..=u16::MAX, |_| false).is_empty());
}
