//! Hot path: no allocation, no lock, no syscall; a search reads at most `probes_max` words.
//!
//! bloomRF by one key or one range at a time, straight from the definition.
//!
//! `hashed` are the W hashed words, `top` the 1,024 words of the exact top 16 bits (empty where
//! the layers have none). The word of a key in a layer is `mulhi32(hash, W)`, its bit the offset
//! rotated by six other hash bits: any run of offsets stays one mask, and folding is exact.
//!
//! A word that is not there (no words at all, a top that is missing) reads as all ones: "found".

use super::bitmap;
use crate::descent;
use crate::hash::mix;
use crate::layers::LAYERS_MAX;
use crate::{Answer, Layer, Layers};

/// Inserts one key of the domain. With an exact top, `top` has 1,024 words.
#[inline]
pub fn insert(layers: &Layers, hashed: &mut [u64], top: &mut [u64], key: u64) {
    debug_assert!(key <= layers.key_max(), "key outside its domain");
    for layer in layers.hashed() {
        set(layer, hashed, key);
    }
    if layers.has_exact_top() {
        insert_top(top, &[key]);
    }
}

/// Inserts many keys; the filter afterwards equals that of [`insert`] of each.
///
/// A layer sees only the bits of a key above its start. Where they are those of the key before,
/// that layer and all above it are done: sorted or repeated keys cost one or two layers each.
pub fn insert_many(layers: &Layers, hashed: &mut [u64], top: &mut [u64], keys: &[u64]) {
    debug_assert!(keys.iter().all(|&key| key <= layers.key_max()), "key outside its domain");
    // The layers of most 8-byte columns are numbers in the code; other usual counts are unrolled.
    let widths = layers.hashed().iter().fold(0, |all, layer| all << 4 | u64::from(layer.width));
    match (layers.hashed().len(), widths) {
        (8, WIDTHS_64) => insert_fixed::<8, WIDTHS_64>(layers, hashed, keys),
        // Measured: known widths make five layers slower, not faster.
        (5, _) => insert_layers::<5>(layers, hashed, keys),
        (8, _) => insert_layers::<8>(layers, hashed, keys),
        _ => insert_layers::<LAYERS_MAX>(layers, hashed, keys),
    }
    if layers.has_exact_top() {
        insert_top(top, keys);
    }
}

/// Layer widths of 8-byte columns, a digit each, the lowest layer first.
const WIDTHS_64: u64 = 0x7777_4422;

/// [`insert_layers`] of `N` layers of the widths `WIDTHS`, one upon the other.
fn insert_fixed<const N: usize, const WIDTHS: u64>(
    layers: &Layers,
    hashed: &mut [u64],
    keys: &[u64],
) {
    let mut start = 0;
    let layers: [Setter; N] = std::array::from_fn(|at| {
        let width = (WIDTHS >> (4 * (N - 1 - at)) & 15) as u32;
        let salt = layers.hashed()[at].salt;
        debug_assert_eq!(u32::from(layers.hashed()[at].start), start, "no layer is left out");
        let word_level = start + width - 1;
        let setter = Setter { start, word_level, offset_max: (1 << (width - 1)) - 1, salt };
        start += width;
        setter
    });
    insert_setters(&layers, hashed, keys);
}

/// Sets the upper 16 bits of 32-bit keys in the exact top.
#[inline]
pub(crate) fn insert_top<T: Copy + Into<u64>>(top: &mut [u64], keys: &[T]) {
    for &key in keys {
        let key: u64 = key.into();
        top[(key >> 22) as usize] |= 1 << ((key >> 16) & 63);
    }
}

/// The hashed layers of many keys; `N` is their number, or at least that (the others repeat the
/// lowest, which changes nothing).
fn insert_layers<const N: usize>(layers: &Layers, hashed: &mut [u64], keys: &[u64]) {
    let layers: [Setter; N] = std::array::from_fn(|at| {
        let layer = layers.hashed().get(at).unwrap_or(&layers.hashed()[0]);
        Setter {
            start: layer.start.into(),
            word_level: layer.word_level(),
            offset_max: layer.offset_max(),
            salt: layer.salt,
        }
    });
    insert_setters(&layers, hashed, keys);
}

