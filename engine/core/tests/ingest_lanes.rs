//! Lanes that change queues in the middle of a batch, as they do when a port's table is written
//! anew or a sender's flow hashes otherwise: what is sealed does not depend on it.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod ingest_world;
mod seeded;

use ingest_world::{Batch, Node, SLOT_NS, seeds};
use seeded::Splitmix;

const FRAMES: u64 = 40;

/// Sends `batch` frame by frame, lanes in turn; `queue_of` (lane, sequence; `None` for a CLOSE).
fn send(node: &mut Node, batch: &Batch, queue_of: impl Fn(usize, Option<usize>) -> usize) {
    let schema = node.config.schema.clone();
    let longest = batch.lanes.iter().map(Vec::len).max().unwrap();
    let mut now_ns = 0;
    for sequence in 0..longest {
        for lane in (0..2).filter(|&lane| sequence < batch.lanes[lane].len()) {
            now_ns += SLOT_NS;
            let bytes = batch.data(&schema, lane, sequence);
            node.queues[queue_of(lane, Some(sequence))].on_datagram(&bytes, now_ns);
            node.pump(now_ns);
        }
    }
    for lane in 0..2 {
        let close = batch.close(&schema, lane);
        node.queues[queue_of(lane, None)].on_datagram(&close, now_ns);
    }
    node.pump(now_ns);
}

#[test]
fn lanes_that_swap_queues_mid_batch_seal_to_the_same_batch() {
    for seed in seeds(6) {
        println!("SEED={seed}");
        let mut chance = Splitmix::new(seed);
        let mut node = Node::seeded(2, seed);
        let schema = node.config.schema.clone();
        // One after the other: swapped before the first frame, after each further one, never.
        for swapped_at in 0..=FRAMES as usize {
            let id = 1 + swapped_at as u64;
            let batch = Batch::random(id, &schema, FRAMES, &mut chance);
            let sized = node.config.board.agree(id);
            send(&mut node, &batch, |lane, sequence| match sequence {
                Some(sequence) if sequence < swapped_at => lane,
                Some(_) => 1 - lane,
                // CLOSE frames come the old way or the new one.
                None => (lane + swapped_at) % 2,
            });
            let sealed = node.sealed.remove(&id).expect("sealed");
            assert_eq!(sealed.records, batch.records(&schema));
            assert_eq!(sealed.hash.digest, batch.reference_hash(&schema), "at {swapped_at}");
            let reference = batch.reference_columns(&node.config, sized);
            assert_eq!(sealed.columns.len(), reference.len());
            for (ours, theirs) in sealed.columns.iter().zip(&reference) {
                assert!(**ours == *theirs, "at {swapped_at}");
            }
        }
        assert!(node.incomplete.is_empty());
        // A second CLOSE may come when its batch is sealed already; nothing else is refused.
        let late = node.refused("late");
        let refused: u64 = node.queues.iter().flat_map(|queue| queue.stats().refused).sum();
        assert_eq!((refused, late <= FRAMES + 1), (late, true));
    }
}
