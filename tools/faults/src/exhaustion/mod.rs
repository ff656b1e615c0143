//! Row 15: buffers run out, a consumer stops, a thread stands still, the disk is full. What is
//! lost is counted to the unit, a stall is told within a second, and afterwards all is as before.

mod buffers;
mod full;
mod gate;
mod threads;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bloomrf_engine::identity::BatchId;
use bloomrf_report::Report;

use crate::cluster::{Cluster, Frames, wait_for};

/// How long.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Rounds of all cases are run until so many seconds are over; one at least.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Seed of sizes and orders.
    #[arg(long, env = "SEED", default_value_t = 15)]
    seed: u64,
    /// The disk's case only, in a folder on a small file system.
    #[arg(long, hide = true)]
    inside: Option<PathBuf>,
}

/// A case: a name, and what it does with a seed.
type Case = (&'static str, fn(u64) -> Result<(), String>);

const CASES: [Case; 3] = [
    ("a queue that stands still behind a small ring", buffers::run),
    ("a sealer that stands still", threads::sealer),
    ("a responder that stands still", threads::responder),
];

/// Runs the cases in turn.
pub(crate) fn run(args: &Args) -> ExitCode {
    if let Some(folder) = &args.inside {
        return full::inside(folder, args.seed);
    }
    let mut report = Report::new(15, "cases");
    let end = Instant::now() + Duration::from_secs(args.seconds);
    let mut seed = args.seed;
    loop {
        for (name, case) in CASES {
            report.add(1);
            if let Err(reason) = case(seed) {
                let repeat = format!("bloomrf-faults exhaustion --seconds 0 --seed {seed}");
                report.fail(format!("{name}: {reason}"), repeat);
            }
        }
        match full::run(seed) {
            Ok(None) => report.add(1),
            Ok(Some(missing)) => report.note(missing),
            Err(reason) => {
                report.add(1);
                let repeat = format!("bloomrf-faults exhaustion --seconds 0 --seed {seed}");
                report.fail(format!("a full disk: {reason}"), repeat);
            }
        }
        seed += 1;
        if Instant::now() >= end {
            return report.finish();
        }
    }
}

/// Waits until `/readyz` names the thread; the time since it stood still must be below a second.
fn told(cluster: &Cluster, gate: &gate::GatedClock, thread: &str) -> Result<(), String> {
    let line = format!("stalled thread: {thread}\n");
    let names = || cluster.page("/readyz").is_ok_and(|page| page.1.contains(&line));
    wait_for(&format!("{thread} to be told as stalled"), names)?;
    let stood = gate.stood_for().unwrap_or_default();
    if stood > TOLD_WITHIN {
        return Err(format!("the stall of {thread} was told after {stood:?}"));
    }
    let metric = format!("stalled_threads{{thread=\"{thread}\"}}");
    match cluster.metric(&metric) {
        Some(1.0) => Ok(()),
        other => Err(format!("{metric} is {other:?}, and the thread stands still")),
    }
}

/// Waits until `/readyz` names nobody.
fn well_again(cluster: &Cluster) -> Result<(), String> {
    wait_for("the end of the stall to be told", || {
        cluster.page("/readyz").is_ok_and(|page| !page.1.contains("stalled"))
    })
}

/// Datagrams that a link took, and those that found no room.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    accepted: u64,
    refused: u64,
}

impl std::ops::AddAssign for Sent {
    fn add_assign(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.refused += other.refused;
    }
}

/// Sends a datagram, and again as long as there is no room for it.
fn send_all(sender: &bloomrf_netio::link::mem::MemSender, frames: &Frames) -> Result<Sent, String> {
    let mut all = Sent::default();
    for datagram in &frames.datagrams {
        wait_for("room in the ring", || {
            let sent = sender.send(datagram);
            all.accepted += u64::from(sent);
            all.refused += u64::from(!sent);
            sent
        })?;
    }
    Ok(all)
}

/// Sends a batch of its own, waits for its verdict, asks for it. A node that has lost a buffer, a
/// partial or a thread for good fails here.
fn judge_fresh_batch(
    cluster: &Cluster,
    sender: &bloomrf_netio::link::mem::MemSender,
    batch: BatchId,
) -> Result<Sent, String> {
    let verified = cluster.node.status().store.verified;
    let sent = send_all(sender, &cluster.batch(batch, 40))?;
    cluster.wait_verified(verified + 1).map_err(|e| format!("{e} after a fresh batch"))?;
    let reply = cluster.ask(batch, &[batch]).ok_or("no answer about a fresh batch")?;
    if reply.evaluated != 1 || reply.excluded.first() != Some(&0) {
        return Err(format!("the fresh batch is answered so: {reply:?}"));
    }
    Ok(sent)
}

/// Every frame that came in is accounted for.
fn judge_frames(cluster: &Cluster) -> Result<(), String> {
    let ingest = cluster.node.status().ingest;
    if ingest.frames_in == ingest.accounted() {
        return Ok(());
    }
    Err(format!("frames in and what became of them differ: {ingest:?}"))
}

/// In which a stall must be told.
const TOLD_WITHIN: Duration = Duration::from_secs(1);