#[inline(always)]
fn insert_setters<const N: usize>(layers: &[Setter; N], hashed: &mut [u64], keys: &[u64]) {
    let highest = layers.iter().map(|layer| layer.start).max().unwrap_or(0);
    // Differs from the first key in every bit: nothing of it is done yet.
    let mut last = keys.first().map_or(0, |key| !key);
    for &key in keys {
        let changed = key ^ last;
        last = key;
        if changed >> highest != 0 {
            layers.iter().for_each(|layer| layer.set(hashed, key));
            continue;
        }
        for layer in layers.iter().take_while(|layer| changed >> layer.start != 0) {
            layer.set(hashed, key);
        }
    }
}

/// What an insert needs of a layer, worked out once per call.
#[derive(Clone, Copy)]
struct Setter {
    start: u32,
    word_level: u32,
    offset_max: u64,
    salt: u64,
}

impl Setter {
    #[inline]
    fn set(&self, hashed: &mut [u64], key: u64) {
        let h = mix(key.wrapping_shr(self.word_level), self.salt);
        let word = (h >> 32).wrapping_mul(hashed.len() as u64) >> 32;
        let offset = key.wrapping_shr(self.start) & self.offset_max;
        // One bit rotated is the bit of the sum.
        hashed[word as usize] |= 1 << (offset.wrapping_add(h >> 8) & 63);
    }
}

/// [`insert_many`] of the keys of a 4-byte column.
pub fn insert_many_u32(layers: &Layers, hashed: &mut [u64], top: &mut [u64], keys: &[u32]) {
    let mut wide = [0; 256];
    for keys in keys.chunks(wide.len()) {
        let wide = &mut wide[..keys.len()];
        wide.iter_mut().zip(keys).for_each(|(wide, &key)| *wide = u64::from(key));
        insert_many(layers, hashed, top, wide);
    }
}

/// [`contains`] of each key: bit `i % 64` of word `i / 64` of `found`, bits past the last are 0.
pub fn contains_many(
    layers: &Layers,
    hashed: &[u64],
    top: &[u64],
    keys: &[u64],
    found: &mut [u64],
) {
    for (word, keys) in found.iter_mut().zip(keys.chunks(64)) {
        *word = bits(keys, |&key| contains(layers, hashed, top, key));
    }
}

/// Whether each range may hold a key: [`range`], as bits like those of [`contains_many`].
pub fn range_many(
    layers: &Layers,
    hashed: &[u64],
    top: &[u64],
    ranges: &[(u64, u64)],
    probes_max: u32,
    found: &mut [u64],
) {
    for (word, ranges) in found.iter_mut().zip(ranges.chunks(64)) {
        *word = bits(ranges, |&(lo, hi)| range(layers, hashed, top, lo, hi, probes_max).may_hold());
    }
}

/// Up to 64 answers as one word.
fn bits<T>(of: &[T], answer: impl Fn(&T) -> bool) -> u64 {
    (0..).zip(of).fold(0, |bits, (at, item)| bits | u64::from(answer(item)) << at)
}

/// Whether `key` may have been inserted.
#[inline]
#[must_use]
pub fn contains(layers: &Layers, hashed: &[u64], top: &[u64], key: u64) -> bool {
    if key > layers.key_max() {
        return true;
    }
    if layers.has_exact_top() && !any_exact(top, key >> 16, key >> 16) {
        return false;
    }
    layers.hashed().iter().rev().all(|layer| covered(layer, hashed, key))
}

