//! A seeded sequence: the same seed, the same run.

/// A splitmix64 sequence.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// The sequence of `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Chance(seed)
    }

    /// The next 64 bits.
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, at least 1.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(end)) >> 64) as u64
    }

    /// One of `items`, which are not none.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}
