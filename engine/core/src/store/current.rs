//! The snapshot that readers see: shown by the writer, loaded without waiting, counted while held.
//!
//! Run as it is by `tools/models`.

use crate::sync::{Arc, Guard, Swap, Weak};

/// Where the newest snapshot is; cheap to clone.
#[derive(Debug)]
pub(crate) struct Current<T> {
    shown: Arc<Swap<T>>,
}

impl<T> Clone for Current<T> {
    fn clone(&self) -> Self {
        Current { shown: Arc::clone(&self.shown) }
    }
}

impl<T> Current<T> {
    pub(crate) fn new(first: T) -> Self {
        Current { shown: Arc::new(Swap::new(Arc::new(first))) }
    }

    /// Whoever loads from now on sees `next` and all that was written before.
    pub(crate) fn show(&self, next: T) {
        self.shown.store(Arc::new(next));
    }

    /// What is shown. It stays as it is and in memory for as long as the guard is held.
    pub(crate) fn load(&self) -> Guard<T> {
        self.shown.load()
    }
}

/// Bytes of something that the writer gave up and a reader may still hold.
#[derive(Debug)]
pub(crate) struct Retired<T> {
    bytes: usize,
    what: Weak<T>,
}

impl<T> Retired<T> {
    pub(crate) fn new(bytes: usize, what: &Arc<T>) -> Self {
        Retired { bytes, what: Arc::downgrade(what) }
    }

    /// The bytes while anybody can reach them, then 0 for ever: nobody can take hold of it again.
    pub(crate) fn bytes(&self) -> usize {
        if self.what.strong_count() > 0 { self.bytes } else { 0 }
    }
}
