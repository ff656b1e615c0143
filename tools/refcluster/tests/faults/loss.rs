//! Loss on the way to the node: with repair nearly every batch is verified all the same, without it
//! no batch that lost a frame is.

use super::*;

const BATCHES: u64 = 30;
const KEPT_BYTES: usize = 4 << 20;

/// What became of batches under loss.
struct Outcome {
    lossy: BTreeSet<BatchId>,
    verified: BTreeSet<BatchId>,
    repair: bloomrf_engine::seal::RepairStats,
}

fn run(loss_percent: u64, kept_bytes: usize, chance: &mut Chance) -> Outcome {
    let world = World::start_keeping(HashAlgorithm::Xxh3, kept_bytes);
    let lossy = Arc::new(Mutex::new(BTreeSet::new()));
    let targets = (world.node.ports().ingest, world.storage.address());
    let (bytes, seed) = (world.schema.record_bytes(), chance.below(1 << 32));
    let harm = Harm::Loss(loss_percent);
    let relay = Relay::new(targets, bytes, harm, seed, lossy.clone(), world.sent.clone());
    world.broadcast(1, BATCHES, HashAlgorithm::Xxh3, relay, chance);
    assert!(world.ledger.wait_settled(BATCHES as usize, Duration::from_secs(20)));
    wait_until("every batch to have an end", || {
        let status = world.node.status();
        status.store.verified + status.incomplete == BATCHES
    });
    let ids = world.ledger.stored();
    assert_eq!(ids.len() as u64, BATCHES, "storage gets everything");
    let (excluded, negatives) = world.ask(&ids, chance);
    assert_eq!(negatives, 0);
    assert!(excluded > 0);
    let ingest = world.node.status().ingest;
    assert_eq!(ingest.frames_in, ingest.accounted());
    assert_eq!(ingest.frames_in, world.sent.node.load(Ordering::Relaxed), "exact to the frame");
    let repair = world.node.status().repair;
    assert_eq!(repair.batches, repair.repaired + repair.failed.iter().sum::<u64>());
    assert_eq!(repair.frames, repair.unasked + repair.surplus + repair.ingest.frames_in);
    assert_eq!(repair.ingest.frames_in, repair.ingest.accounted());
    let lossy = lossy.lock().unwrap().clone();
    let verified = ids.into_iter().filter(|batch| world.is_verified(*batch)).collect();
    Outcome { lossy, verified, repair }
}

#[test]
fn with_repair_nearly_every_batch_is_verified_and_without_it_no_lossy_one() {
    let mut chance = Chance::new(seed());
    for loss_percent in [1, 5] {
        let with = run(loss_percent, KEPT_BYTES, &mut chance);
        let without = run(loss_percent, 0, &mut chance);
        let share = |outcome: &Outcome| outcome.verified.len() as u64 * 100 / BATCHES;
        println!(
            "loss {loss_percent} %: {} % of batches verified with repair ({} lossy, {} frames \
             sent again), {} % without ({} lossy)",
            share(&with),
            with.lossy.len(),
            with.repair.ingest.data,
            share(&without),
            without.lossy.len(),
        );
        assert!(share(&with) >= 95, "{} %: {:?}", share(&with), with.repair);
        assert!(with.repair.repaired > 0 && with.repair.requests > 0);
        assert!(without.lossy.is_disjoint(&without.verified), "a batch with a gap is verified");
        assert!(!without.lossy.is_empty() && without.repair.requests == 0);
    }
}
