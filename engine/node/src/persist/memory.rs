//! Resident filters are looked at a slice at a time; one that changed comes back from its file.

use bloomrf_engine::identity::BatchId;

use super::PersistLoop;
use crate::config::Config;

/// When the next slice is due.
#[derive(Debug)]
pub(super) struct MemoryScrub {
    /// Between two slices; `None`: never.
    pause_ns: Option<u64>,
    next_ns: u64,
}

impl MemoryScrub {
    pub(super) fn new(config: &Config) -> Self {
        let scrub_ns = config.scrub_hours.saturating_mul(HOUR_NS);
        let slices = (config.arena_bytes / (SLICE_WORDS * size_of::<u64>())).max(1) as u64;
        let pause_ns =
            (scrub_ns > 0).then(|| (scrub_ns / slices).clamp(PAUSE_MIN_NS, PAUSE_MAX_NS));
        MemoryScrub { pause_ns, next_ns: pause_ns.unwrap_or(0) }
    }

    /// Words to look at now.
    pub(super) fn due(&mut self, now_ns: u64) -> usize {
        let Some(pause_ns) = self.pause_ns.filter(|_| now_ns >= self.next_ns) else { return 0 };
        self.next_ns = now_ns.saturating_add(pause_ns);
        SLICE_WORDS
    }

    pub(super) fn next_ns(&self) -> Option<u64> {
        self.pause_ns.map(|_| self.next_ns)
    }
}

impl PersistLoop {
    /// A resident batch had changed in memory, and has left the store.
    pub(super) fn reload(&mut self, batch: BatchId) {
        let whole = self.persister.reload(&self.disk, batch);
        let restored = whole.is_some_and(|whole| {
            let mut store = self.shared.store();
            store.restore(vec![whole]);
            self.shared.reader.load().place(batch).is_some()
        });
        if restored {
            tracing::error!(batch, "filters changed in memory: loaded again from their file");
        } else {
            self.persister.on_gone(&[batch]);
            tracing::error!(batch, "filters changed in memory and have no whole file: discarded");
        }
    }
}

/// Words looked at under the store's lock: some 0.1 ms.
const SLICE_WORDS: usize = 1 << 17;
const HOUR_NS: u64 = 3_600 * 1_000_000_000;
/// Slices never follow each other faster.
const PAUSE_MIN_NS: u64 = 10_000_000;
/// Nor slower.
const PAUSE_MAX_NS: u64 = 10_000_000_000;
