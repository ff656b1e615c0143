//! Asks everything of batches that were read from somewhere: whatever their filters hold, no
//! question may panic or take long. Test-only: include it by its path.
#![allow(dead_code, reason = "each user needs its own part")]
#![allow(clippy::unwrap_used, reason = "test support")]

use std::sync::Arc;

use bloomrf_engine::env::Clock;
use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::lookup::{Evaluator, LookupConfig};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::{ColumnType, Schema};
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::store::{Store, StoreConfig};
use bloomrf_engine::wire::lookup::{Candidates, LookupRequest};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_kernels::Kernel;

/// Puts the batches into a store as verified ones, with the ids 1, 2, ... and asks all questions
/// about the columns `which`. A full chunk is sliced first. Returns how many were excluded.
pub(crate) fn ask(schema: &Arc<Schema>, batches: &[SealedBatch], which: &[usize]) -> u64 {
    let mut store = Store::new(StoreConfig { retain_batches: 128, arena_bytes: 1 << 26 });
    for (id, batch) in (1..).zip(batches) {
        let batch = SealedBatch { batch: id, ..batch.clone() };
        if store.insert(Arc::new(batch)).is_ok() {
            store.judge(id, Verdict::Verified);
        }
    }
    while store.step() {}
    let mut evaluator = Evaluator::new(LookupConfig {
        cluster: CLUSTER,
        schema: Arc::clone(schema),
        probes_max: 256,
        budget_us: 10_000,
        kernel: Kernel::best(),
    });
    let (reader, mut excluded) = (store.reader(), 0);
    for &ordinal in which {
        let Some(column) = schema.columns().get(ordinal) else { continue };
        for predicate in predicates(ordinal as u16, column.kind()) {
            let request = LookupRequest {
                query_id: 1,
                cluster: CLUSTER,
                fingerprint: schema.fingerprint(),
                budget_us: 0,
                float_order: FloatOrder::Unstated,
                candidates: Candidates::Range { first: 1, count: batches.len() as u32 },
                predicate,
            };
            let reply = evaluator.answer(&request, &reader.load(), &Frozen);
            excluded += u64::from(reply.excluded_filter + reply.excluded_zone_map);
        }
    }
    excluded
}

/// Every operator, and literals at the ends and in the middle of the type.
fn predicates(column: u16, kind: ColumnType) -> Vec<Predicate> {
    use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let values = [0, 1, 77, 1 << 31, 0x0A00_0001, u64::MAX >> 1, u64::MAX - 1, u64::MAX];
    let literals: Vec<Literal> = values.iter().map(|&value| literal(kind, value)).collect();
    let mut all = vec![Predicate::IsNull { column }, Predicate::IsNotNull { column }];
    for literal in &literals {
        let compare = |op| Predicate::Compare { column, op, literal: literal.clone() };
        all.extend([Eq, Ne, Lt, Le, Gt, Ge].map(compare));
    }
    for pair in literals.windows(2) {
        let (low, high) = (pair[0].clone(), pair[1].clone());
        all.push(Predicate::Between { column, low: low.clone(), high: high.clone() });
        all.push(Predicate::Between { column, low: high, high: low });
    }
    all.push(Predicate::In { column, list: literals });
    all.push(Predicate::Not(Box::new(Predicate::Or(all.clone()))));
    all
}

fn literal(kind: ColumnType, value: u64) -> Literal {
    let wide = (u128::from(value) << 64 | u128::from(value)).to_be_bytes();
    match kind {
        ColumnType::Bool => Literal::Bool(value & 1 == 1),
        ColumnType::F32 | ColumnType::F64 => Literal::Float(f64::from_bits(value)),
        ColumnType::Timestamp(unit) => Literal::Timestamp(value as i64, unit),
        ColumnType::Ipv4 => Literal::Ipv4((value as u32).to_be_bytes()),
        ColumnType::Ipv6 => Literal::Ipv6(wide),
        ColumnType::Uuid => Literal::Uuid(wide),
        ColumnType::Mac => Literal::Mac(*wide.first_chunk().unwrap()),
        ColumnType::Bytes(n) => Literal::Bytes(wide.iter().copied().take(n.into()).collect()),
        ColumnType::U8 | ColumnType::U16 | ColumnType::U32 | ColumnType::U64 => {
            Literal::Unsigned(value >> (64 - kind.width() * 8))
        }
        _ => Literal::Signed(value as i64 >> (64 - kind.width() * 8)),
    }
}

/// Time that stands still.
struct Frozen;

impl Clock for Frozen {
    fn now_ns(&self) -> u64 {
        0
    }
    fn unix_us(&self) -> i64 {
        0
    }
}

const CLUSTER: ClusterId = ClusterId(7);
