//! Claims about a tap: one poll loop's turn after the other, under a clock of the test's own, with
//! a sealer that works when it is told to.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

use bloomrf_engine::filter::FilterPolicy;
use bloomrf_engine::ingest::{IngestConfig, OpenBoard, Tuning};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::seal::{SealAction, Sealer, SealerConfig};
use bloomrf_kernels::SizeClasses;
use bloomrf_kernels::params::Budget;
use bloomrf_netio::link::mem;
use bloomrf_netio::{BURST_MAX, LinkStats, Received, Waker};

use super::*;

const MS: u64 = 1_000_000;
const SETTLE_NS: u64 = 3_000 * MS;
const WALL_US: i64 = 1_790_000_000_000_000;

struct TestClock(AtomicU64);

impl Clock for TestClock {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn unix_us(&self) -> i64 {
        WALL_US + (self.now_ns() / 1_000) as i64
    }
}

/// A ring of frames with their times, and a mark that the test moves.
#[derive(Default)]
struct TestLink {
    ring: VecDeque<(Vec<u8>, i64)>,
    held: Vec<(Vec<u8>, i64)>,
    loss_mark: u64,
    is_exhausted: bool,
    fails: bool,
}

impl Link for TestLink {
    fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>) -> Result<(), LinkError> {
        let count = self.ring.len().min(BURST_MAX);
        self.held = self.ring.drain(..count).collect();
        self.held.iter().for_each(|(bytes, ts_ns)| burst.push(Received::ethernet(bytes, *ts_ns)));
        match std::mem::take(&mut self.fails) {
            true => Err(LinkError::Receive(std::io::ErrorKind::NetworkDown.into())),
            false => Ok(()),
        }
    }

    fn wait(&mut self, _: Duration) -> Result<(), LinkError> {
        Ok(())
    }

    fn waker(&self) -> Waker {
        mem::pair(1).1.waker()
    }

    fn stats(&self) -> LinkStats {
        LinkStats { loss_mark: self.loss_mark, ..LinkStats::default() }
    }

    fn describe(&self) -> String {
        "test".to_owned()
    }

    fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }
}

struct World {
    clock: Arc<TestClock>,
    link: TestLink,
    queue: Queue,
    tap: Tap,
    verdicts: rtrb::Consumer<TapVerdict>,
    sealer: Sealer,
    numbers: StageNumbers,
    /// Records of sealed batches.
    sealed: BTreeMap<BatchId, u64>,
    /// Batches judged.
    judged: BTreeMap<BatchId, bool>,
    sent: u64,
}

