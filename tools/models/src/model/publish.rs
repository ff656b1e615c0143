//! Publication and retirement, over the engine's own `store/live.rs` and `store/current.rs`. What
//! the store's writer does around them is written here as it is in `store/writer.rs`: `append` and
//! `publish`; `judge`; `remove` (the live bit first), then `publish`; `replace_columns`, then
//! `publish_versions`.

use loom::cell::Cell;
use loom::thread;

use super::Model;
use crate::current::{Current, Retired};
use crate::live::LiveMask;
use crate::sync::{Arc, Order};

pub(super) const MODELS: &[Model] = &[
    Model {
        claim: "who sees a live bit sees the batch that it stands for",
        run: publish,
        is_planted: false,
        needs: &[Order::SwapStore, Order::SwapLoad],
        spares: &[Order::LiveChange, Order::LiveLoad],
    },
    Model {
        claim: "who sees restored batches sees all of them live",
        run: restore,
        is_planted: false,
        needs: &[Order::SwapStore, Order::SwapLoad],
        spares: &[Order::LiveChange, Order::LiveLoad],
    },
    Model {
        claim: "who saw a batch gone never finds it live, in no version",
        run: || evict(true),
        is_planted: false,
        needs: &[Order::SwapStore, Order::SwapLoad],
        spares: &[Order::LiveChange, Order::LiveLoad],
    },
    Model {
        claim: "planted: the batch leaves before its live bit is lowered",
        run: || evict(false),
        is_planted: true,
        needs: &[],
        spares: &[],
    },
    Model {
        claim: "what a reader holds is in memory and is counted",
        run: retire,
        is_planted: false,
        needs: &[Order::SwapStore, Order::SwapLoad],
        spares: &[Order::LiveChange, Order::LiveLoad],
    },
    Model {
        claim: "a version is plain or sliced, and whole, whenever it is loaded",
        run: slice,
        is_planted: false,
        needs: &[Order::SwapStore, Order::SwapLoad],
        spares: &[Order::LiveChange, Order::LiveLoad],
    },
];

/// Filter words, written before they are published; when they are freed, they are written again,
/// so that loom sees whoever still reads.
struct Words(Cell<u64>);

const WHOLE: u64 = 7;

impl Words {
    fn build() -> Arc<Self> {
        let words = Words(Cell::new(0));
        words.0.set(WHOLE);
        Arc::new(words)
    }

    fn assert_whole(&self) {
        assert_eq!(self.0.get(), WHOLE, "half a filter");
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        self.0.set(0);
    }
}

/// One slot of one column of a version of a chunk.
#[derive(Clone)]
enum Slot {
    Plain(Arc<Words>),
    /// In the version's group.
    Sliced,
}

/// A version of a chunk, and with it the snapshot: one chunk.
#[derive(Clone)]
struct Version {
    /// What it lies in.
    memory: Arc<Words>,
    live: LiveMask,
    occupied: u64,
    slots: Vec<Option<Slot>>,
    group: Option<Arc<Words>>,
}

impl Version {
    fn empty() -> Self {
        let (memory, live) = (Words::build(), LiveMask::default());
        Version { memory, live, occupied: 0, slots: Vec::new(), group: None }
    }

    /// Another version of the same chunk.
    fn copy(&self) -> Self {
        Version { memory: Words::build(), ..self.clone() }
    }

    fn live(&self) -> u64 {
        self.live.of(self.occupied)
    }

    fn with(&self, words: Arc<Words>) -> Self {
        let mut next = self.copy();
        next.occupied |= 1 << next.slots.len();
        next.slots.push(Some(Slot::Plain(words)));
        next
    }

    fn without(&self, slot: usize) -> Self {
        let mut next = self.copy();
        next.occupied &= !(1 << slot);
        next.slots[slot] = None;
        next
    }

    /// What a lookup does: the mask once, then what it admits.
    fn walk(&self) -> u64 {
        self.memory.assert_whole();
        let live = self.live();
        for (at, slot) in self.slots.iter().enumerate().filter(|(at, _)| live >> at & 1 == 1) {
            match slot {
                Some(Slot::Plain(words)) => words.assert_whole(),
                Some(Slot::Sliced) => {
                    self.group.as_ref().expect("sliced, and no group").assert_whole();
                }
                None => panic!("slot {at} is live and empty"),
            }
        }
        live
    }
}

/// Runs a reader beside the writer, which is this thread.
fn beside(current: &Current<Version>, reader: impl FnOnce(Current<Version>) + 'static) -> Reader {
    let current = current.clone();
    Reader(thread::spawn(move || reader(current)))
}

struct Reader(thread::JoinHandle<()>);

impl Reader {
    fn join(self) {
        self.0.join().expect("loom reports it first");
    }
}

fn publish() {
    let current = Current::new(Version::empty());
    let read = |current: Current<Version>| {
        // An older version in hand: its mask must not speak for what it does not hold.
        let first = current.load();
        current.load().walk();
        first.walk();
    };
    let reader = beside(&current, read);
    let empty = current.load();
    current.show(empty.with(Words::build()));
    empty.live.raise(0);
    current.show(current.load().with(Words::build()));
    empty.live.raise(1);
    reader.join();
    assert_eq!((current.load().walk(), empty.walk()), (0b11, 0));
}

fn restore() {
    let current = Current::new(Version::empty());
    let reader = beside(&current, |current| {
        let version = current.load();
        assert_eq!(version.walk(), version.occupied, "some of them are not live");
    });
    let both = current.load().with(Words::build()).with(Words::build());
    both.live.raise(0);
    both.live.raise(1);
    current.show(both);
    reader.join();
}

fn evict(is_lowered_first: bool) {
    let first = Version::empty().with(Words::build());
    first.live.raise(0);
    let current = Current::new(first);
    let reader = beside(&current, |current| {
        let before = current.load();
        before.walk();
        let after = current.load();
        if after.occupied == 0 {
            assert_eq!(before.walk(), 0, "it was seen to be gone");
        }
    });
    let version = current.load();
    if is_lowered_first {
        version.live.lower(0);
    }
    current.show(version.without(0));
    version.live.lower(0);
    drop(version);
    reader.join();
}

fn retire() {
    let current = Current::new(Version::empty());
    let reader = beside(&current, |current| {
        let version = current.load();
        version.walk();
    });
    let words = Words::build();
    let retired = Retired::new(8, &words);
    let version = current.load().with(words);
    current.show(version.clone());
    version.live.raise(0);
    version.live.lower(0);
    current.show(version.without(0));
    assert_eq!(retired.bytes(), 8, "this thread still holds it");
    drop(version);
    // A reader may be at it: loom sees to it that it is not freed, and then it is counted.
    let seen = retired.bytes();
    reader.join();
    assert!(seen == 0 || seen == 8);
    assert_eq!(retired.bytes(), 0, "counted, and nobody holds it");
    assert_eq!(current.load().walk(), 0);
}

fn slice() {
    let first = Version::empty().with(Words::build()).with(Words::build());
    first.live.raise(0);
    first.live.raise(1);
    let current = Current::new(first);
    let reader = beside(&current, |current| {
        let version = current.load();
        version.walk();
        current.load().walk();
        version.walk();
    });
    let mut sliced = current.load().copy();
    sliced.group = Some(Words::build());
    sliced.slots = vec![Some(Slot::Sliced); 2];
    current.show(sliced);
    let version = current.load();
    version.live.lower(0);
    current.show(version.without(0));
    drop(version);
    reader.join();
    assert_eq!(current.load().walk(), 0b10);
}
