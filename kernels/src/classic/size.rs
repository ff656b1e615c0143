//! Called once, when a filter is planned: bits and probes for a number of items and a rate.
//!
//! Bits are -n ln p / (ln 2)^2 and probes -log2 p, rounded. Two things are not in that formula.
//! Rounding the probes costs up to 5 % of the rate. And the fill of a small filter varies from one
//! set of items to the next, of which the mean rate takes its k-th power: a filter for one item at
//! 1e-9 would have ten times that rate. Small filters get the bits that make up for it.

use super::{BITS_MAX, K_MAX};

/// Bits and probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bits.
    pub bits: u64,
    /// Probes for each item.
    pub k: u32,
}

/// Why there can be no such filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShapeError {
    /// Not more than 0 and less than 1.
    Rate(f64),
    /// No items.
    NoItems,
    /// More than [`BITS_MAX`].
    TooLarge {
        /// What it takes.
        bits: f64,
    },
}

/// What the rate of a shape may be over the one that was asked for.
const ROUNDING: f64 = 1.06;

/// The shape that holds `items` distinct items at a rate of at most 1.06 `fpr`.
///
/// # Errors
/// Where there is none.
///
/// ```
/// use bloomrf_kernels::classic::{self, Shape};
///
/// let shape = classic::shape_for(100_000_000, 0.01)?;
/// assert_eq!(shape, Shape { bits: 958_505_838, k: 7 });
/// let small = classic::shape_for(1, 1e-9)?;
/// assert!(small.bits > 44, "more than the formula");
/// # Ok::<(), classic::ShapeError>(())
/// ```
pub fn shape_for(items: u64, fpr: f64) -> Result<Shape, ShapeError> {
    if !(fpr > 0.0 && fpr < 1.0) {
        return Err(ShapeError::Rate(fpr));
    }
    if items == 0 {
        return Err(ShapeError::NoItems);
    }
    let ln2 = std::f64::consts::LN_2;
    let formula = (-(items as f64) * fpr.ln() / (ln2 * ln2)).ceil().max(1.0);
    let k = (-fpr.log2()).round().clamp(1.0, f64::from(K_MAX)) as u32;
    if formula > BITS_MAX as f64 {
        return Err(ShapeError::TooLarge { bits: formula });
    }
    let is_enough = |bits: u64| self::fpr(k, bits, items) <= ROUNDING * fpr;
    // Enough at the upper end, not below the lower one.
    let (mut low, mut high) = (formula as u64, formula as u64);
    while !is_enough(high) {
        low = high + 1;
        high *= 2;
        if high > BITS_MAX {
            return Err(ShapeError::TooLarge { bits: high as f64 });
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        (low, high) = if is_enough(middle) { (low, middle) } else { (middle + 1, high) };
    }
    Ok(Shape { bits: high, k })
}

/// The mean rate of filters of a shape that hold `items` distinct items, if every probe is random.
///
/// Exact for the smallest; for others the variance of the fill is reckoned with.
#[must_use]
pub fn fpr(k: u32, bits: u64, items: u64) -> f64 {
    let (m, probes) = (bits as f64, items as f64 * f64::from(k));
    if probes * m.min(probes) <= EXACT_MAX {
        return exact(k, bits as usize, items as usize * k as usize);
    }
    let fill = -(probes * (-1.0 / m).ln_1p()).exp_m1();
    let load = probes / m;
    let variance = ((-load).exp() - (1.0 + load) * (-2.0 * load).exp()) / m;
    let k = f64::from(k);
    (k * fill.ln() + k * (k - 1.0) / 2.0 * variance / (fill * fill)).exp().min(1.0)
}

/// Steps of [`exact`]; above, the formula is less than 4 % over it.
const EXACT_MAX: f64 = 32_768.0;

/// The mean of the k-th power of the fill, over the numbers of bits that `probes` probes can set.
fn exact(k: u32, bits: usize, probes: usize) -> f64 {
    let most = bits.min(probes);
    // Chance of each number of set bits, after no probe.
    let mut chances = vec![0.0; most + 1];
    chances[0] = 1.0;
    let share = 1.0 / bits as f64;
    for probe in 1..=probes {
        for set in (1..=most.min(probe)).rev() {
            let comes = chances[set - 1] * (bits - set + 1) as f64;
            chances[set] = (chances[set] * set as f64 + comes) * share;
        }
        chances[0] = 0.0;
    }
    let rate = |set: usize| (set as f64 / bits as f64).powi(k as i32);
    chances.iter().enumerate().map(|(set, chance)| chance * rate(set)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_that_everybody_knows() {
        let shape = |items, fpr| shape_for(items, fpr).unwrap();
        assert_eq!(shape(100_000_000, 0.01), Shape { bits: 958_505_838, k: 7 });
        assert_eq!(shape(30_000_000, 0.01).bits / 8 / 1_000_000, 35, "MB");
        assert_eq!(shape(30_000_000, 0.001).bits / 8 / 1_000_000, 53, "MB");
        assert_eq!(shape(30_000_000, 0.0001).bits / 8 / 1_000_000, 71, "MB");
        assert!((fpr(7, 10_000_000, 1_000_000) - 0.00819).abs() < 5e-6);
    }

    #[test]
    fn the_rate_is_kept_at_every_size() {
        for fpr in [0.9, 0.5, 0.36, 0.1, 0.01, 1e-4, 1e-6, 1e-9, 1e-12, 1e-19, 1e-25] {
            for items in (1..=60).chain([100, 500, 10_000, 1_000_000, 1_000_000_000]) {
                let Shape { bits, k } = shape_for(items, fpr).unwrap();
                let rate = self::fpr(k, bits, items);
                assert!(rate <= 1.06 * fpr, "{items} items, {fpr:e}: {rate:e} with {bits} bits");
                let formula = -(items as f64) * fpr.ln() / 0.480_453;
                let more = bits as f64 / formula;
                assert!(
                    items < 100 || more < 1.02 || k == K_MAX || fpr > 0.5,
                    "{items} items, {fpr:e}: {more}"
                );
            }
        }
    }

    #[test]
    fn the_exact_rate_and_the_formula_meet() {
        for (k, items) in [(1, 40u64), (7, 24), (13, 12), (30, 6)] {
            let bits = (f64::from(k) * items as f64 * std::f64::consts::LOG2_E) as u64;
            let probes = items as usize * k as usize;
            assert!((probes as f64) * probes as f64 <= EXACT_MAX);
            let (exact, formula) = (exact(k, bits as usize, probes), {
                let load = probes as f64 / bits as f64;
                let fill = -(probes as f64 * (-1.0 / bits as f64).ln_1p()).exp_m1();
                let spread = (-load).exp() - (1.0 + load) * (-2.0 * load).exp();
                let k = f64::from(k);
                let more = k * (k - 1.0) / 2.0 * spread / bits as f64 / fill.powi(2);
                fill.powf(k) * more.exp()
            });
            assert!((formula / exact - 1.0).abs() < 0.03, "k {k}: {exact:e}, {formula:e}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for rate in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY] {
            assert!(matches!(shape_for(5, rate), Err(ShapeError::Rate(_))), "{rate}");
        }
        assert_eq!(shape_for(0, 0.5), Err(ShapeError::NoItems));
        assert!(matches!(shape_for(u64::MAX, 0.01), Err(ShapeError::TooLarge { .. })));
        assert!(matches!(shape_for(1 << 36, 1e-300), Err(ShapeError::TooLarge { .. })));
        assert!(shape_for(1, 1e-300).is_ok(), "bits make up for probes");
    }
}
