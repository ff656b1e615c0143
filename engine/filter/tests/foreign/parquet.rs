//! Parquet files of pyarrow 26 and DuckDB 2: twelve filters, read out of the files.

use std::io::Cursor;

use bloomrf_filter::foreign::parquet::file::{FileError, filter, footer};
use bloomrf_filter::foreign::parquet::{Footer, Physical, Place, Sbbf, plain};
use bloomrf_filter::foreign::{Foreign, Item, Limits, Refusal, SampleRefusal};
use bloomrf_filter::{HashRule, SizeRefusal, Spec};
use serde_json::Value;

use crate::damage;
use crate::golden::{bytes, folder, hex, key, number, numbers, text};

/// The `i`-th value of a column, by its name.
fn value(column: &str, physical: Physical, i: u64) -> Vec<u8> {
    let number = i128::from(i);
    let (text, bytes) = (format!("{}", i as f64 * 0.5 - 7.0), bytes(i));
    let key = key(i);
    let item = match column {
        "s" => Item::Bytes(&key),
        "i64" => Item::Number(number * 1_000_003 - 500),
        "i32" => Item::Number(number * 7_919 - 500),
        "f64" => Item::Text(&text),
        _ => Item::Bytes(&bytes),
    };
    plain(physical, item).unwrap().into_owned()
}

fn listed(folder: &std::path::Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("parquet_sbbf.json")).unwrap()).unwrap()
}

#[test]
fn every_filter_is_read_out_of_its_file_answers_exports_and_is_built_byte_for_byte() {
    let Some(folder) = folder("parquet") else { return };
    let listed = listed(&folder);
    let filters = listed["files"].as_array().unwrap();
    for entry in filters {
        let (name, column) = (text(entry, "file"), text(entry, "column"));
        let mut file = std::fs::File::open(folder.join(name)).unwrap();
        let footer = footer(&mut file, Limits::default()).unwrap();
        let place = footer.place(0, column).unwrap();
        assert_eq!(place.offset, number(entry, "bloom_filter_offset"));
        assert_eq!(place.length, entry["bloom_filter_length"].as_u64());
        let read = filter(&mut file, place, Limits::default()).unwrap();
        let blob = std::fs::read(folder.join(text(entry, "extracted"))).unwrap();
        assert_eq!(read.write(), blob, "{name}, {column}");
        assert_eq!(Sbbf::parse(&blob, Limits::default()).unwrap(), read);
        assert_eq!(read.blocks(), number(entry, "blocks"));

        let values: Vec<Vec<u8>> = (0..1_000).map(|i| value(column, place.physical, i)).collect();
        let spec = Spec { items: 1_000, fpr: 0.01 };
        let blocks = Sbbf::blocks_for(&spec).unwrap();
        let mut built = Sbbf::build(blocks, Limits::default()).unwrap();
        values.iter().for_each(|value| built.insert(value));
        assert!(built.write() == blob, "{name}, {column}: built, it has other bytes");
        read.check_samples(&values).unwrap();
        if column != "bin" {
            let others = 1_000..11_000;
            let hashes: Vec<u64> = others
                .map(|i| HashRule::Parquet.hash(&value(column, place.physical, i)).lo)
                .collect();
            let mut found = vec![0; hashes.len().div_ceil(64)];
            read.contains_hashes_many(&hashes, &mut found);
            let wrong = found.iter().map(|word| word.count_ones()).sum::<u32>();
            let measured = f64::from(wrong) / 10_000.0;
            assert!((read.fpr() - measured).abs() < 0.002, "{}, {measured}", read.fpr());
            assert!((read.estimate() - 1_000.0).abs() < 40.0, "{}", read.estimate());
        }
    }
    println!("{} filters", filters.len());
    assert_eq!(filters.len(), 12);
}

#[test]
fn hashes_blocks_and_lanes_are_those_of_the_traces() {
    let Some(folder) = folder("parquet") else { return };
    let listed = listed(&folder);
    let traces = listed["traces"].as_array().unwrap();
    for trace in traces {
        let value = hex(text(trace, "bytes_hex"));
        let hash = HashRule::Parquet.hash(&value).lo;
        assert_eq!(format!("{hash:016x}"), text(trace, "xxh64_seed0"));
        let mut filter = Sbbf::build(64, Limits::default()).unwrap();
        filter.insert(&value);
        let start = number(trace, "block_of_64") as usize * 4;
        let lanes = filter.words()[start..start + 4]
            .iter()
            .flat_map(|word| [*word as u32, (word >> 32) as u32])
            .map(|lane| u64::from(lane.trailing_zeros()));
        assert_eq!(lanes.collect::<Vec<u64>>(), numbers(trace, "lane_bits"));
    }
    assert_eq!(traces.len(), 6);
}

