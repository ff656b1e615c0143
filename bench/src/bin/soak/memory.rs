//! Resident memory over time: flat, or growing.

use std::fs;

/// Bytes resident now; `None` where the system does not tell.
pub(crate) fn resident() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Keeps every page that this process touches in memory until it gives it back; `false` where it
/// may not. A system that pages out what nobody touched for a while (DAMON) makes resident memory
/// swing by a fifth within seconds, which says nothing of the node.
pub(crate) fn hold_pages() -> bool {
    use rustix::mm::{MlockAllFlags, mlockall};
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT).is_ok()
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

/// Whether the last third has at most 1 % more than the second, or one huge page: the arenas take
/// their memory in such, and one that is first touched late is no growth that goes on.
pub(crate) fn is_flat((middle, last): (u64, u64)) -> bool {
    last.saturating_sub(middle) <= (middle / 100).max(HUGE_PAGE_BYTES)
}

const HUGE_PAGE_BYTES: u64 = 2 << 20;
/// Samples of a third from which on a median says something.
const SAMPLES_MIN: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_per_cent_or_a_huge_page_more_is_flat_and_growth_beyond_it_is_not() {
        assert!(is_flat((1 << 30, (1 << 30) / 100 * 101)));
        assert!(is_flat((1 << 30, 1 << 29)));
        assert!(!is_flat((1 << 30, (1 << 30) / 100 * 102)));
        assert!(is_flat((90 << 20, 92 << 20)));
        assert!(!is_flat((90 << 20, (92 << 20) + 4_096)));
    }

    #[test]
    fn the_first_third_is_forgotten_and_a_leak_is_found() {
        let samples: Vec<u64> = (0..90).map(|i| if i < 30 { i } else { 500 + i / 60 }).collect();
        assert_eq!(thirds(&samples), Some((500, 501)));
        assert_eq!(thirds(&samples[..59]), None);
        let leak: Vec<u64> = (0..90).map(|i| (90 << 20) + (i << 17)).collect();
        assert!(!is_flat(thirds(&leak).unwrap()));
        assert!(resident().is_some_and(|bytes| bytes > 1 << 20));
    }
}
