//! What `engine/core/src/sync.rs` is to the engine, made of loom's: every atomic operation is a
//! point where another thread may go on, and a relaxed load may read what is old.
//!
//! [`Swap`] stands for `arc-swap` by its contract: a store is a release and a load an acquire of
//! one pointer, a load gives what some store put there and keeps it in memory. How arc-swap does it
//! is not modelled. [`Weak::strong_count`] is exact here, as it is in `std` after the last drop.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// A shared value; loom checks that nobody uses it while or after it is dropped.
pub(crate) struct Arc<T> {
    // Dropped first: what is still counted as held may at most be gone already.
    value: loom::sync::Arc<T>,
    held: std::sync::Arc<()>,
}

impl<T> Arc<T> {
    pub(crate) fn new(value: T) -> Self {
        Arc { value: loom::sync::Arc::new(value), held: std::sync::Arc::default() }
    }

    pub(crate) fn downgrade(this: &Self) -> Weak<T> {
        Weak { held: std::sync::Arc::downgrade(&this.held), what: PhantomData }
    }
}

impl<T> Clone for Arc<T> {
    fn clone(&self) -> Self {
        Arc { value: loom::sync::Arc::clone(&self.value), held: std::sync::Arc::clone(&self.held) }
    }
}

impl<T> Deref for Arc<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Default> Default for Arc<T> {
    fn default() -> Self {
        Arc::new(T::default())
    }
}

impl<T> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Arc")
    }
}

/// Knows whether a value is still held.
#[derive(Debug)]
pub(crate) struct Weak<T> {
    held: std::sync::Weak<()>,
    what: PhantomData<T>,
}

impl<T> Weak<T> {
    pub(crate) fn strong_count(&self) -> usize {
        self.held.strong_count()
    }
}

/// What a reader loaded.
pub(crate) type Guard<T> = Arc<T>;

/// See the header.
pub(crate) struct Swap<T> {
    /// Index of what is shown.
    shown: AtomicUsize,
    /// Everything that was ever shown; what is not any more is let go. The lock is never held at
    /// a point where another thread may go on.
    stored: Mutex<Vec<Option<std::sync::Arc<Arc<T>>>>>,
}

impl<T> Swap<T> {
    pub(crate) fn new(first: Arc<T>) -> Self {
        let stored = Mutex::new(vec![Some(std::sync::Arc::new(first))]);
        Swap { shown: AtomicUsize::new(0), stored }
    }

    pub(crate) fn store(&self, next: Arc<T>) {
        let index = self.with_stored(|stored| {
            stored.push(Some(std::sync::Arc::new(next)));
            stored.len() - 1
        });
        self.shown.store(index, order::swap_store());
        let before = self.with_stored(|stored| stored[index - 1].take());
        drop(before);
    }

    pub(crate) fn load(&self) -> Guard<T> {
        loop {
            let index = self.shown.load(order::swap_load());
            // What was let go cannot be given any more: look again.
            if let Some(shown) = self.with_stored(|stored| stored[index].clone()) {
                return Arc::clone(&shown);
            }
            loom::thread::yield_now();
        }
    }

    fn with_stored<R>(&self, of: impl FnOnce(&mut Vec<Option<std::sync::Arc<Arc<T>>>>) -> R) -> R {
        of(&mut self.stored.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> fmt::Debug for Swap<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Swap")
    }
}

/// An ordering that can be weakened to `Relaxed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A live bit is set or cleared.
    LiveChange,
    /// A live mask is read.
    LiveLoad,
    /// A stop flag is set.
    StopRaise,
    /// A stop flag is read.
    StopLook,
    /// A snapshot is stored: arc-swap's.
    SwapStore,
    /// A snapshot is loaded: arc-swap's.
    SwapLoad,
    /// An item is shown to the ring's consumer: rtrb's.
    RingGive,
    /// The ring's consumer looks for items: rtrb's.
    RingSee,
    /// Room is given back to the ring's producer: rtrb's.
    RingFree,
    /// The ring's producer looks for room: rtrb's.
    RingRoom,
}

thread_local! {
    static WEAKENED: Cell<Option<Order>> = const { Cell::new(None) };
}

/// Runs `model` with one ordering weakened.
pub(crate) fn weakened<R>(order: Option<Order>, model: impl FnOnce() -> R) -> R {
    WEAKENED.set(order);
    let result = model();
    WEAKENED.set(None);
    result
}

/// The orderings of `engine/core/src/sync.rs`, and those of what is trusted.
pub(crate) mod order {
    use super::{Order, Ordering, WEAKENED};

    fn unless_weakened(order: Order, strong: Ordering) -> Ordering {
        if WEAKENED.get() == Some(order) { Ordering::Relaxed } else { strong }
    }

    pub(crate) fn live_change() -> Ordering {
        unless_weakened(Order::LiveChange, Ordering::Release)
    }

    pub(crate) fn live_load() -> Ordering {
        unless_weakened(Order::LiveLoad, Ordering::Acquire)
    }

    pub(crate) fn stop_raise() -> Ordering {
        unless_weakened(Order::StopRaise, Ordering::Release)
    }

    pub(crate) fn stop_look() -> Ordering {
        unless_weakened(Order::StopLook, Ordering::Acquire)
    }

    pub(crate) fn swap_store() -> Ordering {
        unless_weakened(Order::SwapStore, Ordering::Release)
    }

    pub(crate) fn swap_load() -> Ordering {
        unless_weakened(Order::SwapLoad, Ordering::Acquire)
    }

    pub(crate) fn ring_give() -> Ordering {
        unless_weakened(Order::RingGive, Ordering::Release)
    }

    pub(crate) fn ring_see() -> Ordering {
        unless_weakened(Order::RingSee, Ordering::Acquire)
    }

    pub(crate) fn ring_free() -> Ordering {
        unless_weakened(Order::RingFree, Ordering::Release)
    }

    pub(crate) fn ring_room() -> Ordering {
        unless_weakened(Order::RingRoom, Ordering::Acquire)
    }
}
