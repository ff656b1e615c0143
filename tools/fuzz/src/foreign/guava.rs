//! Files of Guava.

use bloomrf_filter::Spec;
use bloomrf_filter::foreign::Foreign;
use bloomrf_filter::foreign::guava::{Guava, KRule, Params, Strategy};

use super::{LIMITS, ask, key};

/// Any bytes.
pub fn run(file: &[u8]) {
    let Ok(mut filter) = Guava::parse(file, LIMITS) else { return };
    assert_eq!(filter.write(), file);
    ask(&filter, file.len());
    filter.insert(file);
    assert!(filter.contains(file));
    let copy = filter.clone();
    assert!(filter.merge(&copy).is_ok() && filter == copy);
}

/// Files to start from.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (items, strategy) in [(1, Strategy::Mitz32), (10, Strategy::Mitz64), (99, Strategy::Mitz64)]
    {
        let spec = Spec { items, fpr: 0.03 };
        let params = Params { spec, strategy, k_rule: KRule::FromRate };
        let Ok(mut filter) = Guava::build(&params, LIMITS) else { continue };
        for i in 0..items {
            filter.insert(&key(i));
        }
        all.push(filter.write());
    }
    all
}
