//! Damage by chance is refused, or costs the filter that it hits: nothing is ever read as something
//! that was not written. (`bloomrf-faults stored` does the same to larger files, every bit.)

use bloomrf_engine::format::{FileName, FileRefusal, PageSize, SectionRefusal, decode};
use bloomrf_engine::identity::ClusterId;

use crate::damage::{BLOCK, Outcome, Whole, flip, swapped, transplanted};
use crate::world::{Kind, Splitmix, batch, batch_of, origin, schema, schema_of};

/// A file of one filter, of 4 KiB.
fn small(size: PageSize) -> Whole {
    let schema = schema_of("u64");
    let batch = batch_of(3, &schema, Kind::BloomRf(512), 700, &mut Splitmix::new(4));
    Whole::new(schema, batch, 1, size)
}

/// A file with every kind of filter.
fn large(id: u64, generation: u64) -> Whole {
    let batch = batch(id, 300, &mut Splitmix::new(id));
    Whole::new(schema(), batch, generation, PageSize::Kib4)
}

#[test]
fn every_flipped_bit_of_a_file_is_noticed() {
    for size in PageSize::ALL {
        let whole = small(size);
        let mut bytes = whole.bytes.clone();
        let mut lost = 0;
        for bit in 0..bytes.len() * 8 {
            flip(&mut bytes, bit);
            match whole.judge(&bytes) {
                Ok(Outcome::Lost(_)) => lost += 1,
                Ok(Outcome::Refused(_)) => {}
                Err(what) => panic!("bit {bit}, {size:?}: {what}"),
            }
            flip(&mut bytes, bit);
        }
        // With pages of 64 KiB the zone map lies in the page of the filter.
        let expected = if size == PageSize::Kib4 { 512 * 64 } else { 0 };
        assert_eq!(lost, expected, "bits of the filter cost the filter, {size:?}");
    }
}

#[test]
fn flipped_bits_of_every_section_cost_that_section_alone() {
    let whole = large(5, 1);
    let mut bytes = whole.bytes.clone();
    let mut seen = std::collections::BTreeSet::new();
    for bit in (0..bytes.len() * 8).step_by(211) {
        flip(&mut bytes, bit);
        match whole.judge(&bytes).unwrap_or_else(|what| panic!("bit {bit}: {what}")) {
            Outcome::Lost(lost) => {
                assert_eq!(lost.len(), 1, "one page, one section");
                assert!(matches!(lost[0].reason, SectionRefusal::Page { .. }));
                seen.insert(lost[0].ordinal);
            }
            Outcome::Refused(_) => {}
        }
        flip(&mut bytes, bit);
    }
    assert_eq!(seen.len(), 20, "every column with a filter: {seen:?}");
}

#[test]
fn every_truncation_is_refused() {
    for whole in [small(PageSize::Kib4), small(PageSize::Kib64)] {
        for length in 0..whole.bytes.len() {
            match whole.judge(&whole.bytes[..length]) {
                Ok(Outcome::Refused(FileRefusal::TooShort { .. })) => {}
                other => panic!("{length} bytes: {other:?}"),
            }
        }
    }
}

#[test]
fn appended_bytes_are_refused() {
    let whole = small(PageSize::Kib4);
    for more in [vec![0], vec![0; BLOCK], whole.bytes.clone()] {
        let longer = [&whole.bytes[..], &more].concat();
        let outcome = whole.judge(&longer).unwrap();
        assert!(matches!(outcome, Outcome::Refused(FileRefusal::TooLong { .. })), "{outcome:?}");
    }
}

#[test]
fn swapped_zeroed_and_foreign_blocks_are_noticed() {
    let whole = large(5, 1);
    let blocks = whole.bytes.len().div_ceil(BLOCK);
    let check = |damaged: Option<Vec<u8>>, what: &str| {
        let Some(damaged) = damaged else { return 0 };
        whole.judge(&damaged).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
        1
    };
    let mut cases = 0;
    for first in 0..blocks {
        for second in 0..first {
            cases += check(swapped(&whole.bytes, first, second), &format!("{first}, {second}"));
        }
        let zeros = vec![0; whole.bytes.len()];
        cases += check(transplanted(&whole.bytes, &zeros, first), &format!("block {first} zeroed"));
    }
    // Of the same batch written twice, and of another batch.
    for other in [large(5, 2), large(6, 1)] {
        for block in 0..blocks {
            let mixed = transplanted(&whole.bytes, &other.bytes, block);
            cases += check(mixed, &format!("block {block} of another file"));
        }
    }
    assert!(cases > 350, "{cases} cases");
}

#[test]
fn another_name_cluster_schema_or_batch_is_refused() {
    let whole = small(PageSize::Kib4);
    let read = |name: &FileName, whole: &Whole, ours: &Whole| {
        decode(&whole.bytes, name, &ours.origin, &ours.schema).map(|_| ())
    };
    let (batch, generation) = (whole.name.batch, whole.name.generation);
    assert_eq!(read(&whole.name, &whole, &whole), Ok(()));
    let newer = FileName { generation: generation + 1, ..whole.name };
    let refused = Err(FileRefusal::Generation { found: generation });
    assert_eq!(read(&newer, &whole, &whole), refused, "an old generation under a new name");
    let other = FileName { batch: batch + 1, ..whole.name };
    assert_eq!(read(&other, &whole, &whole), Err(FileRefusal::Batch { found: batch }));

    let mut elsewhere = small(PageSize::Kib4);
    elsewhere.origin.cluster = ClusterId(8);
    let refused = Err(FileRefusal::Cluster { found: whole.origin.cluster });
    assert_eq!(read(&whole.name, &whole, &elsewhere), refused);
    let schema = schema_of("i64");
    let refused = Err(FileRefusal::Schema { found: whole.origin.fingerprint });
    let result = decode(&whole.bytes, &whole.name, &origin(&schema), &schema);
    assert_eq!(result.map(|_| ()), refused);
    // An origin that contradicts its schema is our own mistake, and no file fits it.
    let result = decode(&whole.bytes, &whole.name, &whole.origin, &schema);
    assert_eq!(result.map(|_| ()), refused);
}
