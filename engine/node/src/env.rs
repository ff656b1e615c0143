//! The real clock and chance, behind the engine's traits.

use std::fs::File;
use std::io::{self, Read};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use bloomrf_engine::env::{Clock, Rng};

/// Monotonic time since the node started, and the wall clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock whose monotonic origin is now.
    pub(crate) fn new() -> Self {
        SystemClock { origin: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn unix_us(&self) -> i64 {
        // Before 1970 the wall clock is wrong anyway; it never decides anything.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    }
}

/// Chance from the system.
#[derive(Debug)]
pub(crate) struct SystemRng {
    source: File,
}

impl SystemRng {
    /// Opens the system's source of randomness.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(SystemRng { source: File::open("/dev/urandom")? })
    }
}

impl Rng for SystemRng {
    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.source.read_exact(&mut bytes).expect("an open /dev/urandom does not fail");
        u64::from_le_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_goes_forward_and_chance_varies() {
        let clock = SystemClock::new();
        let first = clock.now_ns();
        assert!(clock.now_ns() >= first && clock.unix_us() > 0);
        let mut rng = SystemRng::open().unwrap();
        assert_ne!(rng.next_u64(), rng.next_u64());
    }
}
