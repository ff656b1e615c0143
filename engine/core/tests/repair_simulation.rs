//! Repair under a seeded network and SCCs of every kind: frames and CLOSE lost, answers prompt,
//! doubled, late, partial, wrong or none.
//!
//! Invariants checked: whatever an SCC sends, a sealed batch has the hash and the columns that its
//! sender computes without our code; an honest SCC makes every batch whole; a batch that lacks
//! anything is never sealed; at most two batches are asked about at once, each at most twice;
//! every frame is counted; ingest goes on.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod ingest_world;
mod seeded;

use std::collections::BTreeMap;

use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::limits::REPAIR_BATCHES_MAX;
use bloomrf_engine::seal::{IncompleteReason, RepairFailure};
use bloomrf_engine::wire::frame::encode_data;
use bloomrf_engine::wire::stream::Missing;
use ingest_world::{Batch, GRACE_NS, IDLE_NS, Node, REPAIR_NS, SLOT_NS, seeds};
use seeded::Splitmix;

/// How the SCC answers a request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// All of it, soon.
    Whole,
    /// All of it, each frame twice.
    Doubled,
    /// All of it, when it is too late.
    Late,
    /// All but one frame, and says so.
    NotKept,
    /// Nothing.
    Silent,
    /// One frame differs from what was broadcast.
    Differing,
    /// Noise and frames that nobody asked for, then all of it.
    Noisy,
}

enum Event {
    Broadcast { queue: usize, bytes: Vec<u8> },
    Repaired(Vec<u8>),
    NotKept(u64),
}

struct World {
    node: Node,
    chance: Splitmix,
    /// By slot.
    events: BTreeMap<u64, Vec<Event>>,
    sent: BTreeMap<u64, Batch>,
    sized: BTreeMap<u64, u64>,
    lossy: BTreeMap<u64, u64>,
    answers: Vec<Answer>,
    requests: BTreeMap<u64, u64>,
    answered: BTreeMap<u64, Vec<Answer>>,
}

const FRAMES: u64 = 40;
const STRIDE: u64 = 60;

impl World {
    fn new(seed: u64, answers: &[Answer]) -> Self {
        let mut node = Node::repairing(2, seed);
        node.sealer.on_repairs(true);
        World {
            node,
            chance: Splitmix::new(seed),
            events: BTreeMap::new(),
            sent: BTreeMap::new(),
            sized: BTreeMap::new(),
            lossy: BTreeMap::new(),
            answers: answers.to_vec(),
            requests: BTreeMap::new(),
            answered: BTreeMap::new(),
        }
    }

    fn at(&mut self, slot: u64, event: Event) {
        self.events.entry(slot).or_default().push(event);
    }

    /// Broadcasts a batch from `slot` on; frames are lost, doubled and delayed.
    fn send(&mut self, id: u64, slot: u64, loss_percent: u64) {
        let schema = self.node.config.schema.clone();
        let batch = Batch::random(id, &schema, FRAMES, &mut self.chance);
        let mut lost = 0;
        for (lane, frames) in batch.lanes.iter().enumerate() {
            for sequence in 0..frames.len() {
                let bytes = batch.data(&schema, lane, sequence);
                if self.chance.percent(loss_percent) {
                    lost += 1;
                    // Some were only delayed, and come while they are asked for.
                    if self.chance.percent(20) {
                        let slot = slot + 100 + self.chance.below(60);
                        self.at(slot, Event::Broadcast { queue: lane, bytes });
                    }
                    continue;
                }
                for _ in 0..1 + u64::from(self.chance.percent(10)) {
                    let queue = self.chance.below(2) as usize;
                    let slot = slot + sequence as u64 + self.chance.below(5);
                    self.at(slot, Event::Broadcast { queue, bytes: bytes.clone() });
                }
            }
        }
        if self.chance.percent(2 * loss_percent) {
            lost += 1;
        } else {
            let bytes = batch.close(&schema, 0);
            self.at(slot + FRAMES, Event::Broadcast { queue: 1, bytes });
        }
        self.lossy.insert(id, lost);
        self.sent.insert(id, batch);
    }

    fn answer(&mut self, missing: &Missing, slot: u64) {
        let schema = self.node.config.schema.clone();
        let asked = self.requests.entry(missing.batch).or_default();
        *asked += 1;
        assert!(*asked <= 2, "asked once for CLOSE and once for frames");
        let answer = *self.chance.pick(&self.answers.clone());
        self.answered.entry(missing.batch).or_default().push(answer);
        let batch = self.sent[&missing.batch].clone();
        let mut frames = Vec::new();
        for range in &missing.ranges {
            let lane = usize::from(range.lane);
            for sequence in range.first..range.first + range.count {
                assert!((sequence as usize) < batch.lanes[lane].len(), "asks for what there is");
                frames.push(batch.data(&schema, lane, sequence as usize));
            }
        }
        if missing.close {
            frames.push(batch.close(&schema, 1));
        }
        let mut slot = slot + 1 + self.chance.below(5);
        match answer {
            Answer::Silent => return,
            Answer::Late => slot += 2 * REPAIR_NS / SLOT_NS,
            Answer::Doubled => frames = [frames.clone(), frames].concat(),
            Answer::NotKept => drop(frames.pop()),
            Answer::Differing => {
                let last = frames.last_mut().unwrap();
                *last = differing(&batch, &schema, missing);
            }
            Answer::Noisy => self.noise(&batch, slot),
            Answer::Whole => {}
        }
        while !frames.is_empty() {
            let next = self.chance.below(frames.len() as u64) as usize;
            self.at(slot, Event::Repaired(frames.swap_remove(next)));
            slot += u64::from(self.chance.percent(20));
        }
        if answer == Answer::NotKept {
            self.at(slot + 1, Event::NotKept(missing.batch));
        }
    }

