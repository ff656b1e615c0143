//! Virtual time: a queue of what is to happen, in order of time and, within a moment, of asking.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is to happen, and the present.
#[derive(Debug)]
pub(crate) struct Agenda<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    asked: u64,
    now_ns: u64,
}

#[derive(Debug)]
struct Entry<E> {
    /// When, and how many were asked for before.
    key: (u64, u64),
    event: E,
}

impl<E> Agenda<E> {
    /// Nothing to happen; time starts here.
    pub(crate) fn new() -> Self {
        Agenda { heap: BinaryHeap::new(), asked: 0, now_ns: START_NS }
    }

    /// The present, nanoseconds.
    pub(crate) fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Lets `event` happen in `delay_ns`.
    pub(crate) fn after(&mut self, delay_ns: u64, event: E) {
        self.at(self.now_ns.saturating_add(delay_ns), event);
    }

    /// Lets `event` happen at `at_ns`, or at once where that is past.
    pub(crate) fn at(&mut self, at_ns: u64, event: E) {
        let key = (at_ns.max(self.now_ns), self.asked);
        self.asked += 1;
        self.heap.push(Reverse(Entry { key, event }));
    }

    /// The next event; the present moves to it.
    pub(crate) fn next(&mut self) -> Option<E> {
        let Reverse(entry) = self.heap.pop()?;
        self.now_ns = entry.key.0;
        Some(entry.event)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// Time does not start at zero: durations must not be taken for moments.
const START_NS: u64 = 7_000_000;