/// Whether any key of `lo..=hi` may have been inserted, by the two-path search.
///
/// A range that may take more than `probes_max` hashed words is [`Answer::OverBudget`] whatever
/// the filter holds: the question decides, so that every filter and every kernel says the same.
/// An empty range (`lo > hi`) is absent; one that leaves the domain is "maybe".
#[must_use]
pub fn range(
    layers: &Layers,
    hashed: &[u64],
    top: &[u64],
    lo: u64,
    hi: u64,
    probes_max: u32,
) -> Answer {
    if lo > hi {
        return Answer::Absent;
    }
    if hi > layers.key_max() {
        return Answer::Maybe;
    }
    if over_budget(layers, lo, hi, probes_max) {
        return Answer::OverBudget;
    }
    let found = if layers.has_exact_top() {
        search_below_top(layers.hashed(), hashed, top, lo, hi)
    } else {
        search(layers.hashed(), hashed, lo, hi)
    };
    if found { Answer::Maybe } else { Answer::Absent }
}

/// Ranges whose search is known at a glance to be allowed: in order, in the domain, and too
/// narrow to pass the budget.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Within {
    key_max: u64,
    span_max: Option<u64>,
}

#[cfg(target_arch = "x86_64")]
impl Within {
    pub(crate) fn new(layers: &Layers, probes_max: u32) -> Self {
        let span_max = match layers.hashed() {
            _ if u64::from(probes_max) < probes_below(layers) => None,
            [.., last] if !layers.has_exact_top() => {
                let groups = u64::from(probes_max) - probes_below(layers) + 1;
                // The last span with fewer than `groups` whole groups.
                Some(
                    u64::try_from((u128::from(groups) << last.word_level()) - 1)
                        .unwrap_or(u64::MAX),
                )
            }
            _ => Some(u64::MAX),
        };
        Within { key_max: layers.key_max(), span_max }
    }

    #[inline]
    pub(crate) fn holds(&self, lo: u64, hi: u64) -> bool {
        lo <= hi && hi <= self.key_max && self.span_max.is_some_and(|span_max| hi - lo <= span_max)
    }
}

/// Most words that the search reads apart from those inside the highest layer: in each layer
/// below, a cover and two words a path.
fn probes_below(layers: &Layers) -> u64 {
    6 * layers.hashed().len() as u64 + 4
}

/// Whether the search may read more than `probes_max` hashed words.
fn over_budget(layers: &Layers, lo: u64, hi: u64, probes_max: u32) -> bool {
    let highest = match layers.hashed() {
        [.., last] if !layers.has_exact_top() => (hi - lo) >> last.word_level(),
        _ => 0,
    };
    highest.saturating_add(probes_below(layers)) > u64::from(probes_max)
        && descent::probes(layers, lo, hi) > u64::from(probes_max)
}

/// The search under an exact top, which plays the highest layer.
pub(crate) fn search_below_top(
    layers: &[Layer],
    hashed: &[u64],
    top: &[u64],
    lo: u64,
    hi: u64,
) -> bool {
    let (a, b) = (lo >> 16, hi >> 16);
    let (a_full, b_full) = (lo & 0xFFFF == 0, hi & 0xFFFF == 0xFFFF);
    if a == b {
        return any_exact(top, a, a) && (a_full && b_full || search(layers, hashed, lo, hi));
    }
    let from = if a_full { a } else { a + 1 };
    let to = if b_full { b } else { b - 1 };
    if from <= to && any_exact(top, from, to) {
        return true;
    }
    let left = !a_full && any_exact(top, a, a);
    let right = !b_full && any_exact(top, b, b);
    follow(layers, hashed, lo, hi, left, right)
}

/// One covering interval after the other, from the highest layer down, until the ends part.
pub(crate) fn search(layers: &[Layer], hashed: &[u64], lo: u64, hi: u64) -> bool {
    for (index, layer) in layers.iter().enumerate().rev() {
        let (a, b) = (lo >> layer.start, hi >> layer.start);
        let (a_full, b_full) = whole_ends(layer, lo, hi);
        if a == b {
            if !covered(layer, hashed, lo) {
                return false;
            }
            if a_full && b_full {
                return true;
            }
            continue;
        }
        // `a < b`, so neither of these wraps.
        let from = if a_full { a } else { a + 1 };
        let to = if b_full { b } else { b - 1 };
        if from <= to && any(layer, hashed, from, to) {
            return true;
        }
        let left = !a_full && covered(layer, hashed, lo);
        let right = !b_full && covered(layer, hashed, hi);
        return follow(&layers[..index], hashed, lo, hi, left, right);
    }
    // Level 0 decides every range; were it not so, nothing would be proved.
    true
}

