//! Keys of the contest: a bijection of a counter, so that stored and absent keys never meet, and
//! chunks of questions about them. Making keys is never timed.

use bloomrf_bench::Splitmix;

/// Keys of one timed call.
pub(crate) const CHUNK: usize = 4_096;

/// Counters from here on are never stored.
const ABSENT: u64 = 1 << 40;

/// Key number `index`.
pub(crate) fn key(index: u64) -> u64 {
    Splitmix::new(index.wrapping_mul(0x9E37_79B9_7F4A_7C15)).draw()
}

/// The 64-bit finaliser of murmur3: peers that take a hash and not a key get this one, computed
/// while the clock runs, as ours is.
#[cfg(feature = "peers")]
#[inline]
pub(crate) fn murmur(mut h: u64) -> u64 {
    h ^= h >> 33;
    h = h.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    h ^= h >> 33;
    h = h.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    h ^ (h >> 33)
}

/// What a chunk of questions asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Stored keys in random order.
    Hit,
    /// Keys that were never stored.
    Miss,
    /// One or the other by the toss of a coin: what mispredicted branches cost.
    Mixed,
}

impl Ask {
    pub(crate) const ALL: [Ask; 3] = [Ask::Hit, Ask::Miss, Ask::Mixed];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Ask::Hit => "hit",
            Ask::Miss => "miss",
            Ask::Mixed => "mixed",
        }
    }
}

/// A seeded stream of questions about a filter of `stored` keys.
pub(crate) struct Questions {
    random: Splitmix,
    stored: u64,
    absent: u64,
}

impl Questions {
    /// The same questions for every filter that is asked with this `round`.
    pub(crate) fn new(round: u64, stored: u64) -> Self {
        Questions { random: Splitmix::new(0xABC0 + round), stored, absent: ABSENT + (round << 32) }
    }

    pub(crate) fn fill(&mut self, ask: Ask, chunk: &mut [u64]) {
        for slot in chunk {
            let draw = self.random.draw();
            let hit = match ask {
                Ask::Hit => true,
                Ask::Miss => false,
                Ask::Mixed => draw & 1 == 0,
            };
            *slot = if hit {
                key(((u128::from(draw) * u128::from(self.stored)) >> 64) as u64)
            } else {
                self.absent += 1;
                key(self.absent)
            };
        }
    }
}

/// Keys `first..` of those that are stored.
pub(crate) fn stored(first: u64, chunk: &mut [u64]) {
    (first..).zip(chunk).for_each(|(index, slot)| *slot = key(index));
}
