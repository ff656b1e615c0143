//! Starting and stopping: sockets, data folder, store, threads; in reverse at the end.

mod cores;
mod error;
mod memory;
mod port;
mod sandbox;
mod sockets;
mod surroundings;

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle, Thread};

use bloomrf_engine::filter::FilterPolicy;
use bloomrf_engine::ingest::{IngestConfig, OpenBoard, Queue, QueueCommand, QueueEvent, Tuning};
use bloomrf_engine::limits::FRAMES_PER_BATCH_MAX;
use bloomrf_engine::seal::{Sealer, SealerConfig};
use bloomrf_engine::store::{Store, StoreConfig};
use bloomrf_kernels::SizeClasses;
use bloomrf_kernels::arena::Arena;
use bloomrf_kernels::params::Budget;
use bloomrf_netio::{Framing, Link, Waker};
use tokio::sync::{mpsc, watch};

use crate::config::LinkUse;
use crate::control::{ControlLoop, FROM_SCC_MAX, QueuePort, SealLoop, SealerLink, TO_SCC_MAX};
use crate::env::SystemClock;
use crate::keys::Keys;
use crate::metrics::Metrics;
use crate::persist;
use crate::poll::{Backoff, COMMANDS_MAX, EVENTS_MAX, PollLoop, Sorter, Stage, StageNumbers};
use crate::port::ToPort;
use crate::respond::{TcpResponder, UdpResponder};
use crate::shared::Shared;
use crate::tap::{Tap, Taps};
use crate::watch::{Pulse, WatchLoop};
use crate::{Config, Node};

pub use error::StartError;
pub use surroundings::Surroundings;

use memory::Memory;
use sandbox::Calls;
use sockets::Sockets;

/// Starts all threads; returns when all sockets are bound and every queue is pinned.
pub(crate) fn start(config: Config, surroundings: Surroundings) -> Result<Node, StartError> {
    cores::check(&config)?;
    let keys = Keys::load(&config)?;
    let Surroundings { clock, links, sender } = surroundings;
    let Sockets { links, loss_marks, sender, gauges, lookup_udp, lookup_tcp, http, ports } =
        Sockets::bind(&config, links, sender)?;
    // After the sockets: who cannot bind them touches no folder that another node uses.
    let (disk, rng, seed) = persist::open_folder(&config)?;
    let metrics =
        Metrics::new().map_err(|e| StartError::Setup { what: "metrics", reason: e.to_string() })?;
    let policy = policy(&config, seed);
    let memory = Memory::reserve(&config, &policy)?;
    metrics.arena(memory.store.pages());
    let bounds =
        StoreConfig { retain_batches: config.retain_batches, arena_bytes: config.arena_bytes };
    let store = Store::on(bounds, config.kernel, Some(memory.store));
    let clock = clock.unwrap_or_else(|| Arc::new(SystemClock::new()));
    let Taps { taps, verdicts } = Taps::make(&config, &clock, &disk, &loss_marks)?;
    let shared = Arc::new(Shared::new(config, keys, store, metrics, clock, gauges));
    let ingest = ingest_config(&shared, policy, memory.open);

    let calls = sandbox::enter(&shared.config)?.map(Arc::new);

    // From here on, an error drops `threads`, which stops what already runs.
    let (stop, stopped) = watch::channel(false);
    let mut threads = Threads::new(&shared, calls, stop);
    threads.wakers = links.iter().map(|link| link.waker()).collect();
    let (report, reports) = mpsc::channel(TO_SCC_MAX);
    let (repaired, from_scc) = mpsc::channel(FROM_SCC_MAX);
    let sealer_thread = Arc::<OnceLock<Thread>>::default();
    // HTTP answers while stored filters are loaded; the SCC hears of us when they are.
    let (loaded, is_loaded) = watch::channel(false);
    let control = ControlLoop {
        shared: Arc::clone(&shared),
        http,
        reports,
        sealer: SealerLink { repaired, thread: Arc::clone(&sealer_thread) },
        loaded: is_loaded,
        stop: stopped.clone(),
    };
    threads.spawn("bloomrf-control".to_owned(), move |pulse| control.run(pulse))?;
    let persist = persist::recover(&shared, disk, rng, seed)?;
    threads.spawn_unwatched("bloomrf-persist".to_owned(), move || persist.run())?;
    let _ = loaded.send(true);
    let (ports_of_queues, mut ends) = rings(&threads.wakers);
    let mut sealer = Sealer::new(SealerConfig {
        ingest: ingest.clone(),
        queues: links.len(),
        grace_ns: shared.config.close_grace_ms * 1_000_000,
        retry_ns: SEAL_RETRY_NS,
        repair_ns: repair_ns(&shared.config),
    });
    if let Some(keys) = shared.keys.ingest() {
        sealer.require_keys(Arc::clone(keys));
    }
    let seal =
        SealLoop::new(Arc::clone(&shared), sealer, ports_of_queues, verdicts, report, from_scc);
    let sealer = threads.spawn("bloomrf-seal".to_owned(), move |pulse| seal.run(pulse))?;
    let _ = sealer_thread.set(sealer.clone());
    threads.spawn_port(sender, ports.lookup.port(), &mut ends)?;
    threads.spawn_queues(links, ends, taps, &ingest, &sealer)?;
    let udp = UdpResponder::new(lookup_udp, Arc::clone(&shared));
    threads.spawn("bloomrf-lookup".to_owned(), move |pulse| udp.run(pulse))?;
    let tcp = TcpResponder { listener: lookup_tcp, shared: Arc::clone(&shared), stop: stopped };
    threads.spawn("bloomrf-tcp".to_owned(), move |pulse| tcp.run(pulse))?;
    threads.watch()?;
    shared.ready.store(true, Ordering::Release);
    log_start(&shared, &ports);
    Ok(Node { ports, shared, threads })
}

