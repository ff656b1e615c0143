//! The node's session against a plain SCC in memory, over a connection that carries bytes in
//! pieces and breaks at any of them. Invariants checked: Hello comes first; a batch is verified
//! only when the SCC holds the very hash that was offered last; nothing is lost: in the end every
//! offered batch is judged, deleted or given up.

use std::collections::{BTreeMap, BTreeSet};

use bloomrf_engine::identity::{BatchId, ClusterId, Fingerprint};
use bloomrf_engine::verify::{BatchHash, HashAlgorithm, Session, SessionConfig, SessionEvent};
use bloomrf_engine::wire::stream::{StreamDecoder, StreamMessage, VERSION, Verdict};

use super::random::Random;

const PENDING_MAX: usize = 6;

/// What the SCC knows, and its end of the present connection.
#[derive(Default)]
struct Scc {
    truth: BTreeMap<BatchId, BatchHash>,
    decoder: StreamDecoder,
    greeted: bool,
    /// Reports that it has not made up its mind about.
    waiting: Vec<(BatchId, BatchHash)>,
    output: Vec<u8>,
}

impl Scc {
    fn on_connected(&mut self) {
        let truth = std::mem::take(&mut self.truth);
        *self = Scc { truth, ..Scc::default() };
    }

    fn on_bytes(&mut self, bytes: &[u8]) {
        self.decoder.push(bytes);
        while let Some(message) = self.decoder.next_message().expect("whole messages") {
            match message {
                StreamMessage::Hello { version, .. } => {
                    assert!(!std::mem::replace(&mut self.greeted, true), "Hello twice");
                    let repairs = (version == VERSION).then_some(true);
                    let hash = HashAlgorithm::Xxh3;
                    StreamMessage::Welcome { hash, repairs }.encode(&mut self.output);
                }
                StreamMessage::Seen { batch, hash, .. } => {
                    assert!(self.greeted, "a report before Hello");
                    self.waiting.push((batch, hash));
                }
                other => panic!("a node never sends {other:?}"),
            }
        }
    }

    fn judge(&mut self, at: usize) {
        let (batch, hash) = self.waiting.swap_remove(at);
        let verdict = match self.truth.get(&batch) {
            Some(held) if *held == hash => Verdict::Verified,
            Some(_) => Verdict::Mismatch,
            None => Verdict::Unknown,
        };
        StreamMessage::Verdict { batch, hash, verdict }.encode(&mut self.output);
    }
}

/// Both ends, the bytes between them, and what the node should know by now.
struct World {
    node: Session,
    scc: Scc,
    up: bool,
    to_scc: Vec<u8>,
    to_node: Vec<u8>,
    offered: BTreeMap<BatchId, BatchHash>,
    open: BTreeSet<BatchId>,
    judged: u64,
}

fn hash_of(batch: BatchId, copy: u8) -> BatchHash {
    let mut digest = [0; 32];
    digest[..8].copy_from_slice(&batch.to_le_bytes());
    digest[8] = copy;
    BatchHash { algorithm: HashAlgorithm::Xxh3, digest }
}

impl World {
    fn new() -> Self {
        let config = SessionConfig {
            cluster: ClusterId(1),
            fingerprint: Fingerprint(2),
            node: "n".into(),
            pending_max: PENDING_MAX,
        };
        World {
            node: Session::new(config),
            scc: Scc::default(),
            up: false,
            to_scc: Vec::new(),
            to_node: Vec::new(),
            offered: BTreeMap::new(),
            open: BTreeSet::new(),
            judged: 0,
        }
    }

    fn connect(&mut self) {
        self.disconnect();
        self.node.on_connected();
        self.scc.on_connected();
        self.up = true;
    }

    /// What is under way is lost.
    fn disconnect(&mut self) {
        self.node.on_disconnected();
        self.to_scc.clear();
        self.to_node.clear();
        self.up = false;
    }

    fn offer(&mut self, batch: BatchId, hash: BatchHash) {
        self.node.offer(batch, 10, hash);
        self.offered.insert(batch, hash);
        self.open.insert(batch);
    }

