//! Row 5: a stored file with every bit flipped, cut at every length, its blocks swapped, zeroed and
//! taken from other files, under another name. Every damage is to be noticed: the file refused, or
//! the damaged filter lost and everything else as it was.

#[path = "../../../engine/core/tests/format_world/damage.rs"]
mod damage;
#[path = "../../../engine/core/tests/format_world/mod.rs"]
mod world;

use bloomrf_report::Report;

use std::ops::Range;
use std::process::ExitCode;

use bloomrf_engine::format::{FileName, PageSize, decode};
use bloomrf_engine::identity::ClusterId;

use damage::{BLOCK, Outcome, Whole, flip, swapped, transplanted};
use world::{Kind, Splitmix, batch_of, schema_of};

/// What to damage.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Size of the filter in the file, KiB.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    kib: u32,
    /// Pairs of bits flipped at random, besides every single one.
    #[arg(long, default_value = "0", value_parser = bloomrf_report::count)]
    double: u64,
    /// Seed of the file's keys and of the pairs.
    #[arg(long, env = "SEED", default_value_t = 5)]
    seed: u64,
}

/// What was done and found.
#[derive(Default)]
struct Tally {
    count: u64,
    lost: u64,
    failures: Vec<String>,
}

impl Tally {
    fn judge(&mut self, whole: &Whole, damaged: &[u8], what: impl FnOnce() -> String) {
        self.count += 1;
        match whole.judge(damaged) {
            Ok(Outcome::Refused(_)) => {}
            Ok(Outcome::Lost(_)) => self.lost += 1,
            Err(wrong) => self.failures.push(format!("{}: {wrong}", what())),
        }
    }

    fn add(&mut self, other: Tally) {
        self.count += other.count;
        self.lost += other.lost;
        self.failures.extend(other.failures);
    }
}

/// Damages and judges.
pub(crate) fn run(args: &Args) -> ExitCode {
    let whole = file(args, 3, 1);
    let mut report = Report::new(5, "damages");
    let mut all = Tally::default();
    let bits = spread(whole.bytes.len() * 8, |range| flips(&whole, range));
    let lengths = spread(whole.bytes.len(), |range| truncations(&whole, range));
    let doubles = spread(args.double as usize, |range| double_flips(&whole, args.seed, range));
    let note = format!(
        "{} single flips ({} cost the filter, the others the file), {} truncations, {} double \
         flips",
        bits.count, bits.lost, lengths.count, doubles.count
    );
    for part in [bits, lengths, doubles, blocks(args, &whole), names(&whole)] {
        all.add(part);
    }
    report.add(all.count);
    let repeat = format!(
        "bloomrf-faults stored --kib {} --double {} --seed {}",
        args.kib, args.double, args.seed
    );
    for failure in &all.failures {
        report.fail(failure, &repeat);
    }
    report.note(note);
    report.finish()
}

/// A file of one bloomRF of 8-byte keys at the default budget.
fn file(args: &Args, batch: u64, generation: u64) -> Whole {
    let words = args.kib as usize * 128;
    let schema = schema_of("u64");
    let mut rng = Splitmix::new(args.seed ^ batch);
    let batch = batch_of(batch, &schema, Kind::BloomRf(words), words * 2, &mut rng);
    Whole::new(schema, batch, generation, PageSize::Kib4)
}

/// Shares `0..count` out to the cores.
fn spread(count: usize, part: impl Fn(Range<usize>) -> Tally + Sync) -> Tally {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = count.div_ceil(threads).max(1);
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let part = &part;
        let starts = (0..count).step_by(share);
        let running: Vec<_> = starts
            .map(|start| scope.spawn(move || part(start..count.min(start + share))))
            .collect();
        for thread in running {
            match thread.join() {
                Ok(tally) => all.add(tally),
                Err(_) => all.failures.push("a panic: see above".to_owned()),
            }
        }
    });
    all
}

