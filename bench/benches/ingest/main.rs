//! Whole ingest of 64-byte records, from rows to filters, and what follows on the seal thread:
//! batches of 65,536 out of a million records (more than a core's own cache holds), every kernel
//! set and the naive build in turn, in one process. Prints CSV, times in ns per record.
//!
//! *Naive*: row after row, scalar, into filters of the largest open size. *Rows*: digest, frame
//! table, gather, zone maps, all filters, with the memory cleared beforehand. *Datagrams*: the same
//! behind the parser and its checksum. *Skewed*: every column holds one value, ts is sorted.
//!
//! Times are the thread's CPU time: a batch of the naive build takes longer than the system lets
//! one thread run on a busy machine.

mod naive;

use std::hint::black_box;
use std::sync::Arc;

use bloomrf_bench::Splitmix;
use bloomrf_bench::flows::{self, CLUSTER, FRAME_RECORDS, RECORD_BYTES};
use bloomrf_bench::rounds::{CSV_HEADER, Row, Samples, shuffle};
use bloomrf_engine::filter::{FilterPolicy, OpenColumn};
use bloomrf_engine::ingest::{
    FrameEntry, IngestConfig, OpenBoard, Partial, PendingRows, Queue, QueueCommand, QueueEvent,
    Tuning,
};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_kernels::arena::{Arena, ArenaConfig};
use bloomrf_kernels::params::{Budget, layers_for};
use bloomrf_kernels::scalar::bloomrf;
use bloomrf_kernels::{Kernel, SizeClasses, columns};
use naive::{Naive, WORDS};
use rustix::time::{ClockId, clock_gettime};

const BATCH: usize = 65_536;
const BATCHES: usize = 16;
const FRAME_BYTES: usize = FRAME_RECORDS * RECORD_BYTES;
const FRAMES_AHEAD: usize = 3;
const SEED: u64 = 42;

fn main() {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse().ok());
    let rounds = numbers.next_back().unwrap_or(32);
    println!("{CSV_HEADER}");
    eprintln!("pages: {}", arena().pages().name());
    let schema = Arc::new(flows::schema());
    let rows = flows::busy_records(1, BATCH * BATCHES);
    let batches: Vec<&[u8]> = rows.chunks_exact(BATCH * RECORD_BYTES).collect();
    check(&schema, batches[0]);
    whole(&schema, "rows", &batches, rounds);
    let skewed = skewed(&rows[..BATCH * RECORD_BYTES]);
    whole(&schema, "skewed", &[&skewed], rounds.min(16));
    datagrams(&schema, &batches, rounds);
    stages(&schema, &batches, rounds.min(16));
    seal(&schema, &batches, rounds);
}

fn print(case: &str, variant: &str, measure: &str, samples: &Samples) {
    let row = Row::timing("ingest", case, variant, measure, samples.timing());
    println!("{row}");
}

/// Every filter lies in one arena, on the best pages that there are: the naive ones too.
fn arena() -> Arena {
    let config = ArenaConfig { guards: false, ..ArenaConfig::new(256 << 20) };
    Arena::new(config).expect("256 MiB of address space")
}

fn config(schema: &Arc<Schema>, kernel: Kernel, arena: &Arena, tuning: Tuning) -> IngestConfig {
    let tuning = Tuning { arena: Some(arena.clone()), ..tuning };
    IngestConfig {
        cluster: CLUSTER,
        schema: Arc::clone(schema),
        policy: Arc::new(FilterPolicy {
            budget: Budget { bits_per_key: 8, levels: 4 },
            sizes: SizeClasses::new(1_024),
            seed: SEED,
            filtered: vec![true; schema.columns().len()],
            kernel,
            exact_keys_max: 0,
        }),
        board: Arc::new(OpenBoard::new(BATCH as u64)),
        idle_ns: u64::MAX,
        frames_max: 1 << 13,
        tuning,
    }
}

/// Somebody who takes the rows of a batch.
trait Ingest {
    /// Empties it; not timed.
    fn clear(&mut self);
    /// Takes one batch; returns something that hangs on all of it.
    fn take(&mut self, rows: &[u8]) -> u64;
}

