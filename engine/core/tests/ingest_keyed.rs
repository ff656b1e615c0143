//! A queue that asks for keys: what is not sealed with one of them is counted and leaves no
//! trace, and a recorded frame that comes again changes nothing.
#![forbid(unsafe_code)]

mod ingest_world;
mod seeded;

use std::sync::Arc;

use bloomrf_engine::ingest::{Queue, QueueCommand, QueueEvent, RefuseReason};
use bloomrf_engine::limits::LATE_BATCHES_MAX;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::wire::frame;
use bloomrf_engine::wire::mac::{KeyBook, KeyRing, MacKey};
use ingest_world::{Batch, Node};
use seeded::Splitmix;

fn key(id: u32) -> MacKey {
    MacKey::new(id, &[id as u8 + 1; 16])
}

fn signed(mut frame: Vec<u8>, key: &MacKey) -> Vec<u8> {
    frame::sign(&mut frame, key);
    frame
}

fn schema() -> Arc<Schema> {
    Node::new(1).config.schema
}

fn queue() -> (Queue, Arc<KeyBook>) {
    let mut queue = Queue::new(Node::new(1).config);
    let book = Arc::new(KeyBook::new(KeyRing::of(key(1))));
    queue.require_keys(Arc::clone(&book));
    (queue, book)
}

fn refused(queue: &Queue, reason: RefuseReason) -> u64 {
    assert_eq!(queue.stats().frames_in, queue.stats().accounted());
    queue.stats().refused[reason.index()]
}

#[test]
fn only_frames_sealed_with_a_known_key_leave_a_trace() {
    let schema = schema();
    let mut chance = Splitmix::from_env(71);
    let batch = Batch::random(5, &schema, 8, &mut chance);
    let (mut queue, book) = queue();
    let frames: Vec<Vec<u8>> =
        (0..batch.lanes[0].len()).map(|i| batch.data(&schema, 0, i)).collect();
    let n = frames.len() as u64;
    assert!(n > 0);
    frames.iter().for_each(|frame| queue.on_datagram(frame, 0));
    frames.iter().for_each(|frame| queue.on_datagram(&signed(frame.clone(), &key(2)), 0));
    let impostor = MacKey::new(1, &[99; 16]);
    frames.iter().for_each(|frame| queue.on_datagram(&signed(frame.clone(), &impostor), 0));
    assert_eq!((refused(&queue, RefuseReason::Key), queue.stats().data), (3 * n, 0));
    assert!(queue.next_event().is_none());
    frames.iter().for_each(|frame| queue.on_datagram(&signed(frame.clone(), &key(1)), 0));
    assert_eq!((refused(&queue, RefuseReason::Key), queue.stats().data), (3 * n, n));
    // The book changes under the running queue.
    book.replace(KeyRing::of(key(2)));
    let close = batch.close(&schema, 0);
    queue.on_datagram(&signed(close.clone(), &key(1)), 0);
    assert_eq!((refused(&queue, RefuseReason::Key), queue.stats().close), (3 * n + 1, 0));
    queue.on_datagram(&signed(close, &key(2)), 0);
    assert_eq!(queue.stats().close, 1);
}

#[test]
fn a_queue_without_keys_takes_sealed_frames_as_any_others() {
    let schema = schema();
    let batch = Batch::random(5, &schema, 8, &mut Splitmix::from_env(72));
    let mut queue = Queue::new(Node::new(1).config);
    for i in 0..batch.lanes[0].len() {
        queue.on_datagram(&signed(batch.data(&schema, 0, i), &key(3)), 0);
        // The same frame unsealed is a duplicate: the digest is of the payload.
        queue.on_datagram(&batch.data(&schema, 0, i), 0);
    }
    let n = batch.lanes[0].len() as u64;
    assert_eq!(
        (queue.stats().data, queue.stats().duplicate, refused(&queue, RefuseReason::Key)),
        (n, n, 0)
    );
}

#[test]
fn replayed_frames_are_duplicates_while_a_batch_is_open_and_late_after_it() {
    let schema = schema();
    let mut chance = Splitmix::from_env(73);
    let batch = Batch::random(5, &schema, 12, &mut chance);
    let (mut queue, _) = queue();
    let frames: Vec<Vec<u8>> = (0..2)
        .flat_map(|lane| (0..batch.lanes[lane].len()).map(move |i| (lane, i)))
        .map(|(lane, i)| signed(batch.data(&schema, lane, i), &key(1)))
        .collect();
    let n = frames.len() as u64;
    for _ in 0..3 {
        frames.iter().rev().for_each(|frame| queue.on_datagram(frame, 0));
    }
    assert_eq!((queue.stats().data, queue.stats().duplicate), (n, 2 * n));
    queue.on_command(QueueCommand::Take(5), 0);
    let Some(QueueEvent::Taken { partial: Some(partial), .. }) = queue.next_event() else {
        panic!("no share")
    };
    assert_eq!(partial.rows, batch.records(&schema));
    queue.on_command(QueueCommand::Forget(5), 0);
    let before = queue.stats().records;
    // Late for as long as the queue remembers: that many batches later, it is still.
    for other in 0..LATE_BATCHES_MAX as u64 - 1 {
        queue.on_command(QueueCommand::Forget(100 + other), 0);
    }
    frames.iter().for_each(|frame| queue.on_datagram(frame, 0));
    assert_eq!((refused(&queue, RefuseReason::Late), queue.stats().records), (n, before));
    // Past that, a recorded batch opens anew; it is one more incomplete or unknown batch, which
    // is never verified under its old id: the sealer and the SCC have judged that id already.
    queue.on_command(QueueCommand::Forget(1_000), 0);
    queue.on_datagram(&frames[0], 0);
    assert_eq!(queue.stats().data, n + 1);
}
