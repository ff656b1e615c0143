//! Cut, damaged and hostile files: what is before the damage is read, nothing panics, reading
//! ends, and memory follows the file's real size.

use std::io::Write;

use super::*;
use crate::seeded::Seeded;

/// Reads anything that opens; the number of packets is bounded by the bytes, or reading does not
/// end.
fn read_any(bytes: &[u8]) -> Option<(Vec<Packet>, Option<Cut>)> {
    let mut capture = open(bytes).ok()?;
    let packets: Vec<_> = capture.by_ref().take(bytes.len() / 16 + 1).collect();
    assert!(packets.len() <= bytes.len() / 16, "more packets than bytes have room for");
    Some((packets, capture.cut().cloned()))
}

#[test]
fn a_pcap_cut_at_any_length_yields_the_whole_records_and_the_place() {
    let (bytes, starts) = pcap();
    for length in 24..=bytes.len() {
        let (packets, cut) = read(&bytes[..length]);
        let whole = starts.iter().filter(|s| **s <= length).count() - 1;
        assert_eq!(packets, samples()[..whole], "{length}");
        let offset = (starts[whole] < length).then_some(starts[whole] as u64);
        assert_eq!(cut.map(|c| c.offset), offset, "{length}");
    }
}

#[test]
fn a_pcapng_cut_at_any_length_yields_the_whole_blocks_and_the_place() {
    let Blocks { bytes, mut starts, .. } = pcapng();
    starts.push(bytes.len());
    for length in starts[1]..=bytes.len() {
        let (packets, cut) = read(&bytes[..length]);
        let whole = starts.iter().filter(|s| **s <= length).count() - 1;
        // Section, interface, then packets with another block behind each.
        assert_eq!(packets, samples()[..whole.saturating_sub(1) / 2], "{length}");
        let offset = (starts[whole] < length).then_some(starts[whole] as u64);
        assert_eq!(cut.map(|c| c.offset), offset, "{length}");
    }
}

#[test]
fn a_cut_gzip_yields_what_unpacked() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(&pcap().0).unwrap();
    let bytes = encoder.finish().unwrap();
    let mut most = 0;
    for length in 0..bytes.len() {
        let Some((packets, cut)) = read_any(&bytes[..length]) else { continue };
        assert_eq!(packets, samples()[..packets.len()]);
        assert!(cut.is_some(), "{length}");
        most = most.max(packets.len());
    }
    assert_eq!(most, samples().len());
    let (packets, cut) = read_any(&[&bytes[..], b"garbage"].concat()).unwrap();
    assert_eq!(packets, samples());
    assert!(cut.is_some());
}

#[test]
fn a_claimed_length_costs_no_memory() {
    let (mut bytes, starts) = pcap();
    for claimed in [u32::MAX, 0x0200_0000, 262_145, 262_144] {
        bytes[starts[1] + 8..][..4].copy_from_slice(&claimed.to_le_bytes());
        let mut capture = open(&bytes).unwrap();
        assert_eq!(capture.by_ref().count(), 1);
        assert_eq!(capture.cut().unwrap().offset, starts[1] as u64);
        let Format::Legacy(legacy) = &capture.format else { panic!("pcap") };
        assert!(legacy.memory_bytes() <= 64 << 10);
    }
    let Blocks { bytes, starts, .. } = pcapng();
    // Every block in turn claims too much, too little, or what is no multiple of 4.
    for (block, start) in starts.iter().enumerate().skip(1) {
        for claimed in [u32::MAX - 3, 0x0100_0004, 0x0100_0000, 11, 8, 0, 33] {
            let mut bytes = bytes.clone();
            bytes[start + 4..][..4].copy_from_slice(&claimed.to_le_bytes());
            let mut capture = open(&bytes).unwrap();
            assert_eq!(capture.by_ref().count(), block.saturating_sub(1) / 2);
            assert_eq!(capture.cut().unwrap().offset, *start as u64, "{claimed}");
            let Format::Pcapng(pcapng) = &capture.format else { panic!("pcapng") };
            assert!(pcapng.memory_bytes() <= 64 << 10);
        }
    }
}

