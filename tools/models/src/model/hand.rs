//! Rings, wake-ups and the end, over the engine's own `handshake.rs`. The loops around it are
//! written here as they are in the node: `PollLoop::run` (engine/node/src/poll/mod.rs),
//! `SealLoop::run` (engine/node/src/control/seal.rs), `Threads::stop`
//! (engine/node/src/start/mod.rs). Sleeps there end by themselves after a while; here they do not,
//! so that a lost wake-up is a deadlock and not a delay.

use std::collections::VecDeque;

use loom::cell::Cell;
use loom::sync::Notify;
use loom::thread;

use super::Model;
use crate::handshake::{Stop, hand_over};
use crate::ring::{Consumer, Producer, ring};
use crate::sync::{Arc, AtomicBool, Order, Ordering};

const RING: &[Order] = &[Order::RingGive, Order::RingSee];
const FULL_RING: &[Order] = &[Order::RingGive, Order::RingSee, Order::RingFree, Order::RingRoom];

pub(super) const MODELS: &[Model] = &[
    Model {
        claim: "no event of two queues is lost, and the sealer does not sleep for ever",
        run: || events(Wake::AfterPush),
        is_planted: false,
        needs: RING,
        spares: &[],
    },
    Model {
        claim: "planted: the sealer is woken before the event is there",
        run: || events(Wake::BeforePush),
        is_planted: true,
        needs: &[],
        spares: &[],
    },
    Model {
        claim: "commands that found the ring full arrive, in order",
        run: backlog,
        is_planted: false,
        needs: FULL_RING,
        spares: &[],
    },
    Model {
        claim: "every thread ends, and knows what was so when it was told to",
        run: || shutdown(Told::ThenWoken),
        is_planted: false,
        needs: &[Order::StopRaise, Order::StopLook],
        spares: &[],
    },
    Model {
        claim: "planted: sleepers are woken before they are told to end",
        run: || shutdown(Told::AfterWoken),
        is_planted: true,
        needs: &[],
        spares: &[],
    },
];

/// A thread's sleep that a wake-up before it ends at once: `park` and a link's `wait`.
type Sleep = Arc<Notify>;

#[derive(Clone, Copy, PartialEq)]
enum Wake {
    AfterPush,
    BeforePush,
}

/// Hands over what waits; true where the ring is full.
fn flush(ring: &mut Producer<u32>, waiting: &mut VecDeque<u32>, wake: Wake, other: &Sleep) -> bool {
    let next = || {
        let item = waiting.pop_front();
        if wake == Wake::BeforePush {
            other.notify();
        }
        item
    };
    hand_over(ring, Producer::is_full, Producer::push, next, || {
        if wake == Wake::AfterPush {
            other.notify();
        }
    })
}

/// Takes until `count` items have come from all rings together; sleeps where there is none.
fn take(rings: &mut [Consumer<u32>], count: usize, sleep: &Sleep) -> Vec<u32> {
    let mut seen = Vec::new();
    while seen.len() < count {
        let before = seen.len();
        for ring in rings.iter_mut() {
            seen.extend(std::iter::from_fn(|| ring.pop()));
        }
        if seen.len() == before {
            sleep.wait();
        }
    }
    seen
}

fn events(wake: Wake) {
    let sealer = Sleep::default();
    let mut rings = Vec::new();
    for queue in 0..2 {
        let (mut producer, consumer) = ring(1);
        rings.push(consumer);
        let sealer = sealer.clone();
        thread::spawn(move || {
            let mut waiting = VecDeque::from([queue]);
            // One item and a ring with room for it: the end is found when the ring is full.
            flush(&mut producer, &mut waiting, wake, &sealer);
            assert!(waiting.is_empty());
        });
    }
    let mut seen = take(&mut rings, 2, &sealer);
    seen.sort_unstable();
    assert_eq!(seen, [0, 1]);
}

fn backlog() {
    let queue = Sleep::default();
    let (mut producer, consumer) = ring(1);
    let sleep = queue.clone();
    let taker = thread::spawn(move || take(&mut [consumer], 2, &sleep));
    let mut waiting = VecDeque::from([0, 1]);
    while flush(&mut producer, &mut waiting, Wake::AfterPush, &queue) && !waiting.is_empty() {
        thread::yield_now();
    }
    assert_eq!(taker.join().expect("loom reports it first"), [0, 1]);
}

#[derive(Clone, Copy, PartialEq)]
enum Told {
    ThenWoken,
    AfterWoken,
}

/// What the threads of a node share.
#[derive(Default)]
struct Node {
    stop: Stop,
    is_ready: AtomicBool,
}

fn shutdown(told: Told) {
    let node = Arc::<Node>::default();
    node.is_ready.store(true, Ordering::Relaxed);
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (sleep, counters) = (Sleep::default(), Arc::new(Cell::new(0_u64)));
            let (node, mine, counted) = (node.clone(), sleep.clone(), counters.clone());
            let join = thread::spawn(move || {
                while !node.stop.is_raised() {
                    mine.wait();
                }
                let is_ready = node.is_ready.load(Ordering::Relaxed);
                assert!(!is_ready, "it ends, and the node says that it is ready");
                counted.set(1);
            });
            (join, sleep, counters)
        })
        .collect();
    let wake = || threads.iter().for_each(|(_, sleep, _)| sleep.notify());
    if told == Told::AfterWoken {
        wake();
    }
    node.is_ready.store(false, Ordering::Relaxed);
    node.stop.raise();
    if told == Told::ThenWoken {
        wake();
    }
    for (join, _, counters) in threads {
        join.join().expect("loom reports it first");
        assert_eq!(counters.get(), 1, "the last numbers of a thread are read after its end");
    }
}
