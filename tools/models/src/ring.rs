//! A ring of one producer and one consumer, in place of `rtrb`: two counters, released by one side
//! and acquired by the other. Loom sees the slots, so a missing order is a race.

use loom::cell::Cell;

use crate::sync::{Arc, AtomicUsize, Ordering, order};

struct Shared<T> {
    slots: Vec<Cell<Option<T>>>,
    given: AtomicUsize,
    taken: AtomicUsize,
}

pub(crate) struct Producer<T>(Arc<Shared<T>>);

pub(crate) struct Consumer<T>(Arc<Shared<T>>);

/// A ring with room for `room` items.
pub(crate) fn ring<T: Copy>(room: usize) -> (Producer<T>, Consumer<T>) {
    let shared = Arc::new(Shared {
        slots: (0..room).map(|_| Cell::new(None)).collect(),
        given: AtomicUsize::new(0),
        taken: AtomicUsize::new(0),
    });
    (Producer(shared.clone()), Consumer(shared))
}

impl<T: Copy> Producer<T> {
    pub(crate) fn is_full(&self) -> bool {
        let given = self.0.given.load(Ordering::Relaxed);
        given - self.0.taken.load(order::ring_room()) == self.0.slots.len()
    }

    pub(crate) fn push(&mut self, item: T) {
        let given = self.0.given.load(Ordering::Relaxed);
        let before = self.0.slots[given % self.0.slots.len()].replace(Some(item));
        assert!(before.is_none(), "an item that nobody took was overwritten");
        self.0.given.store(given + 1, order::ring_give());
    }
}

impl<T: Copy> Consumer<T> {
    pub(crate) fn pop(&mut self) -> Option<T> {
        let taken = self.0.taken.load(Ordering::Relaxed);
        if self.0.given.load(order::ring_see()) == taken {
            return None;
        }
        let item = self.0.slots[taken % self.0.slots.len()].replace(None);
        assert!(item.is_some(), "an item was shown before it was there");
        self.0.taken.store(taken + 1, order::ring_free());
        item
    }
}
