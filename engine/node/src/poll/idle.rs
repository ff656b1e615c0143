//! What a poll loop does while nothing arrives: sleeps until woken, spins and then takes short
//! naps, or spins on.
//!
//! Hot path: a few compares per empty poll.

use std::time::Duration;

use crate::config::Idle;

/// Counts empty polls in a row, and says what to do after each.
#[derive(Debug)]
pub(crate) struct Backoff {
    idle: Idle,
    empty_polls: u32,
}

/// What to do before the next poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nearly nothing.
    Spin,
    /// Sleep for so long.
    Nap(Duration),
    /// Sleep until something arrives, or this is over.
    Wait(Duration),
}

impl Backoff {
    /// As the configuration says.
    pub(crate) fn new(idle: Idle) -> Self {
        Backoff { idle, empty_polls: 0 }
    }

    /// Something came.
    #[inline]
    pub(super) fn reset(&mut self) {
        self.empty_polls = 0;
    }

    /// Nothing came. `ring_full`: events wait for room in the ring to the sealer.
    pub(super) fn rest(&mut self, ring_full: bool) -> Rest {
        match self.idle {
            Idle::Busy => Rest::Spin,
            Idle::Sleep if ring_full => Rest::Wait(RING_RETRY),
            Idle::Sleep => Rest::Wait(IDLE_WAIT),
            Idle::Pause => {
                let naps = self.empty_polls.saturating_sub(SPINS);
                self.empty_polls = self.empty_polls.saturating_add(1);
                if self.empty_polls <= SPINS {
                    return Rest::Spin;
                }
                let longer = 1_u32.checked_shl(naps).unwrap_or(u32::MAX);
                Rest::Nap(NAP_MIN.saturating_mul(longer).min(NAP_MAX))
            }
        }
    }
}

/// Empty polls in a row before the first nap.
const SPINS: u32 = 512;
/// The first nap; each is twice the one before.
const NAP_MIN: Duration = Duration::from_micros(1);
/// The longest nap.
const NAP_MAX: Duration = Duration::from_micros(50);
/// Longest sleep of an idle queue.
const IDLE_WAIT: Duration = Duration::from_millis(50);
/// Sleep of an idle queue whose ring to the sealer is full, or whose link fails.
pub(super) const RING_RETRY: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_spins_then_naps_longer_and_longer_and_anew_after_each_burst() {
        let mut backoff = Backoff::new(Idle::Pause);
        for _ in 0..2 {
            for _ in 0..SPINS {
                assert_eq!(backoff.rest(false), Rest::Spin);
            }
            for us in [1, 2, 4, 8, 16, 32, 50, 50] {
                assert_eq!(backoff.rest(true), Rest::Nap(Duration::from_micros(us)));
            }
            backoff.reset();
        }
        backoff.empty_polls = u32::MAX;
        assert_eq!(backoff.rest(false), Rest::Nap(NAP_MAX));
    }

    #[test]
    fn busy_never_sleeps_and_sleep_never_spins() {
        let (mut busy, mut sleep) = (Backoff::new(Idle::Busy), Backoff::new(Idle::Sleep));
        for _ in 0..2 * SPINS {
            assert_eq!(busy.rest(false), Rest::Spin);
            assert_eq!(sleep.rest(false), Rest::Wait(IDLE_WAIT));
        }
        assert_eq!(sleep.rest(true), Rest::Wait(RING_RETRY));
    }
}
