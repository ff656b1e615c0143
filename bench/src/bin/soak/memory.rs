//! Resident memory over time: flat, or growing.

use std::fs;

/// Bytes resident now; `None` where the system does not tell.
pub(crate) fn resident() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Medians of the second and the last third of what was sampled; `None` where that is too little.
pub(crate) fn thirds(samples: &[u64]) -> Option<(u64, u64)> {
    let third = samples.len() / 3;
    let median = |part: &[u64]| {
        let mut sorted = part.to_vec();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied()
    };
    (third >= SAMPLES_MIN)
        .then(|| Some((median(&samples[third..2 * third])?, median(&samples[2 * third..])?)))?
}

/// Whether the two differ by at most 1 %.
pub(crate) fn is_flat((middle, last): (u64, u64)) -> bool {
    middle.abs_diff(last) * 100 <= middle
}

/// Samples of a third from which on a median says something.
const SAMPLES_MIN: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_per_cent_is_flat_and_more_is_not() {
        assert!(is_flat((1_000_000, 1_010_000)));
        assert!(is_flat((1_000_000, 990_000)));
        assert!(!is_flat((1_000_000, 1_010_100)));
        assert!(!is_flat((1_000_000, 989_000)));
    }

    #[test]
    fn the_first_third_is_forgotten() {
        let samples: Vec<u64> = (0..90).map(|i| if i < 30 { i } else { 500 + i / 60 }).collect();
        assert_eq!(thirds(&samples), Some((500, 501)));
        assert_eq!(thirds(&samples[..59]), None);
        assert!(resident().is_some_and(|bytes| bytes > 1 << 20));
    }
}
