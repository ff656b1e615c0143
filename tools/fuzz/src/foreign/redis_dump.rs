//! Payloads of `DUMP` of a chain of RedisBloom, as they are and with a right checksum; and RDB
//! files without one.

use bloomrf_filter::foreign::Refusal;
use bloomrf_filter::foreign::redisbloom::snapshot::Snapshot;
use bloomrf_filter::foreign::redisbloom::{Chain, Reserve};

use super::{LIMITS, ask, key};

/// Any bytes.
pub fn run(payload: &[u8]) {
    if payload.starts_with(b"REDIS") {
        let file = [payload, &[0; 8]].concat();
        let snapshot = Snapshot::parse(&file, LIMITS).unwrap_or_default();
        assert!(snapshot.others < file.len() as u64);
        snapshot.chains.iter().for_each(|stored| check(&stored.chain, file.len()));
        return;
    }
    let parsed = Chain::parse_dump(payload, LIMITS);
    if let Err(Refusal::Checksum { computed, .. }) = parsed {
        let end = payload.len().saturating_sub(8);
        let sealed = [&payload[..end], &computed.to_le_bytes()].concat();
        let parsed = Chain::parse_dump(&sealed, LIMITS);
        assert!(!matches!(parsed, Err(Refusal::Checksum { .. })));
        parsed.iter().for_each(|chain| check(chain, payload.len()));
    }
    parsed.iter().for_each(|chain| check(chain, payload.len()));
}

fn check(chain: &Chain, length: usize) {
    // Three packed bytes become 264 at most.
    ask(chain, 88 * length);
    assert_eq!(Chain::parse_dump(&chain.write_dump(), LIMITS).as_ref(), Ok(chain));
}

/// Payloads to start from.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (items, expansion) in [(0, Some(2)), (60, Some(2)), (60, Some(1)), (9, None)] {
        let reserve = Reserve { error: 0.1, capacity: 40, expansion };
        let Ok(mut chain) = Chain::build(&reserve, LIMITS) else { continue };
        (0..items).for_each(|i| _ = chain.insert(&key(i)));
        all.push(chain.write_dump());
    }
    // A string, a list, and a chain, with what surrounds them.
    let values = all.first().map_or(&[][..], |dump| &dump[1..dump.len() - 10]);
    let head = b"REDIS0010\xfa\x01a\x01b\xfe\0\xfb\x03\0\0\x01s\xc0\x07\x01\x01l\x02\x01x\x01y";
    all.push([&head[..], b"\x07\x01k", values, b"\xff"].concat());
    all
}
