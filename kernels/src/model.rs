//! Called when a column is set up or a batch is sealed, not per record; a call follows
//! 512 searches.
//!
//! The false-positive model: the expected outcome of the two-path search over an empty range.
//!
//! A bit is set by chance with probability `fill`. A covering interval is moreover set for certain
//! when it holds a key outside the range, and then so are all intervals above it: each path
//! carries the two cases ("holds a key", "holds none") downwards. Where the range falls on the
//! dyadic grid decides which bits are read, so the rate is the mean over a fixed, even sample of
//! positions. Keys are taken as uniform in the domain, which makes them Poisson in an interval.

use crate::Layers;
use crate::layers::EXACT_TOP;

/// Positions of the range that are averaged over; the mean is within 1 % of the limit.
const POSITIONS: u64 = 512;

/// Step of the positions: the golden ratio of 2^64, odd, so that low bits are even as well.
const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

/// See [`crate::params::fpr`].
pub(crate) fn fpr(layers: &Layers, words: usize, keys: u64, width: u64) -> f64 {
    if words == 0 {
        return 1.0;
    }
    let domain = (layers.key_max() as f64) + 1.0;
    let fill = expected_fill(layers, words, keys as f64, domain);
    let span = width.max(1) - 1;
    if span >= layers.key_max() {
        return 1.0;
    }
    let lo_max = layers.key_max() - span;
    let levels = levels(layers);
    let mut sum = 0.0;
    for i in 0..POSITIONS {
        let spread = u128::from(i.wrapping_mul(STRIDE).wrapping_add(STRIDE / 3));
        let lo = ((spread * (u128::from(lo_max) + 1)) >> 64) as u64;
        let search = Search { fill, density: keys as f64 / domain, lo, hi: lo + span };
        sum += search.found(&levels);
    }
    sum / POSITIONS as f64
}

/// Fill of `words` words after `keys` uniform keys: each layer sets one bit per distinct interval.
fn expected_fill(layers: &Layers, words: usize, keys: f64, domain: f64) -> f64 {
    let bits: f64 = layers
        .hashed()
        .iter()
        .map(|layer| {
            let intervals = domain / (1u64 << layer.start) as f64;
            -intervals * (-keys / intervals).exp_m1()
        })
        .sum();
    -(-bits / (64.0 * words as f64)).exp_m1()
}

/// Levels from the top down; the exact one first.
fn levels(layers: &Layers) -> Vec<Level> {
    let top = layers.has_exact_top().then_some((&EXACT_TOP, true));
    let hashed = layers.hashed().iter().rev().map(|layer| (layer, false));
    let all = top.into_iter().chain(hashed);
    all.map(|(layer, exact)| Level { start: u32::from(layer.start), exact }).collect()
}

/// One range at one position.
struct Search {
    fill: f64,
    /// Keys per value of the domain.
    density: f64,
    lo: u64,
    hi: u64,
}

/// Which end a path follows.
#[derive(Clone, Copy)]
enum End {
    Lo,
    Hi,
}

impl Search {
    /// Probability that the search says "found".
    fn found(&self, levels: &[Level]) -> f64 {
        // Above all layers: one interval, the domain, of which it does not matter what it holds.
        let (mut holds, mut empty) = (1.0, 0.0);
        let mut above_holds = 1.0;
        for (index, level) in levels.iter().enumerate() {
            let (a, b) = (self.lo >> level.start, self.hi >> level.start);
            if a != b {
                return holds * self.part(&levels[index..], above_holds)
                    + empty * self.part(&levels[index..], 0.0);
            }
            let here = self.holds(level, a);
            let given = if above_holds > 0.0 { (here / above_holds).min(1.0) } else { 0.0 };
            empty = (holds * (1.0 - given) + empty) * level.chance(self.fill);
            holds *= given;
            above_holds = here;
            let low = (1u64 << level.start) - 1;
            if self.lo & low == 0 && self.hi & low == low {
                return holds + empty;
            }
        }
        1.0
    }

