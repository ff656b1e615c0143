//! When each frame of a replay is due.
//!
//! Hot path: one reading of the clock per burst (none at full speed), no allocation.
//!
//! The schedule is absolute, and counts from the first burst that any queue asks for: a receiver
//! that was busy finds what is due meanwhile waiting. A replay loses nothing.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::Speed;

/// Time of a replay; a test has its own.
pub trait Clock: Send + Sync {
    /// Nanoseconds since some moment; never less than before.
    fn now_ns(&self) -> u64;
}

/// The system's monotonic clock.
#[derive(Debug)]
pub struct Monotonic(Instant);

impl Monotonic {
    /// Begins now.
    #[must_use]
    pub fn new() -> Self {
        Monotonic(Instant::now())
    }
}

impl Default for Monotonic {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for Monotonic {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// The schedule of one port; queues have clones.
#[derive(Clone)]
pub(super) struct Schedule {
    speed: Speed,
    clock: Arc<dyn Clock>,
    started_ns: Arc<AtomicU64>,
}

/// Of `started_ns`.
const NOT_STARTED: u64 = u64::MAX;

impl Schedule {
    pub(super) fn new(speed: Speed, clock: Arc<dyn Clock>) -> Self {
        Schedule { speed, clock, started_ns: Arc::new(AtomicU64::new(NOT_STARTED)) }
    }

    /// How far the replay is; the first call, of any queue, begins it.
    pub(super) fn elapsed_ns(&self) -> u64 {
        if self.speed == Speed::Max {
            return u64::MAX;
        }
        let now = self.clock.now_ns();
        let start = match self.started_ns.load(Ordering::Relaxed) {
            NOT_STARTED => {
                let first = self.started_ns.compare_exchange(
                    NOT_STARTED,
                    now,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                first.err().unwrap_or(now)
            }
            start => start,
        };
        now.saturating_sub(start)
    }

    /// When a frame is due: the `index`-th of the file (over all rounds), `since_first_ns` after
    /// the first one.
    pub(super) fn due_ns(&self, index: u64, since_first_ns: u64) -> u64 {
        match self.speed {
            Speed::Original => since_first_ns,
            Speed::Max => 0,
            Speed::Rate(rate) => (index as f64 * 1e9 / rate) as u64,
        }
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule").field("speed", &self.speed).finish_non_exhaustive()
    }
}

/// Nanoseconds from one time to a later one; 0 where it is not later, or either is not told.
pub(super) fn since(first_ts_ns: i64, ts_ns: i64) -> u64 {
    if first_ts_ns == 0 || ts_ns == 0 {
        return 0;
    }
    u64::try_from(ts_ns.saturating_sub(first_ts_ns)).unwrap_or(0)
}
