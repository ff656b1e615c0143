//! Lookups in threads while a writer inserts, judges, rejects, deletes and evicts.

mod lookup_world;
mod truth;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bloomrf_engine::env::Clock;
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::store::{InsertError, Store, StoreConfig, StoreReader};
use bloomrf_engine::wire::lookup::{Candidates, LookupRequest};
use bloomrf_engine::wire::stream::Verdict;
use lookup_world::{
    CLUSTER, Frozen, Splitmix, check_counts, evaluator, policy, record, schema, seal,
};

/// Batch `id` holds exactly the values `value(id)` and its neighbours, so that everyone knows the
/// truth about every batch without sharing anything.
fn value(id: u64) -> u32 {
    (id as u32).wrapping_mul(2_654_435_761) & 0x7fff_fff0
}

fn batch(schema: &Schema, id: u64) -> bloomrf_engine::seal::SealedBatch {
    let rows: Vec<_> = [0, value(id), u32::MAX]
        .iter()
        .map(|v| record(schema, &[Some(u64::from(*v).to_le_bytes().to_vec())]))
        .collect();
    seal(schema, &policy(schema), id, &rows, 1)
}

/// Asks for the value of a batch, over ids around it, until `stop`. A reader that had no turn
/// before that makes up for it.
fn read(
    schema: &Arc<Schema>,
    reader: &StoreReader,
    newest: &AtomicU64,
    stop: &AtomicBool,
    mut rng: Splitmix,
) -> (u64, u64) {
    let mut evaluator = evaluator(schema, 256);
    let (mut evaluated, mut excluded) = (0, 0);
    let mut rounds = 0;
    while !stop.load(Ordering::Relaxed) || (excluded == 0 && rounds < ROUNDS_MAX) {
        rounds += 1;
        let wanted = 1 + rng.below(newest.load(Ordering::Acquire).max(1));
        let ids: Vec<u64> = (0..100).map(|_| wanted.saturating_sub(50) + rng.below(100)).collect();
        let request = LookupRequest {
            query_id: 1,
            cluster: CLUSTER,
            fingerprint: schema.fingerprint(),
            budget_us: 0,
            float_order: FloatOrder::Unstated,
            candidates: Candidates::List(ids.clone()),
            predicate: Predicate::Compare {
                column: 0,
                op: CompareOp::Eq,
                literal: Literal::Unsigned(value(wanted).into()),
            },
        };
        // One snapshot for two questions: they may differ only by live bits lost or won.
        let snapshot = reader.load();
        for _ in 0..2 {
            let reply = evaluator.answer(&request, &snapshot, &Frozen);
            check_counts(&reply);
            for (i, &id) in ids.iter().enumerate() {
                let holds = value(id) == value(wanted) || value(wanted) == 0;
                assert!(!(holds && reply.is_excluded(i)), "FALSE NEGATIVE: batch {id}");
                // Every third is rejected, so whatever it holds is never used.
                assert!(!(id % 3 == 0 && reply.is_excluded(i)), "batch {id} was never verified");
            }
            evaluated += u64::from(reply.evaluated);
            excluded += u64::from(reply.excluded_filter + reply.excluded_zone_map);
        }
    }
    (evaluated, excluded)
}

/// Of the last batches alone one question in twenty is about one that is held.
const ROUNDS_MAX: u32 = 10_000;

