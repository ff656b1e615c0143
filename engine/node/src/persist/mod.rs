//! The data folder: loaded before the node is ready, kept up by a thread of low priority.
//!
//! `bloomrf-persist` is told by one flag that something changed in the store, and compares: no
//! event can be lost, none queues up while the disk is slow, and nobody ever waits for the disk.
//! It also looks at stored files and at resident filters again and again. The watchdog does not
//! watch it: a disk may take its time, and `/readyz` says so.

mod memory;
mod numbers;
mod recovery;
mod shown;
mod tell;

use std::sync::Arc;
use std::time::Duration;

use bloomrf_engine::persist::{Persister, Step};
use bloomrf_engine::store::Snapshot;

use crate::disk::FolderDisk;
use crate::env::SystemRng;
use crate::shared::Shared;

pub use numbers::PersistNumbers;
pub(crate) use recovery::{open_folder, recover};
pub(crate) use shown::PersistShown;

use memory::MemoryScrub;
use tell::Teller;

/// Everything that the thread owns.
pub(crate) struct PersistLoop {
    shared: Arc<Shared>,
    persister: Persister,
    disk: FolderDisk,
    rng: SystemRng,
    memory: MemoryScrub,
    teller: Teller,
}

impl PersistLoop {
    fn new(shared: Arc<Shared>, persister: Persister, disk: FolderDisk, rng: SystemRng) -> Self {
        let memory = MemoryScrub::new(&shared.config);
        shared.persist.show(&persister);
        PersistLoop { shared, persister, disk, rng, memory, teller: Teller::default() }
    }

    /// Runs until stopped, and then on until every verified batch has its file, for a while.
    pub(crate) fn run(mut self) {
        // Of this thread alone. Without the right to be nice it is merely less polite.
        let _ = rustix::process::nice(PERSIST_NICENESS);
        self.shared.persist.attach();
        let mut end_ns = None;
        loop {
            let now_ns = self.shared.clock.now_ns();
            if self.shared.stopping() {
                end_ns = end_ns.or(Some(now_ns.saturating_add(FLUSH_MAX_NS)));
            }
            self.take_news(now_ns);
            if end_ns.is_some_and(|end_ns| now_ns >= end_ns || self.is_done()) {
                return;
            }
            let step = self.step(now_ns);
            if step == Step::Idle {
                std::thread::park_timeout(self.sleep(now_ns));
            }
        }
    }

    /// Nothing is left that ought to be done before the end.
    fn is_done(&self) -> bool {
        let status = self.persister.status();
        status.waiting + status.removing == 0 || status.failing_since_ns.is_some()
    }

    /// Compares with the store where something changed, and looks at a slice of its filters.
    fn take_news(&mut self, now_ns: u64) {
        let words = self.memory.due(now_ns);
        let is_news = self.shared.persist.take_news();
        if words == 0 && !is_news {
            return;
        }
        let (scrubbed, snapshot) = {
            // Under one lock: what is found damaged and what is gone are of the same moment.
            let mut store = self.shared.store();
            let scrubbed = store.scrub(words);
            (scrubbed, Arc::clone(&self.shared.reader.load()))
        };
        if !scrubbed.corrupt.is_empty() {
            scrubbed.corrupt.into_iter().for_each(|batch| self.reload(batch));
            // The snapshot is of before.
            return self.shared.persist.wake();
        }
        if is_news {
            self.reconcile(&snapshot);
        }
    }

    fn reconcile(&mut self, snapshot: &Snapshot) {
        self.persister.reconcile(snapshot);
        self.shared.persist.show(&self.persister);
    }

    fn step(&mut self, now_ns: u64) -> Step {
        let job = {
            let snapshot = self.shared.reader.load();
            let unix_us = self.shared.clock.unix_us();
            self.persister.plan(&snapshot, &mut self.rng, now_ns, unix_us)
        };
        self.shared.persist.call_begins(now_ns);
        let step = self.persister.perform(&self.disk, job, now_ns);
        self.shared.persist.call_ends();
        if step != Step::Idle {
            self.shared.persist.show(&self.persister);
            self.teller.tell(&step, self.persister.status());
        }
        step
    }

    fn sleep(&self, now_ns: u64) -> Duration {
        let due = self.persister.next_step_ns().into_iter().chain(self.memory.next_ns()).min();
        let wait = due.map(|due| Duration::from_nanos(due.saturating_sub(now_ns)));
        wait.map_or(IDLE_WAIT, |wait| wait.clamp(SHORTEST_WAIT, IDLE_WAIT))
    }
}

/// Niceness added to the thread: after sealing.
const PERSIST_NICENESS: i32 = 15;
/// Longest sleep; news end it earlier.
const IDLE_WAIT: Duration = Duration::from_secs(1);
/// Shortest sleep.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);
/// A node that stops writes on for so long.
const FLUSH_MAX_NS: u64 = 3_000_000_000;
