//! What the two keys of a filter of Redisson hold: four lines of parameters, then the bits.

use bloomrf_filter::Spec;
use bloomrf_filter::foreign::Foreign;
use bloomrf_filter::foreign::redisson::{Config, Redisson};

use super::{LIMITS, ask, key};

/// Four lines, each of one value, and the string.
pub fn run(input: &[u8]) {
    let mut parts = input.splitn(5, |byte| *byte == b'\n');
    let values: Vec<&[u8]> = parts.by_ref().take(4).collect();
    let string = parts.next();
    let config = Config::parse(FIELDS.map(str::as_bytes).into_iter().zip(values)).ok();
    if let Some(config) = config {
        let fields = config.fields();
        let fields = fields.iter().map(|(name, text)| (name.as_bytes(), text.as_bytes()));
        assert_eq!(Config::parse(fields), Ok(config));
    }
    let Ok(mut filter) = Redisson::parse(config, string, LIMITS) else { return };
    assert_eq!(filter.write().unwrap_or_default(), string.unwrap_or_default());
    assert!(filter.check_config(config).is_ok() && filter.check_config(None).is_err());
    ask(&filter, input.len());
    filter.insert(input);
    assert!(filter.contains(input));
}

/// Inputs to start from.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (items, fpr) in [(0, 0.01), (9, 0.03), (50, 1e-4)] {
        let Ok(mut filter) = Redisson::build(&Spec { items: items.max(1), fpr }, LIMITS) else {
            continue;
        };
        for i in 0..items {
            filter.insert(&key(i));
        }
        let values = filter.config().fields().map(|(_, value)| value + "\n").concat();
        all.push([values.into_bytes(), filter.write().unwrap_or_default()].concat());
    }
    all
}

const FIELDS: [&str; 4] = ["size", "hashIterations", "expectedInsertions", "falseProbability"];
