//! From frames to verdicts.

use bloomrf_engine::ingest::RefuseReason;
use bloomrf_engine::wire::stream::StreamMessage;

use crate::scc::Scc;
use crate::world::{Frames, LANES, World, packets, wait_for};

#[test]
fn batches_over_two_lanes_and_two_queues_are_verified() {
    let mut world = World::start();
    for batch in 1..=3 {
        world.send(batch, &packets(400, 1_000 * batch as u16));
    }
    world.wait_verified(3);
    let status = world.node.status();
    assert_eq!(status.ingest.records, 1_200);
    // The second lane's CLOSE may come when the batch is sealed already; nothing else is refused.
    let late = status.ingest.refused[RefuseReason::Late.index()];
    assert_eq!((status.ingest.refused.iter().sum::<u64>(), late <= 3), (late, true));
    assert_eq!((status.store.pending, status.store.rejected), (0, 0));
    assert_eq!((status.incomplete, status.dropped, status.verify_mismatch), (0, 0, 0));
    assert!(status.store.bytes > 0);
    world.scc.with(|scc| {
        assert_eq!(scc.hellos, ["test-node"]);
        let mut seen: Vec<_> =
            scc.seen.iter().map(|(batch, records, _)| (*batch, *records)).collect();
        seen.sort_unstable();
        assert_eq!(seen, [(1, 400), (2, 400), (3, 400)]);
    });
}

#[test]
fn a_mismatch_is_counted_and_its_filter_never_consulted() {
    let mut world = World::start();
    let packets = packets(100, 1_000);
    let frames = Frames::of(&world.schema, 5, &packets);
    let other = Frames::of(&world.schema, 5, &packets[1..]);
    world.scc.with(|scc| scc.right.insert(5, other.hash));
    world.broadcast(&frames);
    wait_for("the verdict", || world.node.status().verify_mismatch == 1);
    wait_for("the rejection", || world.node.status().store.rejected == 1);
    let reply = world.ask(world.port_is(9), &[5]);
    assert_eq!((reply.evaluated, reply.no_filter, reply.is_excluded(0)), (0, 1, false));
}

#[test]
fn without_a_verdict_nothing_is_excluded_and_reports_survive_a_lost_connection() {
    let mut world = World::start();
    world.scc.with(|scc| scc.silent = true);
    world.send(1, &packets(100, 1_000));
    wait_for("the report", || world.scc.with(|scc| scc.seen.len() == 1));
    assert_eq!(world.node.status().store.pending, 1);
    assert!(!world.ask(world.port_is(9), &[1]).is_excluded(0));
    world.scc.with(|scc| {
        scc.silent = false;
        scc.hang_up = true;
    });
    world.wait_verified(1);
    assert!(world.ask(world.port_is(9), &[1]).is_excluded(0));
    assert_eq!(world.scc.with(|scc| scc.hellos.len()), 2);
}

#[test]
fn stored_batches_are_judged_anew_after_a_reconnect_and_dropped_in_dispute() {
    let mut world = World::start();
    let other = Frames::of(&world.schema, 2, &packets(90, 2_000)).hash;
    for batch in 1..=3 {
        world.send(batch, &packets(100, 1_000 * batch as u16));
    }
    world.wait_verified(3);
    // While the node is away, the SCC loses batch 1 and has batch 2 replaced.
    world.scc.with(|scc| {
        scc.right.remove(&1);
        scc.right.insert(2, other);
        scc.hang_up = true;
    });
    world.wait_verified(1);
    wait_for("the rejection", || world.node.status().store.rejected == 1);
    let reply = world.ask(world.port_is(9), &[1, 2, 3]);
    assert_eq!((reply.evaluated, reply.no_filter), (1, 2));
    assert!(!reply.is_excluded(0) && !reply.is_excluded(1) && reply.is_excluded(2));
}

#[test]
fn a_node_without_an_scc_excludes_nothing() {
    let mut world = World::start_with(|config| config.scc = None);
    world.send(1, &packets(100, 1_000));
    wait_for("the seal", || world.node.status().store.pending == 1);
    let reply = world.ask(world.port_is(9), &[1]);
    assert_eq!((reply.evaluated, reply.no_filter, reply.is_excluded(0)), (0, 1, false));
}

#[test]
fn an_scc_that_comes_late_is_found() {
    // A port that nobody listens on, until the SCC takes it.
    let scc = Scc::start();
    let address = scc.address;
    drop(scc);
    let mut world = World::start_with(|config| config.scc = Some(address));
    world.send(1, &packets(100, 1_000));
    wait_for("the seal", || world.node.status().store.pending == 1);
    let Some(late) = Scc::start_at(address) else {
        return println!("skipped: the port was taken meanwhile");
    };
    let right = world.scc.with(|scc| scc.right.clone());
    late.with(|scc| scc.right = right);
    world.wait_verified(1);
}

#[test]
fn a_batch_that_the_scc_deleted_is_forgotten() {
    let mut world = World::start();
    world.send(1, &packets(100, 1_000));
    world.send(2, &packets(100, 2_000));
    world.wait_verified(2);
    world.scc.with(|scc| scc.outbox.push(StreamMessage::Deleted { batches: vec![1] }));
    world.wait_verified(1);
    let reply = world.ask(world.port_is(9), &[1, 2]);
    assert_eq!((reply.is_excluded(0), reply.is_excluded(1)), (false, true));
}

#[test]
fn a_lost_frame_means_incomplete_never_verified() {
    let mut world = World::start();
    let packets = packets(200, 1_000);
    let mut frames = Frames::of(&world.schema, 1, &packets);
    world.scc.with(|scc| scc.right.insert(1, frames.hash));
    frames.data.remove(3);
    world.broadcast(&frames);
    wait_for("the batch to be given up", || world.node.status().incomplete == 1);
    assert_eq!(world.node.status().store.verified, 0);
    world.scc.with(|scc| assert!(scc.seen.is_empty()));
    world.send(2, &packets);
    world.wait_verified(1);
}

#[test]
fn reordered_duplicated_and_wrong_queue_frames_are_verified() {
    let mut world = World::start();
    let packets = packets(300, 1_000);
    let frames = Frames::of(&world.schema, 1, &packets);
    world.scc.with(|scc| scc.right.insert(1, frames.hash));
    // Backwards, and each second frame through the other lane's socket, too.
    for (i, (lane, frame)) in frames.data.iter().rev().enumerate() {
        world.send_frame(*lane, frame);
        if i % 2 == 0 {
            world.send_frame((lane + 1) % LANES, frame);
        }
    }
    for (lane, frame) in &frames.close {
        world.send_frame(*lane, frame);
    }
    world.wait_verified(1);
    assert_eq!(world.scc.with(|scc| scc.seen[0].1), 300);
}

#[test]
fn a_third_open_batch_ends_the_oldest_and_ingest_goes_on() {
    let mut world = World::start_with(|config| config.batch_idle_ms = 1_000);
    let packets = packets(100, 1_000);
    for batch in 1..=4 {
        let frames = Frames::of(&world.schema, batch, &packets);
        for (lane, frame) in &frames.data {
            world.send_frame(*lane, frame);
        }
    }
    world.send(10, &packets);
    world.wait_verified(1);
    wait_for("the foreign batches to be given up", || world.node.status().incomplete == 4);
}
