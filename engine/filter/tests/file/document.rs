//! The filter file that `docs/FORMAT.md` shows, and those that were written long ago: all are what
//! this crate writes and reads to this day.

use std::path::{Path, PathBuf};

use bloomrf_filter::file::{Asked, SourcePosition, Stamp, StoredFilter, decode, encode};
use bloomrf_filter::{Classic, Encoding, HashRule, Presence};

use crate::world::{KINDS, item, stored};

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The file of the document: lines of an offset and bytes; all others are zero.
fn shown() -> Vec<u8> {
    let text = std::fs::read_to_string(at("../../docs/FORMAT.md")).expect("docs/FORMAT.md");
    let (_, block) = text.split_once("```hex filter\n").unwrap_or_default();
    let block = block.split("```").next().unwrap_or_default();
    let mut file = Vec::new();
    for line in block.lines() {
        let hex = line.split('#').next().unwrap_or_default();
        let (offset, bytes) = hex.split_once(':').expect("offset: bytes");
        let offset: usize = offset.trim().parse().expect("a decimal offset");
        let bytes = bytes.split_whitespace().map(|b| u8::from_str_radix(b, 16).expect("hex"));
        assert!(offset >= file.len(), "offset {offset} lies behind the bytes before");
        file.resize(offset, 0);
        file.extend(bytes);
    }
    file
}

/// Lines of the file for the document.
fn lines(file: &[u8]) -> String {
    let line = |(index, bytes): (usize, &[u8])| {
        let last = (index + 1) * 16 >= file.len();
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let is_shown = last || bytes.iter().any(|&byte| byte != 0);
        is_shown.then(|| format!("{:>5}: {}", index * 16, hex.join(" ")))
    };
    file.chunks(16).enumerate().filter_map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_filter_file_of_the_document_is_what_we_write() {
    let rule = HashRule::Native { seed: 7 };
    let mut filter = Classic::from_parts(7, 100, vec![0; 2], 10, 0).unwrap();
    for item in ["alice", "bob"] {
        filter.insert(rule.hash(item.as_bytes()));
    }
    let stored = StoredFilter {
        target_fpr: Some(0.01),
        stamp: Stamp {
            uuid: 0x2f2e_2d2c_2b2a_2928_2726_2524_2322_2120,
            generation: 1,
            built_at_us: 1_700_000_000_000_000,
        },
        source: Some(SourcePosition::Database { name: "members".to_owned(), lsn: 1_000 }),
        labels: [("team".to_owned(), "search".to_owned())].into(),
        ..StoredFilter::new(filter, rule, Encoding::Utf8)
    };
    let bytes = encode(&stored).unwrap();
    assert!(bytes == shown(), "the document should show\n{}", lines(&bytes));
    let read = decode(&bytes, &Asked::default()).unwrap();
    assert!(read.contains(b"alice") && read.contains(b"bob") && !read.contains(b"carol"));
}

#[test]
fn files_that_were_written_long_ago_read_as_they_did() {
    for kind in KINDS {
        let path = at(&format!("tests/golden/{kind}.blmf"));
        let bytes = encode(&stored(kind, 100)).unwrap();
        if std::env::var_os("GOLDEN_WRITE").is_some() {
            std::fs::write(&path, &bytes).unwrap();
        }
        let golden = std::fs::read(&path).expect("a golden file of every kind");
        assert!(bytes == golden, "{kind}: the layout changed: that is another format version");
        let read = decode(&golden, &Asked::default()).unwrap();
        assert!((0..100).all(|i| read.contains(&item(i))), "{kind}");
    }
}
