//! The whole promise of ingest and seal under a seeded network: two lanes, two queues, frames
//! reordered, doubled, lost, corrupted, on the wrong queue, of foreign batches, without CLOSE.
//!
//! Invariants checked: a sealed batch has the hash and the columns that its sender computes
//! without our code; a damaged one is never sealed; an intact one always is, unless more than two
//! batches were open at once; whatever came before, ingest goes on; every frame is counted.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod ingest_world;
mod seeded;
mod truth;

use bloomrf_engine::filter::{ColumnFlags, Filter};
use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::limits::PARTIALS_PER_QUEUE;
use bloomrf_engine::seal::{IncompleteReason, SealedBatch};
use bloomrf_engine::wire::frame::encode_data;
use bloomrf_kernels::RangePlan;
use bloomrf_oracle::{Value, decode_row};
use ingest_world::{Batch, GRACE_NS, IDLE_NS, Node, SLOT_NS, seeds};
use seeded::Splitmix;

/// What the network and the sender do wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Faults {
    /// Frames are delayed by up to this many slots.
    reorder_slots: u64,
    duplicate_percent: u64,
    wrong_queue_percent: u64,
    /// Share of batches that are damaged.
    damage_percent: u64,
    /// Share of slots with a frame of a foreign batch id.
    foreign_percent: u64,
    /// A batch starts this many slots after the one before; one takes about 40.
    stride_slots: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Damage {
    None,
    LostFrame,
    CorruptFrame,
    LostClose,
    DifferingCopy,
    ExtraFrame,
    DifferingClose,
}

struct Delivery {
    at_ns: u64,
    queue: usize,
    bytes: Vec<u8>,
    /// Index of its batch in `World::sent`; `None` for foreign frames.
    sent: Option<usize>,
}

struct Sent {
    batch: Batch,
    damage: Damage,
    /// Records that its filters were sized for.
    sized: Option<u64>,
}

struct World {
    node: Node,
    chance: Splitmix,
    faults: Faults,
    wire: Vec<Delivery>,
    sent: Vec<Sent>,
    /// The batch that is being put on the wire.
    current: Option<usize>,
    corrupt: u64,
    foreign_cluster: u64,
}

const FRAMES: u64 = 40;

impl World {
    fn new(seed: u64, faults: Faults) -> Self {
        World {
            node: Node::seeded(2, seed),
            chance: Splitmix::new(seed),
            faults,
            wire: Vec::new(),
            sent: Vec::new(),
            current: None,
            corrupt: 0,
            foreign_cluster: 0,
        }
    }

    fn put(&mut self, at_ns: u64, lane: usize, bytes: Vec<u8>) {
        let wrong = self.chance.percent(self.faults.wrong_queue_percent);
        let queue = (lane + usize::from(wrong)) % 2;
        let delay = self.chance.below(self.faults.reorder_slots + 1) * SLOT_NS;
        self.wire.push(Delivery { at_ns: at_ns + delay, queue, bytes, sent: self.current });
    }

    /// Puts a frame on the wire, perhaps twice.
    fn send(&mut self, at_ns: u64, lane: usize, bytes: &[u8]) {
        self.put(at_ns, lane, bytes.to_vec());
        if self.chance.percent(self.faults.duplicate_percent) {
            self.put(at_ns, lane, bytes.to_vec());
        }
    }

    /// Sends `count` batches, the first with number `id`; returns when the last one ends.
    fn send_batches(&mut self, id: u64, count: u64, start_ns: u64) -> u64 {
        let mut end_ns = start_ns;
        for number in 0..count {
            let at_ns = start_ns + number * self.faults.stride_slots * SLOT_NS;
            end_ns = self.send_batch(id + number, at_ns);
        }
        let slots = (end_ns - start_ns) / SLOT_NS;
        for slot in 0..slots {
            if self.chance.percent(self.faults.foreign_percent) {
                self.send_foreign(start_ns + slot * SLOT_NS);
            }
        }
        end_ns
    }

