//! How keys lie in their domain, and empty ranges among them.

use bloomrf_bench::{Splitmix, timestamps, uniform};

/// A distribution of keys and of the questions about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// Keys and starts uniform in 64 bits: what the model describes.
    Uniform,
    /// Groups of 1,024 keys within 2^24 of each other; starts within the groups.
    Clustered,
    /// Rising, a mean of 1,000 apart; starts between the first and the last.
    TimeOrder,
    /// A key every 1,000,000; starts between the first and the last.
    Strided,
    /// Runs of 256 neighbours with 256 absent ones between; starts within the whole.
    Dense,
    /// Uniform keys; starts within `2^bits` after a stored key.
    Correlated {
        /// How near.
        bits: u32,
    },
}

impl Lie {
    pub(crate) const ALL: [Lie; 8] = [
        Lie::Uniform,
        Lie::Clustered,
        Lie::TimeOrder,
        Lie::Strided,
        Lie::Dense,
        Lie::Correlated { bits: 4 },
        Lie::Correlated { bits: 10 },
        Lie::Correlated { bits: 20 },
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Lie::Uniform => "uniform".to_owned(),
            Lie::Clustered => "clustered".to_owned(),
            Lie::TimeOrder => "time order".to_owned(),
            Lie::Strided => "strided".to_owned(),
            Lie::Dense => "dense".to_owned(),
            Lie::Correlated { bits } => format!("correlated 2^{bits}"),
        }
    }

    /// `count` keys, in no order.
    pub(crate) fn keys(self, count: usize) -> Vec<u64> {
        match self {
            Lie::Uniform | Lie::Correlated { .. } => uniform(1, 64, count),
            Lie::Clustered => {
                let bases = uniform(5, 63, count.div_ceil(GROUP));
                let offsets = uniform(6, CLUSTER_BITS, count);
                let group = |i: usize| bases[i % bases.len()];
                offsets.iter().enumerate().map(|(i, offset)| group(i) + offset).collect()
            }
            Lie::TimeOrder => timestamps(1, count),
            Lie::Strided => (0..count as u64).map(|i| FIRST + i * STRIDE).collect(),
            Lie::Dense => {
                (0..count as u64).map(|i| FIRST + (i / RUN) * 2 * RUN + i % RUN).collect()
            }
        }
    }
}

/// Keys of one cluster, and how far apart they may be.
const GROUP: usize = 1_024;
const CLUSTER_BITS: u32 = 24;

/// First key of the regular distributions; no power of two.
const FIRST: u64 = 0x1234_5678_9ABC_DEF1;
const STRIDE: u64 = 1_000_000;
const RUN: u64 = 256;

/// A seeded stream of empty ranges of one width.
pub(crate) struct Questioner<'a> {
    lie: Lie,
    sorted: &'a [u64],
    width: u64,
    random: Splitmix,
}

impl<'a> Questioner<'a> {
    /// Ranges of `width` keys among those of `sorted`.
    pub(crate) fn new(lie: Lie, sorted: &'a [u64], width: u64) -> Self {
        Questioner { lie, sorted, width, random: Splitmix::new(width ^ 0x5EED) }
    }

    pub(crate) fn is_uniform(&self) -> bool {
        self.lie == Lie::Uniform
    }

    /// `count` ranges that hold no key; `None` where hardly any range is empty.
    pub(crate) fn empty_ranges(&mut self, count: usize) -> Option<Vec<(u64, u64)>> {
        let mut ranges = Vec::with_capacity(count);
        for _ in 0..20 * count {
            let lo = self.start();
            let Some(hi) = lo.checked_add(self.width - 1) else { continue };
            let next = self.sorted.partition_point(|&key| key < lo);
            if self.sorted.get(next).is_none_or(|&key| key > hi) {
                ranges.push((lo, hi));
                if ranges.len() == count {
                    return Some(ranges);
                }
            }
        }
        None
    }

    fn start(&mut self) -> u64 {
        let draw = self.random.draw();
        let (first, last) = (self.sorted[0], self.sorted[self.sorted.len() - 1]);
        let stored = self.sorted[(draw % self.sorted.len() as u64) as usize];
        let other = self.random.draw();
        match self.lie {
            Lie::Uniform => draw,
            Lie::Clustered => {
                // A little beyond the cluster's end as well.
                let near = stored.saturating_sub(1 << (CLUSTER_BITS - 1));
                near + (other >> (64 - CLUSTER_BITS))
            }
            Lie::TimeOrder | Lie::Strided | Lie::Dense => first + draw % (last - first),
            Lie::Correlated { bits } => stored.saturating_add(1 + (other >> (64 - bits))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_ranges_hold_no_key_however_keys_lie() {
        for lie in Lie::ALL {
            let mut keys = lie.keys(5_000);
            keys.sort_unstable();
            for width in [1, 16, 1 << 10] {
                let Some(ranges) = Questioner::new(lie, &keys, width).empty_ranges(500) else {
                    assert!(width > RUN, "{lie:?} {width}");
                    continue;
                };
                for (lo, hi) in ranges {
                    assert_eq!(hi - lo + 1, width);
                    assert!(!keys.iter().any(|key| (lo..=hi).contains(key)), "{lie:?} {width}");
                }
            }
        }
    }
}