impl World {
    /// Batches of 100 records or a second; ids 1000, 1001, ...
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut TapConfig)) -> Self {
        let schema = Arc::new(Schema::packet());
        let policy = FilterPolicy {
            budget: Budget { bits_per_key: 8, levels: 4 },
            sizes: SizeClasses::new(1),
            seed: 1,
            filtered: vec![true; schema.columns().len()],
            kernel: bloomrf_kernels::Kernel::best(),
            exact_keys_max: 0,
        };
        let ingest = IngestConfig {
            cluster: ClusterId(1),
            schema: Arc::clone(&schema),
            policy: Arc::new(policy),
            board: Arc::new(OpenBoard::new(100)),
            idle_ns: u64::MAX,
            frames_max: 64,
            tuning: Tuning::default(),
        };
        let mut config = TapConfig {
            cluster: ClusterId(1),
            fingerprint: schema.fingerprint(),
            hash: HashAlgorithm::Xxh3,
            batch_records: 100,
            batch_ns: 1_000 * MS,
            settle_ns: SETTLE_NS,
            is_patient: false,
        };
        change(&mut config);
        let clock = Arc::new(TestClock(AtomicU64::new(0)));
        let ids = BatchIds::of_queue(1_000, 0, 1);
        let (tap, verdicts) = Tap::new(config, Arc::<TestClock>::clone(&clock), ids, 0);
        let sealer = SealerConfig {
            ingest: ingest.clone(),
            queues: 1,
            grace_ns: 1_000_000_000,
            retry_ns: 1,
            repair_ns: 0,
        };
        World {
            clock,
            link: TestLink::default(),
            queue: Queue::new(ingest),
            tap,
            verdicts,
            sealer: Sealer::new(sealer),
            numbers: StageNumbers::default(),
            sealed: BTreeMap::new(),
            judged: BTreeMap::new(),
            sent: 0,
        }
    }

    /// Puts packets into the ring, without a time of their own.
    fn send(&mut self, count: u64) {
        self.send_at(count, 0);
    }

    fn send_at(&mut self, count: u64, ts_ns: i64) {
        for _ in 0..count {
            let mut frame = vec![0; 60];
            frame[..8].copy_from_slice(&self.sent.to_be_bytes());
            self.link.ring.push_back((frame, ts_ns));
            self.sent += 1;
        }
    }

    /// One turn of the poll loop.
    fn turn(&mut self) -> usize {
        let now_ns = self.clock.now_ns();
        self.tap.turn(&mut self.link, &mut self.queue, &mut self.numbers, now_ns).0
    }

    /// Turns until the ring is found empty, the sealer working in between.
    fn drain(&mut self) {
        loop {
            let count = self.turn();
            self.seal();
            if count == 0 && self.link.ring.is_empty() {
                return;
            }
        }
    }

    /// Lets time go on, with a turn each 10 ms.
    fn pass(&mut self, ms: u64) {
        for _ in 0..ms.div_ceil(10) {
            self.clock.0.fetch_add(10 * MS, Ordering::Relaxed);
            self.drain();
        }
    }

    /// Everything between queue, taps and sealer, until nothing moves.
    fn seal(&mut self) {
        let now_ns = self.clock.now_ns();
        loop {
            let mut moved = false;
            while let Some(event) = self.queue.next_event() {
                self.sealer.on_event(0, event, now_ns);
                moved = true;
            }
            while let Ok(TapVerdict { batch, is_intact, span }) = self.verdicts.pop() {
                assert_eq!(self.judged.insert(batch, is_intact), None, "judged twice");
                assert!(span.records > 0 && span.from_ns <= span.to_ns);
                if !is_intact && !self.sealer.on_lost(batch) {
                    assert!(self.sealed.contains_key(&batch));
                }
                moved = true;
            }
            while let Some(action) = self.sealer.next_action() {
                moved = true;
                match action {
                    SealAction::Queue(_, command) => self.queue.on_command(command, now_ns),
                    SealAction::Sealed(batch) => {
                        assert_eq!(self.sealed.insert(batch.batch, batch.records), None);
                    }
                    SealAction::Incomplete(..) => {}
                    SealAction::Repair { .. } => panic!("a tap has nobody to ask"),
                }
            }
            if !moved {
                return;
            }
        }
    }

    /// Verdicts in the order of ids.
    fn verdicts(&self) -> Vec<bool> {
        self.judged.values().copied().collect()
    }

    fn records(&self) -> u64 {
        self.sealed.values().sum()
    }
}

#[test]
fn batches_are_closed_by_count_and_every_packet_is_in_one() {
    let mut world = World::new();
    for _ in 0..50 {
        world.send(23);
        world.drain();
    }
    let expected: BTreeMap<_, _> = (1_000..1_011).map(|id| (id, 100)).collect();
    assert_eq!(world.sealed, expected);
    assert!(world.judged.is_empty(), "nobody knows yet what their counters will say");
    world.pass(SETTLE_NS / MS + 1_000);
    assert_eq!(world.records(), 50 * 23, "the last one was closed by time");
    assert_eq!(world.verdicts(), [true; 12]);
    assert_eq!(world.tap.counts().packets(), 50 * 23);
}

#[test]
fn a_batch_ends_by_the_clock_and_by_the_time_between_its_packets() {
    let mut world = World::new();
    world.send(3);
    world.drain();
    world.pass(980);
    assert!(world.sealed.is_empty());
    world.pass(20);
    assert_eq!(world.records(), 3, "a second after its first packet");
    // The capture's own time, played at once: three packets in four seconds.
    world.send_at(1, 1_000_000_000);
    world.send_at(1, 1_999_999_999);
    world.send_at(1, 2_000_000_000);
    world.send_at(1, 1_000_000_000);
    world.link.is_exhausted = true;
    world.drain();
    let records: Vec<u64> = world.sealed.values().copied().collect();
    assert_eq!(records, [3, 2, 2], "a packet out of order ends nothing");
}

#[test]
fn an_end_of_a_replay_ends_its_last_batch_and_judges_it() {
    let mut world = World::with(|config| config.settle_ns = 0);
    world.send(250);
    world.link.is_exhausted = true;
    world.drain();
    assert_eq!(world.sealed.values().copied().collect::<Vec<_>>(), [100, 100, 50]);
    assert_eq!(world.verdicts(), [true; 3]);
}

