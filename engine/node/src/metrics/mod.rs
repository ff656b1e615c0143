//! Prometheus metrics, all named `fermihdi_bloomrf_*`, without a `_total` suffix.
//!
//! Threads that must not wait count in atomics ([`LookupMetrics`], [`SealMetrics`]); what the
//! poll loops and the store count for themselves is copied in when somebody asks ([`Mirror`]).

mod lookup;
mod mirror;
mod persist;
mod port;
mod queues;
mod repair;
mod seal;

use bloomrf_engine::filter::FormCounts;
use bloomrf_kernels::arena::PageMode;
use mirror::Mirror;
use persist::PersistMetrics;
use prometheus::core::Collector;
use prometheus::{Opts, Registry, TextEncoder};
use queues::QueueMetrics;

pub(crate) use lookup::{LookupMetrics, LookupRefusal, status_label};
pub(crate) use mirror::Moment;
pub(crate) use port::{PortMetrics, PortOutcome};
pub(crate) use repair::RepairMetrics;
pub(crate) use seal::{SealMetrics, incomplete_label};

/// All metrics of one node. Every node has its own registry: several may live in one process.
pub(crate) struct Metrics {
    registry: Registry,
    arena_page_bytes: prometheus::IntGauge,
    stalled_threads: prometheus::IntGaugeVec,
    mirror: Mirror,
    queues: QueueMetrics,
    persist: PersistMetrics,
    /// Counted by the responders.
    pub(crate) lookup: LookupMetrics,
    /// Counted by sealer and verification client.
    pub(crate) seal: SealMetrics,
    /// Shown by the sealer.
    pub(crate) repair: RepairMetrics,
    /// Counted by the thread of a raw port that owns addresses.
    pub(crate) port: PortMetrics,
}

impl Metrics {
    /// All metrics, at zero.
    pub(crate) fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let register = Register { registry: &registry };
        let arena_page_bytes = register.gauge(
            "arena_page_bytes",
            "Bytes of a page of the arena: 2 MiB where it is of huge pages.",
        )?;
        let stalled_threads = register.add(prometheus::IntGaugeVec::new(
            Register::opts("stalled_threads", "1 while a thread's loop does not turn."),
            &["thread"],
        ))?;
        let mirror = Mirror::new(&register)?;
        let queues = QueueMetrics::new(&register)?;
        let persist = PersistMetrics::new(&register)?;
        let lookup = LookupMetrics::new(&register)?;
        let seal = SealMetrics::new(&register)?;
        let repair = RepairMetrics::new(&register)?;
        let port = PortMetrics::new(&register)?;
        Ok(Metrics {
            registry,
            arena_page_bytes,
            stalled_threads,
            mirror,
            queues,
            persist,
            lookup,
            seal,
            repair,
            port,
        })
    }

    /// Notes which pages the arena is made of.
    pub(crate) fn arena(&self, pages: PageMode) {
        let bytes = match pages {
            PageMode::Huge2M | PageMode::Transparent => 2 << 20,
            PageMode::Small => rustix::param::page_size() as i64,
        };
        self.arena_page_bytes.set(bytes);
    }

    /// Whether the thread of that name is stalled.
    pub(crate) fn stalled(&self, thread: &str) -> prometheus::IntGauge {
        self.stalled_threads.with_label_values(&[thread])
    }

    /// The text that `/metrics` answers, with the numbers of this moment.
    pub(crate) fn encode(
        &self,
        moment: &Moment,
        forms: &FormCounts,
    ) -> Result<String, prometheus::Error> {
        self.mirror.refresh(moment, forms, &self.persist, &self.queues);
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }
}

/// Makes metrics and registers them.
struct Register<'a> {
    registry: &'a Registry,
}

impl Register<'_> {
    fn opts(name: &str, help: &str) -> Opts {
        Opts::new(format!("fermihdi_bloomrf_{name}"), help)
    }

    fn add<C: Collector + Clone + 'static>(
        &self,
        made: Result<C, prometheus::Error>,
    ) -> Result<C, prometheus::Error> {
        let metric = made?;
        self.registry.register(Box::new(metric.clone()))?;
        Ok(metric)
    }

    fn counter(&self, name: &str, help: &str) -> Result<prometheus::IntCounter, prometheus::Error> {
        self.add(prometheus::IntCounter::with_opts(Self::opts(name, help)))
    }

    fn gauge(&self, name: &str, help: &str) -> Result<prometheus::IntGauge, prometheus::Error> {
        self.add(prometheus::IntGauge::with_opts(Self::opts(name, help)))
    }

    /// One gauge per value of `label`.
    fn gauges(
        &self,
        name: &str,
        help: &str,
        label: &str,
        values: &[&str],
    ) -> Result<Vec<prometheus::IntGauge>, prometheus::Error> {
        let all = prometheus::IntGaugeVec::new(Self::opts(name, help), &[label]);
        let all = self.add(all)?;
        Ok(values.iter().map(|value| all.with_label_values(&[value])).collect())
    }

    fn histogram(
        &self,
        name: &str,
        help: &str,
        buckets: Vec<f64>,
    ) -> Result<prometheus::Histogram, prometheus::Error> {
        let opts = prometheus::HistogramOpts::from(Self::opts(name, help)).buckets(buckets);
        self.add(prometheus::Histogram::with_opts(opts))
    }

    /// One counter per value of `label`, resolved once so that counting never takes a lock.
    fn counters(
        &self,
        name: &str,
        help: &str,
        label: &str,
        values: &[&str],
    ) -> Result<Vec<prometheus::IntCounter>, prometheus::Error> {
        let all = prometheus::IntCounterVec::new(Self::opts(name, help), &[label]);
        let all = self.add(all)?;
        Ok(values.iter().map(|value| all.with_label_values(&[value])).collect())
    }
}