fn flips(whole: &Whole, bits: Range<usize>) -> Tally {
    let (mut tally, mut bytes) = (Tally::default(), whole.bytes.clone());
    for bit in bits {
        flip(&mut bytes, bit);
        tally.judge(whole, &bytes, || format!("bit {bit} flipped"));
        flip(&mut bytes, bit);
    }
    tally
}

fn double_flips(whole: &Whole, seed: u64, pairs: Range<usize>) -> Tally {
    let (mut tally, mut bytes) = (Tally::default(), whole.bytes.clone());
    let bits = bytes.len() as u64 * 8;
    for pair in pairs {
        let mut rng = Splitmix::new(seed ^ (pair as u64) << 20);
        let first = rng.below(bits);
        // Another one: anywhere, or near it.
        let reach = *rng.pick(&[bits - 1, 31, 4_096 * 8]);
        let second = (first + 1 + rng.below(reach)) % bits;
        for bit in [first, second] {
            flip(&mut bytes, bit as usize);
        }
        tally.judge(whole, &bytes, || format!("bits {first} and {second} flipped"));
        for bit in [first, second] {
            flip(&mut bytes, bit as usize);
        }
    }
    tally
}

fn truncations(whole: &Whole, lengths: Range<usize>) -> Tally {
    let mut tally = Tally::default();
    for length in lengths {
        let cut = whole.bytes.get(..length).unwrap_or_default();
        tally.judge(whole, cut, || format!("cut to {length} bytes"));
    }
    tally
}

/// Blocks swapped, zeroed, taken from another writing of the batch and from another batch; bytes
/// appended.
fn blocks(args: &Args, whole: &Whole) -> Tally {
    let bytes = &whole.bytes;
    let count = bytes.len().div_ceil(BLOCK);
    let mut tally = spread(count, |range| {
        let mut tally = Tally::default();
        for (first, second) in range.flat_map(|first| (0..first).map(move |second| (first, second)))
        {
            if let Some(damaged) = swapped(bytes, first, second) {
                tally.judge(whole, &damaged, || format!("blocks {first} and {second} swapped"));
            }
        }
        tally
    });
    let zeros = vec![0; bytes.len()];
    let others = [zeros, file(args, 3, 2).bytes, file(args, 4, 1).bytes];
    for (other, what) in others.iter().zip(["zeroed", "of another generation", "of another batch"])
    {
        for block in 0..count {
            if let Some(damaged) = transplanted(bytes, other, block) {
                tally.judge(whole, &damaged, || format!("block {block} {what}"));
            }
        }
    }
    for more in [1, 7, BLOCK, bytes.len()] {
        let longer = [&bytes[..], &vec![0; more]].concat();
        tally.judge(whole, &longer, || format!("{more} bytes appended"));
    }
    tally
}

/// The whole file under names and for origins that are not its own.
fn names(whole: &Whole) -> Tally {
    let mut tally = Tally::default();
    let mut check = |name: &FileName, cluster: ClusterId, kind: &str| {
        tally.count += 1;
        let schema = schema_of(kind);
        let mut origin = world::origin(&schema);
        origin.cluster = cluster;
        if decode(&whole.bytes, name, &origin, &schema).is_ok() {
            tally.failures.push(format!("read as {name} of cluster {cluster}, column {kind}"));
        }
    };
    let (name, cluster) = (whole.name, whole.origin.cluster);
    for bit in 0..64 {
        let other = FileName { generation: name.generation ^ 1 << bit, ..name };
        check(&other, cluster, "u64");
        check(&FileName { batch: name.batch ^ 1 << bit, ..name }, cluster, "u64");
    }
    for bit in 0..128 {
        check(&name, ClusterId(cluster.0 ^ 1 << bit), "u64");
    }
    for kind in ["i64", "f64", "u32", "uuid", "timestamp(ns)"] {
        check(&name, cluster, kind);
    }
    tally
}