    /// Probability of "found" from the layer on at which the ends part. `above` is the chance that
    /// the interval above holds a key, if it is known to hold one; 0: it is known to hold none.
    fn part(&self, levels: &[Level], above: f64) -> f64 {
        let level = levels[0];
        let low = (1u64 << level.start) - 1;
        let (a, b) = (self.lo >> level.start, self.hi >> level.start);
        let (a_full, b_full) = (self.lo & low == 0, self.hi & low == low);
        let interior = b - a + 1 - u64::from(!a_full) - u64::from(!b_full);
        let hit = self.any(level, interior);
        let path = |end, full: bool, holds: bool| {
            if full { 0.0 } else { self.cover(levels, end, holds) }
        };
        let (left, right) = (self.holds(&level, a), self.holds(&level, b));
        // The two ends hold keys independently, unless the interval above is known to hold one.
        let any_end = 1.0 - (1.0 - left) * (1.0 - right);
        let scale = if above > 0.0 { 1.0 / above.max(any_end) } else { 0.0 };
        let mut missed = 0.0;
        let mut rest = 1.0;
        for (l, r) in [(true, true), (true, false), (false, true)] {
            let chance =
                scale * (if l { left } else { 1.0 - left }) * (if r { right } else { 1.0 - right });
            rest -= chance;
            missed += chance * (1.0 - path(End::Lo, a_full, l)) * (1.0 - path(End::Hi, b_full, r));
        }
        missed +=
            rest * (1.0 - path(End::Lo, a_full, false)) * (1.0 - path(End::Hi, b_full, false));
        hit + (1.0 - hit) * (1.0 - missed)
    }

    /// Probability of "found" by one path from its covering interval in `levels[0]` on.
    fn cover(&self, levels: &[Level], end: End, holds: bool) -> f64 {
        let pass = if holds { 1.0 } else { levels[0].chance(self.fill) };
        if pass == 0.0 {
            return 0.0;
        }
        let Some(next) = levels.get(1) else { return pass };
        let key = self.key(end);
        let low = (1u64 << next.start) - 1;
        let child = key >> next.start;
        let children = (1u64 << (levels[0].start - next.start)) - 1;
        let (full, beside) = match end {
            End::Lo => (key & low == 0, (child | children) - child),
            End::Hi => (key & low == low, child - (child & !children)),
        };
        let hit = self.any(*next, beside + u64::from(full));
        if full {
            return pass * hit;
        }
        let above = self.holds(&levels[0], key >> levels[0].start);
        let given = match holds && above > 0.0 {
            true => (self.holds(next, child) / above).min(1.0),
            false => 0.0,
        };
        let mut below = (1.0 - given) * self.cover(&levels[1..], end, false);
        if given > 0.0 {
            below += given * self.cover(&levels[1..], end, true);
        }
        pass * (hit + (1.0 - hit) * below)
    }

    /// Chance that any of `count` intervals without a key is set.
    fn any(&self, level: Level, count: u64) -> f64 {
        if count == 0 { 0.0 } else { 1.0 - (1.0 - level.chance(self.fill)).powf(count as f64) }
    }

    /// Chance that interval `index` holds a key outside the range (which is empty).
    fn holds(&self, level: &Level, index: u64) -> f64 {
        let first = index << level.start;
        let last = first | ((1u64 << level.start) - 1);
        let inside = self.hi.min(last) - self.lo.max(first) + 1;
        let outside = (last - first + 1 - inside) as f64;
        -(-self.density * outside).exp_m1()
    }

    fn key(&self, end: End) -> u64 {
        match end {
            End::Lo => self.lo,
            End::Hi => self.hi,
        }
    }
}

/// One layer, as far as the model cares.
#[derive(Clone, Copy)]
struct Level {
    start: u32,
    exact: bool,
}

impl Level {
    /// Chance that the bit of an interval without a key is set.
    fn chance(self, fill: f64) -> f64 {
        if self.exact { 0.0 } else { fill }
    }
}
