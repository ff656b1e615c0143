//! A small world around the real path: rows of bytes, open columns, seal, store, lookup; and the
//! oracle's truth beside it. Test-only: include it with `mod truth; mod lookup_world;`.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "test support")]

pub(crate) mod domain;
#[path = "../seeded/mod.rs"]
pub(crate) mod seeded;
pub(crate) mod trees;
pub(crate) mod windows;
pub(crate) mod worlds;

use std::sync::Arc;

use bloomrf_engine::env::Clock;
use bloomrf_engine::filter::{FilterPolicy, OpenColumn};
use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::lookup::{BatchExplain, Evaluator, LookupConfig};
use bloomrf_engine::predicate::{FloatOrder, Predicate};
use bloomrf_engine::schema::{ByteOrder, Schema};
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::store::{Store, StoreConfig, StoreReader};
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_engine::wire::lookup::{Candidates, LookupReply, LookupRequest};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_kernels::SizeClasses;
use bloomrf_kernels::params::Budget;
use bloomrf_oracle::{Expr, Field, Value, decode_row, matches_row};

pub(crate) use seeded::Splitmix;
pub(crate) use trees::Cell;

use crate::truth;

pub(crate) const CLUSTER: ClusterId = ClusterId(7);

/// Time that stands still.
pub(crate) struct Frozen;

impl Clock for Frozen {
    fn now_ns(&self) -> u64 {
        0
    }
    fn unix_us(&self) -> i64 {
        0
    }
}

/// A schema of columns `(type, order, nullable)`, named c0, c1, ...
pub(crate) fn schema(columns: &[(&str, Option<ByteOrder>, bool)]) -> Schema {
    let columns: Vec<serde_json::Value> = columns
        .iter()
        .enumerate()
        .map(|(i, (kind, order, nullable))| {
            let mut column = serde_json::json!({
                "name": format!("c{i}"), "type": kind, "nullable": nullable,
            });
            if let Some(order) = order {
                column["order"] = serde_json::json!(order);
            }
            column
        })
        .collect();
    let text = serde_json::json!({ "name": "world", "version": 1, "columns": columns });
    Schema::from_json(&text.to_string()).unwrap()
}

/// The policy of a node with default budgets.
pub(crate) fn policy(schema: &Schema) -> FilterPolicy {
    FilterPolicy {
        budget: Budget { bits_per_key: 8, levels: 4 },
        sizes: SizeClasses::new(1_024),
        seed: 42,
        filtered: vec![true; schema.columns().len()],
        kernel: bloomrf_kernels::Kernel::from_env()
            .expect("BLOOMRF_KERNEL names a set of this CPU"),
        exact_keys_max: 1 << 16,
    }
}

/// Writes one record.
pub(crate) fn record(schema: &Schema, cells: &[Cell]) -> Vec<u8> {
    let mut record = vec![0; schema.record_bytes()];
    let mut null_bit = 0;
    for (column, cell) in schema.columns().iter().zip(cells) {
        if let Some(bytes) = cell {
            let mut bytes = bytes.clone();
            if column.order() == ByteOrder::Big && domain::has_order(column.kind()) {
                bytes.reverse();
            }
            record[column.offset()..column.offset() + column.width()].copy_from_slice(&bytes);
        } else {
            assert!(column.is_nullable(), "null in a column that has none");
            record[null_bit / 8] |= 1 << (null_bit % 8);
        }
        null_bit += usize::from(column.is_nullable());
    }
    record
}

/// Seals records as one batch; the filters open for `expected` records.
pub(crate) fn seal(
    schema: &Schema,
    policy: &FilterPolicy,
    batch: BatchId,
    records: &[Vec<u8>],
    expected: u64,
) -> SealedBatch {
    let rows = records.concat();
    let shapes = policy.open_shapes(schema, expected);
    let columns = schema.columns().iter().zip(shapes).map(|(column, shape)| {
        let mut open = OpenColumn::reserve(column, shape, policy, None);
        open.insert_rows(column, &rows, schema.record_bytes());
        Arc::new(OpenColumn::seal_shares(&mut [&mut open], policy, records.len() as u64))
    });
    SealedBatch {
        batch,
        records: records.len() as u64,
        hash: BatchHash { algorithm: HashAlgorithm::Xxh3, digest: [0; 32] },
        columns: columns.collect(),
    }
}