#[test]
fn a_loss_spoils_the_batch_it_falls_into_and_no_other() {
    let mut world = World::new();
    world.send(100);
    world.drain();
    world.pass(5_000);
    world.send(50);
    world.drain();
    world.link.loss_mark += 1;
    world.send(50);
    world.pass(2_000);
    world.send(100);
    world.pass(5_000);
    assert_eq!(world.verdicts(), [true, false, true]);
    assert_eq!(world.sealed.keys().copied().collect::<Vec<_>>(), [1_000, 1_002]);
}

#[test]
fn a_loss_behind_packets_that_wait_spoils_the_batch_that_they_belong_to() {
    let mut world = World::new();
    world.send(100);
    world.drain();
    world.pass(5_000);
    // The ring fills, then packets are lost: those that would have come after all of these.
    world.send(250);
    world.link.loss_mark += 5;
    world.pass(10_000);
    assert_eq!(world.records() + 250, 350, "none of the three is sealed");
    assert_eq!(world.verdicts(), [true, false, false, false]);
    // Once found drained, and a moment later, it is over.
    world.send(100);
    world.pass(10_000);
    assert_eq!(world.verdicts(), [true, false, false, false, true]);
}

#[test]
fn a_loss_that_is_counted_late_spoils_a_batch_that_is_sealed_already() {
    let mut world = World::new();
    world.send(100);
    world.drain();
    world.pass(2_000);
    world.send(1);
    world.drain();
    assert_eq!(world.sealed.keys().copied().collect::<Vec<_>>(), [1_000]);
    world.link.loss_mark += 1;
    world.pass(10_000);
    assert_eq!(world.verdicts(), [false, false], "whose packets they were, nobody knows");
}

#[test]
fn a_loss_between_two_batches_spoils_the_second() {
    let mut world = World::new();
    world.send(100);
    world.drain();
    world.send(1);
    world.pass(60_000);
    world.link.loss_mark += 1;
    world.pass(60_000);
    world.send(100);
    world.pass(60_000);
    world.send(100);
    world.pass(60_000);
    let verdicts = world.verdicts();
    assert_eq!(verdicts[..3], [true, true, false]);
    assert!(verdicts.ends_with(&[true]), "{verdicts:?}");
}

#[test]
fn a_failed_receive_counts_as_a_loss() {
    let mut world = World::new();
    world.send(10);
    world.drain();
    world.link.fails = true;
    world.pass(10_000);
    assert_eq!(world.verdicts(), [false]);
}

#[test]
fn while_the_sealer_is_behind_the_batch_goes_on_and_nothing_is_refused() {
    let mut world = World::new();
    world.send(1_000);
    while world.turn() > 0 {}
    assert_eq!(world.queue.stats().refused_sum(), 0);
    world.pass(10_000);
    assert_eq!(world.records(), 1_000);
    assert_eq!(world.sealed.values().copied().collect::<Vec<_>>(), [100, 900]);
    assert!(world.verdicts().iter().all(|intact| *intact));
}

#[test]
fn a_replay_waits_for_the_sealer_and_keeps_its_batches_as_they_were_asked_for() {
    let mut world = World::with(|config| config.is_patient = true);
    world.send(1_000);
    world.link.is_exhausted = true;
    world.drain();
    assert_eq!(world.records(), 1_000);
    assert!(world.sealed.values().all(|&records| (100..164).contains(&records)));
}

#[test]
fn records_that_the_queue_refuses_spoil_their_batch_and_free_its_place() {
    let mut world = World::new();
    // More frames than the queue keeps digests of: 64, of 111 records each.
    world.send(70 * 111);
    while world.turn() > 0 {}
    assert!(world.queue.stats().refused_sum() > 0);
    world.pass(10_000);
    assert_eq!(world.verdicts(), [true, false]);
    world.send(100);
    world.pass(10_000);
    assert_eq!(world.verdicts(), [true, false, true]);
    assert_eq!(world.sealed.keys().copied().collect::<Vec<_>>(), [1_000, 1_002]);
}

#[test]
fn verdicts_wait_while_nobody_takes_them_and_none_is_lost() {
    let mut world = World::with(|config| {
        config.batch_records = 1;
        config.settle_ns = 0;
    });
    let batches = 400;
    for _ in 0..batches {
        world.send(1);
        world.turn();
        // Queue and sealer only: verdicts stay in their ring.
        while let Some(event) = world.queue.next_event() {
            world.sealer.on_event(0, event, 0);
        }
        while let Some(action) = world.sealer.next_action() {
            if let SealAction::Queue(_, command) = action {
                world.queue.on_command(command, 0);
            }
        }
    }
    assert_eq!(world.verdicts.slots(), 256);
    world.pass(1_000);
    assert!(world.judged.len() > 256 && world.judged.values().all(|intact| *intact));
}