    fn send_batch(&mut self, id: u64, start_ns: u64) -> u64 {
        let schema = self.node.config.schema.clone();
        let batch = Batch::random(id, &schema, FRAMES, &mut self.chance);
        let damage = self.pick_damage();
        self.current = Some(self.sent.len());
        let mut order: Vec<(usize, usize)> = Vec::new();
        for slot in 0..FRAMES as usize {
            order.extend((0..2).filter(|&l| slot < batch.lanes[l].len()).map(|l| (l, slot)));
        }
        let victim = self.chance.below(FRAMES / 2) as usize;
        let mut at_ns = start_ns;
        for (number, &(lane, sequence)) in order.iter().enumerate() {
            at_ns += SLOT_NS;
            let bytes = batch.data(&schema, lane, sequence);
            match damage {
                Damage::LostFrame if number == victim => continue,
                Damage::CorruptFrame if number == victim => {
                    let mut bytes = bytes;
                    let bit = self.chance.below(8 * bytes.len() as u64) as usize;
                    bytes[bit / 8] ^= 1 << (bit % 8);
                    self.corrupt += 1;
                    self.put(at_ns, lane, bytes);
                    continue;
                }
                Damage::DifferingCopy if number == victim => {
                    let mut payload = batch.lanes[lane][sequence].clone();
                    *payload.last_mut().unwrap() ^= 1;
                    let mut other = Vec::new();
                    let header = batch.header(&schema, lane, sequence);
                    encode_data(&mut other, &header, schema.record_bytes(), &payload);
                    self.put(at_ns, lane, other);
                }
                Damage::ExtraFrame if number == victim => {
                    let mut other = Vec::new();
                    let header = batch.header(&schema, lane, batch.lanes[lane].len());
                    let payload = &batch.lanes[lane][sequence];
                    encode_data(&mut other, &header, schema.record_bytes(), payload);
                    self.put(at_ns, lane, other);
                }
                Damage::DifferingClose if number == victim => {
                    let mut totals = batch.totals(&schema);
                    totals[lane].records += 1;
                    let close = batch.close_with(&schema, lane, &totals);
                    self.put(at_ns, lane, close);
                }
                _ => {}
            }
            self.send(at_ns, lane, &bytes);
        }
        if damage != Damage::LostClose {
            for lane in 0..2 {
                let close = batch.close(&schema, lane);
                self.send(at_ns, lane, &close);
            }
        }
        self.current = None;
        self.sent.push(Sent { batch, damage, sized: None });
        at_ns
    }

    fn pick_damage(&mut self) -> Damage {
        if !self.chance.percent(self.faults.damage_percent) {
            return Damage::None;
        }
        const ALL: [Damage; 6] = [
            Damage::LostFrame,
            Damage::CorruptFrame,
            Damage::LostClose,
            Damage::DifferingCopy,
            Damage::ExtraFrame,
            Damage::DifferingClose,
        ];
        ALL[self.chance.below(6) as usize]
    }

    /// One frame of a batch that nobody finishes, or of somebody else.
    fn send_foreign(&mut self, at_ns: u64) {
        let schema = self.node.config.schema.clone();
        let foreign = Batch::random(self.chance.next() | 1 << 63, &schema, 4, &mut self.chance);
        let lane = usize::from(foreign.lanes[0].is_empty());
        let mut header = foreign.header(&schema, lane, 0);
        match self.chance.below(4) {
            0 => header.cluster = ClusterId(1),
            1 => header.fingerprint = Fingerprint(header.fingerprint.0 ^ 1),
            2 => return self.put(at_ns, lane, foreign.close(&schema, lane)),
            _ => return self.put(at_ns, lane, foreign.data(&schema, lane, 0)),
        }
        self.foreign_cluster += 1;
        let mut bytes = Vec::new();
        encode_data(&mut bytes, &header, schema.record_bytes(), &foreign.lanes[lane][0]);
        self.put(at_ns, lane, bytes);
    }

    /// Delivers everything on the wire in order of time, then lets all waits run out.
    fn run(&mut self) {
        self.wire.sort_by_key(|delivery| delivery.at_ns);
        let mut now_ns = 0;
        let wire = std::mem::take(&mut self.wire);
        for delivery in &wire {
            now_ns = delivery.at_ns;
            // The first to ask for the size of a batch decides it; the test asks before anyone.
            if let Some(sent) = delivery.sent.map(|index| &mut self.sent[index]) {
                let board = &self.node.config.board;
                sent.sized.get_or_insert_with(|| board.agree(sent.batch.id));
            }
            self.node.queues[delivery.queue].on_datagram(&delivery.bytes, now_ns);
            match self.chance.below(3) {
                0 => self.node.pump_queue(0, now_ns),
                1 => self.node.pump_queue(1, now_ns),
                _ => self.node.pump_sealer(now_ns),
            }
        }
        for _ in 0..100 {
            now_ns += (IDLE_NS + GRACE_NS) / 50;
            self.node.pump(now_ns);
        }
        let frames_in: u64 = self.node.queues.iter().map(|q| q.stats().frames_in).sum();
        assert_eq!(frames_in, wire.len() as u64);
        assert_eq!(self.node.sealer.next_tick_ns(), None, "nothing is left open");
        assert_eq!(self.node.refused("busy"), 0, "every partial came back");
    }

