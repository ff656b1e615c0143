//! Readers refuse what they cannot be right about, and name both sides.

use bloomrf_engine::format::container::{ContainerRefusal, Part};
use bloomrf_engine::format::{FileName, FileRefusal as BatchRefusal, Origin};
use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::schema::Schema;
use bloomrf_filter::file::{
    Asked, EncodeError, EntryFault, FileRefusal, StoredFilter, decode, encode,
};
use bloomrf_filter::{Encoding, HashRule, Kind};

use crate::reseal::reseal;
use crate::world::{KINDS, filter, rule, stored};

/// A file with the table at 256 + 8: no metadata.
fn plain(kind: Kind) -> Vec<u8> {
    encode(&StoredFilter::new(filter(kind, 61), rule(kind), Encoding::Raw)).unwrap()
}

/// What a file is refused for with `bytes` at `at`, its checksums right.
fn refused(kind: Kind, at: usize, bytes: &[u8]) -> FileRefusal {
    let mut forged = plain(kind);
    forged[at..at + bytes.len()].copy_from_slice(bytes);
    reseal(&mut forged);
    decode(&forged, &Asked::default()).map(|_| ()).unwrap_err()
}

#[test]
fn another_hash_or_encoding_than_asked_for_is_refused_by_both_names() {
    let bytes = encode(&stored(Kind::Classic, 10)).unwrap();
    let refusal = |asked: Asked| decode(&bytes, &asked).map(|_| ()).unwrap_err().to_string();
    let asked = Asked { rule: Some(HashRule::Parquet), ..Asked::default() };
    assert_eq!(
        refusal(asked),
        "file: native hash (xxh3-128), seed 7; asked: xxh64, seed 0 (Parquet)"
    );
    let asked = Asked { rule: Some(HashRule::Native { seed: 8 }), ..Asked::default() };
    assert!(refusal(asked).contains("seed 7; asked: native hash (xxh3-128), seed 8"));
    let asked = Asked { encoding: Some(Encoding::U64Le), ..Asked::default() };
    assert_eq!(refusal(asked), "file: items as utf8; asked: u64-le");
    let asked = Asked { bytes_max: bytes.len() as u64 - 1, ..Asked::default() };
    assert!(refusal(asked).contains("raise the limit"));
    let right = Asked {
        rule: Some(HashRule::Native { seed: 7 }),
        encoding: Some(Encoding::Utf8),
        bytes_max: bytes.len() as u64,
    };
    assert!(decode(&bytes, &right).is_ok());
}

#[test]
fn a_batch_and_a_filter_are_told_apart_by_both_readers() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/tests/golden/every-kind.blmf");
    let batch = std::fs::read(golden).unwrap();
    let refusal = decode(&batch, &Asked::default()).map(|_| ()).unwrap_err();
    assert_eq!(refusal, FileRefusal::Batch);
    assert_eq!(refusal.to_string(), "file: a verified batch of a node; asked: a single filter");

    let text = "name = \"one\"\nversion = 1\n[[columns]]\nname = \"src\"\ntype = \"ipv4\"\n";
    let schema = Schema::from_toml(text).unwrap();
    let fingerprint = schema.fingerprint();
    let origin = Origin { cluster: ClusterId(0), fingerprint, schema_version: 1 };
    let name = FileName { batch: 0, generation: 0 };
    for kind in KINDS {
        let read = bloomrf_engine::format::decode(&plain(kind), &name, &origin, &schema);
        assert_eq!(read.map(|_| ()), Err(BatchRefusal::SingleFilter));
    }
}

const WRITING: ContainerRefusal = ContainerRefusal::BeingWritten { writing: 3, whole: 2 };

