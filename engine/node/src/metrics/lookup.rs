//! What the responders count. Atomics only: counting never waits.

use bloomrf_engine::lookup::{NoOpinion, NoOpinionCounts};
use bloomrf_engine::wire::lookup::{LookupError, LookupReply, LookupStatus};
use prometheus::{Histogram, IntCounter, IntGauge};

use super::Register;

/// Counters of all lookups, over UDP and TCP.
pub(crate) struct LookupMetrics {
    lookups: IntCounter,
    candidates: IntCounter,
    evaluated: IntCounter,
    excluded: IntCounter,
    excluded_zone_map: IntCounter,
    excluded_bloomrf: IntCounter,
    no_filter: IntCounter,
    status: Vec<IntCounter>,
    refused: Vec<IntCounter>,
    no_opinion: Vec<IntCounter>,
    seconds: Histogram,
    /// TCP connections open now.
    pub(crate) connections: IntGauge,
}

/// Why a lookup was not answered at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupRefusal {
    /// It could not be parsed.
    Malformed(LookupError),
    /// From a source that must not be answered: our own port, port 0, no unicast address.
    Source,
    /// From a source that is not on the allow-list.
    NotAllowed,
    /// More questions of one source network than it may ask.
    Rate,
    /// Keys are asked for and it is not sealed with one of them; or the reverse.
    Key,
    /// Even the barest reply would be longer than the request.
    Amplification,
    /// TCP: no room for another connection, or the asker was too slow.
    Connection,
    /// Our own mistake while answering.
    Internal,
}

impl LookupMetrics {
    pub(super) fn new(register: &Register<'_>) -> Result<Self, prometheus::Error> {
        let counter = |name, help| register.counter(name, help);
        Ok(LookupMetrics {
            lookups: counter("lookups", "Lookups answered.")?,
            candidates: counter("lookup_candidates", "Batches asked about.")?,
            evaluated: counter("lookup_evaluated", "Candidates that had a usable filter.")?,
            excluded: counter("lookup_excluded", "Candidates that cannot match.")?,
            excluded_zone_map: counter(
                "lookup_excluded_zone_map",
                "Candidates excluded because the zone map alone settles the predicate.",
            )?,
            excluded_bloomrf: counter(
                "lookup_excluded_bloomrf",
                "Candidates excluded with the help of a filter.",
            )?,
            no_filter: counter("lookup_no_filter", "Candidates without a usable filter.")?,
            status: register.counters(
                "lookup_status",
                "Lookups answered, by status.",
                "status",
                &STATUS_LABELS,
            )?,
            refused: register.counters(
                "lookup_refused",
                "Lookups not answered, by reason.",
                "reason",
                &REFUSAL_LABELS,
            )?,
            no_opinion: register.counters(
                "lookup_no_opinion",
                "Candidates without a usable filter, and leaves not decided, by reason.",
                "reason",
                &NoOpinion::LABELS,
            )?,
            seconds: register.histogram(
                "lookup_seconds",
                "Time from a whole lookup request to its reply.",
                prometheus::exponential_buckets(10e-6, 2.0, 14)?,
            )?,
            connections: register.gauge("lookup_connections", "Open TCP lookup connections.")?,
        })
    }

    /// Counts a lookup that is answered.
    pub(crate) fn answered(&self, reply: &LookupReply, seconds: f64) {
        self.lookups.inc();
        self.candidates.inc_by(u64::from(reply.candidates));
        self.evaluated.inc_by(u64::from(reply.evaluated));
        self.no_filter.inc_by(u64::from(reply.no_filter));
        self.excluded_zone_map.inc_by(u64::from(reply.excluded_zone_map));
        self.excluded_bloomrf.inc_by(u64::from(reply.excluded_filter));
        self.excluded.inc_by(u64::from(reply.excluded_zone_map) + u64::from(reply.excluded_filter));
        count(&self.status, status_index(reply.status), 1);
        self.seconds.observe(seconds);
    }

    /// Counts a lookup that is not answered.
    pub(crate) fn refused(&self, refusal: LookupRefusal) {
        count(&self.refused, refusal_index(refusal), 1);
    }

    /// Counts what was kept for want of an opinion.
    pub(crate) fn no_opinion(&self, counts: &NoOpinionCounts) {
        for (index, &n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            count(&self.no_opinion, index, n);
        }
    }
}

fn count(counters: &[IntCounter], index: usize, by: u64) {
    if let Some(counter) = counters.get(index) {
        counter.inc_by(by);
    }
}

/// The label of a status, for logs and JSON.
pub(crate) fn status_label(status: LookupStatus) -> &'static str {
    STATUS_LABELS.get(status_index(status)).copied().unwrap_or("other")
}

const STATUS_LABELS: [&str; 6] =
    ["ok", "timed_out", "other_schema", "too_short", "not_ready", "other"];

fn status_index(status: LookupStatus) -> usize {
    match status {
        LookupStatus::Ok => 0,
        LookupStatus::TimedOut => 1,
        LookupStatus::OtherSchema => 2,
        LookupStatus::TooShort => 3,
        LookupStatus::NotReady => 4,
        _ => 5,
    }
}

const REFUSAL_LABELS: [&str; 16] = [
    "length",
    "magic",
    "version",
    "checksum",
    "direction",
    "limit",
    "candidates",
    "predicate",
    "other",
    "source",
    "amplification",
    "connection",
    "internal",
    "not_allowed",
    "rate",
    "key",
];

fn refusal_index(refusal: LookupRefusal) -> usize {
    match refusal {
        LookupRefusal::Malformed(error) => match error {
            LookupError::Length => 0,
            LookupError::Magic => 1,
            LookupError::Version => 2,
            LookupError::Checksum => 3,
            LookupError::Direction => 4,
            LookupError::Limit => 5,
            LookupError::Candidates => 6,
            LookupError::Predicate => 7,
            _ => 8,
        },
        LookupRefusal::Source => 9,
        LookupRefusal::Amplification => 10,
        LookupRefusal::Connection => 11,
        LookupRefusal::Internal => 12,
        LookupRefusal::NotAllowed => 13,
        LookupRefusal::Rate => 14,
        LookupRefusal::Key => 15,
    }
}