/// The engine's way.
struct Chunked {
    config: IngestConfig,
    partial: Partial,
    pending: PendingRows,
}

impl Chunked {
    fn new(config: IngestConfig) -> Self {
        let Tuning { chunk_rows, dedupe, arena } = &config.tuning;
        Chunked {
            partial: Partial::reserve(&config, arena.as_ref()),
            pending: PendingRows::new(&config.schema, &config.policy, *chunk_rows, *dedupe),
            config,
        }
    }

    fn offer(&mut self, sequence: usize, rows: &[u8], frame: &[u8]) {
        let ahead = (sequence + FRAMES_AHEAD) * FRAME_BYTES;
        if let Some(ahead) = rows.get(ahead..(ahead + FRAME_BYTES).min(rows.len())) {
            columns::prefetch(self.config.policy.kernel, ahead);
        }
        self.partial.frames.offer(FrameEntry {
            lane: 0,
            sequence: sequence as u32,
            records: (frame.len() / RECORD_BYTES) as u16,
            digest: self.pending.append(HashAlgorithm::Xxh3, frame),
        });
        self.pending.commit(&self.config.schema, frame, &mut self.partial.columns);
    }
}

impl Ingest for Chunked {
    fn clear(&mut self) {
        let config = &self.config;
        let shapes = config.policy.open_shapes(&config.schema, BATCH as u64);
        for (column, shape) in self.partial.columns.iter_mut().zip(shapes) {
            column.reset(shape);
        }
        self.partial.frames.clear();
        self.pending.start();
    }

    fn take(&mut self, rows: &[u8]) -> u64 {
        let mut inserted = 0;
        for (sequence, frame) in rows.chunks(FRAME_BYTES).enumerate() {
            if self.pending.is_full_for(frame.len() / RECORD_BYTES) {
                inserted += self.pending.flush(&mut self.partial.columns);
            }
            self.offer(sequence, rows, frame);
        }
        inserted + self.pending.finish(&mut self.partial.columns)
    }
}

/// Runs all in turn, each with the batch of its round.
fn rounds_of(
    makers: &mut [(String, Box<dyn Ingest>)],
    batches: &[&[u8]],
    rounds: usize,
) -> Vec<Samples> {
    let mut samples = vec![Samples::default(); makers.len()];
    let mut order: Vec<usize> = (0..makers.len()).collect();
    let mut random = Splitmix::new(SEED);
    for round in 0..=rounds {
        shuffle(&mut order, &mut random);
        for &at in &order {
            let ingest = &mut makers[at].1;
            ingest.clear();
            let mut warm_up = Samples::default();
            let kept = if round == 0 { &mut warm_up } else { &mut samples[at] };
            // Not the batch that the one before has just read.
            let batch = batches[(round * 5 + at) % batches.len()];
            time(kept, || ingest.take(batch));
        }
    }
    samples
}

/// The naive build and the engine's, at one size, have the same bits.
fn check(schema: &Arc<Schema>, rows: &[u8]) {
    let arena = arena();
    let mut naive = Naive::new(&arena);
    naive.take(rows);
    let layers = [layers_for(64, SEED), layers_for(32, SEED)];
    let mut words = vec![0; WORDS];
    let keys =
        rows.chunks_exact(RECORD_BYTES).map(|row| row[8..16].try_into().map(u64::from_le_bytes));
    keys.flatten().for_each(|key| bloomrf::insert(&layers[0], &mut words, &mut [], key));
    assert!(words == *naive.hashed[1], "the naive build is right");
    let mut by_rows = Chunked::new(config(schema, Kernel::Scalar, &arena, Tuning::default()));
    by_rows.clear();
    for (open, column) in by_rows.partial.columns.iter_mut().zip(schema.columns()) {
        open.insert_rows(column, rows, RECORD_BYTES);
    }
    for kernel in Kernel::all() {
        let mut chunked = Chunked::new(config(schema, kernel, &arena, Tuning::default()));
        chunked.clear();
        chunked.take(rows);
        assert!(chunked.partial.columns == by_rows.partial.columns, "{kernel} is right");
        assert!(
            chunked
                .partial
                .frames
                .iter()
                .map(|frame| &frame.digest[..16])
                .eq(naive.digests.iter().map(|digest| digest.to_le_bytes()))
        );
    }
}