    /// What no node asked for.
    fn noise(&mut self, batch: &Batch, slot: u64) {
        let schema = self.node.config.schema.clone();
        for _ in 0..20 {
            let other = *self.chance.pick(&self.sent.keys().copied().collect::<Vec<_>>());
            let frames = batch.data(&schema, usize::from(batch.lanes[0].is_empty()), 0);
            let bytes = match self.chance.below(5) {
                0 => {
                    let length = 64 + self.chance.below(200) as usize;
                    self.chance.bytes(length)
                }
                1 => self.sent[&other].close(&schema, 0),
                2 => {
                    let mut bytes = frames;
                    let at = self.chance.below(bytes.len() as u64) as usize;
                    bytes[at] ^= 1 << self.chance.below(8);
                    bytes
                }
                3 => {
                    let mut header = batch.header(&schema, 0, 0);
                    header.cluster = ClusterId(7);
                    let mut bytes = Vec::new();
                    let rows = vec![1; schema.record_bytes()];
                    encode_data(&mut bytes, &header, schema.record_bytes(), &rows);
                    bytes
                }
                _ => Batch::random(1 << 50, &schema, 4, &mut self.chance).close(&schema, 0),
            };
            self.at(slot, Event::Repaired(bytes));
        }
        self.at(slot, Event::NotKept(other_than(batch.id)));
    }

    /// Lets `slots` slots go by.
    fn run(&mut self, slots: u64) {
        let mut asked: Vec<u64> = Vec::new();
        for slot in 0..slots {
            let now_ns = slot * SLOT_NS;
            for event in self.events.remove(&slot).unwrap_or_default() {
                match event {
                    Event::Broadcast { queue, bytes } => {
                        let batch = u64::from_le_bytes(bytes[32..40].try_into().unwrap());
                        let board = &self.node.config.board;
                        self.sized.entry(batch).or_insert_with(|| board.agree(batch));
                        self.node.queues[queue].on_datagram(&bytes, now_ns);
                    }
                    Event::Repaired(bytes) => self.node.sealer.on_frame(&bytes, now_ns),
                    Event::NotKept(batch) => self.node.sealer.on_not_kept(batch),
                }
            }
            match self.chance.below(3) {
                0 => self.node.pump_queue(0, now_ns),
                1 => self.node.pump_queue(1, now_ns),
                _ => self.node.pump_sealer(now_ns),
            }
            let (sealed, incomplete) = (&self.node.sealed, &self.node.incomplete);
            asked.retain(|id| !sealed.contains_key(id) && !incomplete.contains_key(id));
            for missing in std::mem::take(&mut self.node.requests) {
                asked.push(missing.batch);
                self.answer(&missing, slot);
            }
            asked.sort_unstable();
            asked.dedup();
            // One whose CLOSE has come makes room for another until it asks for frames.
            assert!(asked.len() <= 2 * REPAIR_BATCHES_MAX, "{asked:?}");
            let stats = self.node.sealer.repair_stats();
            let ended = stats.repaired + stats.failed.iter().sum::<u64>();
            assert!(ended <= stats.batches && stats.batches <= ended + 8, "{stats:?}");
            assert_eq!(stats.frames, stats.unasked + stats.surplus + stats.ingest.frames_in);
            assert_eq!(stats.ingest.frames_in, stats.ingest.accounted());
        }
        assert_eq!(self.node.sealer.next_tick_ns(), None, "nothing is left open");
        assert_eq!(self.node.refused("busy"), 0, "every partial came back");
        let stats = self.node.sealer.repair_stats();
        let ended = stats.repaired + stats.failed.iter().sum::<u64>();
        assert_eq!(stats.batches, ended, "{stats:?}");
    }

    /// Every batch has one end, and a sealed one is right.
    fn check(&self) {
        for (id, batch) in &self.sent {
            let (sealed, given_up) = (self.node.sealed.get(id), self.node.incomplete.get(id));
            assert!(sealed.is_some() != given_up.is_some(), "batch {id}: one end for each");
            let Some(sealed) = sealed else { continue };
            let lied = |answers: &Vec<Answer>| answers.contains(&Answer::Differing);
            if self.answered.get(id).is_some_and(lied) {
                // An SCC whose lies agree gets the hash of its lies, and confirms it or not.
                continue;
            }
            let config = &self.node.config;
            assert_eq!(sealed.records, batch.records(&config.schema), "batch {id}");
            assert_eq!(sealed.hash.digest, batch.reference_hash(&config.schema), "batch {id}");
            let reference = batch.reference_columns(config, self.sized[id]);
            for (ours, theirs) in sealed.columns.iter().zip(&reference) {
                assert_eq!(**ours, *theirs, "batch {id}");
            }
        }
    }
}

