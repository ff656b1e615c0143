//! What threads share, for the files that `tools/models` runs as they are under a model checker:
//! they take atomics, pointers and orderings from here and from nowhere else, and the models give
//! them their own. Everything else of the workspace takes them from `std`.
//!
//! `std` and `arc-swap` are trusted to keep their contracts; `docs/FAULTS.md` says which.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64};
pub(crate) use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;

/// A pointer that readers load without waiting, and one writer exchanges.
///
/// Contract: what was written before a store is seen by whoever loads what was stored; what a
/// guard holds lives until the guard is dropped, whatever is stored meanwhile.
#[derive(Debug)]
pub(crate) struct Swap<T>(ArcSwap<T>);

/// What a reader loaded.
pub(crate) type Guard<T> = arc_swap::Guard<Arc<T>>;

impl<T> Swap<T> {
    pub(crate) fn new(first: Arc<T>) -> Self {
        Swap(ArcSwap::new(first))
    }

    pub(crate) fn store(&self, next: Arc<T>) {
        self.0.store(next);
    }

    pub(crate) fn load(&self) -> Guard<T> {
        self.0.load()
    }
}

/// The orderings, by what they are for. The models weaken them one by one.
pub(crate) mod order {
    use std::sync::atomic::Ordering;

    /// A live bit is set or cleared.
    pub(crate) const fn live_change() -> Ordering {
        Ordering::Release
    }

    /// A live mask is read.
    pub(crate) const fn live_load() -> Ordering {
        Ordering::Acquire
    }

    /// A stop flag is set.
    pub(crate) const fn stop_raise() -> Ordering {
        Ordering::Release
    }

    /// A stop flag is read.
    pub(crate) const fn stop_look() -> Ordering {
        Ordering::Acquire
    }
}
