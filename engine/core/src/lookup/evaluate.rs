//! Evaluation of one lookup over a snapshot.
//!
//! Hot path: no lock, no syscall beyond the clock; work bounded by candidates x leaves x probes.

use std::sync::Arc;

use crate::env::Clock;
use crate::identity::{ClusterId, Fingerprint};
use crate::schema::Schema;
use crate::store::Snapshot;
use crate::wire::lookup::{LookupReply, LookupRequest};

use super::explain::BatchExplain;

/// What a responder needs to know.
#[derive(Clone, Debug)]
pub struct LookupConfig {
    /// Cluster.
    pub cluster: ClusterId,
    /// Schema.
    pub schema: Arc<Schema>,
    /// `FERMIHDI_BLOOMRF_MAX_PROBES`, per range and batch.
    pub probes_max: u32,
    /// The node's own budget per lookup, microseconds.
    pub budget_us: u32,
}

/// Answers lookups; keeps scratch memory, so one per responder thread.
#[derive(Debug)]
pub struct Evaluator {
    config: LookupConfig,
}

impl Evaluator {
    /// An evaluator for one schema epoch.
    #[must_use]
    pub fn new(config: LookupConfig) -> Self {
        Evaluator { config }
    }

    /// The schema's fingerprint.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.config.schema.fingerprint()
    }

    /// Answers one request.
    pub fn answer(
        &mut self,
        request: &LookupRequest,
        snapshot: &Snapshot,
        clock: &dyn Clock,
    ) -> LookupReply {
        let _ = (request, snapshot, clock);
        todo!("lookup")
    }

    /// The same question, with the reason for every candidate, in the order sent.
    pub fn explain(
        &mut self,
        request: &LookupRequest,
        snapshot: &Snapshot,
        clock: &dyn Clock,
    ) -> Vec<BatchExplain> {
        let _ = (request, snapshot, clock);
        todo!("lookup")
    }
}