/// One batch in which only the time moves.
fn skewed(rows: &[u8]) -> Vec<u8> {
    let mut skewed = rows.to_vec();
    for row in skewed.chunks_exact_mut(RECORD_BYTES) {
        row[8..].copy_from_slice(&rows[8..RECORD_BYTES]);
    }
    skewed
}

fn whole(schema: &Arc<Schema>, case: &str, batches: &[&[u8]], rounds: usize) {
    let arena = arena();
    let mut all: Vec<(String, Box<dyn Ingest>)> =
        vec![("naive".to_owned(), Box::new(Naive::new(&arena)))];
    for kernel in Kernel::all() {
        let chunked = Chunked::new(config(schema, kernel, &arena, Tuning::default()));
        all.push((kernel.to_string(), Box::new(chunked)));
    }
    for chunk_rows in [1_024, 2_048, 8_192] {
        let tuning = Tuning { chunk_rows, ..Tuning::default() };
        let chunked = Chunked::new(config(schema, Kernel::best(), &arena, tuning));
        all.push((format!("{} chunks of {chunk_rows}", Kernel::best()), Box::new(chunked)));
    }
    let samples = rounds_of(&mut all, batches, rounds);
    let naive = samples[0].timing();
    for ((name, _), samples) in all.iter().zip(&samples) {
        print(case, name, "whole", samples);
        let times = naive.quiet / samples.timing().quiet;
        println!("{}", Row::value("ingest", case, name, "naive / this", "ratio", times));
    }
}

/// Parser, checksum, digest and naive build; or a queue.
enum Receiver {
    Naive(Box<Naive>),
    Queue(Box<Queue>),
}

impl Receiver {
    fn take(&mut self, frames: &[Vec<u8>]) -> u64 {
        match self {
            Receiver::Naive(naive) => frames
                .iter()
                .filter_map(|bytes| {
                    use bloomrf_engine::wire::frame::Frame;
                    match Frame::parse(bytes, RECORD_BYTES) {
                        Ok(Frame::Data { payload, .. }) => Some(naive.take(payload)),
                        _ => None,
                    }
                })
                .fold(0, |all, sum| all ^ sum),
            Receiver::Queue(queue) => {
                let mut burst: [&[u8]; 64] = [&[]; 64];
                for frames in frames.chunks(burst.len()) {
                    burst.iter_mut().zip(frames).for_each(|(slot, frame)| *slot = frame);
                    queue.on_burst(&burst[..frames.len()], 1);
                }
                queue.stats().records
            }
        }
    }

    /// Gives the partial back cleared, as the sealer does.
    fn give_back(&mut self, config: &IngestConfig, batch: u64) {
        let Receiver::Queue(queue) = self else { return };
        queue.on_command(QueueCommand::Take(batch), 1);
        while let Some(event) = queue.next_event() {
            if let QueueEvent::Taken { partial: Some(mut partial), .. } = event {
                assert_eq!(partial.rows, BATCH as u64, "every row was inserted");
                partial.columns.iter_mut().for_each(OpenColumn::zero);
                queue.on_command(QueueCommand::Recycle(partial), 1);
            }
        }
        queue.on_command(QueueCommand::Forget(batch), 1);
        config.board.expect(BATCH as u64);
    }
}

fn datagrams(schema: &Arc<Schema>, batches: &[&[u8]], rounds: usize) {
    let arena = arena();
    let config = |kernel| config(schema, kernel, &arena, Tuning::default());
    let mut all = vec![(
        "naive".to_owned(),
        config(Kernel::Scalar),
        Receiver::Naive(Box::new(Naive::new(&arena))),
    )];
    for kernel in Kernel::all() {
        let config = config(kernel);
        let queue = Box::new(Queue::new(config.clone()));
        all.push((kernel.to_string(), config, Receiver::Queue(queue)));
    }
    let mut samples = vec![Samples::default(); all.len()];
    for round in 0..rounds {
        for (at, (_, config, receiver)) in all.iter_mut().enumerate() {
            let batch = 1 + round as u64;
            let rows = batches[(round * 5 + at) % batches.len()];
            let frames = flows::batch(schema, batch, rows);
            if let Receiver::Naive(naive) = receiver {
                naive.clear();
            }
            time(&mut samples[at], || receiver.take(&frames));
            receiver.give_back(config, batch);
        }
    }
    for ((name, ..), samples) in all.iter().zip(&samples) {
        print("datagrams", name, "whole", samples);
    }
}