    /// Checks every batch; `all_intact_seal` where never more than two were open.
    fn check(&self, all_intact_seal: bool, exact_sizes: bool) {
        for sent in &self.sent {
            let id = sent.batch.id;
            let (sealed, given_up) = (self.node.sealed.get(&id), self.node.incomplete.get(&id));
            assert!(sealed.is_some() != given_up.is_some(), "batch {id}: one end for each");
            match (sent.damage, sealed) {
                (Damage::None, Some(sealed)) => self.check_sealed(sent, sealed, exact_sizes),
                (Damage::None, None) => {
                    assert!(!all_intact_seal, "intact batch {id} was given up: {given_up:?}");
                }
                (damage, None) if all_intact_seal => {
                    let reason = match damage {
                        Damage::LostFrame | Damage::CorruptFrame => IncompleteReason::Gap,
                        Damage::LostClose => IncompleteReason::NoClose,
                        _ => IncompleteReason::Conflict,
                    };
                    assert_eq!(given_up, Some(&reason), "batch {id}: {damage:?}");
                }
                (_, None) => {}
                (damage, Some(_)) => panic!("batch {id} with {damage:?} was sealed"),
            }
        }
        let malformed: u64 = ["length", "magic", "version", "checksum", "kind", "lane", "records"]
            .iter()
            .map(|label| self.node.refused(label))
            .sum();
        assert_eq!(malformed, self.corrupt);
        assert_eq!(
            self.node.refused("cluster") + self.node.refused("schema"),
            self.foreign_cluster
        );
        assert_eq!(self.node.refused("full"), 0);
    }

    fn check_sealed(&self, sent: &Sent, sealed: &SealedBatch, exact_sizes: bool) {
        let config = &self.node.config;
        let schema = &config.schema;
        assert_eq!(sealed.records, sent.batch.records(schema));
        assert_eq!(sealed.hash.algorithm, sent.batch.hash);
        assert_eq!(sealed.hash.digest, sent.batch.reference_hash(schema));
        let reference = sent.batch.reference_columns(config, sent.sized.unwrap());
        for (ours, theirs) in sealed.columns.iter().zip(&reference) {
            assert_eq!((ours.flags, ours.zone), (theirs.flags, theirs.zone));
            assert!(!exact_sizes || **ours == *theirs, "batch {}", sent.batch.id);
        }
        let fields = truth::fields(schema);
        let mut flags = vec![ColumnFlags::default(); fields.len()];
        for record in sent.batch.lanes.concat().concat().chunks_exact(schema.record_bytes()) {
            let row = decode_row(&fields, record);
            for ((value, flags), sealed) in row.iter().zip(&mut flags).zip(&sealed.columns) {
                match value {
                    Value::Null => flags.has_null = true,
                    Value::Float(v) if v.is_nan() => flags.has_nan = true,
                    _ => {
                        flags.has_value = true;
                        assert!(may_hold(&sealed.filter, value), "lost {value:?}");
                    }
                }
            }
        }
        assert!(sealed.columns.iter().map(|column| column.flags).eq(flags));
    }
}

/// Asks for the original value by a key map of the test's own.
fn may_hold(filter: &Filter, value: &Value) -> bool {
    use bloomrf_kernels::scalar::{bitmap, blocked};
    let key: u64 = match value {
        Value::Int(v) => u64::try_from(*v).unwrap(),
        Value::Time(ticks, _) => u64::try_from(i128::from(*ticks) + (1 << 63)).unwrap(),
        Value::Float(v) if v.is_sign_negative() && *v != 0.0 => {
            u64::from(u32::MAX - (*v as f32).to_bits())
        }
        Value::Float(v) => (1 << 31) + u64::from((v.abs() as f32).to_bits()),
        Value::Octets(_, bytes) => bytes.iter().fold(0, |key, &b| key << 8 | u64::from(b)),
        other => panic!("no such column: {other:?}"),
    };
    match filter {
        Filter::Bitmap8(words) => bitmap::any(words, key as u16, key as u16),
        Filter::Bitmap16(words) => bitmap::any(words, key as u16, key as u16),
        Filter::List16(list) => list.contains(&(key as u16)),
        Filter::Near16 { base, offsets } => {
            key.checked_sub(*base).is_some_and(|o| offsets.holds(o))
        }
        Filter::Exact(keys) => keys.any(key, key),
        Filter::BloomRf { layers, hashed, top } => {
            let mut plan = RangePlan::default();
            plan.build(layers, key, key, 256);
            plan.run(hashed, top.view()).may_hold()
        }
        Filter::Blocked { seed, blocks } => {
            let Value::Octets(_, bytes) = value else { panic!("a wide column: {value:?}") };
            blocked::contains(
                blocked::K_DEFAULT,
                blocks,
                bloomrf_kernels::hash::bytes(bytes, *seed),
            )
        }
        Filter::None | Filter::Sliced(_) => panic!("every column is filtered by itself"),
    }
}