/// Without an SCC there is nobody to ask.
fn repair_ns(config: &Config) -> u64 {
    if config.scc.is_some() { config.repair_ms * 1_000_000 } else { 0 }
}

fn policy(config: &Config, seed: u64) -> FilterPolicy {
    FilterPolicy {
        budget: Budget { bits_per_key: config.bits_per_key, levels: config.levels },
        sizes: SizeClasses::new(config.max_kib_per_column),
        seed,
        filtered: config.filtered_columns(),
        kernel: config.kernel,
        exact_keys_max: config.exact_keys,
    }
}

fn ingest_config(shared: &Shared, policy: FilterPolicy, arena: Option<Arena>) -> IngestConfig {
    let config = &shared.config;
    IngestConfig {
        cluster: config.cluster,
        schema: Arc::clone(&shared.schema),
        policy: Arc::new(policy),
        board: Arc::new(OpenBoard::new(config.expected_records)),
        // A tap ends its batches itself.
        idle_ns: match config.link.link_use {
            LinkUse::Ingest => config.batch_idle_ms * 1_000_000,
            LinkUse::Tap => u64::MAX,
        },
        frames_max: FRAMES_PER_BATCH_MAX,
        tuning: Tuning { arena, ..Tuning::default() },
    }
}

/// A queue's ends of its rings.
struct QueueEnds {
    commands: rtrb::Consumer<QueueCommand>,
    events: rtrb::Producer<QueueEvent>,
    to_port: Option<ToPort>,
}

fn rings(wakers: &[Waker]) -> (Vec<QueuePort>, Vec<QueueEnds>) {
    let ring = |waker: &Waker| {
        let (events_in, events) = rtrb::RingBuffer::new(EVENTS_MAX);
        let (commands, commands_out) = rtrb::RingBuffer::new(COMMANDS_MAX);
        let waker = waker.clone();
        let port = QueuePort { events, commands, waker, backlog: VecDeque::new() };
        (port, QueueEnds { commands: commands_out, events: events_in, to_port: None })
    };
    wakers.iter().map(ring).unzip()
}

/// Everything that runs, and how to end it.
pub(crate) struct Threads {
    shared: Arc<Shared>,
    /// What each thread is kept to.
    calls: Option<Arc<Calls>>,
    stop: watch::Sender<bool>,
    wakers: Vec<Waker>,
    joins: Vec<JoinHandle<()>>,
    pulses: Vec<(String, Arc<Pulse>)>,
}

impl Threads {
    fn new(shared: &Arc<Shared>, calls: Option<Arc<Calls>>, stop: watch::Sender<bool>) -> Self {
        let (wakers, joins, pulses) = (vec![], vec![], vec![]);
        Threads { shared: Arc::clone(shared), calls, stop, wakers, joins, pulses }
    }

    /// A thread whose loop beats.
    fn spawn(
        &mut self,
        name: String,
        run: impl FnOnce(&Pulse) + Send + 'static,
    ) -> Result<Thread, StartError> {
        let pulse = Arc::new(Pulse::default());
        self.pulses.push((name.clone(), Arc::clone(&pulse)));
        self.spawn_unwatched(name, move || run(&pulse))
    }

    /// A thread that may take its time.
    fn spawn_unwatched(
        &mut self,
        name: String,
        run: impl FnOnce() + Send + 'static,
    ) -> Result<Thread, StartError> {
        let watch = Watch { shared: Arc::clone(&self.shared) };
        let (calls, role) = (self.calls.clone(), name.clone());
        let spawned = thread::Builder::new().name(name.clone()).spawn(move || {
            let _watch = watch;
            if let Some(Err(reason)) = calls.map(|calls| calls.keep_to_role(&role)) {
                // The filter for the whole process was taken a moment ago: a defect.
                panic!("the system calls of {role} cannot be limited: {reason}");
            }
            run();
        });
        let join = spawned.map_err(|source| StartError::Thread { name, source })?;
        let thread = join.thread().clone();
        self.joins.push(join);
        Ok(thread)
    }

    /// One thread per queue, whose naps are exact where it takes any.
    fn spawn_queues(
        &mut self,
        links: Vec<Box<dyn Link>>,
        ends: Vec<QueueEnds>,
        taps: Vec<Tap>,
        ingest: &IngestConfig,
        sealer: &Thread,
    ) -> Result<(), StartError> {
        let idle = self.shared.config.link.idle;
        cores::with_exact_naps(idle, || self.spawn_each(links, ends, taps, ingest, sealer))
    }

