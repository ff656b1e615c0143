//! No header makes a reader allocate: the most address space that this process ever had hardly
//! grows while every kind of file announces as much as it can. Alone in its program, so that no
//! other test's memory counts.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use bloomrf_filter::Spec;
use bloomrf_filter::foreign::dablooms::{Counting, Params, Scaling};
use bloomrf_filter::foreign::guava::Guava;
use bloomrf_filter::foreign::parquet::{Footer, Sbbf};
use bloomrf_filter::foreign::redisbloom::{Chain, LinkHead, Reserve, chunks, cuckoo};
use bloomrf_filter::foreign::redisson::{Config, Redisson};
use bloomrf_filter::foreign::{Foreign, Limits};
use crc::{CRC_64_REDIS, Crc};

/// Most address space so far, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmPeak:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The head of a chain of one link that is right in every field, of so many entries.
fn chain_head(entries: u64) -> Vec<u8> {
    let link = LinkHead::sized_for(entries, 0.005).unwrap();
    let mut head = Vec::new();
    head.extend(0_u64.to_le_bytes());
    head.extend([1_u32, 5, 2].iter().flat_map(|word| word.to_le_bytes()));
    head.extend([link.bytes, link.bits(), 0].iter().flat_map(|word| word.to_le_bytes()));
    head.extend([link.error, link.bpe].iter().flat_map(|word| word.to_le_bytes()));
    head.extend(link.hashes.to_le_bytes());
    head.extend(entries.to_le_bytes());
    head.push(0);
    head
}

/// A dump whose one link announces so many entries, and packs its bits into a few bytes.
fn packed_dump(entries: u64) -> Vec<u8> {
    let link = LinkHead::sized_for(entries, 0.005).unwrap();
    let honest = Chain::build(&Reserve::default(), Limits::default()).unwrap().write_dump();
    let mut dump = honest[..18].to_vec();
    let wide = |dump: &mut Vec<u8>, number: u64| {
        dump.push(0x81);
        dump.extend(number.to_be_bytes());
    };
    dump.push(2);
    wide(&mut dump, entries);
    dump.push(4);
    dump.extend(link.error.to_le_bytes());
    dump.extend([2, link.hashes as u8, 4]);
    dump.extend(link.bpe.to_le_bytes());
    dump.push(2);
    wide(&mut dump, link.bits());
    dump.extend([2, 0, 5, 0xc3, 9]);
    wide(&mut dump, link.bytes);
    dump.extend([1, 0, 0, 0xe0, 0x83, 0, 1, 0, 0]);
    dump.extend([2, 0, 0, 10, 0]);
    let sum = Crc::<u64>::new(&CRC_64_REDIS).checksum(&dump);
    dump.extend(sum.to_le_bytes());
    dump
}

#[test]
fn no_header_makes_a_reader_allocate_what_is_not_there() {
    let limits = Limits::default();
    let small = Chain::build(&Reserve::default(), limits).unwrap();
    assert!(Chain::parse_dump(&small.write_dump(), limits).is_ok());
    let before = peak_kib();

    assert!(Guava::parse(&[1, 7, 0x7f, 0xff, 0xff, 0xff], limits).is_err());
    assert!(Guava::parse(&[0, 255, 0x1f, 0xff, 0xff, 0xff, 0], limits).is_err());

    for error in [0.01, 1e-300] {
        let params = Params { capacity: 3_000_000, error };
        assert!(Counting::parse(&[0; 64], &params, limits).is_err());
        assert!(Scaling::parse(&[0; 64], &params, limits).is_err());
    }

    // Two gigabytes announced, all fields right: held back until chunks come.
    let mut loading = chunks::Loading::begin(1, &chain_head(1_500_000_000), limits).unwrap();
    loading.load(1_001, &[0; 1_000]).unwrap();
    assert!(loading.clone().finish().is_err());
    assert!(chunks::Loading::begin(1, &chain_head(1 << 40), limits).is_err());
    let honest = small.head_chunk();
    for bit in 0..8 * honest.len() {
        let mut head = honest.clone();
        head[bit / 8] ^= 1 << (bit % 8);
        drop(chunks::Loading::begin(1, &head, limits));
    }

    let dump = packed_dump(1_500_000_000);
    let why = Chain::parse_dump(&dump, limits).unwrap_err();
    assert!(why.to_string().contains("a packed string needs"), "{why}");

    for (buckets, filters, expansion) in
        [(1_u64 << 30, 1_u64, 1_u16), (1 << 14, 65_535, 1), (2, 30, 2)]
    {
        let words = [0, buckets, 0, filters];
        let mut head: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        head.extend([2, 20, expansion].iter().flat_map(|short: &u16| short.to_le_bytes()));
        let loading = cuckoo::Loading::begin(1, &head, limits).unwrap();
        assert!(loading.finish().is_err());
    }

    let config = Config::sized_for(&Spec { items: 400_000_000, fpr: 0.01 }).unwrap();
    let filter = Redisson::parse(Some(config), Some(&[]), limits).unwrap();
    assert!(!filter.contains(b"key-1"));

    let blob = [0x15, 0xc0, 0xff, 0xff, 0xff, 0x0f, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0];
    let blob = [&blob[..], &[0x1c, 0x1c, 0, 0, 0, 1, 2, 3]].concat();
    let why = Sbbf::parse(&blob, limits).unwrap_err();
    assert!(why.to_string().contains("a split-block filter needs 2147483"), "{why}");
    for kind in [0xf8, 0xfc, 0xf3] {
        let endless = [&[0x49, kind][..], &[0xff; 9], &[1]].concat();
        assert!(Footer::parse(&endless).is_err());
    }

    let grown = peak_kib() - before;
    assert!(grown < 16 << 10, "{grown} KiB were taken");
}
