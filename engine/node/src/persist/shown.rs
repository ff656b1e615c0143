//! What the other threads see of persistence, and how they wake it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Thread;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::persist::{PersistStatus, Persister};

/// Shared with HTTP and status; no lock of it is held during a call of the disk.
#[derive(Debug, Default)]
pub(crate) struct PersistShown {
    news: AtomicBool,
    thread: OnceLock<Thread>,
    /// When the call of the disk under way began, nanoseconds; 0: there is none.
    call_since_ns: AtomicU64,
    shown: Mutex<Shown>,
}

#[derive(Clone, Debug, Default)]
struct Shown {
    status: PersistStatus,
    stored: Arc<[BatchId]>,
    /// When `stored` was made: files written and removed until then.
    stored_at: (u64, u64),
}

impl PersistShown {
    /// Something changed in the store: batches were judged, evicted or deleted.
    pub(crate) fn wake(&self) {
        self.news.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Whether anything changed since the last call.
    pub(super) fn take_news(&self) -> bool {
        self.news.swap(false, Ordering::AcqRel)
    }

    /// The present thread is the one to wake.
    pub(super) fn attach(&self) {
        let _ = self.thread.set(std::thread::current());
    }

    pub(super) fn call_begins(&self, now_ns: u64) {
        self.call_since_ns.store(now_ns.max(1), Ordering::Relaxed);
    }

    pub(super) fn call_ends(&self) {
        self.call_since_ns.store(0, Ordering::Relaxed);
    }

    pub(super) fn show(&self, persister: &Persister) {
        let status = persister.status().clone();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        // Files may also have been found missing.
        let at = (status.written, status.files);
        if shown.stored_at != at {
            shown.stored = persister.stored().collect();
            shown.stored_at = at;
        }
        shown.status = status;
    }

    /// Numbers.
    pub(crate) fn status(&self) -> PersistStatus {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).status.clone()
    }

    /// Batches that have a whole file, ascending.
    pub(crate) fn stored(&self) -> Arc<[BatchId]> {
        Arc::clone(&self.shown.lock().unwrap_or_else(PoisonError::into_inner).stored)
    }

    /// What is wrong with the disk, in words.
    pub(crate) fn trouble(&self, now_ns: u64) -> Option<String> {
        let status = self.status();
        let call_ns = self.call_since_ns.load(Ordering::Relaxed);
        let hung_ns = if call_ns == 0 { 0 } else { now_ns.saturating_sub(call_ns) };
        let (since_ns, why) = match (status.failing_since_ns, &status.last_error) {
            (Some(since_ns), Some(last)) => {
                (since_ns, format!("{}: {}", last.place.label(), last.text))
            }
            _ if hung_ns > HUNG_NS => (call_ns, "it does not answer".to_owned()),
            _ => return None,
        };
        let seconds = now_ns.saturating_sub(since_ns) / 1_000_000_000;
        let waiting = status.waiting;
        Some(format!("failing since {seconds} s ({why}); {waiting} batches wait for a file"))
    }
}

/// A call of the disk that takes longer is told.
const HUNG_NS: u64 = 10_000_000_000;
