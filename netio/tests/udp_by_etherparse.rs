//! Raw frames against an independent reading by etherparse, that of the fuzz target `frames`:
//! every packet of every capture, every frame cut anywhere, every byte of a frame made any other.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bloomrf_netio::Received;
use bloomrf_netio::capture::Capture;
use bloomrf_netio::parse::{Checksums, FrameRefusal, udp};

#[path = "../../tools/fuzz/src/frames/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the fuzz target")]
mod frames;

use frames::{Cooked, check, cook};

/// Frames with each thing that may stand before a datagram, all of them accepted.
fn good() -> Vec<Cooked> {
    let mut all = Vec::new();
    // The last is the kind of an IPv6 header; 3 is a fragment header of a whole datagram.
    for (link, tags, v6, extensions, kind) in [
        (0, 0, 0, 0, 0),
        (0, 1, 0, 0, 0),
        (0, 2, 0, 3, 0),
        (0, 0, 1, 0, 0),
        (0, 1, 1, 0, 0),
        (0, 2, 1, 1, 0),
        (0, 0, 1, 1, 1),
        (0, 0, 1, 1, 3),
        (3, 0, 0, 0, 0),
        (5, 0, 0, 1, 0),
        (6, 1, 1, 0, 0),
    ] {
        let ports = [0x1b, 0x4b, 0x1b, 0x55];
        let recipe = [&[link, tags, v6, 21, 0, 0, 6, 0, extensions][..], &ports, &[0, 0, kind]];
        let recipe = recipe.concat();
        let mut frame = cook(&recipe);
        frames::seal(&mut frame);
        let Cooked { link_type, wire_bytes, ref bytes } = frame;
        let received = Received { bytes, link_type, wire_bytes, ..Received::default() };
        assert_eq!(udp(&received, Checksums::Verify).unwrap().payload.len(), 21, "{frame:02x?}");
        all.push(frame);
    }
    all
}

#[test]
fn every_cut_of_a_frame_reads_as_etherparse_reads_it() {
    for frame in good() {
        for length in 0..=frame.bytes.len() {
            let bytes = frame.bytes[..length].to_vec();
            check(&Cooked { bytes: bytes.clone(), ..frame });
            check(&Cooked { bytes, wire_bytes: length as u32, ..frame });
        }
    }
}

#[test]
fn every_other_byte_anywhere_reads_as_etherparse_reads_it() {
    for mut frame in good() {
        for at in 0..frame.bytes.len() {
            let kept = frame.bytes[at];
            for other in 0..=255 {
                frame.bytes[at] = other;
                check(&frame);
            }
            frame.bytes[at] = kept;
        }
    }
}

#[test]
fn every_packet_of_every_capture_reads_as_etherparse_reads_it() {
    let Some(folder) = folder() else { return println!("skipped: no data") };
    let mut outcomes: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    let mut packets = 0_u64;
    for path in captures(&folder) {
        let Ok(capture) = Capture::open(&path) else { continue };
        for packet in capture {
            let Ok(link_type) = packet.link_type.try_into() else { continue };
            let frame = Cooked { link_type, wire_bytes: packet.wire_bytes, bytes: packet.bytes };
            check(&frame);
            let Cooked { wire_bytes, ref bytes, .. } = frame;
            let received = Received { bytes, link_type, wire_bytes, ..Received::default() };
            for (column, sums) in [Checksums::Trust, Checksums::Verify].into_iter().enumerate() {
                let outcome = udp(&received, sums).map_or_else(FrameRefusal::label, |_| "datagram");
                outcomes.entry(outcome).or_default()[column] += 1;
            }
            packets += 1;
        }
    }
    println!("{packets} packets, sums trusted and verified: {outcomes:?}");
    assert!(outcomes.get("datagram").is_some_and(|[trusted, verified]| trusted >= verified));
}

fn captures(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = ["packets", "ugly", "flows"]
        .iter()
        .filter_map(|name| std::fs::read_dir(folder.join(name)).ok())
        .flat_map(|entries| entries.map(|entry| entry.unwrap().path()))
        .filter(|path| path.to_string_lossy().contains(".pcap"))
        .collect();
    paths.sort();
    paths
}

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("BLOOMRF_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"),
        PathBuf::from,
    );
    folder.is_dir().then_some(folder)
}
