//! Seeded chance for the synthetic capture and the questions: the same seed, the same demo.

/// SplitMix64: small, well mixed, good enough to draw samples.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    state: u64,
}

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Chance { state: seed }
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0..bound`; 0 for a bound of 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in `low..=high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True `percent` times in a hundred.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Uniform in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of `items`.
    pub(crate) fn pick<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        items.get(self.below(items.len() as u64) as usize)
    }
}

/// Popularity by rank: the k-th of n is drawn in proportion to 1 / k^exponent.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    cumulative: Vec<f64>,
}

impl Zipf {
    pub(crate) fn new(count: usize, exponent: f64) -> Self {
        let mut sum = 0.0;
        let weight = |rank: usize| (rank as f64).powf(-exponent);
        let cumulative = (1..=count).map(|rank| {
            sum += weight(rank);
            sum
        });
        Zipf { cumulative: cumulative.collect() }
    }

    /// A rank in `0..count`.
    pub(crate) fn draw(&self, chance: &mut Chance) -> usize {
        let total = self.cumulative.last().copied().unwrap_or(0.0);
        let at = chance.unit() * total;
        self.cumulative.partition_point(|&c| c <= at).min(self.cumulative.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |seed| {
            let mut chance = Chance::new(seed);
            (0..100).map(|_| chance.between(10, 20)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!(draw(3).iter().all(|n| (10..=20).contains(n)));
    }

    #[test]
    fn low_ranks_are_drawn_more_often() {
        let (zipf, mut chance) = (Zipf::new(50, 1.0), Chance::new(7));
        let mut counts = [0; 50];
        for _ in 0..10_000 {
            counts[zipf.draw(&mut chance)] += 1;
        }
        assert!(counts[0] > counts[9] && counts[9] > counts[49], "{counts:?}");
        assert!(counts[49] > 0);
    }
}
