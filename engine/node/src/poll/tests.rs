//! Claims about a poll loop, over a link in memory.

use std::time::{Duration, Instant};

use bloomrf_engine::filter::FilterPolicy;
use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::ingest::{IngestConfig, OpenBoard, Tuning};
use bloomrf_engine::schema::{PacketFields, Schema};
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_engine::wire::frame::{FrameHeader, LaneTotal, encode_close, encode_data};
use bloomrf_kernels::SizeClasses;
use bloomrf_kernels::params::Budget;
use bloomrf_netio::link::mem::{self, MemSender};
use bloomrf_netio::{LinkError, LinkStats, Waker};

use super::*;
use crate::config::Idle;
use crate::env::SystemClock;

struct Bench {
    sender: MemSender,
    waker: Waker,
    events: rtrb::Consumer<QueueEvent>,
    commands: rtrb::Producer<QueueCommand>,
    counters: Arc<QueueCounters>,
    stop: Arc<Stop>,
    schema: Arc<Schema>,
    thread: std::thread::JoinHandle<()>,
}

/// Delivers what there is, and fails all the same.
struct FailingLink(mem::MemLink);

impl Link for FailingLink {
    fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>) -> Result<(), LinkError> {
        self.0.rx_burst(burst)?;
        Err(LinkError::Receive(std::io::ErrorKind::OutOfMemory.into()))
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError> {
        self.0.wait(timeout)
    }

    fn waker(&self) -> Waker {
        self.0.waker()
    }

    fn stats(&self) -> LinkStats {
        self.0.stats()
    }

    fn describe(&self) -> String {
        self.0.describe()
    }
}

fn start(events_max: usize) -> Bench {
    start_on(events_max, |link| Box::new(link))
}

/// A queue of cluster 1 and the schema `packet`.
pub(super) fn queue() -> (Queue, Arc<Schema>) {
    let schema = Arc::new(Schema::packet());
    let policy = FilterPolicy {
        budget: Budget { bits_per_key: 8, levels: 4 },
        sizes: SizeClasses::new(1),
        seed: 1,
        filtered: vec![true; schema.columns().len()],
        kernel: bloomrf_kernels::Kernel::from_env()
            .expect("BLOOMRF_KERNEL names a set of this CPU"),
        exact_keys_max: 0,
    };
    let config = IngestConfig {
        cluster: ClusterId(1),
        schema: Arc::clone(&schema),
        policy: Arc::new(policy),
        board: Arc::new(OpenBoard::new(10)),
        idle_ns: 60_000_000_000,
        frames_max: 16,
        tuning: Tuning::default(),
    };
    (Queue::new(config), schema)
}

fn start_on(events_max: usize, of: impl FnOnce(mem::MemLink) -> Box<dyn Link>) -> Bench {
    let (queue, schema) = queue();
    let (sender, link) = mem::pair(1_024);
    let waker = link.waker();
    let (events_in, events) = rtrb::RingBuffer::new(events_max);
    let (commands, commands_out) = rtrb::RingBuffer::new(8);
    let (counters, stop) = (Arc::<QueueCounters>::default(), Arc::<Stop>::default());
    let poll = PollLoop {
        link: of(link),
        stage: Stage::Payloads,
        queue,
        allow: Networks::default(),
        commands: commands_out,
        events: events_in,
        sealer: std::thread::current(),
        backoff: Backoff::new(Idle::Sleep),
        counters: Arc::clone(&counters),
        numbers: StageNumbers::default(),
        clock: Arc::new(SystemClock::new()),
        stop: Arc::clone(&stop),
    };
    let thread = std::thread::spawn(move || poll.run(&Pulse::default()));
    Bench { sender, waker, events, commands, counters, stop, schema, thread }
}

impl Bench {
    /// A batch of one record, with its CLOSE.
    fn send(&self, batch: u64) {
        let header = FrameHeader {
            cluster: ClusterId(1),
            fingerprint: self.schema.fingerprint(),
            batch,
            hash: HashAlgorithm::Xxh3,
            lane: 0,
            lanes: 1,
            sequence: 0,
        };
        let mut record = vec![0; self.schema.record_bytes()];
        PacketFields::default().encode(&mut record);
        let (mut data, mut close) = (Vec::new(), Vec::new());
        encode_data(&mut data, &header, record.len(), &record);
        encode_close(&mut close, &header, &[LaneTotal { frames: 1, records: 1 }]);
        assert!(self.sender.send(&data) && self.sender.send(&close));
    }

    fn wait(&self, what: &str, done: impl Fn(&QueueNumbers) -> bool) {
        let start = Instant::now();
        while !done(&self.counters.load()) {
            assert!(start.elapsed() < Duration::from_secs(20), "waited in vain for {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn end(self) {
        self.stop.raise();
        self.waker.wake();
        self.thread.join().unwrap();
    }
}

#[test]
fn a_sealer_that_takes_nothing_does_not_stop_ingest_and_loses_no_event() {
    let mut bench = start(1);
    // The second batch opens and closes while the event of the first one fills the ring.
    bench.send(1);
    bench.send(2);
    bench.wait("four frames", |n| n.ingest.frames_in == 4);
    let mut closed = Vec::new();
    let start = Instant::now();
    while closed.len() < 2 {
        assert!(start.elapsed() < Duration::from_secs(20), "an event was lost: {closed:?}");
        if let Ok(QueueEvent::Close { batch, .. }) = bench.events.pop() {
            closed.push(batch);
        }
        std::thread::yield_now();
    }
    closed.sort_unstable();
    assert_eq!(closed, [1, 2]);
    bench.end();
}

#[test]
fn a_sleeping_queue_is_woken_for_a_command_and_hands_over_its_share() {
    let mut bench = start(EVENTS_MAX);
    bench.send(7);
    bench.wait("two frames", |n| n.ingest.frames_in == 2);
    bench.commands.push(QueueCommand::Take(7)).unwrap();
    bench.waker.wake();
    let start = Instant::now();
    let rows = loop {
        assert!(start.elapsed() < Duration::from_secs(20), "no answer to Take");
        if let Ok(QueueEvent::Taken { partial, .. }) = bench.events.pop() {
            break partial.unwrap().rows;
        }
        std::thread::yield_now();
    };
    assert_eq!(rows, 1);
    bench.end();
}

#[test]
fn the_last_counters_are_published_when_the_loop_ends() {
    let bench = start(EVENTS_MAX);
    for _ in 0..100 {
        assert!(bench.sender.send(b"no frame"));
    }
    bench.wait("the first frame", |n| n.ingest.frames_in > 0);
    let counters = Arc::clone(&bench.counters);
    bench.wait("all frames", |n| n.ingest.frames_in == 100);
    bench.end();
    let numbers = counters.load();
    assert_eq!(numbers.ingest.refused.iter().sum::<u64>(), 100);
    assert_eq!((numbers.link.received, numbers.stage.failures), (100, 0));
}

#[test]
fn frames_received_before_a_failure_are_not_lost() {
    let bench = start_on(EVENTS_MAX, |link| Box::new(FailingLink(link)));
    for batch in 1..=10 {
        bench.send(batch);
    }
    bench.wait("all frames", |n| n.link.received == 20 && n.stage.failures > 1);
    let counters = Arc::clone(&bench.counters);
    bench.end();
    assert_eq!(counters.load().ingest.frames_in, 20);
}
