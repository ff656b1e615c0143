//! Every capture of the data folder is read to its end: the packets that an independent reader
//! counted, and no cut where none is expected.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bloomrf_netio::capture::Capture;

/// Where the manifest's reader counts otherwise: it takes Custom Blocks for packets, and cannot
/// open the link type of the first file.
const EXCEPTIONS: [(&str, u64); 5] = [
    ("brcm-tag-stp.pcap", 4),
    ("test102.pcapng", 5),
    ("test017.pcapng", 0),
    ("test018.pcapng", 4),
    ("test202.pcapng", 8),
];

#[test]
fn every_capture_gives_the_packets_that_the_manifest_counts() {
    let Some(folder) = folder() else { return println!("skipped: no data") };
    let mut wrong = Vec::new();
    for (file, content) in manifest(&folder) {
        let path = folder.join(&file);
        let mut capture = match Capture::open(&path) {
            Ok(capture) => capture,
            Err(error) => {
                wrong.push(format!("{file}: {error}"));
                continue;
            }
        };
        let count = capture.by_ref().count() as u64;
        let expected: Option<u64> = match EXCEPTIONS.iter().find(|(name, _)| file.ends_with(name)) {
            Some((_, count)) => Some(*count),
            None => content.split_once(", ").and_then(|(_, r)| r.split(' ').next()?.parse().ok()),
        };
        if Some(count) != expected || capture.cut().is_some() {
            wrong.push(format!("{file}: {count}, expected {content}; {:?}", capture.cut()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Captures and what the manifest says of their content.
fn manifest(folder: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder.join("MANIFEST.tsv")).unwrap();
    text.lines()
        .filter(|l| l.starts_with("packets/") || l.starts_with("ugly/"))
        .filter_map(|l| {
            let columns: Vec<_> = l.split('\t').collect();
            Some((columns.first()?.to_string(), columns.get(7..9)?.join(" ")))
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
