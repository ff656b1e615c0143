//! The N-th call of the disk fails, for every N: nothing wrong is served, and once the disk works
//! the folder is what the store is.

use std::io::ErrorKind;

use bloomrf_engine::persist::{Step, recover};

use crate::disk::{Failure, FakeDisk, Fault};
use crate::world::{World, config};

const FAILURES: [Failure; 6] = [
    Failure::Raw(5),
    Failure::Kind(ErrorKind::StorageFull),
    Failure::Raw(24),
    Failure::Kind(ErrorKind::Interrupted),
    Failure::Kind(ErrorKind::PermissionDenied),
    Failure::Kind(ErrorKind::NotFound),
];

/// Batches come, are evicted and deleted; a file is damaged and found.
fn live_through(world: &mut World) {
    for id in 1..=5 {
        world.verify(id);
        world.step();
        world.check_content();
    }
    world.run();
    world.delete(&[4]);
    world.run();
    if let Some(name) = world.files().first().map(ToString::to_string) {
        world.disk.edit(&name, |bytes| bytes[200] ^= 4);
    }
    for _ in 0..4 {
        world.now_ns = world.persister.next_step_ns().unwrap_or(0).max(world.now_ns);
        world.step();
    }
    world.verify(6);
    world.run();
    world.check_content();
}

/// All files were looked at, and all that was found is mended.
fn settle(world: &mut World) {
    for _ in 0..2 * world.persister.status().files {
        world.now_ns = world.persister.next_step_ns().unwrap().max(world.now_ns);
        world.step();
        world.run();
    }
}

fn faults(calls: u64) -> impl Iterator<Item = Fault> {
    (0..calls).flat_map(|from| {
        FAILURES.into_iter().flat_map(move |error| {
            [(1, false), (1, true), (7, false)].map(|(count, is_late)| Fault {
                from,
                count,
                error,
                is_late,
            })
        })
    })
}

#[test]
fn any_failing_call_costs_time_and_nothing_else() {
    let mut calm = World::new(3);
    live_through(&mut calm);
    settle(&mut calm);
    calm.check();
    let calls = calm.disk.state().calls;
    let mut failed = 0;
    for fault in faults(calls) {
        let mut world = World::new(3);
        world.disk.state().fault = Some(fault);
        live_through(&mut world);
        settle(&mut world);
        world.check();
        assert_eq!(world.live(), calm.live(), "{fault:?}");
        failed += u64::from(world.persister.status().errors_sum() > 0);
        let again = world.restart();
        assert_eq!(again.live(), calm.live(), "{fault:?}");
        again.check_content();
    }
    assert!(failed > calls * 6, "errors are counted: {failed} of {calls} calls");
}

#[test]
fn any_failing_call_of_a_start_costs_filters_at_most() {
    let mut calm = World::new(3);
    live_through(&mut calm);
    let files = {
        let mut state = calm.disk.state();
        // Work for a start: too many files, a damaged one, an unfinished one.
        let first = state.files.iter().next().map(|(_, bytes)| bytes.clone()).unwrap();
        state.files.insert("batch-0000000000000009-0000000000000009.blmf".to_owned(), first);
        state.files.insert("tmp-x".to_owned(), vec![1]);
        state.files.clone()
    };
    let folder = |fault: Option<Fault>| {
        let disk = FakeDisk::default();
        disk.state().files = files.clone();
        disk.state().fault = fault;
        disk
    };
    let disk = folder(None);
    recover(&disk, &config(2)).unwrap();
    let calls = disk.state().calls;
    for fault in faults(calls) {
        let disk = folder(Some(fault));
        let Ok(recovery) = recover(&disk, &config(2)) else {
            assert_eq!(fault.from, 0, "only a folder that cannot be listed is an error");
            continue;
        };
        for batch in &recovery.batches {
            assert_eq!(**batch, calm.sealed[&batch.batch], "{fault:?}");
        }
        disk.state().fault = None;
        let mut world = World { sealed: calm.sealed.clone(), ..World::on(disk, config(2)) };
        world.run();
        world.check();
        assert_eq!(world.live().len(), 2, "{fault:?}");
    }
}

#[test]
fn a_disk_that_fails_for_days_takes_no_more_and_no_more_memory() {
    let mut world = World::new(3);
    world.run();
    let from = world.disk.state().calls;
    world.disk.state().fault =
        Some(Fault { from, count: u64::MAX / 2, error: Failure::Raw(30), is_late: false });
    world.verify(1);
    for _ in 0..3_000 {
        world.now_ns = world.persister.next_step_ns().unwrap_or(0).max(world.now_ns);
        assert!(matches!(world.step(), Step::Failed { .. }));
    }
    let status = world.persister.status();
    assert!(status.removing <= 4_096, "{} names are remembered", status.removing);
    assert!(status.errors.len() + status.refused.len() < 10);
    world.disk.state().fault = None;
    world.run();
    world.check();
}

#[test]
fn a_failed_sync_is_never_tried_again_on_the_same_file() {
    let mut world = World::new(3);
    world.run();
    world.verify(1);
    // remove the temporary, write_new with its sync, ...
    let calls = world.disk.state().calls;
    world.disk.state().fault =
        Some(Fault { from: calls + 1, count: 1, error: Failure::Raw(5), is_late: true });
    assert!(matches!(world.step(), Step::Failed { .. }));
    world.run();
    world.check();
    assert_eq!(world.files()[0].generation, 2, "another file, under another name");
}
