//! How threads of a node hand work to each other and end: the parts on whose order it depends
//! that nothing is lost and nobody sleeps for ever. Run as it is by `tools/models`.
//!
//! Hot path: no allocation, no lock, no syscall but the wake-up of a sleeper.

use crate::sync::{AtomicBool, order};

/// Moves what `next` gives into a ring while that has room, then wakes the other side: after the
/// last push, so that it finds all of them. True where the room ran out: come back soon. `next` is
/// not asked before there is room, so that nothing is in hand that cannot be put down.
///
/// The other side sleeps only after it found the ring empty, by a sleep that a wake-up before it
/// ends at once.
pub fn hand_over<R, T>(
    ring: &mut R,
    is_full: impl Fn(&R) -> bool,
    push: impl Fn(&mut R, T),
    mut next: impl FnMut() -> Option<T>,
    wake: impl FnOnce(),
) -> bool {
    let mut any = false;
    let full = loop {
        if is_full(ring) {
            break true;
        }
        let Some(item) = next() else { break false };
        // There is room: this thread is the ring's only producer.
        push(ring, item);
        any = true;
    };
    if any || full {
        wake();
    }
    full
}

/// The word for all threads to end. Raised first, then every sleeper is woken: who is woken by
/// that finds it raised.
#[derive(Debug, Default)]
pub struct Stop {
    raised: AtomicBool,
}

impl Stop {
    /// Says that it is time to end. Whoever sees it also sees what was written before.
    pub fn raise(&self) {
        self.raised.store(true, order::stop_raise());
    }

    /// Whether it is time to end.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.raised.load(order::stop_look())
    }
}