/// A store with verified batches, somebody to ask, and the truth.
pub(crate) struct World {
    pub(crate) schema: Arc<Schema>,
    pub(crate) policy: FilterPolicy,
    /// Full chunks of it are bit-sliced.
    pub(crate) store: Store,
    pub(crate) reader: StoreReader,
    /// The same batches, of which none is sliced.
    pub(crate) plain: Store,
    /// Whether both must give the same answers. Not where a leaf meets more seeds and layers than
    /// it is hashed for: which of them have no say depends on the order in which they are met.
    pub(crate) is_compared: bool,
    pub(crate) evaluator: Evaluator,
    pub(crate) fields: Vec<Field>,
    /// Rows of every batch, as the oracle reads them.
    pub(crate) rows: Vec<(BatchId, Vec<Vec<Value>>)>,
}

impl World {
    pub(crate) fn new(schema: Schema) -> Self {
        let schema = Arc::new(schema);
        let config = StoreConfig { retain_batches: 1_000_000, arena_bytes: 1 << 31 };
        let store = Store::new(config);
        World {
            plain: Store::new(config),
            is_compared: true,
            policy: policy(&schema),
            reader: store.reader(),
            store,
            evaluator: evaluator(&schema, 256),
            fields: truth::fields(&schema),
            rows: Vec::new(),
            schema,
        }
    }

    /// Adds a verified batch whose filters opened for `expected` records.
    pub(crate) fn add_sized(&mut self, rows: &[Vec<Cell>], expected: u64) -> BatchId {
        let batch = self.rows.len() as u64 + 1;
        let records: Vec<_> = rows.iter().map(|cells| record(&self.schema, cells)).collect();
        // Every other batch may store its keys exactly: whatever the kind, the answers agree.
        let may = batch.is_multiple_of(2);
        let exact_keys_max = if may { self.policy.exact_keys_max } else { 0 };
        let policy = FilterPolicy { exact_keys_max, ..self.policy.clone() };
        let sealed = seal(&self.schema, &policy, batch, &records, expected);
        self.put(sealed);
        let decoded = records.iter().map(|r| decode_row(&self.fields, r)).collect();
        self.rows.push((batch, decoded));
        batch
    }

    /// Puts a verified batch into both stores.
    pub(crate) fn put(&mut self, sealed: SealedBatch) {
        let sealed = Arc::new(sealed);
        for store in [&mut self.store, &mut self.plain] {
            assert_eq!(store.insert(Arc::clone(&sealed)), Ok(vec![]));
            assert!(store.judge(sealed.batch, Verdict::Verified));
        }
        while self.store.step() {}
    }

    /// Adds a verified batch.
    pub(crate) fn add(&mut self, rows: &[Vec<Cell>]) -> BatchId {
        self.add_sized(rows, rows.len() as u64)
    }

    pub(crate) fn request(&self, predicate: &Predicate, order: FloatOrder) -> LookupRequest {
        LookupRequest {
            query_id: 99,
            cluster: CLUSTER,
            fingerprint: self.schema.fingerprint(),
            budget_us: 0,
            float_order: order,
            candidates: Candidates::Range { first: 1, count: self.rows.len() as u32 },
            predicate: predicate.clone(),
        }
    }

    /// Asks about all batches, in their order.
    pub(crate) fn ask(&mut self, predicate: &Predicate, order: FloatOrder) -> LookupReply {
        let request = self.request(predicate, order);
        self.answer(&request)
    }

