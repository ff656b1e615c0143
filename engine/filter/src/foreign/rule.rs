//! From an item to its bits, as other systems do it: the hash and the arithmetic of the probes.

use bloomrf_kernels::hash::Hash128;

use super::hash::{highway128, murmur3_x64_128, murmur64a};

/// A hash with an index rule. All arithmetic is of 64 bits: no index wraps at 2^31 or 2^32,
/// but where the rule itself says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// Guava's default, `MURMUR128_MITZ_64`.
    GuavaMitz64,
    /// Guava's older one, `MURMUR128_MITZ_32`: it never reaches bits from 2^31 on.
    GuavaMitz32,
    /// RedisBloom's `BF.*` with 64-bit hashes.
    RedisBloom,
    /// Redisson's `RBloomFilter`.
    Redisson,
}

impl Rule {
    /// The hash of an encoded item.
    #[must_use]
    pub fn hash(self, item: &[u8]) -> Hash128 {
        match self {
            Rule::GuavaMitz64 | Rule::GuavaMitz32 => murmur3_x64_128(item, 0),
            Rule::RedisBloom => {
                let lo = murmur64a(item, REDISBLOOM_SEED);
                Hash128 { lo, hi: murmur64a(item, lo) }
            }
            Rule::Redisson => highway128(item),
        }
    }

    /// The `k` bits of a hash among `bits`, each below `bits`; they may repeat.
    ///
    /// # Panics
    /// Where `bits` is 0.
    #[must_use]
    pub fn probes(self, k: u32, bits: u64, hash: Hash128) -> Probes {
        assert!(bits > 0, "a filter has bits");
        let Hash128 { lo, hi } = hash;
        let sum = match self {
            Rule::GuavaMitz32 => u64::from((lo as u32).wrapping_add((lo >> 32) as u32)),
            _ => lo,
        };
        Probes { rule: self, done: 0, k, bits, lo, hi, sum }
    }
}

/// The bits of one item, one after another.
#[derive(Clone, Debug)]
pub struct Probes {
    rule: Rule,
    done: u32,
    k: u32,
    bits: u64,
    lo: u64,
    hi: u64,
    sum: u64,
}

impl Iterator for Probes {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.done == self.k {
            return None;
        }
        let sum = self.sum;
        let (place, next) = match self.rule {
            Rule::GuavaMitz64 => (sum & I64_MAX, sum.wrapping_add(self.hi)),
            Rule::GuavaMitz32 => {
                let low = sum as u32;
                let place = if low > I32_MAX { !low } else { low };
                (place.into(), low.wrapping_add((self.lo >> 32) as u32).into())
            }
            Rule::RedisBloom => (sum, sum.wrapping_add(self.hi)),
            Rule::Redisson => {
                let step = if self.done.is_multiple_of(2) { self.hi } else { self.lo };
                (sum & I64_MAX, sum.wrapping_add(step))
            }
        };
        self.sum = next;
        self.done += 1;
        Some(place % self.bits)
    }
}

const REDISBLOOM_SEED: u64 = 0xc6a4_a793_5bd1_e995;
const I64_MAX: u64 = i64::MAX as u64;
const I32_MAX: u32 = i32::MAX as u32;

#[cfg(test)]
mod tests {
    use super::*;

    /// From the golden traces.
    #[test]
    fn probes_are_those_that_other_systems_make() {
        let probes = |rule: Rule, item: &[u8], bits| {
            rule.probes(7, bits, rule.hash(item)).collect::<Vec<u64>>()
        };
        let mitz64 = [6_793, 6_883, 8_765, 1_047, 2_929, 4_811, 4_901];
        assert_eq!(probes(Rule::GuavaMitz64, b"a", 9_600), mitz64);
        let mitz32 = [3_950, 8_403, 6_343, 2_205, 2_941, 5_607, 9_139];
        assert_eq!(probes(Rule::GuavaMitz32, b"a", 9_600), mitz32);
        let redisson = [2_938, 1_673, 4_611, 998, 3_936, 2_671, 3_261];
        assert_eq!(probes(Rule::Redisson, b"a", 9_585), redisson);
        let wide = [486_431_633, 2_911_505_306, 5_336_578_979, 7_761_652_652];
        assert_eq!(probes(Rule::GuavaMitz64, b"key-0", 1 << 33)[..4], wide);
    }
}