/// A copy of the last frame asked for with other contents.
fn differing(batch: &Batch, schema: &bloomrf_engine::schema::Schema, missing: &Missing) -> Vec<u8> {
    let mut totals = batch.totals(schema);
    let Some(range) = missing.ranges.last() else {
        totals[0].records += 1;
        return batch.close_with(schema, 0, &totals);
    };
    let (lane, sequence) = (usize::from(range.lane), (range.first + range.count - 1) as usize);
    let mut payload = batch.lanes[lane][sequence].clone();
    payload.extend(vec![0; schema.record_bytes()]);
    let mut out = Vec::new();
    encode_data(&mut out, &batch.header(schema, lane, sequence), schema.record_bytes(), &payload);
    out
}

fn other_than(id: u64) -> u64 {
    id ^ 1 << 40
}

fn worlds(name: &str, answers: &[Answer], mut check: impl FnMut(&World)) {
    for seed in seeds(10) {
        println!("{name}: SEED={seed}");
        let mut world = World::new(seed, answers);
        let (lossy, clean) = (20, 5);
        for number in 0..lossy {
            let loss_percent = world.chance.below(15);
            world.send(100 + number, number * STRIDE, loss_percent);
        }
        let pause = (IDLE_NS + 3 * GRACE_NS + 3 * REPAIR_NS) / SLOT_NS;
        for number in 0..clean {
            world.send(900 + number, lossy * STRIDE + pause + number * STRIDE, 0);
        }
        world.run((lossy + clean) * STRIDE + 3 * pause);
        world.check();
        for number in 0..clean {
            assert!(world.node.sealed.contains_key(&(900 + number)), "ingest goes on");
        }
        check(&world);
    }
}

#[test]
fn an_honest_scc_makes_every_batch_whole() {
    let mut repaired = 0;
    worlds("honest", &[Answer::Whole, Answer::Doubled, Answer::Noisy], |world| {
        let stats = world.node.sealer.repair_stats();
        assert!(world.node.incomplete.is_empty(), "{:?} {stats:?}", world.node.incomplete);
        repaired += world.node.sealer.repair_stats().repaired;
    });
    assert!(repaired > 100 || seeds(10).len() == 1, "little was repaired: {repaired}");
}

#[test]
fn a_batch_that_the_scc_cannot_make_whole_is_given_up_and_no_other() {
    let answers = [Answer::Whole, Answer::Late, Answer::NotKept, Answer::Silent];
    let mut failed = [0; RepairFailure::COUNT];
    worlds("poor", &answers, |world| {
        for (id, lost) in &world.lossy {
            let well = world
                .answered
                .get(id)
                .is_some_and(|answers| answers.iter().all(|answer| *answer == Answer::Whole));
            if *lost == 0 {
                assert!(world.node.sealed.contains_key(id), "intact batch {id}");
            }
            if let Some(reason) = world.node.incomplete.get(id) {
                assert!(*reason != IncompleteReason::Conflict && *reason != IncompleteReason::Rows);
                assert!(!well || world.requests[id] < 2, "answered and yet given up: {id}");
            }
        }
        let stats = world.node.sealer.repair_stats();
        failed.iter_mut().zip(stats.failed).for_each(|(sum, count)| *sum += count);
    });
    let of = |failure: RepairFailure| failed[failure.index()];
    assert!(of(RepairFailure::Time) > 0 && of(RepairFailure::NotKept) > 0, "{failed:?}");
    assert_eq!(of(RepairFailure::Away), 0);
}

#[test]
fn a_differing_copy_from_the_scc_refuses_the_batch() {
    let mut conflicts = 0;
    worlds("differing", &[Answer::Differing, Answer::Whole], |world| {
        for (id, answers) in &world.answered {
            // The copy differs from one that came by broadcast, or the total does not agree.
            if answers.contains(&Answer::Differing) {
                conflicts += u64::from(world.node.incomplete.contains_key(id));
            }
        }
    });
    assert!(conflicts > 10, "{conflicts}");
}

#[test]
fn without_an_scc_nothing_is_asked_and_gaps_are_given_up_as_before() {
    for seed in seeds(3) {
        println!("SEED={seed}");
        let mut world = World::new(seed, &[Answer::Whole]);
        world.node.sealer.on_repairs(false);
        for number in 0..10 {
            world.send(100 + number, number * STRIDE, 10);
        }
        world.run(10 * STRIDE + 3 * (IDLE_NS + GRACE_NS) / SLOT_NS);
        world.check();
        let stats = world.node.sealer.repair_stats();
        assert_eq!((stats.requests, stats.repaired), (0, 0));
        assert_eq!(stats.failed[RepairFailure::Away.index()], stats.batches);
        assert!(world.requests.is_empty() && !world.node.incomplete.is_empty());
    }
}
