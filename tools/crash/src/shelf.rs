//! A store and what it answers: the part of a node that must go on whatever the disk does.

use bloomrf_engine::env::Clock;
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::lookup::{Evaluator, LookupConfig};
use bloomrf_engine::predicate::FloatOrder;
use bloomrf_engine::query::parse_where;
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::store::{Snapshot, Store, StoreConfig};
use bloomrf_engine::wire::lookup::{Candidates, LookupRequest, LookupStatus};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_kernels::Kernel;

use std::sync::Arc;

use crate::world::{ARENA_BYTES, CLUSTER, World};

/// Time that stands still: no lookup runs out of it.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now_ns(&self) -> u64 {
        1
    }

    fn unix_us(&self) -> i64 {
        1
    }
}

/// A store, and who asks it.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) store: Store,
    evaluator: Evaluator,
}

impl Shelf {
    /// An empty store for so many batches.
    pub(crate) fn new(world: &World, retain_batches: usize) -> Self {
        let bounds = StoreConfig { retain_batches, arena_bytes: ARENA_BYTES };
        let evaluator = Evaluator::new(LookupConfig {
            cluster: CLUSTER,
            schema: Arc::clone(&world.schema),
            probes_max: 64,
            budget_us: 1_000_000,
            kernel: Kernel::Scalar,
        });
        Shelf { store: Store::on(bounds, Kernel::Scalar, None), evaluator }
    }

    /// Takes a batch in as verified; the ids that made room for it.
    pub(crate) fn verified(&mut self, batch: SealedBatch) -> Result<Vec<BatchId>, String> {
        let id = batch.batch;
        let evicted = self.store.insert(Arc::new(batch)).map_err(|e| e.to_string())?;
        self.store.judge(id, Verdict::Verified);
        Ok(evicted)
    }

    /// The view of this moment.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.store.reader().load())
    }

    /// Asks for records of a batch; the questions that wrongly exclude it, or that nobody could
    /// answer with its filters.
    pub(crate) fn wrong(&mut self, world: &World, id: BatchId, variant: u8) -> Vec<String> {
        let snapshot = self.snapshot();
        let mut wrong = Vec::new();
        for text in world.questions(id, variant) {
            let Ok(predicate) = parse_where(&world.schema, &text) else {
                wrong.push(format!("{text} (not read)"));
                continue;
            };
            let request = LookupRequest {
                query_id: id,
                cluster: CLUSTER,
                fingerprint: world.schema.fingerprint(),
                budget_us: 0,
                float_order: FloatOrder::Unstated,
                candidates: Candidates::List(vec![id]),
                predicate,
            };
            let reply = self.evaluator.answer(&request, &snapshot, &Still);
            if reply.status != LookupStatus::Ok || reply.is_excluded(0) || reply.no_filter != 0 {
                wrong.push(text);
            }
        }
        wrong
    }
}
