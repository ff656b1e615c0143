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

/// Whether the last third has at most 1 % more than the second. Less is no growth: a system that
/// reclaims pages which nobody has touched for a while (DAMON) takes some off in any minute.
pub(crate) fn is_flat((middle, last): (u64, u64)) -> bool {
    last.saturating_sub(middle) * 100 <= middle
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
    fn the_first_third_is_forgotten() {
        let samples: Vec<u64> = (0..90).map(|i| if i < 30 { i } else { 500 + i / 60 }).collect();
        assert_eq!(thirds(&samples), Some((500, 501)));
        assert_eq!(thirds(&samples[..59]), None);
        assert!(resident().is_some_and(|bytes| bytes > 1 << 20));
    }
}
