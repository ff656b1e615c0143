//! RDB files: one that a live Redis saved, with chains put among its keys.

use bloomrf_filter::foreign::redisbloom::snapshot::Snapshot;
use bloomrf_filter::foreign::{Limits, Refusal};

use super::small;
use crate::damage;
use crate::live::Redis;

/// A file of a value of each kind, as Redis 7 would write it, with two chains in two databases.
fn file() -> Vec<u8> {
    let mut file = b"REDIS0010".to_vec();
    file.extend(b"\xfa\x09redis-ver\x057.0.0\xf7\x81\0\0\0\0\0\0\0\x01\x02\x02\x02\x07\0\xfe\0");
    file.extend(b"\xfb\x05\x01\0\x01a\x01b\0\x01n\xc0\x07\xfc\0\0\0\0\0\0\0\x01\x05\x01z\x01\x01x");
    file.extend(b"\0\0\0\0\0\0\xf0\x3f\x04\x01h\x01\x01f\x01v\x12\x01l\x01\x02\x01x\xf8\x03");
    put_chain(&mut file, b"one", 1);
    file.extend(b"\xfe\x03\xf9\x07");
    put_chain(&mut file, b"two", 2);
    // Another module's value: a number, a double, a string.
    file.extend(b"\x07\x01m\x81\0\0\0\0\0\0\0\x09\x02\x05\x04\0\0\0\0\0\0\xf0\x3f\x05\x01s\0");
    sealed(file)
}

fn put_chain(file: &mut Vec<u8>, key: &[u8], links: usize) {
    let dump = small(links).write_dump();
    file.push(7);
    file.push(key.len() as u8);
    file.extend(key);
    file.extend(&dump[1..dump.len() - 10]);
}

fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    file.push(0xff);
    let sum = crc::Crc::<u64>::new(&crc::CRC_64_REDIS).checksum(&file);
    file.extend(sum.to_le_bytes());
    file
}

#[test]
fn chains_are_found_among_keys_of_every_other_kind() {
    let snapshot = Snapshot::parse(&file(), Limits::default()).unwrap();
    let found = snapshot.chains.iter().map(|one| (one.database, &one.key[..], &one.chain));
    let expected = [(0, &b"one"[..], &small(1)), (3, b"two", &small(2))];
    assert!(found.eq(expected));
    assert_eq!(snapshot.others, 6);
    let limits = Limits { bytes_max: 8 };
    assert!(matches!(Snapshot::parse(&file(), limits), Err(Refusal::TooLarge { .. })));
}

#[test]
fn every_flip_and_truncation_of_a_file_is_refused() {
    damage::each(&file(), |bytes| assert!(Snapshot::parse(bytes, Limits::default()).is_err()));
}

#[test]
fn damage_behind_a_right_checksum_never_crashes() {
    let whole = file();
    damage::each(&whole[..whole.len() - 9], |bytes| {
        drop(Snapshot::parse(&sealed(bytes.to_vec()), Limits::default()));
    });
}

#[test]
fn a_type_that_cannot_be_passed_over_is_named() {
    let stream = sealed(b"REDIS0010\xfe\0\x13\x01s".to_vec());
    let why = Snapshot::parse(&stream, Limits::default()).unwrap_err();
    assert!(why.to_string().starts_with("the type of a key is 19"), "{why}");
}

#[test]
fn a_file_that_a_live_redis_saved_is_walked_to_its_end() {
    let Some(mut redis) = Redis::start() else { return };
    let long = vec![b'x'; 30_000];
    for (at, size) in [(0, 1), (1, 20), (2, 3_000)] {
        let name = |kind: &str| format!("{kind}{at}").into_bytes();
        redis.ask(&[b"SET", &name("string"), &long[..size]]);
        for i in 0..size {
            let item = format!("{i}-{}", "y".repeat(i % 70)).into_bytes();
            redis.ask(&[b"RPUSH", &name("list"), &item]);
            redis.ask(&[b"SADD", &name("set"), &item]);
            redis.ask(&[b"SADD", &name("numbers"), i.to_string().as_bytes()]);
            redis.ask(&[b"HSET", &name("hash"), &item, b"v"]);
            redis.ask(&[b"ZADD", &name("sorted"), b"1.5", &item]);
        }
        redis.ask(&[b"PEXPIRE", &name("set"), b"10000000"]);
    }
    redis.ask(&[b"SETBIT", b"bits", b"100000", b"1"]);
    redis.ask(&[b"SAVE"]);
    let mut file = std::fs::read(redis.folder().join("dump.rdb")).unwrap();
    let keys = Snapshot::parse(&file, Limits::default()).unwrap();
    assert_eq!((keys.others, keys.chains.len()), (19, 0));
    // And with a chain behind its keys.
    file.truncate(file.len() - 9);
    put_chain(&mut file, b"seen", 2);
    let found = Snapshot::parse(&sealed(file), Limits::default()).unwrap();
    assert_eq!((found.others, found.chains.len()), (19, 1));
    assert_eq!((&found.chains[0].key[..], &found.chains[0].chain), (&b"seen"[..], &small(2)));
}
