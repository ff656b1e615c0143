//! Missing frames, asked of the SCC again; verdicts and deletions at odd times.

use bloomrf_engine::wire::stream::{FrameRange, StreamMessage, Verdict};

use crate::http::get;
use crate::scc::Scc;
use crate::world::{Frames, World, packets, wait_for};

/// A world whose SCC repairs, and that does not wait long before it asks.
fn repairing(change: impl FnOnce(&mut bloomrf_node::Config)) -> World {
    let world = World::start_with(|config| {
        config.close_grace_ms = 30;
        config.repair_ms = 10_000;
        change(config);
    });
    world.scc.with(|scc| scc.repairs = true);
    // It said otherwise when it welcomed the node.
    world.scc.with(|scc| scc.hang_up = true);
    wait_for("the second greeting", || world.scc.with(|scc| scc.hellos.len() == 2));
    world
}

/// Broadcasts a batch without some of its frames; the SCC has them all.
fn send_without(world: &mut World, batch: u64, lost: &[usize]) -> Frames {
    let frames = Frames::of(&world.schema, batch, &packets(400, 1_000));
    world.scc.with(|scc| {
        scc.right.insert(batch, frames.hash);
        scc.kept.insert(batch, frames.data.iter().chain(&frames.close).cloned().collect());
    });
    for (at, (lane, frame)) in frames.data.iter().enumerate() {
        if !lost.contains(&at) {
            world.send_frame(*lane, frame);
        }
    }
    for (lane, frame) in &frames.close {
        world.send_frame(*lane, frame);
    }
    frames
}

