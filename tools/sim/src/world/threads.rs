//! The node's threads: each gets a turn when it is woken or its sleep is over, sometimes late.

use std::sync::Arc;

use super::{Event, World};
use crate::settings::SLOT_NS;
use crate::weather::State;

/// Queues have the numbers below.
pub(super) const QUEUES_MAX: usize = 4;
/// The seal thread.
pub(super) const SEAL: usize = QUEUES_MAX;
/// The control thread.
pub(super) const CONTROL: usize = QUEUES_MAX + 1;
/// The thread that keeps the data folder up.
pub(super) const FOLDER: usize = QUEUES_MAX + 2;
/// Threads in all.
pub(super) const COUNT: usize = QUEUES_MAX + 3;

/// Longest sleep of a thread that nobody wakes, in slots.
pub(super) const SLEEP_SLOTS: u64 = 50;

impl World {
    /// A datagram reaches the machine.
    pub(super) fn arrive(&mut self, queue: usize, bytes: Arc<[u8]>, state: State) {
        self.past.arrived += 1;
        let Some(node) = &mut self.node else {
            self.past.nobody += 1;
            return;
        };
        node.arrive(queue, self.settings.ring, (bytes, state));
        self.wake(queue);
    }

    /// Lets a thread have a turn soon.
    pub(super) fn wake(&mut self, thread: usize) {
        let slots = if self.rng.one_in(150) && !self.is_calm {
            self.rng.below(300)
        } else {
            1 + self.rng.below(4)
        };
        self.turn_in(thread, slots);
    }

    pub(super) fn turn(&mut self, thread: usize) {
        self.turns[thread] = u64::MAX;
        match thread {
            SEAL => self.seal_turn(),
            CONTROL => self.control_turn(),
            FOLDER => self.folder_turn(),
            queue => self.queue_turn(queue),
        }
    }

    /// Lets a thread have a turn in so many slots, if none is due before.
    pub(super) fn turn_in(&mut self, thread: usize, slots: u64) {
        let at_ns = self.agenda.now_ns() + slots.max(1) * SLOT_NS;
        if self.turns[thread] > at_ns {
            self.turns[thread] = at_ns;
            self.agenda.at(at_ns, Event::Turn(thread));
        }
    }

    fn queue_turn(&mut self, index: usize) {
        let now_ns = self.agenda.now_ns();
        let Some(node) = &mut self.node else { return };
        let before = node.queues[index].queue.stats().frames_in;
        let more = node.queue_turn(index, now_ns, &mut self.rng);
        let stats = *node.queues[index].queue.stats();
        if stats.frames_in > before {
            self.note("queue", index as u64, stats.frames_in);
        }
        assert_eq!(stats.frames_in, stats.accounted(), "every frame is accounted for: {stats:?}");
        self.wake(SEAL);
        self.turn_in(index, if more { 1 } else { SLEEP_SLOTS });
    }

    fn seal_turn(&mut self) {
        let now_ns = self.agenda.now_ns();
        let Some(node) = &mut self.node else { return };
        let turn = node.seal_turn(now_ns, &mut self.rng, &mut self.tally);
        let due_ns = node.seal_due_ns().unwrap_or(u64::MAX);
        for &(batch, reason) in &turn.given_up {
            self.note("incomplete", batch, reason as u64);
            self.tally.one("incomplete");
        }
        for sealed in &turn.sealed {
            self.check_sealed(sealed);
        }
        if !turn.sealed.is_empty() {
            self.check_bounds();
            self.wake(CONTROL);
            self.wake(FOLDER);
        }
        if turn.asks {
            self.wake(CONTROL);
        }
        turn.woken.iter().for_each(|&queue| self.wake(queue));
        let until_due = due_ns.saturating_sub(now_ns) / SLOT_NS + 1;
        self.turn_in(SEAL, if turn.is_busy { 1 } else { until_due.min(SLEEP_SLOTS) });
    }
}
