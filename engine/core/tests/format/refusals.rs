//! What the header says is checked field by field, and every refusal has its label.

use bloomrf_engine::format::{FileRefusal, PageSize, Part, SectionRefusal, decode};

use crate::damage::Whole;
use crate::reseal::reseal;
use crate::world::{Kind, Splitmix, batch_of, schema_of};

fn whole() -> Whole {
    let schema = schema_of("u16");
    let batch = batch_of(3, &schema, Kind::List16, 5, &mut Splitmix::new(4));
    Whole::new(schema, batch, 1, PageSize::Kib4)
}

/// What the file is refused for with `bytes` at `at`, its checksums right.
fn refused(at: usize, bytes: &[u8]) -> FileRefusal {
    let whole = whole();
    let mut forged = whole.bytes.clone();
    forged[at..at + bytes.len()].copy_from_slice(bytes);
    reseal(&mut forged);
    decode(&forged, &whole.name, &whole.origin, &whole.schema).map(|_| ()).unwrap_err()
}

#[test]
fn every_field_of_the_header_has_its_refusal() {
    let length = whole().bytes.len() as u64;
    let layout = |part| FileRefusal::Layout { part };
    let header = FileRefusal::Reserved { part: Part::Header };
    let cases: [(usize, &[u8], FileRefusal); 24] = [
        (0, b"blmf", FileRefusal::Magic),
        (4, &[1], FileRefusal::Version { found: 1 }),
        (4, &[3], FileRefusal::Version { found: 3 }),
        (6, &[7, 0], header),
        (8, b"\n", FileRefusal::TextMode),
        (12, &[1], header),
        (16, &[4], FileRefusal::Feature { unknown: 4 }),
        (28, &[3], layout(Part::Sections)),
        (32, &(length - 1).to_le_bytes(), layout(Part::Sums)),
        (100, &[9], FileRefusal::Hash { found: 9 }),
        (101, &[0], FileRefusal::State { found: 0 }),
        (102, &[1], header),
        (104, &u64::MAX.to_le_bytes(), FileRefusal::Records { found: u64::MAX }),
        (128, &[1], header),
        (136, &[1], header),
        (144, &[1], layout(Part::Metadata)),
        (152, &[49], layout(Part::Metadata)),
        (152, &u64::MAX.to_le_bytes(), layout(Part::Metadata)),
        (160, &[1], layout(Part::Sections)),
        (176, &[1], layout(Part::Sums)),
        (192, &[13], layout(Part::Pages)),
        (193, &[1], header),
        (208, &u64::MAX.to_le_bytes(), layout(Part::Pages)),
        (251, &[1], header),
    ];
    for (at, bytes, refusal) in cases {
        assert_eq!(refused(at, bytes), refusal, "{bytes:x?} at {at}");
    }
}

#[test]
fn a_single_filter_is_told_from_a_batch() {
    let refusal = refused(101, &[0, 1]);
    assert_eq!(refusal, FileRefusal::SingleFilter);
    let text = refusal.to_string();
    assert!(text.contains("file: a single filter; asked: a batch"), "{text}");
}

#[test]
fn damage_is_told_by_the_part_that_it_hits() {
    let whole = whole();
    let sums = whole.bytes.len() - 16;
    for (at, part) in [
        (140, Part::Header),
        (256 + 9, Part::Metadata),
        (304 + 9, Part::Sections),
        (sums + 1, Part::Sums),
    ] {
        let mut damaged = whole.bytes.clone();
        damaged[at] ^= 1;
        let result = decode(&damaged, &whole.name, &whole.origin, &whole.schema);
        assert_eq!(result.map(|_| ()), Err(FileRefusal::Checksum { part }), "byte {at}");
    }
}

#[test]
fn unknown_metadata_is_skipped_unless_it_is_critical() {
    let metadata = |tag: u16| FileRefusal::Metadata { tag };
    // The one item there is: its tag, its zero, its length, the rest of a digest of 16 bytes.
    assert_eq!(refused(256, &[2, 0x80]), metadata(0x8002), "unknown and critical");
    assert_eq!(refused(256, &[2, 0]), metadata(0x8001), "skipped, and the batch hash is missing");
    assert_eq!(refused(258, &[1]), FileRefusal::Reserved { part: Part::Metadata });
    assert_eq!(refused(260, &[24]), metadata(0x8001), "too short for a digest");
    assert_eq!(refused(260, &[200]), FileRefusal::Layout { part: Part::Metadata });
}

#[test]
fn features_that_may_be_ignored_are_ignored() {
    let whole = whole();
    for at in [20, 24] {
        let mut newer = whole.bytes.clone();
        newer[at] = 1;
        reseal(&mut newer);
        let stored = decode(&newer, &whole.name, &whole.origin, &whole.schema).unwrap();
        assert_eq!(stored, whole.stored);
    }
}

#[test]
fn every_label_is_in_the_list_and_no_text_is_empty() {
    let mut refusals = vec![
        FileRefusal::Magic,
        FileRefusal::TextMode,
        FileRefusal::ZoneMap { reason: SectionRefusal::Padding },
        FileRefusal::Sections { found: 1, expected: 2 },
    ];
    // Any value is right in features, stamp and records, and the checksum follows.
    for at in (0..20).chain(28..40).chain(56..104).chain(128..252) {
        refusals.push(refused(at, &[0xee]));
    }
    for refusal in refusals {
        assert!(FileRefusal::LABELS.contains(&refusal.label()), "{refusal:?}");
        assert!(!refusal.to_string().is_empty());
    }
    for reason in [SectionRefusal::Page { page: 3 }, SectionRefusal::Order, SectionRefusal::Bits] {
        assert!(SectionRefusal::LABELS.contains(&reason.label()), "{reason:?}");
    }
}
