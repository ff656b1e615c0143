//! What the threads of one node share. The responders touch only the snapshot reader, the clock
//! and atomic counters; the store's lock is between sealer, control and persistence alone.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bloomrf_engine::env::Clock;
use bloomrf_engine::filter::FormCounts;
use bloomrf_engine::handshake::Stop;
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::lookup::LookupConfig;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::store::{Store, StoreReader};
use bloomrf_engine::verify::DeletedBatches;
use bloomrf_netio::link::udp::{DropGauge, host_losses};

use crate::config::Config;
use crate::control::Outcome;
use crate::keys::Keys;
use crate::metrics::{Metrics, Moment};
use crate::persist::PersistShown;
use crate::poll::{QueueCounters, QueueNumbers};
use crate::tap::LostBatch;
use crate::watch::Stalled;
use crate::{NodeStatus, PersistNumbers};

/// Shared by all threads of a node.
pub(crate) struct Shared {
    /// As started.
    pub(crate) config: Config,
    /// Of askers and senders.
    pub(crate) keys: Keys,
    /// The schema of this epoch.
    pub(crate) schema: Arc<Schema>,
    /// Time.
    pub(crate) clock: Arc<dyn Clock>,
    /// The snapshot that lookups read.
    pub(crate) reader: StoreReader,
    /// Counters.
    pub(crate) metrics: Metrics,
    /// Per queue.
    pub(crate) queues: Vec<Arc<QueueCounters>>,
    /// Set to end every thread.
    pub(crate) stop: Arc<Stop>,
    /// Sockets bound, arena ready, threads running.
    pub(crate) ready: AtomicBool,
    /// Of the data folder.
    pub(crate) persist: PersistShown,
    /// Told by the watchdog.
    pub(crate) stalled: Stalled,
    store: Mutex<Store>,
    deleted: Mutex<DeletedBatches>,
    lost: Mutex<VecDeque<LostBatch>>,
    drops: SocketDrops,
}

/// What the system dropped before each socket, remembered beyond the sockets' end. Cost: a pass
/// over the tables of all sockets of the host, so at most one in `LOOK_NS`: a sender's window may
/// ask for every frame.
struct SocketDrops {
    gauges: Vec<DropGauge>,
    /// Losses of the whole host at the start.
    host_before: Option<u64>,
    looked: Mutex<Looked>,
}

/// The last look at the system's tables.
#[derive(Default)]
struct Looked {
    /// When another one is due, nanoseconds.
    due_ns: u64,
    /// Most that each gauge ever told.
    told: Vec<u64>,
    sum: u64,
}

impl SocketDrops {
    fn new(gauges: Vec<DropGauge>) -> Self {
        let looked = Looked { told: vec![0; gauges.len()], ..Looked::default() };
        SocketDrops { gauges, host_before: host_losses(), looked: Mutex::new(looked) }
    }

    fn sum(&self, now_ns: u64) -> u64 {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if now_ns >= looked.due_ns {
            looked.due_ns = now_ns.saturating_add(LOOK_NS);
            looked.sum = self.look(&mut looked.told);
        }
        looked.sum
    }

    fn look(&self, told: &mut [u64]) -> u64 {
        for (told, gauge) in told.iter_mut().zip(&self.gauges) {
            *told = gauge.read().unwrap_or(0).max(*told);
        }
        let told = told.iter().sum();
        if self.gauges.len() < 2 {
            return told;
        }
        // Several sockets of one port also count the multicast copies that they leave to each
        // other, which nobody lost. Read after the others: never below what they lost.
        match (self.host_before, host_losses()) {
            (Some(before), Some(now)) => told.min(now.saturating_sub(before)),
            _ => told,
        }
    }
}

/// Batches around a loss that are remembered.
const LOST_MAX: usize = 4_096;
/// Shortest time between two looks at the system's tables, nanoseconds.
const LOOK_NS: u64 = 10_000_000;