#[test]
fn sizes_are_powers_of_two_as_writers_choose_them() {
    let blocks = |items, fpr| Sbbf::blocks_for(&Spec { items, fpr });
    assert_eq!([0.01, 0.001].map(|fpr| blocks(1_000, fpr)), [Ok(64), Ok(64)]);
    assert_eq!(blocks(0, 0.01), Ok(1));
    assert_eq!(blocks(1_000_000, 0.01), Ok(65_536));
    assert!(matches!(blocks(1 << 40, 0.01), Err(SizeRefusal::TooLarge { .. })));
    assert!(matches!(blocks(10, 1.0), Err(SizeRefusal::Rate(_))));
    assert_eq!(Sbbf::build(0, Limits::default()), Err(SizeRefusal::NoItems));
    let limits = Limits { bytes_max: 1_000 };
    assert!(Sbbf::build(31, limits).is_ok() && Sbbf::build(32, limits).is_err());
}

/// A number as the compact protocol writes it.
fn varint(number: i64) -> Vec<u8> {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    let mut bytes = Vec::new();
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

/// Metadata of row groups of one column `c` of 64-bit numbers; offset and length of each filter.
fn metadata(groups: &[(Option<i64>, Option<i64>)]) -> Vec<u8> {
    let mut bytes = vec![0x15, 2, 0x39, groups.len() as u8 * 16 + 12];
    for (offset, length) in groups {
        // Columns, one of them, whose metadata has a type and a path.
        bytes.extend([0x19, 0x1c, 0x3c, 0x15, 4, 0x29, 0x18, 1, b'c']);
        if let Some(offset) = offset {
            bytes.extend([0xb6]);
            bytes.extend(varint(*offset));
        }
        if let Some(length) = length {
            bytes.extend(if offset.is_some() { vec![0x15] } else { vec![0xc5] });
            bytes.extend(varint(*length));
        }
        // The ends of metadata, chunk and group.
        bytes.extend([0, 0, 0]);
    }
    bytes.push(0);
    bytes
}

/// A file of these filters, one for each row group.
fn file(filters: &[Sbbf]) -> Vec<u8> {
    let mut file = b"PAR1".to_vec();
    let mut groups = Vec::new();
    for filter in filters {
        let blob = filter.write();
        groups.push((Some(file.len() as i64), Some(blob.len() as i64)));
        file.extend(blob);
    }
    let metadata = metadata(&groups);
    file.extend(&metadata);
    file.extend((metadata.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    file
}

fn holding(values: std::ops::Range<u64>) -> Sbbf {
    let mut filter = Sbbf::build(4, Limits::default()).unwrap();
    values.for_each(|value| filter.insert(&value.to_le_bytes()));
    filter
}

#[test]
fn doris_65489_filters_of_row_groups_are_kept_apart() {
    let filters = [holding(0..40), holding(40..80)];
    let mut file = Cursor::new(file(&filters));
    let footer = footer(&mut file, Limits::default()).unwrap();
    assert_eq!(footer.places().len(), 2);
    for (group, expected) in filters.iter().enumerate() {
        let place = footer.place(group, "c").unwrap();
        assert_eq!((place.row_group, place.physical), (group, Physical::Int64));
        assert_eq!(&filter(&mut file, place, Limits::default()).unwrap(), expected);
    }
    // Asked in the filter of the other group, members are missing: and samples show it.
    let members: Vec<[u8; 8]> = (40..80_u64).map(u64::to_le_bytes).collect();
    let first = filter(&mut file, footer.place(0, "c").unwrap(), Limits::default()).unwrap();
    assert!(matches!(first.check_samples(&members), Err(SampleRefusal::Missing { .. })));
    assert_eq!(footer.place(2, "c"), None);
    assert_eq!(footer.place(0, "d"), None);
}

#[test]
fn iceberg_5172_an_offset_of_zero_or_less_means_that_there_is_no_filter() {
    let groups =
        [(Some(0), Some(47)), (Some(-1), None), (None, None), (None, Some(9)), (Some(4), None)];
    let footer = Footer::parse(&metadata(&groups)).unwrap();
    let places: Vec<(usize, u64)> =
        footer.places().iter().map(|place| (place.row_group, place.offset)).collect();
    assert_eq!(places, [(4, 4)]);
    assert!(Footer::parse(&metadata(&[(Some(4), Some(0))])).is_err());
}

#[test]
fn a_length_that_is_not_that_of_the_filter_is_refused() {
    let mut file = Cursor::new(file(&[holding(0..9)]));
    let place = footer(&mut file, Limits::default()).unwrap().places()[0].clone();
    let refused =
        |place: Place, limits| match filter(&mut file.clone(), &place, limits).unwrap_err() {
            FileError::Refused(why) => why,
            other => panic!("{other}"),
        };
    let longer = Place { length: place.length.map(|length| length + 1), ..place.clone() };
    let why = refused(longer, Limits::default());
    assert!(why.to_string().contains("the length of a filter is 145"), "{why}");
    let beyond = Place { offset: 1 << 60, ..place.clone() };
    assert!(refused(beyond, Limits::default()).to_string().contains("the offset of a filter"));
    let why = refused(place, Limits { bytes_max: 100 });
    assert!(matches!(why, Refusal::TooLarge { bytes: 144, most: 100 }), "{why}");
}

#[test]
fn headers_that_announce_more_than_there_is_allocate_nothing() {
    let blob = holding(0..9).write();
    let header = |number: i64| [&[0x15][..], &varint(number), &blob[3..16]].concat();
    let refused = |bytes: &[u8]| Sbbf::parse(bytes, Limits::default()).unwrap_err();
    assert!(matches!(refused(&header((1 << 31) - 32)), Refusal::Short { .. }));
    for wrong in [0, -32, 31, 33, 1 << 31, i64::MAX, i64::MIN] {
        assert!(matches!(refused(&header(wrong)), Refusal::Field { .. }), "{wrong}");
    }
    // Another algorithm, hash or compression: not ours to answer for.
    for at in [4, 8, 12] {
        let mut other = blob.clone();
        other[at] = 0x2c;
        assert!(matches!(refused(&other), Refusal::Field { .. }), "{at}");
    }
    for tail in [&b"PARE"[..], b"PAR2"] {
        let mut file = file(&[holding(0..9)]);
        let length = file.len();
        file[length - 4..].copy_from_slice(tail);
        assert!(footer(&mut Cursor::new(file), Limits::default()).is_err());
    }
    let mut file = file(&[]);
    let (at, most) = (file.len() - 8, file.len() as u32 - 12);
    for said in (most + 1..most + 20).chain([u32::MAX - 9, u32::MAX]) {
        file[at..at + 4].copy_from_slice(&said.to_le_bytes());
        let why = footer(&mut Cursor::new(&file), Limits::default()).unwrap_err();
        assert!(why.to_string().contains(&format!("at most {most}")), "{why}");
    }
}

#[test]
fn metadata_of_any_depth_and_of_endless_lists_ends_soon() {
    // Structs in structs, lists in lists, and lists that say that they are endless.
    for kind in [0x1c_u8, 0x19] {
        assert!(Footer::parse(&vec![kind; 100_000]).is_err());
    }
    let lists = [&[0x19][..], &[0x1b; 50_000]].concat();
    assert!(Footer::parse(&lists).is_err());
    for element in [0xf1_u8, 0xf3, 0xf8, 0xfc] {
        let endless = [&[0x19, element][..], &[0xff; 9], &[1]].concat();
        assert!(matches!(Footer::parse(&endless), Err(Refusal::Short { .. })), "{element:x}");
    }
}

#[test]
fn any_damage_is_refused_or_read_within_its_own_bytes() {
    let whole = file(&[holding(0..40), holding(40..80)]);
    damage::each(&whole, |bytes| {
        let mut file = Cursor::new(bytes);
        let Ok(footer) = footer(&mut file, Limits::default()) else { return };
        for place in footer.places() {
            if let Ok(filter) = filter(&mut file, place, Limits::default()) {
                assert!(filter.bytes() < bytes.len() as u64);
                filter.contains(&[0; 8]);
            }
        }
    });
    let blob = holding(0..40).write();
    damage::each(&blob, |bytes| {
        if let Ok(filter) = Sbbf::parse(bytes, Limits::default()) {
            assert_eq!(filter.bytes(), 128);
        }
    });
}
