//! Which answers of a file that another process changes count: those between two looks at its
//! header that find the same generation, whose flush is over.
//!
//! A flush first puts its generation into the header, marked as at work; then it changes the file;
//! then it takes the mark off. Generations only grow. So what was loaded while the header said
//! generation g, before and after, was touched by no flush after that of g; and that the one of g
//! was over was seen at an earlier look (`known`).
//!
//! Cost: two loads of one cache line. Loads are acquiring, and stores of another process appear
//! in their order, which x86-64 promises.

use std::sync::atomic::{AtomicU64, Ordering};

use super::GENERATION;

/// The words of a file, loaded one by one, each load done before the next.
pub(super) trait Load {
    /// The word at `at`; `None` where there is none.
    fn load(&self, at: usize) -> Option<u64>;
}

/// What is in the file of a generation that was not seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// A filter that is asked in the same way. Its header was whole and at rest.
    Same,
    /// Something else.
    Other,
    /// It was changed while it was looked at.
    Torn,
}

/// What was seen of a file's generations; shared by all threads that ask.
#[derive(Debug)]
pub(super) struct Guard {
    /// The last generation whose flush is over and whose filter is asked in the same way.
    known: AtomicU64,
    /// The last one whose filter is not.
    moved: AtomicU64,
}

impl Guard {
    /// Of a file whose `generation` was seen at rest.
    pub(super) fn new(generation: u64) -> Self {
        Guard { known: AtomicU64::new(generation), moved: AtomicU64::new(NEVER) }
    }

    /// What `asked` loads, where all of it is of one flush; `None` where that cannot be had in
    /// some tries. `look` looks at the file of a generation.
    #[inline]
    pub(super) fn ask<T>(
        &self,
        words: &impl Load,
        look: impl Fn(u64) -> Look,
        asked: impl Fn() -> T,
    ) -> Option<T> {
        for _ in 0..TRIES {
            let Some(before) = self.settled(words, &look) else { continue };
            let answer = asked();
            if generation(words) == Some(before) {
                return Some(answer);
            }
        }
        None
    }

    /// The generation of the file, where its flush is over and its filter is asked as ever.
    #[inline]
    fn settled(&self, words: &impl Load, look: impl Fn(u64) -> Look) -> Option<u64> {
        let now = generation(words)?;
        if now == self.known.load(Ordering::Acquire) {
            return Some(now);
        }
        if now != self.moved.load(Ordering::Relaxed) {
            self.learn(now, look(now));
        }
        // What was loaded before the look may be older than what it saw: the next try counts.
        None
    }

    #[cold]
    fn learn(&self, generation: u64, look: Look) {
        match look {
            Look::Same => self.known.store(generation, Ordering::Release),
            Look::Other => self.moved.store(generation, Ordering::Relaxed),
            Look::Torn => {}
        }
    }
}

fn generation(words: &impl Load) -> Option<u64> {
    words.load(GENERATION.start / 8)
}

/// Looks at a file that is being changed before an answer is *maybe*.
const TRIES: u32 = 3;
/// No generation.
const NEVER: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use bloomrf_engine::format::container::Sequence;

    use super::*;

    /// A file of one item, which flushes move to and fro between two words, as a cuckoo filter
    /// does; a flush is a list of stores. Before each load any number of them are done.
    struct Model {
        words: RefCell<[u64; 32]>,
        stores: Vec<(usize, u64)>,
        done: Cell<usize>,
        loads: Cell<usize>,
        /// How many stores are done before the load of each number.
        schedule: Vec<usize>,
    }

    const GENERATION_WORD: usize = GENERATION.start / 8;
    const WRITING_WORD: usize = Sequence::WRITING / 8;
    const SUM: usize = 31;
    const PLACES: [usize; 2] = [20, 21];

    fn sum(generation: u64, writing: u64) -> u64 {
        generation * 1_000 + writing + 7
    }

    impl Load for Model {
        fn load(&self, at: usize) -> Option<u64> {
            let load = self.loads.get();
            self.loads.set(load + 1);
            let due = self.schedule.get(load).copied().unwrap_or(usize::MAX);
            while self.done.get() < due.min(self.stores.len()) {
                let (at, word) = self.stores[self.done.get()];
                self.words.borrow_mut()[at] = word;
                self.done.set(self.done.get() + 1);
            }
            Some(self.words.borrow()[at])
        }
    }

    /// The stores of a flush that leaves the item in place `to`. The words of one write of the
    /// header may be stored in any order.
    fn flush(generation: u64, to: usize, header_order: [usize; 3]) -> Vec<(usize, u64)> {
        let header = |writing: u64| {
            let words = [
                (GENERATION_WORD, generation),
                (WRITING_WORD, writing),
                (SUM, sum(generation, writing)),
            ];
            header_order.map(|i| words[i])
        };
        let moves = [(PLACES[1 - to], 0), (PLACES[to], 1)];
        [&header(generation)[..], &moves, &header(0)].concat()
    }

    fn is_found(model: &Model, guard: &Guard) -> bool {
        let look = |generation| {
            let [seen, writing, sums] =
                [GENERATION_WORD, WRITING_WORD, SUM].map(|at| model.load(at).unwrap());
            let is_whole = sums == sum(seen, writing) && writing == 0 && seen == generation;
            if is_whole { Look::Same } else { Look::Torn }
        };
        let asked = || PLACES.into_iter().any(|at| model.load(at) == Some(1));
        guard.ask(model, look, asked).unwrap_or(true)
    }

    /// Every way to do `stores` stores before and between `loads` loads.
    fn each_schedule(loads: usize, stores: usize, each: &mut dyn FnMut(&[usize])) {
        fn fill(
            schedule: &mut Vec<usize>,
            loads: usize,
            stores: usize,
            each: &mut dyn FnMut(&[usize]),
        ) {
            if schedule.len() == loads {
                return each(schedule);
            }
            for done in schedule.last().copied().unwrap_or(0)..=stores {
                schedule.push(done);
                fill(schedule, loads, stores, each);
                schedule.pop();
            }
        }
        fill(&mut Vec::new(), loads, stores, each);
    }

    #[test]
    fn an_item_that_flushes_move_is_found_in_every_order_of_loads_and_stores() {
        let mut schedules = 0;
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let stores = flush(6, 1, order);
            each_schedule(9, stores.len(), &mut |schedule| {
                let mut words = [0; 32];
                (words[GENERATION_WORD], words[SUM], words[PLACES[0]]) = (5, sum(5, 0), 1);
                let model = Model {
                    words: RefCell::new(words),
                    stores: stores.clone(),
                    done: Cell::new(0),
                    loads: Cell::new(0),
                    schedule: schedule.to_vec(),
                };
                let guard = Guard::new(5);
                assert!(is_found(&model, &guard), "{order:?}, {schedule:?}");
                schedules += 1;
            });
        }
        assert!(schedules > 50_000, "{schedules}");
    }
}
