//! Every capture of the data folder is read to its end: the packets that independent readers
//! counted, no cut where none is expected, and headers of the plausible kinds.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use bloomrf_netio::capture::{Capture, Packet};
use bloomrf_netio::parse::{self, Headers, Trouble};

/// Where the manifest's reader counts otherwise: it takes Custom Blocks for packets, and cannot
/// open the link type of the first file.
const EXCEPTIONS: [(&str, usize); 5] = [
    ("brcm-tag-stp.pcap", 4),
    ("test102.pcapng", 5),
    ("test017.pcapng", 0),
    ("test018.pcapng", 4),
    ("test202.pcapng", 8),
];

#[test]
fn every_capture_gives_the_packets_that_the_manifest_counts() {
    let Some(folder) = folder() else { return println!("skipped: no data") };
    let mut files = 0;
    for (file, content) in manifest(&folder) {
        let expected = match EXCEPTIONS.iter().find(|(name, _)| file.ends_with(name)) {
            Some((_, count)) => Some(*count),
            // "pcap/ether, 205 packets, 872.171926 s"
            None => content.split(", ").nth(1).and_then(|c| c.split(' ').next()?.parse().ok()),
        };
        assert_eq!(Some(packets(&folder.join(&file)).len()), expected, "{file}: {content}");
        files += 1;
    }
    println!("{files} captures");
    assert!(files > 0);
}

#[test]
fn every_classic_pcap_gives_the_records_that_a_walk_over_it_finds() {
    let Some(folder) = folder() else { return println!("skipped: no data") };
    for (file, _) in manifest(&folder) {
        let path = folder.join(&file);
        let Some(records) = walk(&path) else { continue };
        let found: Vec<_> =
            packets(&path).into_iter().map(|p| (p.ts_ns, p.wire_bytes, p.bytes)).collect();
        assert!(found == records, "{file}: {} and {} records", found.len(), records.len());
    }
}

/// Records of a classic pcap by a reader of its own: time, length on the wire, bytes.
fn walk(path: &Path) -> Option<Vec<(i64, u32, Vec<u8>)>> {
    let mut bytes = std::fs::read(path).ok()?;
    if path.extension()? == "gz" {
        let packed = std::mem::take(&mut bytes);
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).ok()?;
    }
    let (big_endian, tick_ns) = match bytes.get(..4)? {
        [0xd4, 0xc3, 0xb2, 0xa1] => (false, 1_000),
        [0x4d, 0x3c, 0xb2, 0xa1] => (false, 1),
        [0xa1, 0xb2, 0xc3, 0xd4] => (true, 1_000),
        [0xa1, 0xb2, 0x3c, 0x4d] => (true, 1),
        _ => return None,
    };
    let mut rest = bytes.get(24..)?;
    let mut records = Vec::new();
    while let Some((head, behind)) = rest.split_first_chunk::<16>() {
        let word = |i: usize| {
            let bytes = [head[i], head[i + 1], head[i + 2], head[i + 3]];
            if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        let (packet, behind) = behind.split_at_checked(word(8) as usize)?;
        let ts_ns = i64::from(word(0)) * 1_000_000_000 + i64::from(word(4)) * tick_ns;
        records.push((ts_ns, word(12), packet.to_vec()));
        rest = behind;
    }
    rest.is_empty().then_some(records)
}

#[test]
fn headers_of_the_packet_captures_are_those_that_the_manifest_counts() {
    let Some(folder) = folder() else { return println!("skipped: no data") };
    for (file, content) in manifest(&folder).into_iter().filter(|(f, _)| f.starts_with("packets")) {
        let all: Vec<_> = packets(&folder.join(&file))
            .iter()
            .map(|p| parse::headers(p.link_type, &p.bytes))
            .collect();
        let count = |is: fn(&Headers) -> bool| all.iter().filter(|(h, _)| is(h)).count();
        // "hosts 9, dst ports 20; ipv6.hopopts:4 icmp:57 ip:118". ICMP errors hold headers too.
        let named = |name: &str| {
            let (_, counts) = content.split_once(";").unwrap_or_default();
            let found = counts.split_whitespace().filter_map(|c| c.split_once(':'));
            found.filter(|(n, _)| *n == name).find_map(|(_, c)| c.parse().ok()).unwrap_or(0)
        };
        let pairs = [
            ("ip", count(|h| h.ip4.is_some())),
            ("ipv6", count(|h| h.ip6.is_some())),
            ("tcp", count(|h| h.proto == Some(6) && h.ports.is_some())),
            ("udp", count(|h| h.proto == Some(17) && h.ports.is_some())),
            ("vlan", count(|h| h.vlan.is_some())),
        ];
        for (name, found) in pairs {
            let expected: usize = named(name);
            let allowed = named("icmp") + named("icmpv6");
            assert!(found.abs_diff(expected) <= allowed, "{file}: {name} {found}, not {expected}");
        }
        let bad = |t: &Option<Trouble>| matches!(t, Some(t) if *t != Trouble::NotIp);
        let cut = usize::from(content.ends_with("snapped 1"));
        assert_eq!(all.iter().filter(|(_, t)| bad(t)).count(), cut, "{file}");
    }
}

#[test]
fn most_packets_of_gnutella_have_ports() {
    let Some(folder) = folder() else { return println!("skipped: no data") };
    let packets = packets(&folder.join("packets/nDPI__gnutella.pcap"));
    let with = packets.iter().filter(|p| parse::headers(p.link_type, &p.bytes).0.ports.is_some());
    assert!(with.count() * 10 > packets.len() * 9);
}

#[test]
fn every_packet_of_every_capture_has_headers_or_a_reason() {
    let Some(folder) = folder() else { return println!("skipped: no data") };
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for (file, _) in manifest(&folder) {
        for packet in packets(&folder.join(&file)) {
            let (headers, trouble) = parse::headers(packet.link_type, &packet.bytes);
            let ip = headers.ip4.is_some() || headers.ip6.is_some();
            assert!(ip || trouble.is_some(), "{file}: {packet:?}");
            *reasons.entry(trouble.map_or("whole", Trouble::label)).or_default() += 1;
        }
    }
    println!("{reasons:?}");
}

/// All packets of a capture that must not be cut.
fn packets(path: &Path) -> Vec<Packet> {
    let mut capture = match Capture::open(path) {
        Ok(capture) => capture,
        Err(error) => panic!("{error}"),
    };
    let packets = capture.by_ref().collect();
    assert_eq!(capture.cut(), None, "{}", path.display());
    packets
}

/// Captures and what the manifest says of their content.
fn manifest(folder: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder.join("MANIFEST.tsv")).unwrap_or_default();
    text.lines()
        .filter(|l| ["packets/", "ugly/", "flows/"].iter().any(|f| l.starts_with(f)))
        .filter_map(|l| {
            let columns: Vec<_> = l.split('\t').collect();
            Some((columns.first()?.to_string(), columns.get(7..10)?.join(" ")))
        })
        .filter(|(file, _)| file.contains(".pcap"))
        .collect()
}

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("BLOOMRF_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"),
        PathBuf::from,
    );
    folder.is_dir().then_some(folder)
}