impl Shared {
    /// Everything at its beginning.
    pub(crate) fn new(
        config: Config,
        keys: Keys,
        store: Store,
        metrics: Metrics,
        clock: Arc<dyn Clock>,
        gauges: Vec<DropGauge>,
    ) -> Self {
        let queues = (0..config.queue_count()).map(|_| Arc::default()).collect();
        Shared {
            keys,
            schema: Arc::new(config.schema.clone()),
            clock,
            reader: store.reader(),
            metrics,
            queues,
            stop: Arc::default(),
            ready: AtomicBool::new(false),
            persist: PersistShown::default(),
            stalled: Stalled::default(),
            store: Mutex::new(store),
            deleted: Mutex::default(),
            lost: Mutex::default(),
            drops: SocketDrops::new(gauges),
            config,
        }
    }

    /// The store, for the sealer and control; never for a responder or a poll loop.
    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        // A thread that panicked inside the store left it as some earlier call made it.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whoever keeps batches elsewhere what became of some: the data folder, which compares
    /// with the store when it is woken and so needs no list.
    pub(crate) fn announce(&self, outcome: Outcome<'_>) {
        if !matches!(outcome, Outcome::Gone([])) {
            self.persist.wake();
        }
    }

    /// Whether a batch is known to be deleted. Whoever stores one asks afterwards.
    pub(crate) fn is_deleted(&self, batch: BatchId) -> bool {
        self.deleted().contains(batch)
    }

    /// Drops batches on word of the SCC, those that are not sealed yet as well.
    pub(crate) fn delete(&self, batches: &[BatchId]) {
        self.deleted().note(batches);
        self.store().delete(batches);
        self.announce(Outcome::Gone(batches));
    }

    /// Remembers a batch of a tap around which something was lost; the latest are kept.
    pub(crate) fn note_lost(&self, lost: LostBatch) {
        let mut known = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == LOST_MAX {
            known.pop_front();
        }
        known.push_back(lost);
    }

    /// These batches, ascending.
    pub(crate) fn lost(&self) -> Vec<LostBatch> {
        let known = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<LostBatch> = known.iter().copied().collect();
        drop(known);
        all.sort_unstable_by_key(|lost| lost.batch);
        all
    }

    fn deleted(&self) -> MutexGuard<'_, DeletedBatches> {
        self.deleted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the node is to end.
    pub(crate) fn stopping(&self) -> bool {
        self.stop.is_raised()
    }

    /// What a responder or `/explain` needs to know.
    pub(crate) fn lookup_config(&self) -> LookupConfig {
        LookupConfig {
            cluster: self.config.cluster,
            schema: Arc::clone(&self.schema),
            probes_max: self.config.max_probes,
            budget_us: self.config.lookup_budget_us,
            kernel: self.config.kernel,
        }
    }

    /// Numbers of this moment.
    pub(crate) fn moment(&self) -> Moment {
        let now_ns = self.clock.now_ns();
        let queues: Vec<QueueNumbers> = self.queues.iter().map(|queue| queue.load()).collect();
        Moment {
            sum: QueueNumbers::sum(&queues),
            queues,
            socket_dropped: self.drops.sum(now_ns),
            store: self.store().stats(),
            arena_bytes: self.config.arena_bytes,
            persist: self.persist.status(),
            is_disk_failing: self.persist.trouble(now_ns).is_some(),
        }
    }

    /// In which forms the columns of held batches are stored.
    pub(crate) fn forms(&self) -> FormCounts {
        // Counted without the store's lock: there may be a million columns.
        let held = self.store().list();
        let mut forms = FormCounts::default();
        held.iter().flat_map(|(batch, _)| &batch.columns).for_each(|column| forms.add(column));
        forms
    }

    /// The same numbers for the demo and tests.
    pub(crate) fn status(&self) -> NodeStatus {
        let Moment { sum: queues, socket_dropped, store, persist, .. } = self.moment();
        let mut frames = queues.account();
        frames.arrived += socket_dropped;
        frames.dropped += socket_dropped;
        NodeStatus {
            ingest: queues.ingest,
            frames,
            store,
            incomplete: self.metrics.seal.incomplete_sum(),
            dropped: socket_dropped + queues.link.dropped.sum() + queues.link.oversize,
            verify_mismatch: self.metrics.seal.verify_mismatch.get(),
            persist: PersistNumbers::of(&persist),
            repair: self.metrics.repair.stats(),
            lanes: self.metrics.seal.lanes(),
            packets: queues.packets,
        }
    }
}
