//! Seeded randomness: splitmix64, and the seed from `SEED` where one is given.

/// A splitmix64 sequence.
#[derive(Clone)]
pub(crate) struct Splitmix(u64);

impl Splitmix {
    /// The sequence of test `name`: from `SEED` if set, else fixed. Prints how to repeat it.
    pub(crate) fn of(name: &str) -> Self {
        let seed = match std::env::var("SEED") {
            Ok(text) => text.parse().expect("SEED is a decimal number"),
            Err(_) => 0x00C1_A551,
        };
        println!("repeat with: SEED={seed} cargo test -p bloomrf-filter --test rates {name}");
        Splitmix(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.0)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// The finaliser of splitmix64.
pub(crate) fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
