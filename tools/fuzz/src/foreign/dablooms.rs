//! Files of dablooms, alone and chained. The first four bytes say capacity and rate.

use bloomrf_filter::foreign::Foreign;
use bloomrf_filter::foreign::dablooms::{Counting, Crash, Params, Removed, Scaling, State};

use super::{LIMITS, ask, key};

/// Any bytes.
pub fn run(input: &[u8]) {
    let Some((params, file)) = input.split_first_chunk::<4>() else { return };
    let params = params_of(*params);
    if let Ok(mut chain) = Scaling::parse(file, &params, LIMITS) {
        assert_eq!(chain.write(), file);
        ask(&chain, file.len());
        for crash in [Crash::Process, Crash::Machine] {
            let is_clean = chain.sequence().state() == State::Clean;
            assert!(chain.sequence().is_whole_after(crash) || !is_clean);
        }
        for id in [0, chain.id_max(), u64::MAX] {
            if chain.insert(input, id).is_ok() {
                assert!(chain.contains(input));
                assert_ne!(chain.remove(input, id), Removed::Absent);
            }
        }
    }
    let Ok(mut filter) = Counting::parse(file, &params, LIMITS) else { return };
    assert_eq!(filter.write(), file);
    ask(&filter, file.len());
    let absent = !filter.contains(file);
    let before = filter.write();
    assert_eq!(filter.remove(file) == Removed::Absent, absent);
    assert!(!absent || filter.write() == before, "nothing changed");
    filter.insert(file);
    assert!(filter.contains(file));
}

fn params_of([low, high, rate, sign]: [u8; 4]) -> Params {
    let error = match sign {
        0..0xf0 => 1.0 / (1.0 + f64::from(rate)),
        0xf0..0xf8 => f64::from(rate).exp2().recip().powi(4),
        0xf8.. => f64::from(rate) - 2.0,
    };
    Params { capacity: u16::from_le_bytes([low, high]).into(), error }
}

/// Files to start from.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let head = [5, 0, 19, 0];
    let params = params_of(head);
    let mut all = Vec::new();
    if let Ok(mut filter) = Counting::build(&params, LIMITS) {
        (0..5).for_each(|i| _ = filter.insert(&key(i)));
        all.push([&head[..], &filter.write()].concat());
    }
    if let Ok(mut chain) = Scaling::build(&params, LIMITS) {
        (0..12).for_each(|i| _ = chain.insert(&key(i), i));
        all.push([&head[..], &chain.write()].concat());
    }
    all
}
