//! How long a whole node takes to answer over UDP: 512 candidates, twelve columns, with ingest
//! idle, at half and at all of what the node takes, in turn. Prints CSV: the asker's times (send
//! to receive) and the node's own, microseconds.
//!
//! Two cores in all: the ingest queue on the first; responder, control and seal wherever the
//! system puts them. The sender shares the first core with the queue, so that its own work, which
//! in a cluster is another machine's, takes nothing from the others. `ingest full` is the most
//! that the two of them do there.

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bloomrf_bench::Splitmix;
use bloomrf_bench::live::traffic::{COLUMNS, Cells};
use bloomrf_bench::live::{Asker, Cluster, ClusterOptions, Odd, Sender, Window};
use bloomrf_engine::predicate::Predicate;
use bloomrf_engine::wire::lookup::LookupStatus;
use clap::Parser;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Lookup latency of a whole node.
#[derive(Debug, Parser)]
struct Options {
    /// Seconds of each phase of each round.
    #[arg(long, default_value_t = 4.0)]
    seconds: f64,
    /// Rounds through all phases.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Batches held, and asked about.
    #[arg(long, default_value_t = 512)]
    batches: usize,
    /// Records of a batch.
    #[arg(long, default_value_t = 16_384)]
    records: u64,
    /// Leave sender and queue to the system: no core is given to them.
    #[arg(long)]
    unpinned: bool,
    /// What cargo says to benches.
    #[arg(long, hide = true)]
    bench: bool,
}

/// How fast records come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ingest {
    Idle,
    Half,
    Full,
}

/// How fast questions come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// The next one when the last was answered.
    BackToBack,
    /// One every two milliseconds.
    Paced,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    /// No column holds its value in any batch: all of them are asked about all batches.
    OrAbsent,
    /// A record that is there.
    AndPresent,
}

const INGEST: [Ingest; 3] = [Ingest::Idle, Ingest::Half, Ingest::Full];
const PACES: [Pace; 2] = [Pace::BackToBack, Pace::Paced];
const QUESTIONS: [Question; 2] = [Question::OrAbsent, Question::AndPresent];

/// Of one combination of them.
struct Case {
    ingest: Ingest,
    pace: Pace,
    question: Question,
    asker_us: Vec<f64>,
    node_us: Vec<f64>,
    timed_out: u64,
    unanswered: u64,
    records: u64,
    seconds: f64,
}

/// Between the two threads.
#[derive(Default)]
struct Orders {
    /// Records per second; `STOPPED`: none.
    rate: AtomicU64,
    sent: AtomicU64,
    closed: AtomicU64,
    end: AtomicBool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let cluster = Cluster::start(&ClusterOptions {
        retain_batches: options.batches,
        records: options.records,
        arena_bytes: 512 << 20,
        ingest_core: (!options.unpinned).then_some(0),
    })?;
    let orders = Orders { rate: AtomicU64::new(STOPPED), ..Orders::default() };
    let cases = std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let sent = send(&cluster, &options, &orders);
            orders.end.store(true, Ordering::Release);
            sent
        });
        let cases = measure(&cluster, &options, &orders);
        orders.end.store(true, Ordering::Release);
        sender.join().map_err(|_| "the sender panicked".to_owned())??;
        cases
    })?;
    let status = cluster.status();
    cluster.stop();
    if status.incomplete > 0 {
        eprintln!("{} batches are incomplete, {} frames lost", status.incomplete, status.dropped);
    }
    println!(
        "ingest,questions,question,records/s,lookups,timed out,unanswered,asker p50 us,asker p99 \
         us,asker p99.9 us,asker max us,node p50 us,node p99 us,node p99.9 us,node max us"
    );
    cases.into_iter().for_each(|case| case.print());
    Ok(())
}

/// Fills the store, then sends as ordered.
fn send(cluster: &Cluster, options: &Options, orders: &Orders) -> Result<(), String> {
    if !options.unpinned {
        let mut first = CpuSet::new();
        first.set(0);
        sched_setaffinity(None, &first).map_err(|why| format!("core 0: {why}"))?;
    }
    let window = Window { frames: 1_024, batches: 2, rate: 0 };
    let mut sender = Sender::new(cluster, window, Odd::default())?;
    let mut rate = 0;
    while !orders.end.load(Ordering::Acquire) {
        let is_filling = sender.sent().batches < options.batches as u64;
        let ordered = orders.rate.load(Ordering::Acquire);
        if !is_filling && ordered == STOPPED {
            std::thread::sleep(Duration::from_millis(1));
            rate = STOPPED;
            continue;
        }
        if !is_filling && ordered != rate {
            sender.set_rate(ordered);
            rate = ordered;
        }
        sender.batch(options.records)?;
        orders.sent.store(sender.sent().records, Ordering::Release);
        orders.closed.store(sender.sent().batches, Ordering::Release);
    }
    Ok(())
}

