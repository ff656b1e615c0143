//! Plain dumps of bits. The first eight bytes are the rules that a user would give.

use bloomrf_filter::foreign::bits::{Dump, Layout};
use bloomrf_filter::foreign::{BitOrder, Foreign, Rule};

use super::{LIMITS, ask, key};

/// Any bytes.
pub fn run(input: &[u8]) {
    let Some((head, bytes)) = input.split_first_chunk::<8>() else { return };
    let Ok(mut dump) = Dump::parse(bytes, layout(*head), LIMITS) else { return };
    assert_eq!(dump.write(), bytes);
    ask(&dump, bytes.len());
    dump.insert(input);
    assert!(dump.contains(input));
    let set: u32 = dump.bits().to_words().iter().map(|word| word.count_ones()).sum();
    assert_eq!(u64::from(set), dump.bits().ones());
}

fn layout([a, b, c, d, e, k, order, rule]: [u8; 8]) -> Layout {
    let order = match order % 3 {
        0 => BitOrder::LsbFirst,
        1 => BitOrder::MsbFirst,
        _ => BitOrder::BigEndianWords,
    };
    let rule = match rule % 4 {
        0 => Rule::GuavaMitz64,
        1 => Rule::GuavaMitz32,
        2 => Rule::RedisBloom,
        _ => Rule::Redisson,
    };
    let bits = u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]);
    Layout { bits, k: u32::from(k) * 5, order, rule }
}

/// Dumps to start from.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (order, rule) in [(0, 2), (1, 3), (2, 0), (2, 1)] {
        let head = [100, 1, 0, 0, 0, 1, order, rule];
        let Ok(mut dump) = Dump::build(layout(head), LIMITS) else { continue };
        for i in 0..20 {
            dump.insert(&key(i));
        }
        all.push([&head[..], &dump.write()].concat());
    }
    all
}