#[test]
fn every_field_of_header_and_entry_has_its_refusal() {
    let container = FileRefusal::Container;
    let layout = |part| container(ContainerRefusal::Layout { part });
    let header = container(ContainerRefusal::Reserved { part: Part::Header });
    let entry = |fault| FileRefusal::Entry { section: 0, fault };
    let contents = |state, contents| FileRefusal::Contents { state, contents };
    let cases: [(usize, &[u8], FileRefusal); 29] = [
        (6, &[7, 0], header),
        (16, &[1], container(ContainerRefusal::Feature { unknown: 1 })),
        (28, &[2], layout(Part::Sections)),
        (64, &[1], header),
        (80, &[1], header),
        (88, &[1], header),
        (96, &[1], header),
        (100, &[1], header),
        (101, &[1], contents(1, 1)),
        (102, &[2], contents(0, 2)),
        (103, &[1], header),
        (104, &[1], header),
        (120, &[1], header),
        (128, &[3, 0, 0, 0, 0, 0, 0, 0, 2], container(WRITING)),
        (TABLE, &[200], entry(EntryFault::Kind { found: 200 })),
        (TABLE + 2, &[0, 0], entry(EntryFault::Place)),
        (TABLE + 4, &[9], entry(EntryFault::Hash { found: 9, seed: 7, index: 0 })),
        (TABLE + 4, &[1], entry(EntryFault::Hash { found: 1, seed: 7, index: 0 })),
        (TABLE + 6, &[9], entry(EntryFault::Encoding { found: 9 })),
        (TABLE + 7, &[0], entry(EntryFault::Parameters)),
        (TABLE + 7, &[65], entry(EntryFault::Parameters)),
        (TABLE + 8, &[8], header),
        (TABLE + 16, &[1], entry(EntryFault::Place)),
        (TABLE + 40, &[0; 8], entry(EntryFault::Parameters)),
        (TABLE + 45, &[2], entry(EntryFault::Parameters)),
        (TABLE + 44, &[1], entry(EntryFault::Place)),
        (TABLE + 48, &[1], entry(EntryFault::Place)),
        (TABLE + 80, &1.5f64.to_le_bytes(), entry(EntryFault::Parameters)),
        (TABLE + 104, &[1], entry(EntryFault::Place)),
    ];
    for (at, bytes, refusal) in cases {
        assert_eq!(refused(Kind::Classic, at, bytes), refusal, "{bytes:x?} at {at}");
        assert!(!refusal.to_string().is_empty());
    }
    let whole_blocks = entry(EntryFault::Parameters);
    assert_eq!(refused(Kind::SplitBlock, TABLE + 40, &[5]), whole_blocks);
    assert_eq!(refused(Kind::Blocked, TABLE + 40, &[12]), whole_blocks);
    assert_eq!(refused(Kind::Blocked, TABLE + 7, &[3]), whole_blocks);
    assert_eq!(refused(Kind::SplitBlock, TABLE + 7, &[8]), entry(EntryFault::Place));
}

#[test]
fn a_payload_that_contradicts_its_entry_is_refused() {
    // A bit more than the entry counts; and a bit past the last of a classic filter.
    for kind in KINDS {
        let bytes = plain(kind);
        let zero = (4_096..4_104).find(|at| bytes[*at] != 0xff).unwrap();
        let refusal = refused(kind, zero, &[0xff]);
        assert!(matches!(refusal, FileRefusal::Payload { section: 0, .. }), "{kind}: {refusal}");
    }
    let bytes = plain(Kind::Classic);
    let bits = u64::from_le_bytes(bytes[TABLE + 40..TABLE + 48].try_into().unwrap());
    assert_ne!(bits % 64, 0);
    let mut forged = bytes;
    forged[4_096 + (bits / 64 * 8) as usize + 7] |= 0x80;
    forged[TABLE + 96] += 1;
    reseal(&mut forged);
    let refusal = decode(&forged, &Asked::default()).map(|_| ()).unwrap_err();
    assert!(matches!(refusal, FileRefusal::Payload { .. }), "{refusal}");
}

#[test]
fn what_cannot_be_stored_is_refused() {
    let mut stored = stored(Kind::Classic, 1);
    stored.labels = [("long".to_owned(), "x".repeat(65_536))].into();
    assert!(matches!(encode(&stored), Err(EncodeError::Metadata { .. })));
    stored.labels.clear();
    for fpr in [0.0, 1.0, -0.0, f64::NAN, f64::INFINITY] {
        stored.target_fpr = Some(fpr);
        assert!(matches!(encode(&stored), Err(EncodeError::Rate(_))), "{fpr}");
    }
}

/// The section table of a file without metadata.
const TABLE: usize = 256 + 8;