fn measure(cluster: &Cluster, options: &Options, orders: &Orders) -> Result<Vec<Case>, String> {
    let batches = options.batches as u64;
    cluster.wait("the store to fill", || {
        orders.end.load(Ordering::Acquire) || cluster.status().store.verified == batches
    })?;
    settle(cluster);
    let store = cluster.status().store;
    eprintln!(
        "{} batches, {} of them sliced, {} MiB",
        store.verified,
        store.sliced_batches,
        store.bytes >> 20
    );
    let full = full_rate(orders);
    eprintln!("ingest at full speed, nobody asks: {full} records/s");
    let mut cases = Vec::new();
    for ingest in INGEST {
        for pace in PACES {
            for question in QUESTIONS {
                cases.push(Case::new(ingest, pace, question));
            }
        }
    }
    let mut asker = Asker::new(cluster)?;
    let mut random = Splitmix::new(512);
    for _ in 0..options.rounds {
        for case in &mut cases {
            let rate = match case.ingest {
                Ingest::Idle => STOPPED,
                Ingest::Half => full / 2,
                Ingest::Full => 0,
            };
            orders.rate.store(rate, Ordering::Release);
            std::thread::sleep(LEAD_IN);
            if rate == STOPPED {
                settle(cluster);
            }
            case.run(&mut asker, options, orders, &mut random)?;
        }
    }
    Ok(cases)
}

/// Records per second that the node takes while nobody asks.
fn full_rate(orders: &Orders) -> u64 {
    orders.rate.store(0, Ordering::Release);
    std::thread::sleep(LEAD_IN);
    let (before, start) = (orders.sent.load(Ordering::Acquire), Instant::now());
    std::thread::sleep(Duration::from_secs(2));
    let sent = orders.sent.load(Ordering::Acquire) - before;
    orders.rate.store(STOPPED, Ordering::Release);
    (sent as f64 / start.elapsed().as_secs_f64()) as u64
}

/// Waits until no more groups are formed.
fn settle(cluster: &Cluster) {
    let mut last = cluster.status().store;
    for _ in 0..200 {
        std::thread::sleep(Duration::from_millis(50));
        let now = cluster.status().store;
        if now == last {
            return;
        }
        last = now;
    }
}

impl Case {
    fn new(ingest: Ingest, pace: Pace, question: Question) -> Self {
        Case {
            ingest,
            pace,
            question,
            asker_us: Vec::new(),
            node_us: Vec::new(),
            timed_out: 0,
            unanswered: 0,
            records: 0,
            seconds: 0.0,
        }
    }

    /// Asks for a phase's time.
    fn run(
        &mut self,
        asker: &mut Asker,
        options: &Options,
        orders: &Orders,
        random: &mut Splitmix,
    ) -> Result<(), String> {
        let (before, start) = (orders.sent.load(Ordering::Acquire), Instant::now());
        while start.elapsed().as_secs_f64() < options.seconds {
            if orders.end.load(Ordering::Acquire) {
                return Err("the sender gave up".to_owned());
            }
            let closed = orders.closed.load(Ordering::Acquire).max(options.batches as u64);
            let first = closed + 1 - options.batches as u64;
            let batch = first + random.draw() % options.batches as u64;
            let predicate = match self.question {
                Question::OrAbsent => Predicate::Or(Cells::absent(random.draw()).leaves()),
                Question::AndPresent => {
                    Predicate::And(Cells::of(batch, random.draw() % options.records).leaves())
                }
            };
            let Some(answer) = asker.ask(predicate, first, options.batches as u32)? else {
                self.unanswered += 1;
                continue;
            };
            let is_there = self.question == Question::AndPresent;
            if is_there && answer.reply.is_excluded((batch - first) as usize) {
                return Err(format!("FALSE NEGATIVE: batch {batch}"));
            }
            self.timed_out += u64::from(answer.reply.status != LookupStatus::Ok);
            self.asker_us.push(answer.took.as_nanos() as f64 / 1e3);
            self.node_us.push(answer.reply.micros.into());
            if self.pace == Pace::Paced {
                std::thread::sleep(PACE);
            }
        }
        self.records += orders.sent.load(Ordering::Acquire) - before;
        self.seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    fn print(mut self) {
        let ingest = match self.ingest {
            Ingest::Idle => "idle",
            Ingest::Half => "half",
            Ingest::Full => "full",
        };
        let pace = match self.pace {
            Pace::BackToBack => "back to back",
            Pace::Paced => "every 2 ms",
        };
        let question = match self.question {
            Question::OrAbsent => format!("OR of {COLUMNS}: absent"),
            Question::AndPresent => format!("AND of {COLUMNS}: a record"),
        };
        print!(
            "{ingest},{pace},{question},{:.0},{},{},{}",
            self.records as f64 / self.seconds,
            self.asker_us.len(),
            self.timed_out,
            self.unanswered
        );
        for times in [&mut self.asker_us, &mut self.node_us] {
            times.sort_by(f64::total_cmp);
            for share in [0.5, 0.99, 0.999, 1.0] {
                let at = (times.len() as f64 * share) as usize;
                let time = times.get(at.min(times.len().saturating_sub(1)));
                print!(",{:.0}", time.copied().unwrap_or(f64::NAN));
            }
        }
        println!();
    }
}

/// No records.
const STOPPED: u64 = u64::MAX;
/// Before a phase is measured.
const LEAD_IN: Duration = Duration::from_millis(200);
/// Between two questions of a paced asker.
const PACE: Duration = Duration::from_millis(2);
