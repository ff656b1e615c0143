//! The start of a node.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bloomrf_engine::filter::FilterPolicy;
use bloomrf_engine::ingest::{IngestConfig, OpenBoard, Queue, Tuning};
use bloomrf_engine::seal::{Sealer, SealerConfig};
use bloomrf_engine::store::Store;
use bloomrf_engine::verify::{DeletedBatches, Session, SessionConfig};

use super::{QueueCounts, SimNode, SimQueue, answer};
use crate::epoch::Epoch;
use crate::records::CLUSTER;
use crate::settings::{GRACE_NS, IDLE_NS, RETRY_NS, Settings};

impl SimNode {
    /// A node of an epoch, with nothing in its store.
    pub(crate) fn start(settings: &Settings, (index, epoch): (usize, &Epoch)) -> Self {
        let ingest = ingest_config(settings, epoch);
        let sealer = SealerConfig {
            ingest: ingest.clone(),
            queues: settings.queues,
            grace_ns: GRACE_NS,
            retry_ns: RETRY_NS,
            repair_ns: settings.repair_ns,
        };
        let store = Store::on(settings.store, settings.ask_kernel, settings.arena());
        let queue = |_| SimQueue {
            queue: Queue::new(ingest.clone()),
            rx: VecDeque::new(),
            commands: VecDeque::new(),
            events: VecDeque::new(),
            counts: QueueCounts::default(),
        };
        SimNode {
            epoch: index,
            canary: settings.canary,
            fingerprint: epoch.schema.fingerprint().0.to_le_bytes(),
            queues: (0..settings.queues).map(queue).collect(),
            sealer: Sealer::new(sealer),
            reader: store.reader(),
            store,
            session: Session::new(SessionConfig {
                cluster: CLUSTER,
                fingerprint: epoch.schema.fingerprint(),
                node: "sim".to_owned(),
                pending_max: settings.store.retain_batches,
            }),
            offers: VecDeque::new(),
            questions: VecDeque::new(),
            repaired: VecDeque::new(),
            deleted: DeletedBatches::default(),
            persister: None,
            is_news: true,
            evaluator: answer::evaluator(settings, epoch),
            gullible: Default::default(),
            seen: BTreeMap::new(),
        }
    }
}

fn ingest_config(settings: &Settings, epoch: &Epoch) -> IngestConfig {
    let policy = FilterPolicy {
        budget: settings.budget,
        sizes: settings.sizes(),
        seed: epoch.seed,
        filtered: epoch.filtered.clone(),
        kernel: settings.kernel,
        exact_keys_max: settings.exact_keys_max,
    };
    IngestConfig {
        cluster: CLUSTER,
        schema: Arc::clone(&epoch.schema),
        policy: Arc::new(policy),
        board: Arc::new(OpenBoard::new(settings.expected)),
        idle_ns: IDLE_NS,
        frames_max: settings.frames_max,
        tuning: Tuning {
            chunk_rows: settings.chunk_rows,
            dedupe: settings.dedupe,
            arena: settings.arena(),
        },
    }
}