    /// Asks both stores. A filter that was folded to join a group excludes less than it did.
    pub(crate) fn answer(&mut self, request: &LookupRequest) -> LookupReply {
        let plain = self.evaluator.answer(request, &self.plain.reader().load(), &Frozen);
        let reply = self.evaluator.answer(request, &self.reader.load(), &Frozen);
        check_counts(&reply);
        if self.is_compared && reply != plain {
            assert!(self.is_folded(), "sliced and plain differ: {:?}", request.predicate);
            check_weaker(&reply, &plain);
        }
        reply
    }

    /// Whether slicing folded a filter.
    fn is_folded(&self) -> bool {
        let (sliced, plain) = (self.store.list(), self.plain.list());
        sliced.iter().zip(&plain).any(|((sliced, _), (plain, _))| {
            let mut columns = sliced.columns.iter().zip(&plain.columns);
            columns.any(|(sliced, plain)| sliced.filter.fill() != plain.filter.fill())
        })
    }

    /// The same with reasons.
    pub(crate) fn explain(
        &mut self,
        predicate: &Predicate,
        order: FloatOrder,
    ) -> Vec<BatchExplain> {
        let request = self.request(predicate, order);
        self.evaluator.explain(&request, &self.reader.load(), &Frozen)
    }

    /// Whether batch `index` is excluded for this predicate.
    pub(crate) fn excludes(&mut self, predicate: &Predicate) -> Vec<bool> {
        let reply = self.ask(predicate, FloatOrder::Unstated);
        (0..self.rows.len()).map(|i| reply.is_excluded(i)).collect()
    }

    /// Whether a row of batch `index` matches, under any reading that `order` leaves open.
    pub(crate) fn truly_matches(&self, index: usize, expr: &Expr, order: FloatOrder) -> bool {
        self.rows[index].1.iter().any(|row| {
            truth::float_rules(order).iter().any(|&r| matches_row(expr, row, r) == Some(true))
        })
    }

    /// Asks, and fails where a batch with a matching row is excluded. Returns the reply.
    pub(crate) fn check(&mut self, predicate: &Predicate, order: FloatOrder) -> LookupReply {
        let reply = self.ask(predicate, order);
        let expr = truth::expr(predicate).expect("a predicate that the oracle knows");
        for index in 0..self.rows.len() {
            assert!(
                !(reply.is_excluded(index) && self.truly_matches(index, &expr, order)),
                "FALSE NEGATIVE in batch {index}: {predicate:?} under {order:?}"
            );
        }
        reply
    }
}

/// An evaluator for `schema`.
pub(crate) fn evaluator(schema: &Arc<Schema>, probes_max: u32) -> Evaluator {
    Evaluator::new(LookupConfig {
        cluster: CLUSTER,
        schema: Arc::clone(schema),
        probes_max,
        budget_us: 10_000,
        kernel: bloomrf_kernels::Kernel::from_env()
            .expect("BLOOMRF_KERNEL names a set of this CPU"),
    })
}

/// A reply that must be `strong`, or exclude less by filters.
fn check_weaker(reply: &LookupReply, strong: &LookupReply) {
    for (sliced, plain) in reply.excluded.iter().zip(&strong.excluded) {
        assert_eq!(sliced & !plain, 0, "sliced filters exclude what plain ones do not");
    }
    assert_eq!(reply.evaluated, strong.evaluated);
    assert_eq!(reply.excluded_zone_map, strong.excluded_zone_map);
}

/// What holds for every reply.
pub(crate) fn check_counts(reply: &LookupReply) {
    assert_eq!(reply.evaluated + reply.no_filter, reply.candidates);
    let ones: u32 = reply.excluded.iter().map(|byte| byte.count_ones()).sum();
    assert_eq!(reply.excluded_zone_map + reply.excluded_filter, ones);
    assert!(ones <= reply.evaluated);
    assert_eq!(reply.excluded.len(), (reply.candidates as usize).div_ceil(8));
}
