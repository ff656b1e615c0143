//! Called when a column is set up, not per record; a call takes some 10 ms for each range width
//! that was asked.
//!
//! Which layers suit the questions that a column is asked: every plausible set, weighed by the
//! model. The set that nobody's questions argue against is [`crate::params::layers_for`].

use crate::Layers;
use crate::layers::LAYERS_MAX;
use crate::params::{fpr, layers_for};

/// How wide the ranges are that a column was asked for, in powers of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedWidths {
    /// Bucket 0: points. Bucket b: ranges of more than `2^(b-1)` and up to `2^b` keys.
    buckets: [u64; 65],
}

impl Default for AskedWidths {
    fn default() -> Self {
        AskedWidths { buckets: [0; 65] }
    }
}

impl AskedWidths {
    /// Counts `times` questions for a range of `width` keys (1: a point; 0 counts as one).
    pub fn observe(&mut self, width: u64, times: u64) {
        let bucket = width.max(1).checked_next_power_of_two().map_or(64, u64::trailing_zeros);
        let count = &mut self.buckets[bucket as usize];
        *count = count.saturating_add(times);
    }

    /// Adds what somebody else counted.
    pub fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.buckets.iter_mut().zip(other.buckets) {
            *ours = ours.saturating_add(theirs);
        }
    }

    /// Widths that were asked (the upper end of their bucket) and how often.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let width = |bucket: usize| 1u64.checked_shl(bucket as u32).unwrap_or(u64::MAX);
        let asked = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        asked.map(move |(bucket, &count)| (width(bucket), count))
    }
}

/// A layer set, and what the model expects of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advice {
    /// The set.
    pub layers: Layers,
    /// Expected false-positive rate, the mean over the questions asked (of points where none was).
    pub fpr: f64,
}

/// The layer set for keys of `domain_bits` bits, `keys` of them in `words` hashed words, whose
/// false positives are the fewest over the widths asked, by the model for uniform keys.
///
/// Without questions, and for domains that are kept exactly (16 bits and less), the answer is
/// [`layers_for`]; with them it is never expected to do worse. Ranges are weighed by how often
/// they were asked: a width that was asked once counts little.
///
/// ```
/// use bloomrf_kernels::advisor::{AskedWidths, advise};
/// use bloomrf_kernels::params;
///
/// let mut asked = AskedWidths::default();
/// asked.observe(1, 1_000); // points
/// asked.observe(1 << 20, 9_000);
/// let advice = advise(48, 32_768, 65_536, &asked, 7);
/// let usual = params::fpr(&params::layers_for(48, 7), 32_768, 65_536, 1 << 20);
/// let advised = params::fpr(&advice.layers, 32_768, 65_536, 1 << 20);
/// assert!(advised <= usual);
/// ```
#[must_use]
pub fn advise(domain_bits: u8, words: usize, keys: u64, asked: &AskedWidths, seed: u64) -> Advice {
    let usual = layers_for(domain_bits, seed);
    let weigh = |layers: &Layers| {
        let (mut sum, mut count) = (0.0, 0.0);
        for (width, times) in asked.iter() {
            sum += fpr(layers, words, keys, width) * times as f64;
            count += times as f64;
        }
        if count > 0.0 { sum / count } else { fpr(layers, words, keys, 1) }
    };
    let mut best = Advice { layers: usual, fpr: weigh(&usual) };
    if asked.iter().next().is_none() || domain_bits <= 16 {
        return best;
    }
    for widths in plausible(domain_bits, keys) {
        let Ok(layers) = Layers::new(domain_bits, &widths, usual.has_exact_top(), seed) else {
            continue;
        };
        let fpr = weigh(&layers);
        // A tie, or nearly one, is no reason to leave the usual set.
        if fpr < best.fpr * 0.99 {
            best = Advice { layers, fpr };
        }
    }
    best
}

/// Widths worth weighing: never wider above than below, and a ceiling near the level at which an
/// interval holds a key (levels above it are full, levels far below it leave ranges unfiltered).
fn plausible(domain_bits: u8, keys: u64) -> Vec<Vec<u8>> {
    let exact_top = domain_bits == 32;
    let domain = u32::from(domain_bits);
    let dense = domain.saturating_sub(keys.max(1).ilog2());
    let (count, ceilings) = match exact_top {
        true => (3..=6, 16..=16),
        false => (LAYERS_MAX..=LAYERS_MAX, dense.saturating_sub(9)..=dense.min(domain)),
    };
    let mut found = Vec::new();
    for count in count {
        let parts: &[u8] = if exact_top { &[7, 6, 5, 4, 3, 2, 1] } else { &[7, 4, 2, 1] };
        extend(parts, count, &mut Vec::new(), &mut |widths| {
            let ceiling = widths.iter().map(|&w| u32::from(w)).sum();
            if ceilings.contains(&ceiling) {
                found.push(widths.to_vec());
            }
        });
    }
    found
}

/// Calls `visit` with every list of `count` parts in falling order.
fn extend(parts: &[u8], count: usize, widths: &mut Vec<u8>, visit: &mut impl FnMut(&[u8])) {
    if widths.len() == count {
        return visit(widths);
    }
    for (index, &part) in parts.iter().enumerate() {
        widths.push(part);
        extend(&parts[index..], count, widths, visit);
        widths.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(widths: &[(u64, u64)]) -> AskedWidths {
        let mut asked = AskedWidths::default();
        widths.iter().for_each(|&(width, times)| asked.observe(width, times));
        asked
    }

    #[test]
    fn widths_fall_into_the_bucket_above_them() {
        let widths = asked(&[(0, 1), (1, 1), (2, 1), (3, 5), (4, 1), (u64::MAX, 2)]);
        let all: Vec<_> = widths.iter().collect();
        assert_eq!(all, [(1, 2), (2, 1), (4, 6), (u64::MAX, 2)]);
        let mut twice = widths.clone();
        twice.merge(&widths);
        assert_eq!(twice.iter().map(|(_, times)| times).sum::<u64>(), 22);
    }

    #[test]
    fn without_questions_the_usual_set_stays() {
        for bits in [8, 16, 24, 32, 48, 64] {
            let advice = advise(bits, 32_768, 65_536, &AskedWidths::default(), 5);
            assert_eq!(advice.layers, layers_for(bits, 5));
        }
    }

    #[test]
    fn advice_is_never_expected_to_do_worse_than_the_usual_set() {
        for (bits, words) in [(64, 16_384), (48, 32_768), (32, 32_768)] {
            for questions in [&[(1, 9)][..], &[(1 << 20, 9)], &[(1, 90), (256, 9), (1 << 24, 1)]] {
                let asked = asked(questions);
                let advice = advise(bits, words, 65_536, &asked, 5);
                let times: u64 = questions.iter().map(|q| q.1).sum();
                let usual = |q: &(u64, u64)| {
                    fpr(&layers_for(bits, 5), words, 65_536, q.0) * q.1 as f64 / times as f64
                };
                let usual: f64 = questions.iter().map(usual).sum();
                assert!(advice.fpr <= usual * 1.000_001, "{bits} {questions:?}: {advice:?}");
                // At 64 bits the usual set is the best for these; elsewhere there is a better one.
                assert_eq!(advice.layers != layers_for(bits, 5), bits != 64, "{questions:?}");
            }
        }
    }
}