/// The share of each stage: the same work, with a clock at the borders of the chunks.
fn stages(schema: &Arc<Schema>, batches: &[&[u8]], rounds: usize) {
    let arena = arena();
    for kernel in Kernel::all() {
        let mut chunked = Chunked::new(config(schema, kernel, &arena, Tuning::default()));
        let columns = schema.columns();
        let mut samples = vec![Samples::default(); columns.len() + 2];
        let chunk_bytes = chunked.config.tuning.chunk_rows / FRAME_RECORDS * FRAME_BYTES;
        for round in 0..rounds {
            chunked.clear();
            let mut ns = vec![0; samples.len()];
            let mut lap = Lap(cpu_ns());
            let rows = batches[round * 5 % batches.len()];
            for (at, chunk) in rows.chunks(chunk_bytes).enumerate() {
                lap.restart();
                for (frame, bytes) in chunk.chunks(FRAME_BYTES).enumerate() {
                    chunked.offer(at * chunk_bytes / FRAME_BYTES + frame, rows, bytes);
                }
                ns[0] += lap.restart();
                for (ordinal, open) in chunked.partial.columns.iter_mut().enumerate() {
                    chunked.pending.flush_column(ordinal, open);
                    ns[1 + ordinal] += lap.restart();
                }
                chunked.pending.forget_rows();
            }
            lap.restart();
            black_box(chunked.pending.finish(&mut chunked.partial.columns));
            ns[columns.len() + 1] += lap.restart();
            samples.iter_mut().zip(ns).for_each(|(samples, ns)| samples.push(ns, BATCH));
        }
        let names = columns.iter().map(|column| column.name());
        let names = ["gather and digest"].into_iter().chain(names).chain(["close"]);
        for (name, samples) in names.zip(&samples) {
            print("stages", kernel.name(), name, samples);
        }
    }
}

struct Lap(u128);

impl Lap {
    fn restart(&mut self) -> u128 {
        let now = cpu_ns();
        now - std::mem::replace(&mut self.0, now)
    }
}

/// CPU time of this thread, ns.
fn cpu_ns() -> u128 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as u128 * 1_000_000_000 + now.tv_nsec as u128
}

/// Times one batch of `work` and consumes its sum.
fn time(samples: &mut Samples, work: impl FnOnce() -> u64) {
    let start = cpu_ns();
    black_box(work());
    samples.push(cpu_ns() - start, BATCH);
}

/// Merge, fold, count and clear of two partials of half a batch each, all columns.
fn seal(schema: &Arc<Schema>, batches: &[&[u8]], rounds: usize) {
    let arena = arena();
    let kernels = Kernel::all();
    let mut samples = vec![Samples::default(); kernels.len()];
    let mut shares: Vec<[Chunked; 2]> = Vec::new();
    for &kernel in &kernels {
        let share = || Chunked::new(config(schema, kernel, &arena, Tuning::default()));
        shares.push([share(), share()]);
    }
    for round in 0..rounds {
        let (left, right) = batches[round % batches.len()].split_at(BATCH / 2 * RECORD_BYTES);
        for (samples, [a, b]) in samples.iter_mut().zip(&mut shares) {
            for (share, rows) in [(&mut *a, left), (&mut *b, right)] {
                share.clear();
                share.take(rows);
            }
            let policy = Arc::clone(&a.config.policy);
            time(samples, || {
                let columns = a.partial.columns.iter_mut().zip(&mut b.partial.columns);
                columns.fold(0, |bytes, (a, b)| {
                    let sealed = OpenColumn::seal_shares(&mut [a, b], &policy, BATCH as u64);
                    bytes + black_box(sealed).filter.bytes() as u64
                })
            });
        }
    }
    for (kernel, samples) in kernels.iter().zip(&samples) {
        print("seal of two shares", kernel.name(), "merge fold zero", samples);
    }
}
