//! The watchdog: a thread that serves beats once per turn of its loop; one that has not since
//! `QUIET_LOOKS` looks is said to be stalled, in the log, `/metrics` and `/readyz`.
//!
//! Cost to the watched: one relaxed store per turn. The watchdog is a thread of its own that takes
//! none of the locks of others: control, too, may be the one that stalls. It counts its own looks
//! and reads no clock, so that a process stopped as a whole is not taken for a stalled thread.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::shared::Shared;

/// One thread's beats. Written by that thread alone, on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Pulse {
    turns: AtomicU64,
}

impl Pulse {
    /// One turn of the loop is over.
    pub(crate) fn beat(&self) {
        // One writer: no read-modify-write is needed.
        self.turns.store(self.turns.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Beats for a thread that runs futures, for as long as it is polled.
    pub(crate) async fn keep(&self) {
        loop {
            self.beat();
            tokio::time::sleep(FUTURES_BEAT).await;
        }
    }

    fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }
}

/// Names of the threads that are stalled at this moment; for `/readyz`.
#[derive(Debug, Default)]
pub(crate) struct Stalled {
    names: Mutex<BTreeSet<String>>,
}

impl Stalled {
    /// The names, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn set(&self, name: &str, stalled: bool) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if stalled {
            names.insert(name.to_owned());
        } else {
            names.remove(name);
        }
    }
}

/// A thread that is watched.
struct Watched {
    name: String,
    pulse: Arc<Pulse>,
    gauge: prometheus::IntGauge,
    turns: u64,
    quiet: u32,
}

impl Watched {
    /// One look: whether the thread became stalled, or became well.
    fn look(&mut self) -> Option<bool> {
        let turns = self.pulse.turns();
        let before = self.quiet >= QUIET_LOOKS;
        self.quiet = if turns == self.turns { self.quiet.saturating_add(1) } else { 0 };
        self.turns = turns;
        let now = self.quiet >= QUIET_LOOKS;
        (now != before).then_some(now)
    }
}

/// The watchdog thread's own.
pub(crate) struct WatchLoop {
    shared: Arc<Shared>,
    watched: Vec<Watched>,
}

impl WatchLoop {
    /// Watches threads by name.
    pub(crate) fn new(shared: Arc<Shared>, pulses: Vec<(String, Arc<Pulse>)>) -> Self {
        let watched = pulses.into_iter().map(|(name, pulse)| {
            let gauge = shared.metrics.stalled(&name);
            Watched { name, pulse, gauge, turns: 0, quiet: 0 }
        });
        WatchLoop { watched: watched.collect(), shared: Arc::clone(&shared) }
    }

    /// Looks until stopped.
    pub(crate) fn run(mut self) {
        while !self.shared.stopping() {
            std::thread::park_timeout(LOOK_EVERY);
            self.look();
        }
    }

    fn look(&mut self) {
        for thread in &mut self.watched {
            let Some(stalled) = thread.look() else { continue };
            thread.gauge.set(stalled.into());
            self.shared.stalled.set(&thread.name, stalled);
            let name = thread.name.as_str();
            if stalled {
                tracing::error!(thread = name, "stalled: no turn of its loop for {STALL_MS} ms");
            } else {
                tracing::warn!(thread = name, "goes on after a stall");
            }
        }
    }
}

/// Between two looks. Every loop turns at least each 100 ms, also with nothing to do.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Looks without a beat after which a thread is stalled: told within a second.
const QUIET_LOOKS: u32 = 3;
/// The same in milliseconds, at least.
const STALL_MS: u64 = LOOK_EVERY.as_millis() as u64 * QUIET_LOOKS as u64;
/// Between two beats of a thread that runs futures.
const FUTURES_BEAT: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn watched() -> Watched {
        let gauge = prometheus::IntGauge::new("stalled", "stalled").unwrap();
        Watched { name: "x".to_owned(), pulse: Arc::default(), gauge, turns: 0, quiet: 0 }
    }

    #[test]
    fn a_thread_that_beats_is_never_stalled() {
        let mut thread = watched();
        for _ in 0..100 {
            thread.pulse.beat();
            assert_eq!(thread.look(), None);
        }
    }

    #[test]
    fn a_silent_thread_is_told_once_and_its_return_once() {
        let mut thread = watched();
        thread.pulse.beat();
        let told: Vec<_> = (0..10).map(|_| thread.look()).collect();
        let at = QUIET_LOOKS as usize;
        assert_eq!(told[at], Some(true));
        assert_eq!(told.iter().flatten().count(), 1);
        thread.pulse.beat();
        assert_eq!(thread.look(), Some(false));
        thread.pulse.beat();
        assert_eq!(thread.look(), None);
    }

    #[test]
    fn a_stall_is_told_within_a_second() {
        // The look before the last beat, and every quiet one after it.
        assert!(LOOK_EVERY * (QUIET_LOOKS + 1) < Duration::from_secs(1));
    }
}
