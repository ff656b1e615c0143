//! What the benches share: seeded keys as columns really hold them, and seeded flow records.
//! Same seed, same keys.

pub mod flows;
pub mod live;
pub mod record;
pub mod rounds;

/// A splitmix64 sequence.
#[derive(Clone, Debug)]
pub struct Splitmix(u64);

impl Splitmix {
    /// The sequence of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Splitmix(seed)
    }

    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Uniform keys of `bits` bits (1..=64): random ids, hashes.
#[must_use]
pub fn uniform(seed: u64, bits: u32, count: usize) -> Vec<u64> {
    let mut random = Splitmix::new(seed);
    (0..count).map(|_| random.draw() >> (64 - bits)).collect()
}

/// Rising timestamps in ns, a mean of 1 us apart.
#[must_use]
pub fn timestamps(seed: u64, count: usize) -> Vec<u64> {
    let mut random = Splitmix::new(seed);
    let mut now_ns = 1_790_000_000_000_000_000;
    (0..count)
        .map(|_| {
            now_ns += random.draw() % 2_000;
            now_ns
        })
        .collect()
}

/// IPv4 addresses as traffic has them: few networks, in each of them few hosts, some far more
/// often than others.
#[must_use]
pub fn addresses(seed: u64, count: usize) -> Vec<u64> {
    let mut random = Splitmix::new(seed);
    let networks = uniform(seed ^ 1, 24, 256);
    (0..count)
        .map(|_| {
            let draw = random.draw();
            // The product of two uniform numbers leans towards 0.
            let network = ((draw & 0xFF) * (draw >> 8 & 0xFF)) >> 8;
            networks[network as usize] << 8 | (draw >> 16 & 0x1F)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_repeat_with_their_seed_and_fit_their_domain() {
        assert_eq!(uniform(7, 48, 100), uniform(7, 48, 100));
        assert_ne!(uniform(7, 48, 100), uniform(8, 48, 100));
        assert!(uniform(7, 48, 100).iter().all(|key| key >> 48 == 0));
        assert!(addresses(7, 100).iter().all(|key| key >> 32 == 0));
        assert!(timestamps(7, 100).is_sorted());
    }
}
