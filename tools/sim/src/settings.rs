//! What a seed decides once: sizes, bounds, rates.

use bloomrf_engine::filter::Dedupe;
use bloomrf_engine::store::StoreConfig;
use bloomrf_kernels::arena::{Arena, ArenaConfig, PagesWanted};
use bloomrf_kernels::params::Budget;
use bloomrf_kernels::{Kernel, SizeClasses};

use crate::canary::Canary;
use crate::records::Shape;
use crate::shared::Splitmix;

/// Which faults there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// All of them.
    All,
    /// Those of links only: the accounting is exact, and what arrived whole is used.
    Links,
}

/// The settings of one run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) faults: Faults,
    pub(crate) canary: Option<Canary>,
    pub(crate) shape: Shape,
    pub(crate) queues: usize,
    pub(crate) chunk_rows: usize,
    pub(crate) dedupe: Dedupe,
    pub(crate) budget: Budget,
    pub(crate) sizes_kib: u32,
    pub(crate) exact_keys_max: usize,
    /// Records that the first batches are sized for.
    pub(crate) expected: u64,
    pub(crate) frames_max: usize,
    pub(crate) kernel: Kernel,
    /// Of lookups and groups.
    pub(crate) ask_kernel: Kernel,
    pub(crate) store: StoreConfig,
    /// Filters and groups lie in mapped memory.
    pub(crate) is_mapped: bool,
    pub(crate) probes_max: u32,
    /// How long the sealer waits for frames that it asked for again; 0: it never asks.
    pub(crate) repair_ns: u64,
    /// Datagrams that a receive ring holds.
    pub(crate) ring: usize,
    /// Slots between two lookups.
    pub(crate) ask_slots: u64,
    /// Slots between two whims of fate.
    pub(crate) whim_slots: u64,
    /// First batch id.
    pub(crate) id_first: u64,
}

/// One datagram's time on the wire, nanoseconds.
pub(crate) const SLOT_NS: u64 = 1_000;
/// Without a new frame for this long a queue ends a batch.
pub(crate) const IDLE_NS: u64 = 150 * SLOT_NS;
/// How long the sealer waits for frames after CLOSE.
pub(crate) const GRACE_NS: u64 = 60 * SLOT_NS;
/// How often it asks meanwhile.
pub(crate) const RETRY_NS: u64 = 5 * SLOT_NS;

impl Settings {
    pub(crate) fn draw(faults: Faults, canary: Option<Canary>, rng: &mut Splitmix) -> Self {
        let kernels = Kernel::all();
        let node_like = rng.one_in(2);
        let budget = Budget {
            bits_per_key: if node_like { 8 } else { *rng.pick(&[1, 4, 8, 16, 64]) },
            levels: if node_like { 4 } else { *rng.pick(&[1, 2, 4, 8]) },
        };
        let retain = *rng.pick(&[1, 3, 40, 64, 65, 130, 512, 512, 512]);
        let arena = *rng.pick(&[30_000, 300_000, 3_000_000, 64 << 20, 1 << 30, 1 << 30]);
        Settings {
            faults,
            canary,
            shape: draw_shape(rng),
            queues: 1 + rng.below(3) as usize,
            chunk_rows: *rng.pick(&[1, 5, 64, 64, 1_000]),
            dedupe: *rng.pick(&[Dedupe::Adaptive, Dedupe::Adaptive, Dedupe::Always, Dedupe::Never]),
            budget,
            sizes_kib: *rng.pick(&[1, 2, 8, 64, 64]),
            exact_keys_max: *rng.pick(&[0, 3, 200, 4_096]),
            expected: *rng.pick(&[1, 20, 300, 20_000]),
            frames_max: 512,
            kernel: *rng.pick(&kernels),
            ask_kernel: *rng.pick(&kernels),
            store: StoreConfig { retain_batches: retain, arena_bytes: arena },
            is_mapped: rng.one_in(8),
            probes_max: *rng.pick(&[1, 9, 256, 256, 256, u32::MAX]),
            repair_ns: SLOT_NS * *rng.pick(&[0, 100, 100, 1_000]),
            ring: *rng.pick(&[4, 64, 64, 256]),
            ask_slots: *rng.pick(&[40, 80, 160]),
            whim_slots: *rng.pick(&[60, 150, 400]),
            id_first: *rng.pick(&[0, 1, 1_000, 1 << 41, u64::MAX - 5_000]),
        }
    }

    /// Size classes of filters.
    pub(crate) fn sizes(&self) -> SizeClasses {
        SizeClasses::new(self.sizes_kib)
    }

    /// Mapped memory, where the seed wants it.
    pub(crate) fn arena(&self) -> Option<Arena> {
        let config = ArenaConfig {
            bytes: 2 << 20,
            pages: PagesWanted::Small,
            numa_node: None,
            guards: false,
        };
        if self.is_mapped { Arena::new(config).ok() } else { None }
    }
}

/// Small batches: a run is to fill chunks of 64 and turn over what is retained.
fn draw_shape(rng: &mut Splitmix) -> Shape {
    Shape {
        records: rng.pick::<&'static [u64]>(&SIZES),
        frame_records_max: *rng.pick(&[1, 4, 12, 12]),
        lanes_max: 1 + rng.below(4),
    }
}

/// Usual numbers of records of a batch, of which a seed takes one row.
const SIZES: [&[u64]; 4] = [&[0, 1, 3, 9], &[3, 9, 24], &[0, 24, 24, 90], &[1, 3]];
