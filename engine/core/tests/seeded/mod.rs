//! Seeded randomness of this crate's tests: splitmix64. A seed is printed, and `SEED=` in the
//! environment repeats it. Test-only: include it by its path.
#![allow(dead_code, reason = "each test binary uses its own part")]

/// A splitmix64 sequence.
#[derive(Clone, Debug)]
pub(crate) struct Splitmix {
    /// Where the sequence began: what repeats it.
    pub(crate) seed: u64,
    state: u64,
}

impl Splitmix {
    /// The sequence of `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Splitmix { seed, state: seed }
    }

    /// The sequence of a test: from `SEED` if set, else of `default`. Prints which.
    pub(crate) fn from_env(default: u64) -> Self {
        Splitmix::new(seed(default))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// 128 random bits.
    pub(crate) fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// The seed of a test, printed: from `SEED` if set, else `default`.
pub(crate) fn seed(default: u64) -> u64 {
    let seed = seed_of_env().unwrap_or(default);
    println!("SEED={seed}");
    seed
}

/// The seed that the environment asks for.
pub(crate) fn seed_of_env() -> Option<u64> {
    std::env::var("SEED").ok()?.parse().ok()
}