/// The two paths below the layer at which the ends parted.
fn follow(
    layers: &[Layer],
    hashed: &[u64],
    lo: u64,
    hi: u64,
    mut left: bool,
    mut right: bool,
) -> bool {
    for layer in layers.iter().rev() {
        if !left && !right {
            return false;
        }
        let (a, b) = (lo >> layer.start, hi >> layer.start);
        let (a_full, b_full) = whole_ends(layer, lo, hi);
        let children = (1u64 << layer.width) - 1;
        if left {
            let last = a | children;
            if a_full {
                if any(layer, hashed, a, last) {
                    return true;
                }
                left = false;
            } else {
                if a < last && any(layer, hashed, a + 1, last) {
                    return true;
                }
                left = covered(layer, hashed, lo);
            }
        }
        if right {
            let first = b & !children;
            if b_full {
                if any(layer, hashed, first, b) {
                    return true;
                }
                right = false;
            } else {
                if first < b && any(layer, hashed, first, b - 1) {
                    return true;
                }
                right = covered(layer, hashed, hi);
            }
        }
    }
    // At level 0 every interval is one key: both paths have ended.
    left || right
}

/// Whether the range holds all of the interval of `lo`, and all of that of `hi`.
#[inline]
fn whole_ends(layer: &Layer, lo: u64, hi: u64) -> (bool, bool) {
    let low = (1u64 << layer.start) - 1;
    (lo & low == 0, hi & low == low)
}

/// Word and rotation of a group of intervals.
#[inline]
fn place(layer: &Layer, words: usize, group: u64) -> (usize, u32) {
    let h = mix(group, layer.salt);
    // `words` is below 2^32: the product fits, and the index is below `words`.
    ((((h >> 32) * words as u64) >> 32) as usize, (h >> 8) as u32 & 63)
}

/// The bit of `key` in its word of `layer`, and that word.
#[inline]
fn bit(layer: &Layer, words: usize, key: u64) -> (usize, u64) {
    let (word, rotation) = place(layer, words, key >> layer.word_level());
    let offset = (key >> layer.start) & layer.offset_max();
    (word, (1u64 << offset).rotate_left(rotation))
}

#[inline]
fn set(layer: &Layer, hashed: &mut [u64], key: u64) {
    let (word, bit) = bit(layer, hashed.len(), key);
    hashed[word] |= bit;
}

/// Whether the interval of `key` in `layer` may hold a key.
#[inline]
fn covered(layer: &Layer, hashed: &[u64], key: u64) -> bool {
    let (word, bit) = bit(layer, hashed.len(), key);
    hashed.get(word).is_none_or(|w| w & bit != 0)
}

/// Whether any interval of `from..=to` of `layer` may hold a key.
fn any(layer: &Layer, hashed: &[u64], from: u64, to: u64) -> bool {
    let shift = u32::from(layer.width) - 1;
    let (first, last) = (from >> shift, to >> shift);
    (first..=last).any(|group| {
        let low = if group == first { from & layer.offset_max() } else { 0 };
        let high = if group == last { to & layer.offset_max() } else { layer.offset_max() };
        let offsets = (u64::MAX << low) & (u64::MAX >> (63 - high));
        let (word, rotation) = place(layer, hashed.len(), group);
        hashed.get(word).is_none_or(|w| w & offsets.rotate_left(rotation) != 0)
    })
}

/// Whether any of the upper 16 bits `from..=to` is in the exact top.
#[inline]
fn any_exact(top: &[u64], from: u64, to: u64) -> bool {
    // A key of the domain has 32 bits, its upper half 16.
    bitmap::any(top, from as u16, to as u16)
}