#[test]
fn lookups_stay_right_while_batches_come_and_go() {
    let mut rng = Splitmix::from_env(21);
    let schema = Arc::new(schema(&[("u64", None, false)]));
    let mut store = Store::new(StoreConfig { retain_batches: 150, arena_bytes: 1 << 20 });
    let (newest, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|i| {
                let (reader, rng) = (store.reader(), Splitmix::new(rng.next() ^ i));
                let (schema, newest, stop) = (&schema, &newest, &stop);
                scope.spawn(move || read(schema, &reader, newest, stop, rng))
            })
            .collect();
        let mut sliced = false;
        for id in 1..=3_000u64 {
            match store.insert(Arc::new(batch(&schema, id))) {
                Ok(_) | Err(InsertError::HeldByReaders { .. }) => {}
                Err(error) => panic!("batch {id}: {error}"),
            }
            // Verdicts come late and out of order.
            let judged = id.saturating_sub(rng.below(8));
            for id in [judged, id.saturating_sub(9)] {
                let verdict = if id % 3 == 0 { Verdict::Mismatch } else { Verdict::Verified };
                store.judge(id, verdict);
            }
            // Full chunks are sliced meanwhile, in pieces.
            for _ in 0..rng.below(3) {
                sliced |= store.step() && store.stats().groups > 0;
            }
            if rng.one_in(50) {
                store.delete(&[id.saturating_sub(20), id + 1_000]);
            }
            newest.store(id, Ordering::Release);
            if rng.one_in(16) {
                std::thread::yield_now();
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(sliced, "no group was ever made");
        for reader in readers {
            let (evaluated, excluded) = reader.join().unwrap();
            println!("evaluated {evaluated}, excluded {excluded}");
            assert!(excluded > 0, "readers saw nothing");
        }
    });
    let stats = store.stats();
    assert!(stats.verified + stats.pending <= 150);
    while store.step() {}
    let stats = store.stats();
    let within_reach = stats.plain_bytes + stats.sliced_bytes;
    assert_eq!(stats.bytes, within_reach, "nothing is held once the readers are gone");
}

/// A clock whose every look, but the first, rejects a batch: the world changes inside a lookup.
struct Rejecting(Mutex<Store>, AtomicU64);

impl Clock for Rejecting {
    fn now_ns(&self) -> u64 {
        let looks = self.1.fetch_add(1, Ordering::Relaxed);
        if looks > 0 {
            self.0.lock().expect("one thread").judge(looks, Verdict::Mismatch);
        }
        looks
    }
    fn unix_us(&self) -> i64 {
        0
    }
}

#[test]
fn live_is_loaded_once_per_lookup_and_chunk() {
    for batches in [5, 64, 200] {
        reject_while_looking(batches);
    }
}

fn reject_while_looking(batches: u32) {
    let schema = Arc::new(schema(&[("u64", None, false)]));
    let mut store = Store::new(StoreConfig { retain_batches: 200, arena_bytes: 1 << 20 });
    for id in 1..=batches.into() {
        store.insert(Arc::new(batch(&schema, id))).expect("the arena holds it");
        store.judge(id, Verdict::Verified);
    }
    while store.step() {}
    let reader = store.reader();
    let everywhere = |value: u32| Predicate::Compare {
        column: 0,
        op: CompareOp::Eq,
        literal: Literal::Unsigned(value.into()),
    };
    let request = LookupRequest {
        query_id: 1,
        cluster: CLUSTER,
        fingerprint: schema.fingerprint(),
        budget_us: 0,
        float_order: FloatOrder::Unstated,
        candidates: Candidates::Range { first: 1, count: batches },
        // Enough leaves for the clock to be read between them.
        predicate: Predicate::And(
            (0..40).map(|i| everywhere(if i % 2 == 0 { 0 } else { u32::MAX })).collect(),
        ),
    };
    let snapshot = reader.load();
    let clock = Rejecting(Mutex::new(store), AtomicU64::new(0));
    let reply = evaluator(&schema, 256).answer(&request, &snapshot, &clock);
    check_counts(&reply);
    assert!(clock.1.load(Ordering::Relaxed) >= 5, "batches were rejected meanwhile");
    let excluded = (0..batches as usize).filter(|&i| reply.is_excluded(i));
    assert_eq!(excluded.count(), 0, "each of them holds both values");
    assert_eq!(reply.evaluated, batches, "all were live when the lookup looked");
}

#[test]
fn a_lookup_that_began_keeps_its_snapshot() {
    let schema = Arc::new(schema(&[("u64", None, false)]));
    let mut store = Store::new(StoreConfig { retain_batches: 2, arena_bytes: 1 << 20 });
    store.insert(Arc::new(batch(&schema, 1))).unwrap();
    store.judge(1, Verdict::Verified);
    let reader = store.reader();
    let snapshot = reader.load();
    for id in 2..=10 {
        store.insert(Arc::new(batch(&schema, id))).unwrap();
        store.judge(id, Verdict::Verified);
    }
    let place = snapshot.place(1).expect("still in the snapshot");
    let chunk = &snapshot.chunks()[place.chunk as usize];
    assert_eq!(chunk.slot(place.slot as usize).unwrap().batch, 1);
    assert_eq!(chunk.live(), 0, "evicted since: memory is there, but is not consulted");
    assert!(snapshot.place(10).is_none(), "and nothing newer shows up");
}
