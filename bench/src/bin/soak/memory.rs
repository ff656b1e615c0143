//! Resident memory over time: flat, or growing.

use std::fs;

/// Bytes resident now; `None` where the system does not tell.
pub(crate) fn resident() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// The most of the first two thirds of what was sampled, and the median of the last; `None` where
/// that is too little. The most, since a system that pages out what nobody has touched for a while
/// (DAMON) takes some off in any minute: what comes back later is no growth.
pub(crate) fn levels(samples: &[u64]) -> Option<(u64, u64)> {
    let third = samples.len() / 3;
    let (earlier, last) = samples.split_at(2 * third);
    let mut last = last.to_vec();
    last.sort_unstable();
    let median = last.get(last.len() / 2).copied()?;
    (third >= SAMPLES_MIN).then(|| Some((earlier.iter().copied().max()?, median)))?
}

/// Whether the last third has at most 1 % more than there ever was before.
pub(crate) fn is_flat((earlier, last): (u64, u64)) -> bool {
    last.saturating_sub(earlier) * 100 <= earlier
}

/// Samples of a third from which on a median says something.
const SAMPLES_MIN: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_per_cent_more_is_flat_and_growth_beyond_it_is_not() {
        assert!(is_flat((1_000_000, 1_010_000)));
        assert!(is_flat((1_000_000, 900_000)));
        assert!(!is_flat((1_000_000, 1_010_100)));
    }

    #[test]
    fn what_was_paged_out_and_comes_back_is_no_growth_and_a_leak_is() {
        let back: Vec<u64> =
            (0..90).map(|i| if (30..60).contains(&i) { 900 } else { 1_000 }).collect();
        assert_eq!(levels(&back), Some((1_000, 1_000)));
        let leak: Vec<u64> = (0..90).map(|i| 1_000 + i).collect();
        assert!(!is_flat(levels(&leak).unwrap()));
        assert_eq!(levels(&leak[..59]), None);
        assert!(resident().is_some_and(|bytes| bytes > 1 << 20));
    }
}