#[test]
fn lost_frames_are_asked_for_and_the_batch_is_verified() {
    let mut world = repairing(|_| {});
    send_without(&mut world, 1, &[2, 4, 5, 9]);
    world.wait_verified(1);
    // Frames go to the lanes in turn: 2 and 4 are frames 1 and 2 of lane 0.
    let ranges = vec![
        FrameRange { lane: 0, first: 1, count: 2 },
        FrameRange { lane: 1, first: 2, count: 1 },
        FrameRange { lane: 1, first: 4, count: 1 },
    ];
    world.scc.with(|scc| {
        assert_eq!(scc.asked.len(), 1);
        assert_eq!((scc.asked[0].close, &scc.asked[0].ranges), (false, &ranges));
    });
    assert!(world.ask(world.port_is(9), &[1]).is_excluded(0));
    let reply = world.ask(world.port_is(1_000), &[1]);
    assert_eq!((reply.evaluated, reply.is_excluded(0)), (1, false));
    let repair = world.node.status().repair;
    assert_eq!((repair.batches, repair.requests, repair.repaired, repair.frames), (1, 1, 1, 4));
    assert_eq!((repair.ingest.data, repair.failed.iter().sum::<u64>()), (4, 0));
    let metrics = get(&world, "/metrics").1;
    for line in [
        "fermihdi_bloomrf_repair_requests 1",
        "fermihdi_bloomrf_repair_repaired 1",
        "fermihdi_bloomrf_repair_failed{reason=\"not_kept\"} 0",
        "fermihdi_bloomrf_repair_frames{outcome=\"inserted\"} 4",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
}

#[test]
fn a_lost_close_is_asked_for_and_then_the_frames() {
    let mut world = repairing(|config| config.batch_idle_ms = 100);
    let frames = Frames::of(&world.schema, 1, &packets(400, 1_000));
    world.scc.with(|scc| {
        scc.right.insert(1, frames.hash);
        scc.kept.insert(1, frames.data.iter().chain(&frames.close).cloned().collect());
    });
    for (lane, frame) in &frames.data[3..] {
        world.send_frame(*lane, frame);
    }
    world.wait_verified(1);
    world.scc.with(|scc| {
        let asked: Vec<_> = scc.asked.iter().map(|m| (m.close, m.frames())).collect();
        assert_eq!(asked, [(true, 0), (false, 3)]);
    });
}

#[test]
fn what_the_scc_does_not_keep_is_given_up_at_once() {
    let mut world = repairing(|config| config.repair_ms = 600_000);
    send_without(&mut world, 1, &[3]);
    send_without(&mut world, 2, &[]);
    world.scc.with(|scc| scc.kept.clear());
    wait_for("the batch to be given up", || world.node.status().incomplete == 1);
    world.wait_verified(1);
    let repair = world.node.status().repair;
    assert_eq!((repair.repaired, repair.failed.iter().sum::<u64>()), (0, 1));
}

#[test]
fn an_scc_of_before_repairs_is_welcome_and_never_asked() {
    let mut world = World::start_with(|config| config.close_grace_ms = 30);
    world.scc.with(|scc| {
        scc.is_old = true;
        scc.hang_up = true;
    });
    send_without(&mut world, 1, &[]);
    world.wait_verified(1);
    send_without(&mut world, 2, &[1]);
    wait_for("the batch to be given up", || world.node.status().incomplete == 1);
    send_without(&mut world, 3, &[]);
    world.wait_verified(2);
    world.scc.with(|scc| assert!(scc.asked.is_empty()));
    assert_eq!(world.node.status().repair.requests, 0);
}

#[test]
fn a_batch_deleted_before_it_is_sealed_never_shows() {
    let mut world = World::start();
    world.send(1, &packets(100, 1_000));
    world.wait_verified(1);
    world.scc.with(|scc| scc.outbox.push(StreamMessage::Deleted { batches: vec![1, 2] }));
    wait_for("the deletion", || world.node.status().store.verified == 0);
    world.send(2, &packets(100, 2_000));
    world.send(3, &packets(100, 2_000));
    world.wait_verified(1);
    let status = world.node.status();
    assert_eq!((status.store.pending, status.store.verified), (0, 1));
    world.scc.with(|scc| assert!(scc.seen.iter().all(|seen| seen.0 != 2), "not reported"));
    let reply = world.ask(world.port_is(9), &[1, 2, 3]);
    assert_eq!((reply.evaluated, reply.no_filter), (1, 2));
}

#[test]
fn a_pending_batch_that_is_deleted_is_dropped_and_a_late_verdict_changes_nothing() {
    let mut world = World::start();
    world.scc.with(|scc| scc.silent = true);
    let hash = world.send(1, &packets(100, 1_000));
    wait_for("the report", || world.scc.with(|scc| scc.seen.len() == 1));
    let verdict = StreamMessage::Verdict { batch: 1, hash, verdict: Verdict::Verified };
    world.scc.with(|scc| {
        scc.outbox.extend([StreamMessage::Deleted { batches: vec![1] }, verdict]);
        scc.silent = false;
    });
    world.send(2, &packets(100, 2_000));
    world.wait_verified(1);
    assert_eq!(world.ask(world.port_is(9), &[1, 2]).no_filter, 1);
}

#[test]
fn verdicts_in_any_order_and_doubled_count_once() {
    let mut world = World::start();
    world.scc.with(|scc| scc.silent = true);
    let hashes: Vec<_> = (1..=4).map(|batch| world.send(batch, &packets(100, 1_000))).collect();
    wait_for("all reports", || world.scc.with(|scc| scc.seen.len() == 4));
    let verdict = |batch: u64, verdict| {
        let hash = hashes[batch as usize - 1];
        StreamMessage::Verdict { batch, hash, verdict }
    };
    world.scc.with(|scc| {
        for batch in [3, 1, 1, 3, 4] {
            scc.outbox.push(verdict(batch, Verdict::Verified));
        }
        scc.outbox.push(verdict(2, Verdict::Mismatch));
        scc.outbox.push(verdict(2, Verdict::Mismatch));
        scc.outbox.push(verdict(2, Verdict::Verified));
    });
    wait_for("the verdicts", || world.node.status().store.rejected == 1);
    world.wait_verified(3);
    assert_eq!(world.node.status().verify_mismatch, 1);
    assert_eq!(world.ask(world.port_is(9), &[1, 2, 3, 4]).no_filter, 1);
}

#[test]
fn a_verdict_taken_back_takes_the_filter_out() {
    let mut world = World::start();
    let hash = world.send(1, &packets(100, 1_000));
    world.send(2, &packets(100, 2_000));
    world.wait_verified(2);
    assert!(world.ask(world.port_is(9), &[1]).is_excluded(0));
    let other = Frames::of(&world.schema, 2, &packets(90, 2_000)).hash;
    world.scc.with(|scc| {
        let verdict = Verdict::Mismatch;
        // Of another hash than the filter's: does not concern it.
        scc.outbox.push(StreamMessage::Verdict { batch: 2, hash: other, verdict });
        scc.outbox.push(StreamMessage::Verdict { batch: 1, hash, verdict });
    });
    wait_for("the rejection", || world.node.status().store.rejected == 1);
    assert_eq!(world.node.status().verify_mismatch, 1);
    let reply = world.ask(world.port_is(9), &[1, 2]);
    assert_eq!((reply.is_excluded(0), reply.is_excluded(1)), (false, true));
}

#[test]
fn an_scc_that_restarts_without_memory_costs_its_batches_and_no_later_ones() {
    let mut world = World::start();
    let address = world.scc.address;
    world.send(1, &packets(100, 1_000));
    world.wait_verified(1);
    let gone = std::mem::replace(&mut world.scc, Scc::start());
    drop(gone);
    let Some(again) = Scc::start_at(address) else {
        return println!("skipped: the port was taken meanwhile");
    };
    world.scc = again;
    wait_for("the batch to be dropped", || world.node.status().store.verified == 0);
    world.send(2, &packets(100, 2_000));
    world.wait_verified(1);
    let reply = world.ask(world.port_is(9), &[1, 2]);
    assert_eq!((reply.is_excluded(0), reply.is_excluded(1)), (false, true));
}
