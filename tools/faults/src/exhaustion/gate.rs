//! A clock that holds one thread up: as if the system had stopped that thread alone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bloomrf_engine::env::Clock;

/// The machine's clock, behind a gate.
#[derive(Debug)]
pub(crate) struct GatedClock {
    origin: Instant,
    is_closed: AtomicBool,
    gate: Mutex<Gate>,
    opened: Condvar,
}

#[derive(Debug, Default)]
struct Gate {
    /// Name of the thread that may not pass.
    closed_for: Option<String>,
    /// Since when it stands there.
    stands_since: Option<Instant>,
}

impl GatedClock {
    /// Open for all.
    pub(crate) fn new() -> Self {
        GatedClock {
            origin: Instant::now(),
            is_closed: AtomicBool::new(false),
            gate: Mutex::default(),
            opened: Condvar::new(),
        }
    }

    /// Holds a thread up from its next look at the clock on.
    pub(crate) fn close_for(&self, thread: &str) {
        *self.lock() = Gate { closed_for: Some(thread.to_owned()), stands_since: None };
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// Lets it go on.
    pub(crate) fn open(&self) {
        self.is_closed.store(false, Ordering::SeqCst);
        *self.lock() = Gate::default();
        self.opened.notify_all();
    }

    /// For how long the thread has been standing.
    pub(crate) fn stood_for(&self) -> Option<Duration> {
        self.lock().stands_since.map(|since| since.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self) {
        let thread = std::thread::current();
        let is_held = |gate: &mut Gate| {
            gate.closed_for.is_some() && gate.closed_for.as_deref() == thread.name()
        };
        let mut gate = self.lock();
        if is_held(&mut gate) {
            gate.stands_since.get_or_insert_with(Instant::now);
            drop(self.opened.wait_while(gate, is_held));
        }
    }
}

impl Clock for GatedClock {
    fn now_ns(&self) -> u64 {
        if self.is_closed.load(Ordering::SeqCst) {
            self.pass();
        }
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn unix_us(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    }
}

/// Opens the gate at the end of a case, however it ends: a node cannot stop while a thread stands.
pub(crate) struct Opens<'a>(pub(crate) &'a GatedClock);

impl Drop for Opens<'_> {
    fn drop(&mut self) {
        self.0.open();
    }
}
