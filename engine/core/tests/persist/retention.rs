//! Which batches have a file while a node runs.

use std::io;

use bloomrf_engine::persist::{Place, Step};
use bloomrf_engine::wire::stream::Verdict;

use crate::world::World;

#[test]
fn a_verified_batch_has_a_file_and_a_restart_has_its_filters() {
    let mut world = World::new(8);
    for id in [3, 1, 2] {
        world.verify(id);
    }
    world.run();
    world.check();
    let world = world.restart();
    assert_eq!(world.live(), [1, 2, 3]);
    world.check_content();
    let order: Vec<u64> = world.store.list().iter().map(|(batch, _)| batch.batch).collect();
    assert_eq!(order, [3, 1, 2], "oldest first, as they came");
    assert_eq!(world.report.status.recovered, 3);
}

#[test]
fn two_syncs_make_a_batch_durable_and_a_removal_rides_along() {
    let mut world = World::new(2);
    world.run();
    for id in 1..=2 {
        world.verify(id);
    }
    world.run();
    let (syncs, before) = (world.disk.state().syncs, world.persister.status().clone());
    world.verify(3);
    world.run();
    let after = world.persister.status();
    assert_eq!(world.disk.state().syncs - syncs, 2);
    assert_eq!((after.syncs - before.syncs, after.written - before.written), (2, 1));
    assert_eq!(after.removed, 1);
    world.check();
}

#[test]
fn what_leaves_the_store_leaves_the_folder() {
    let mut world = World::new(3);
    for id in 1..=5 {
        world.verify(id);
    }
    world.run();
    assert_eq!(world.stored(), [3, 4, 5]);
    world.check();
    world.delete(&[4]);
    world.store.judge(5, Verdict::Mismatch);
    world.persister.on_gone(&[5]);
    world.run();
    assert_eq!(world.stored(), [3]);
    world.check();
}

#[test]
fn a_pending_batch_has_no_file() {
    let mut world = World::new(3);
    world.store.insert(std::sync::Arc::new(crate::world::batch(1, 42))).unwrap();
    // Told too early: the store does not say so.
    world.persister.on_verified(1);
    world.run();
    assert!(world.files().is_empty());
    assert_eq!(world.persister.status().waiting, 0);
}

#[test]
fn a_second_verdict_writes_no_second_file() {
    let mut world = World::new(3);
    world.verify(1);
    world.run();
    world.persister.on_verified(1);
    world.run();
    assert_eq!(world.persister.status().written, 1);
    world.check();
}

#[test]
fn generations_rise_with_every_file_also_across_a_restart() {
    let mut world = World::new(8);
    world.verify(1);
    world.verify(2);
    world.run();
    let before = world.files().iter().map(|name| name.generation).max().unwrap();
    let mut world = world.restart();
    world.verify(3);
    world.run();
    let after = world.files().iter().find(|name| name.batch == 3).unwrap().generation;
    assert!(after > before);
}

#[test]
fn who_was_told_of_nothing_finds_out_by_comparing() {
    let mut world = World::new(3);
    for id in 1..=3 {
        world.verify(id);
    }
    world.run();
    // Evictions and verdicts that nobody told.
    for id in 4..=5 {
        let batch = crate::world::batch(id, 42);
        world.sealed.insert(id, batch.clone());
        world.store.insert(std::sync::Arc::new(batch)).unwrap();
        world.store.judge(id, Verdict::Verified);
    }
    let snapshot = world.store.reader().load().clone();
    world.persister.reconcile(&snapshot);
    world.run();
    world.check();
    assert_eq!(world.stored(), [3, 4, 5]);
}

#[test]
fn a_file_of_other_content_under_the_same_id_goes() {
    let mut world = World::new(8);
    world.verify(1);
    world.run();
    assert_eq!(world.files().len(), 1);
    // The SCC holds it no more, and another one comes under its id.
    world.store.judge(1, Verdict::Unknown);
    let mut other = crate::world::batch(1, 42);
    other.hash.digest[15] = 1;
    world.store.insert(std::sync::Arc::new(other)).unwrap();
    let snapshot = world.store.reader().load().clone();
    world.persister.reconcile(&snapshot);
    world.run();
    assert!(world.files().is_empty(), "{world}");
}

#[test]
fn a_schema_change_discards_every_file_and_every_wish() {
    let mut world = World::new(8);
    world.verify(1);
    world.run();
    world.verify(2);
    world.store.clear();
    world.persister.discard_all();
    world.run();
    assert!(world.files().is_empty() && world.live().is_empty());
    world.check();
}

#[test]
fn a_full_disk_costs_no_filter_and_is_caught_up_with() {
    let mut world = World::new(3);
    world.verify(1);
    world.run();
    world.disk.state().is_full = true;
    for id in 2..=5 {
        world.verify(id);
    }
    let mut tries = 0;
    let mut pauses = Vec::new();
    while tries < 12 {
        match world.step() {
            Step::Failed { place } => {
                assert_eq!(place, Place::Write);
                tries += 1;
                let due = world.persister.next_step_ns().unwrap();
                pauses.push(due - world.now_ns);
                world.now_ns = due;
            }
            Step::Removed { .. } => {}
            step => panic!("{step:?}"),
        }
    }
    let status = world.persister.status();
    assert_eq!((status.waiting, status.failing_since_ns), (3, Some(0)));
    assert_eq!(status.errors_at(Place::Write), 12);
    assert_eq!(status.errors[0].kind, io::ErrorKind::StorageFull);
    assert!(pauses.windows(2).all(|pair| pair[1] == (pair[0] * 2).min(30_000_000_000)));
    assert_eq!((pauses[0], pauses[11]), (100_000_000, 30_000_000_000));
    assert_eq!(world.live(), [3, 4, 5], "memory serves");
    // Space returns.
    world.disk.state().is_full = false;
    world.run();
    world.check();
    assert_eq!(world.stored(), [3, 4, 5]);
}

#[test]
fn a_disk_that_fails_with_nothing_to_write_is_noticed_and_forgiven() {
    let mut world = World::new(3);
    world.disk.state().is_full = true;
    assert_eq!(world.step(), Step::Failed { place: Place::Write });
    assert_eq!(world.persister.status().failing_since_ns, Some(0));
    world.disk.state().is_full = false;
    world.run();
    world.check();
}

#[test]
fn a_folder_that_was_emptied_is_filled_again_once_the_disk_works() {
    let mut world = World::new(5);
    for id in 1..=3 {
        world.verify(id);
    }
    world.run();
    world.disk.state().is_full = true;
    world.verify(4);
    assert!(matches!(world.step(), Step::Failed { .. }));
    world.disk.state().files.clear();
    world.disk.state().is_full = false;
    world.run();
    world.check();
    assert_eq!(world.stored(), [1, 2, 3, 4]);
}