const CALM: Faults = Faults {
    reorder_slots: 0,
    duplicate_percent: 0,
    wrong_queue_percent: 0,
    damage_percent: 0,
    foreign_percent: 0,
    stride_slots: 30,
};

fn run_worlds(name: &str, faults: Faults, all_intact_seal: bool) {
    for seed in seeds(8) {
        println!("{name}: SEED={seed}");
        let mut world = World::new(seed, faults);
        let end_ns = world.send_batches(100, 40, 0);
        let rough = world.sent.len();
        world.faults = CALM;
        world.send_batches(200, 8, end_ns + IDLE_NS + 2 * GRACE_NS);
        world.run();
        world.check(all_intact_seal, faults.foreign_percent == 0);
        for sent in &world.sent[rough..] {
            assert!(world.node.sealed.contains_key(&sent.batch.id), "ingest goes on");
        }
    }
}

#[test]
fn batches_on_a_perfect_network_all_seal_and_every_frame_is_counted() {
    run_worlds("perfect", CALM, true);
    let mut world = World::new(5, CALM);
    world.send_batches(1, 10, 0);
    world.run();
    let stats: Vec<_> = world.node.queues.iter().map(|q| *q.stats()).collect();
    assert_eq!(stats.iter().map(|s| s.data).sum::<u64>(), 10 * FRAMES);
    assert_eq!(stats.iter().map(|s| s.close).sum::<u64>() + world.node.refused("late"), 20);
    let records: u64 = world.sent.iter().map(|s| s.batch.records(&world.node.config.schema)).sum();
    assert_eq!(stats.iter().map(|s| s.records).sum::<u64>(), records);
}

#[test]
fn reordered_doubled_and_misrouted_frames_change_nothing() {
    let faults =
        Faults { reorder_slots: 6, duplicate_percent: 20, wrong_queue_percent: 30, ..CALM };
    run_worlds("reordered", faults, true);
}

#[test]
fn damaged_batches_never_seal_and_intact_ones_do() {
    let faults = Faults {
        reorder_slots: 6,
        duplicate_percent: 10,
        wrong_queue_percent: 20,
        damage_percent: 40,
        ..CALM
    };
    run_worlds("damaged", faults, true);
}

#[test]
fn foreign_batches_cannot_stop_ingest() {
    let faults = Faults {
        reorder_slots: 4,
        duplicate_percent: 5,
        wrong_queue_percent: 20,
        damage_percent: 20,
        foreign_percent: 3,
        ..CALM
    };
    run_worlds("foreign", faults, false);
}

#[test]
fn batches_that_nobody_closes_leave_partials_for_a_healthy_one() {
    let mut node = Node::new(1);
    let (schema, mut chance) = (node.config.schema.clone(), Splitmix::new(1));
    // All within the grace time: the sealer keeps the partial of each while it can.
    for id in 1..=3 * PARTIALS_PER_QUEUE as u64 {
        let unclosed = Batch::random(id, &schema, 1, &mut chance);
        let lane = usize::from(unclosed.lanes[0].is_empty());
        node.queues[0].on_datagram(&unclosed.data(&schema, lane, 0), id);
        node.pump(id);
    }
    let healthy = Batch::random(1_000, &schema, 4, &mut chance);
    for (lane, frames) in healthy.lanes.iter().enumerate() {
        for sequence in 0..frames.len() {
            node.queues[0].on_datagram(&healthy.data(&schema, lane, sequence), 100);
        }
    }
    node.queues[0].on_datagram(&healthy.close(&schema, 0), 100);
    node.pump(100);
    assert!(node.sealed.contains_key(&1_000), "{:?}", node.incomplete);
    assert_eq!(node.refused("busy"), 0);
}

#[test]
fn four_interleaved_batches_are_given_up_rather_than_mixed() {
    let faults = Faults {
        reorder_slots: 8,
        duplicate_percent: 10,
        wrong_queue_percent: 50,
        damage_percent: 20,
        stride_slots: 10,
        ..CALM
    };
    run_worlds("crowded", faults, false);
}