    /// Moves some bytes, from 0 to all of them, each way.
    fn carry(&mut self, mut some: impl FnMut(usize) -> usize) {
        self.to_scc.extend(self.node.take_output());
        let n = some(self.to_scc.len());
        self.scc.on_bytes(&self.to_scc.drain(..n).collect::<Vec<u8>>());
        self.to_node.append(&mut self.scc.output);
        let n = some(self.to_node.len());
        self.node.on_bytes(&self.to_node.drain(..n).collect::<Vec<u8>>()).expect("a sound SCC");
    }

    fn drain_events(&mut self) {
        while let Some(event) = self.node.next_event() {
            match event {
                SessionEvent::Welcome(_) => {}
                SessionEvent::GivenUp(batch) => assert!(self.open.remove(&batch)),
                SessionEvent::Deleted(batches) => {
                    self.open.retain(|batch| !batches.contains(batch));
                }
                SessionEvent::Judged(batch, _, verdict) => {
                    assert!(self.open.remove(&batch), "{batch} judged, but not open");
                    self.judged += 1;
                    let equal = self.scc.truth.get(&batch) == self.offered.get(&batch);
                    let held = self.scc.truth.contains_key(&batch);
                    match verdict {
                        // A deletion may follow a verdict that is still under way.
                        Verdict::Verified => assert!(equal || !held),
                        Verdict::Mismatch => assert!(!equal),
                        Verdict::Unknown => assert!(!held),
                    }
                }
                // A verdict that comes after its batch was given up or deleted takes only.
                SessionEvent::Revoked(_, _, verdict) => assert_ne!(verdict, Verdict::Verified),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(self.node.pending(), self.open.len());
        assert!(self.node.pending() <= PENDING_MAX);
    }

    fn step(&mut self, random: &mut Random, batch_next: &mut BatchId) {
        match random.below(36) {
            0 => self.connect(),
            1 => self.disconnect(),
            2..=6 => {
                let batch = *batch_next;
                *batch_next += 1;
                // Sometimes the SCC holds another hash, or nothing.
                if !random.chance(6) {
                    self.scc.truth.insert(batch, hash_of(batch, u8::from(random.chance(4))));
                }
                self.offer(batch, hash_of(batch, 0));
            }
            7..=9 if *batch_next > 1 => {
                // An old batch again, or one that was sealed anew with another hash.
                let batch = 1 + random.below(*batch_next as usize - 1) as u64;
                let copy = u8::from(random.chance(2));
                self.offer(batch, hash_of(batch, copy));
            }
            10 if self.up && self.scc.greeted && *batch_next > 1 => {
                let batch = 1 + random.below(*batch_next as usize - 1) as u64;
                self.scc.truth.remove(&batch);
                StreamMessage::Deleted { batches: vec![batch] }.encode(&mut self.scc.output);
            }
            11..=20 if !self.scc.waiting.is_empty() && self.up => {
                let at = random.below(self.scc.waiting.len());
                self.scc.judge(at);
            }
            _ if self.up => self.carry(|n| random.below(n + 1)),
            _ => {}
        }
        self.drain_events();
    }

    /// One undisturbed connection.
    fn settle(&mut self) {
        self.connect();
        for _ in 0..3 {
            self.carry(|n| n);
            while !self.scc.waiting.is_empty() {
                self.scc.judge(0);
            }
            self.drain_events();
        }
    }
}

#[test]
fn every_batch_is_judged_rightly_or_given_up_however_the_connection_breaks() {
    let mut random = Random::seeded();
    let mut judged = 0;
    for _ in 0..300 {
        let mut world = World::new();
        let mut batch_next = 1;
        for _ in 0..300 {
            world.step(&mut random, &mut batch_next);
        }
        world.settle();
        assert_eq!(world.open.len(), 0, "a batch was forgotten");
        judged += world.judged;
    }
    assert!(judged > 5_000, "little was judged: {judged}");
}