    /// Waits until each is pinned (a wrong core is an error here) and has reserved its memory.
    fn spawn_each(
        &mut self,
        links: Vec<Box<dyn Link>>,
        ends: Vec<QueueEnds>,
        taps: Vec<Tap>,
        ingest: &IngestConfig,
        sealer: &Thread,
    ) -> Result<(), StartError> {
        let (ready, all_ready) = crossbeam_channel::bounded(links.len());
        let shared = Arc::clone(&self.shared);
        let queues = links.len();
        let mut taps = taps.into_iter();
        let places = links.into_iter().zip(ends).zip(&shared.queues).enumerate();
        for (index, ((link, QueueEnds { commands, events, to_port }), counters)) in places {
            let core = shared.config.cores.get(index).copied();
            let (ingest, sealer, ready) = (ingest.clone(), sealer.clone(), ready.clone());
            let (counters, clock) = (Arc::clone(counters), Arc::clone(&shared.clock));
            let stop = Arc::clone(&shared.stop);
            let allow = shared.config.ingest_allow.clone();
            let keys = shared.keys.ingest().map(Arc::clone);
            let stage = match (taps.next(), link.framing()) {
                (Some(tap), _) => Stage::Tap(Box::new(tap)),
                (None, Framing::Payloads) => Stage::Payloads,
                (None, Framing::Frames) => {
                    Stage::Frames(Box::new(Sorter::new(&shared.config, to_port)))
                }
            };
            let idle = shared.config.link.idle;
            self.spawn(format!("bloomrf-rx-{index}"), move |pulse| {
                if let Err(error) = core.map_or(Ok(()), pin) {
                    let _ = ready.send(Err(error));
                    return;
                }
                // Made here, so that its memory lies near the core that uses it.
                let mut queue = Queue::new(ingest);
                if let Some(keys) = keys {
                    queue.require_keys(keys);
                }
                let _ = ready.send(Ok(()));
                PollLoop {
                    link,
                    stage,
                    queue,
                    allow,
                    commands,
                    events,
                    sealer,
                    backoff: Backoff::new(idle),
                    counters,
                    numbers: StageNumbers::default(),
                    clock,
                    stop,
                }
                .run(pulse);
            })?;
        }
        drop(ready);
        all_ready.iter().take(queues).collect()
    }

    /// The last thread: it watches all others.
    fn watch(&mut self) -> Result<(), StartError> {
        let pulses = std::mem::take(&mut self.pulses);
        let watch = WatchLoop::new(Arc::clone(&self.shared), pulses);
        self.spawn("bloomrf-watch".to_owned(), move |_| watch.run())?;
        Ok(())
    }

    /// Ends all threads and waits for them. A second call does nothing.
    pub(crate) fn stop(&mut self) {
        self.shared.ready.store(false, Ordering::Release);
        self.shared.stop.raise();
        let _ = self.stop.send(true);
        for waker in &self.wakers {
            waker.wake();
        }
        for join in &self.joins {
            join.thread().unpark();
        }
        for join in self.joins.drain(..) {
            let name = join.thread().name().unwrap_or_default().to_owned();
            if join.join().is_err() {
                tracing::error!(thread = name, "a thread had panicked");
            }
        }
    }
}

/// Held by every thread: should one ever panic, the node says so and is ready no more. Lookups
/// then answer "not ready", which excludes nothing.
struct Watch {
    shared: Arc<Shared>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.ready.store(false, Ordering::Release);
            let name = thread::current().name().unwrap_or_default().to_owned();
            tracing::error!(thread = name, "a thread died of a defect: restart the node");
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.stop();
    }
}

fn pin(core: usize) -> Result<(), StartError> {
    let allowed = core_affinity::get_core_ids().unwrap_or_default();
    let Some(&id) = allowed.iter().find(|id| id.id == core) else {
        let list: Vec<String> = allowed.iter().map(|id| id.id.to_string()).collect();
        let reason = format!("this process may use {}", list.join(", "));
        return Err(StartError::Pin { core, reason });
    };
    if core_affinity::set_for_current(id) {
        return Ok(());
    }
    Err(StartError::Pin { core, reason: "the system refused".to_owned() })
}

fn log_start(shared: &Shared, ports: &crate::NodePorts) {
    let config = &shared.config;
    tracing::info!(
        node = config.node_name,
        ingest = %ports.ingest,
        lookup = %ports.lookup,
        http = %ports.http,
        cluster = %config.cluster,
        schema = config.schema.name(),
        fingerprint = %shared.schema.fingerprint(),
        queues = config.queue_count(),
        kernel = %config.kernel,
        "node started"
    );
    for caution in config.cautions() {
        tracing::warn!(setting = caution.key, "{}; {}", caution.says, caution.mend);
    }
}

/// How often the sealer asks the queues again while it waits for late frames, nanoseconds.
const SEAL_RETRY_NS: u64 = 5_000_000;