#[test]
fn an_endless_stream_of_a_claimed_length_is_not_read() {
    let claims = u32::MAX.to_le_bytes();
    let pcap = [&pcap().0[..24], &[0; 8], &claims, &claims].concat();
    let mut pcapng = pcapng();
    pcapng.block(6, &[0; 4]);
    let start = *pcapng.starts.last().unwrap();
    pcapng.bytes.truncate(start + 4);
    pcapng.bytes.extend(&0xffff_fff0_u32.to_le_bytes());
    for bytes in [pcap, pcapng.bytes] {
        let endless = Cursor::new(bytes).chain(io::repeat(0));
        let mut capture = Capture::from_reader(endless, 0, "endless").unwrap();
        capture.by_ref().for_each(drop);
        assert!(capture.cut().unwrap().reason.contains("damaged"));
        assert!(capture.progress().0 <= 256 << 10);
    }
}

#[test]
fn a_block_whose_two_lengths_differ_is_damaged() {
    let Blocks { bytes, mut starts, .. } = pcapng();
    starts.push(bytes.len());
    for (block, ends) in starts.windows(2).enumerate().skip(1) {
        let mut bytes = bytes.clone();
        bytes[ends[1] - 4] ^= 4;
        let (packets, cut) = read(&bytes);
        assert_eq!(packets.len(), block.saturating_sub(1) / 2);
        assert_eq!(cut.unwrap().offset, ends[0] as u64);
    }
}

#[test]
fn impossible_blocks_are_cuts_that_say_why() {
    let reason = |build: &dyn Fn(&mut Blocks)| {
        let mut file = pcapng();
        build(&mut file);
        let (packets, cut) = read(&file.bytes);
        assert_eq!(packets, samples());
        let cut = cut.unwrap();
        assert_eq!(cut.offset, *file.starts.last().unwrap() as u64);
        cut.reason
    };
    assert!(
        reason(&|f| f.enhanced(1, 0, b"x")).contains("interface 1, where the section describes 1")
    );
    assert!(reason(&|f| f.block(6, &[0; 8])).contains("a packet of 0 bytes in a block of 20"));
    assert!(reason(&|f| f.block(6, &[0xff; 40])).contains("interface 4294967295"));
    assert!(reason(&|f| f.block(1, &[0; 4])).contains("malformed interface"));
    assert!(reason(&|f| f.block(3, &[])).contains("malformed simple packet"));
    assert!(reason(&|f| f.block(0x0a0d_0d0a, &[0; 16])).contains("byte-order mark"));
    let version_2 = [0x4d, 0x3c, 0x2b, 0x1a, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert!(reason(&|f| f.block(0x0a0d_0d0a, &version_2)).contains("version 2"));
    // A new section forgets the interfaces of the last.
    let no_interface = |f: &mut Blocks| {
        f.section(true);
        f.block(3, &[0; 8]);
    };
    assert!(reason(&no_interface).contains("before any interface"));
}

#[test]
fn a_flipped_bit_spares_what_is_before_it() {
    let (pcap, starts) = pcap();
    let ng = pcapng();
    for (bytes, packets_before) in [
        (pcap, starts.into_iter().skip(1).collect::<Vec<_>>()),
        (ng.bytes, ng.starts.iter().skip(3).step_by(2).copied().collect()),
    ] {
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let Some((packets, _)) = read_any(&damaged) else {
                assert!(bit < 28 * 8, "only the header makes it no capture: bit {bit}");
                continue;
            };
            let intact = packets_before.iter().filter(|end| **end * 8 <= bit).count();
            assert_eq!(packets[..intact], samples()[..intact], "bit {bit}");
        }
    }
}

#[test]
fn random_bytes_never_panic_and_always_end() {
    let mut seeded = Seeded::new("random_bytes_never_panic_and_always_end");
    let heads = [vec![], pcap().0[..24].to_vec(), pcapng().bytes];
    for round in 0..6_000 {
        let mut bytes = heads[round % heads.len()].clone();
        let count = seeded.below(400);
        bytes.extend(seeded.bytes(count));
        // Small numbers at the places of lengths lead deeper in.
        for _ in 0..seeded.below(20) {
            let at = seeded.below(bytes.len().max(1));
            if let Some(byte) = bytes.get_mut(at) {
                *byte = [0, 1, 2, 3, 6, 12, 32, 0xff][seeded.below(8)];
            }
        }
        read_any(&bytes);
    }
}
