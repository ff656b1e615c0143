//! Chunks of RedisBloom: a script of chunks, each with a right or a wrong iterator, as those of a
//! chain and as those of a cuckoo filter.

use bloomrf_filter::Inserted;
use bloomrf_filter::foreign::redisbloom::{Chain, Cuckoo, Reserve, chunks, cuckoo};
use bloomrf_filter::foreign::{Foreign, Refusal};

use super::{LIMITS, ask, key};

/// A script: for each chunk a byte of how, two of length, and the bytes.
pub fn run(script: &[u8]) {
    let chunks = chunks_of(script);
    let Some(((first, head), rest)) = chunks.split_first() else { return };
    let data: Vec<u8> = rest.iter().flat_map(|(_, chunk)| chunk.iter().copied()).collect();
    if let Ok(loading) = chunks::Loading::begin(*first, head, LIMITS) {
        chain(loading, rest, head, &data);
    }
    if let Ok(loading) = cuckoo::Loading::begin(*first, head, LIMITS) {
        slots(loading, rest, head, &data);
    }
}

fn chain(mut loading: chunks::Loading, rest: &[(u64, &[u8])], head: &[u8], data: &[u8]) {
    let taken: Vec<Result<(), Refusal>> =
        rest.iter().map(|(iterator, chunk)| loading.load(*iterator, chunk)).collect();
    let is_complete = loading.is_complete();
    let Ok(mut filter) = loading.finish() else { return };
    assert!(is_complete);
    ask(&filter, data.len());
    assert_eq!(filter.head_chunk(), head);
    if taken.iter().all(Result::is_ok) {
        assert!(filter.chunks().flat_map(|(_, chunk)| chunk).eq(data));
    }
    let dumped = filter.write_dump();
    assert_eq!(Chain::parse_dump(&dumped, LIMITS), Ok(filter.clone()));
    if filter.insert(head) != Inserted::Full {
        assert!(filter.contains(head));
    }
}

fn slots(mut loading: cuckoo::Loading, rest: &[(u64, &[u8])], head: &[u8], data: &[u8]) {
    let taken: Vec<Result<(), Refusal>> =
        rest.iter().map(|(iterator, chunk)| loading.load(*iterator, chunk)).collect();
    let is_complete = loading.is_complete();
    let Ok(mut filter) = loading.finish() else { return };
    assert!(is_complete);
    ask(&filter, data.len());
    assert_eq!(filter.head_chunk(), head);
    if taken.iter().all(Result::is_ok) {
        assert!(filter.chunks().flat_map(|(_, chunk)| chunk).eq(data));
    }
    if filter.insert(head) != Inserted::Full {
        assert!(filter.contains(head) && filter.remove(head));
    }
}

fn chunks_of(mut script: &[u8]) -> Vec<(u64, &[u8])> {
    let (mut chunks, mut sum) = (Vec::new(), 0);
    while let Some((&[how, low, high], rest)) = script.split_first_chunk::<3>() {
        let length = usize::from(u16::from_le_bytes([low, high]));
        let (chunk, rest) = rest.split_at(length.min(rest.len()));
        script = rest;
        if !chunks.is_empty() {
            sum += chunk.len() as u64;
        }
        let iterator = match how {
            0..0xf0 => 1 + sum,
            0xf0..0xf8 => u64::from(how & 7),
            0xf8.. => u64::MAX - u64::from(how & 7),
        };
        chunks.push((iterator, chunk));
    }
    chunks
}

fn script<'a>(head: &[u8], chunks: impl Iterator<Item = (u64, &'a [u8])>) -> Vec<u8> {
    let mut script = Vec::new();
    for chunk in std::iter::once(head).chain(chunks.map(|(_, chunk)| chunk)) {
        script.push(0);
        script.extend((chunk.len() as u16).to_le_bytes());
        script.extend(chunk);
    }
    script
}

/// Scripts to start from.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (items, expansion) in [(0, Some(2)), (60, Some(2)), (60, Some(1)), (9, None)] {
        let reserve = Reserve { error: 0.1, capacity: 10, expansion };
        let Ok(mut filter) = Chain::build(&reserve, LIMITS) else { continue };
        (0..items).for_each(|i| _ = filter.insert(&key(i)));
        all.push(script(&filter.head_chunk(), filter.chunks()));
    }
    for (items, expansion) in [(5, 0), (60, 1), (60, 2)] {
        let reserve = cuckoo::Reserve { capacity: 16, expansion, ..cuckoo::Reserve::default() };
        let Ok(mut filter) = Cuckoo::build(&reserve, LIMITS) else { continue };
        (0..items).for_each(|i| _ = filter.insert(&key(i)));
        all.push(script(&filter.head_chunk(), filter.chunks()));
    }
    all
}
