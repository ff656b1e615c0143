//! Payloads of `DUMP`.

use bloomrf_filter::foreign::redisbloom::{Chain, Reserve};
use bloomrf_filter::foreign::{Limits, Refusal};
use crc::{CRC_64_REDIS, Crc};

use super::{added, dumps, load, reserve, small};
use crate::damage;
use crate::golden::{folder, key, text};

#[test]
fn every_dump_imports_exports_and_is_built_byte_for_byte() {
    let (Some(folder), Some(dumps)) = (folder("redisbloom"), dumps("bf_")) else { return };
    for (name, entry, chunks) in &dumps {
        let payload = std::fs::read(folder.join(text(entry, "rdbdump"))).unwrap();
        let read = Chain::parse_dump(&payload, Limits::default()).unwrap();
        assert!(read == load(chunks, Limits::default()).unwrap(), "{name}: not what chunks say");
        let mut built = Chain::build(&reserve(entry), Limits::default()).unwrap();
        for i in 0..added(entry) {
            built.insert(&key(i));
        }
        assert_eq!(read.write_dump(), payload, "{name}");
        assert!(built.write_dump() == payload, "{name}: built from its keys, it has other bytes");
    }
    println!("{} dumps", dumps.len());
    assert_eq!(dumps.len(), 10);
}

#[test]
fn every_flip_and_truncation_of_a_dump_is_refused() {
    let payload = small(2).write_dump();
    Chain::parse_dump(&payload, Limits::default()).unwrap();
    damage::each(&payload, |bytes| {
        assert!(Chain::parse_dump(bytes, Limits::default()).is_err());
    });
    let mut flipped = payload.clone();
    flipped[40] ^= 1;
    let why = Chain::parse_dump(&flipped, Limits::default()).unwrap_err();
    assert!(matches!(why, Refusal::Checksum { .. }), "{why}");
}

/// A payload with its checksum made right.
fn sealed(summed: &[u8]) -> Vec<u8> {
    let sum = Crc::<u64>::new(&CRC_64_REDIS).checksum(summed);
    [summed, &sum.to_le_bytes()].concat()
}

#[test]
fn damage_behind_a_right_checksum_never_crashes_or_takes_more_than_was_there() {
    for chain in [small(2), Chain::build(&Reserve::default(), Limits::default()).unwrap()] {
        let payload = chain.write_dump();
        let (summed, _) = payload.split_last_chunk::<8>().unwrap();
        let mut read = 0;
        damage::each(summed, |bytes| {
            if let Ok(chain) = Chain::parse_dump(&sealed(bytes), Limits::default()) {
                assert!(!chain.write_dump().is_empty());
                read += 1;
            }
        });
        assert!(read < 4 * payload.len(), "{read}");
    }
}

#[test]
fn bits_that_spell_a_number_are_read_as_redis_writes_them() {
    // One link of 8 bytes whose bits are the digits 1 to 8: Redis writes an integer.
    let reserve = Reserve { error: 0.9, capacity: 1, expansion: None };
    let plain = Chain::build(&reserve, Limits::default()).unwrap().write_dump();
    let at = plain.windows(3).rposition(|bytes| bytes == [5, 8, 0]).unwrap();
    let mut summed = plain[..at].to_vec();
    summed.extend([5, 0xc2]);
    summed.extend(12_345_678_u32.to_le_bytes());
    // As many adds as it has set bits, to fit them.
    summed.extend([2, 29, 0]);
    summed.extend([10, 0]);
    let mut whole = sealed(&summed);
    let size_at = 11;
    assert_eq!(whole[size_at - 1..=size_at], [2, 0]);
    whole[size_at] = 29;
    let whole = sealed(&whole[..whole.len() - 8]);
    let chain = Chain::parse_dump(&whole, Limits::default()).unwrap();
    assert_eq!(chain.chunks().next().unwrap().1, b"12345678");
}

#[test]
fn another_type_of_module_is_named() {
    let mut payload = small(1).write_dump();
    payload.truncate(payload.len() - 8);
    payload[9] = 5;
    let why = Chain::parse_dump(&sealed(&payload), Limits::default()).unwrap_err();
    assert!(why.to_string().contains("MBbloom-- in its encoding 5"), "{why}");
    payload[0] = 0;
    let why = Chain::parse_dump(&sealed(&payload), Limits::default()).unwrap_err();
    assert!(why.to_string().starts_with("the type of a dump is 0"), "{why}");
}
