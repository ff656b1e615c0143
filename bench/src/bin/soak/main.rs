//! Row 14: a whole node at full speed on loopback, batches churning through retention, lookups all
//! the time. Resident memory must be flat, poll threads must ask for no memory, every frame must
//! be accounted for, and no key may be missed.
#![deny(unsafe_code)]

mod alloc;
mod count;
mod memory;
mod questions;

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bloomrf_bench::live::{Cluster, ClusterOptions, Odd, Sender, Sent, Window};
use bloomrf_node::NodeStatus;
use bloomrf_report::Report;
use clap::Parser;

use count::Asked;
use questions::{Answers, Progress};

/// A whole node at full speed on loopback, with retention turning over.
#[derive(Debug, Parser)]
#[command(name = "soak")]
struct Options {
    /// How long to send.
    #[arg(long, default_value_t = 90)]
    seconds: u64,
    /// Batches that the node retains.
    #[arg(long, default_value_t = 192)]
    retain: usize,
    /// MiB of filters. Fewer than the retained batches take, so that the arena is full, every
    /// page of it touched, within seconds, and both bounds evict.
    #[arg(long, default_value_t = 24)]
    arena_mib: usize,
    /// Records of a batch: always as many.
    #[arg(long, default_value_t = 20_000)]
    records: u64,
    /// Records per second; 0: as fast as the node takes them.
    #[arg(long, default_value_t = 0)]
    rate: u64,
    /// Seed of the questions.
    #[arg(long, env = "SEED", default_value_t = 14)]
    seed: u64,
    /// Write the samples of resident memory there, a line each, in bytes.
    #[arg(long, value_name = "FILE")]
    samples: Option<std::path::PathBuf>,
    /// Say where threads whose name begins so ask for memory.
    #[arg(long, value_name = "THREADS")]
    trap: Option<String>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let mut report = Report::new(14, "seconds");
    report.add(options.seconds);
    let Outcome { findings, note } =
        soak(&options).unwrap_or_else(|why| Outcome { findings: vec![why], note: String::new() });
    let repeat = format!("soak --seconds {} --seed {}", options.seconds, options.seed);
    findings.iter().for_each(|finding| report.fail(finding, &repeat));
    report.note(note);
    report.finish()
}

/// What a run found.
struct Outcome {
    findings: Vec<String>,
    note: String,
}

/// What was measured while it ran.
struct Run {
    sent: Sent,
    resident: Vec<u64>,
    /// Whether pages stay resident until they are given back.
    is_held: bool,
    seconds: f64,
}

fn soak(options: &Options) -> Result<Outcome, String> {
    let cluster = Cluster::start(&ClusterOptions {
        retain_batches: options.retain,
        records: options.records,
        arena_bytes: options.arena_mib << 20,
        ingest_core: None,
    })?;
    let before = count::by_name();
    if let Some(prefix) = &options.trap {
        count::watch(prefix);
    }
    let progress = Progress::default();
    let (run, answers) = std::thread::scope(|scope| {
        let asker =
            std::thread::Builder::new().name("asker".to_owned()).spawn_scoped(scope, || {
                questions::ask(
                    &cluster,
                    &progress,
                    options.seed,
                    options.retain as u64,
                    options.records,
                )
            });
        let run = send(&cluster, &progress, options);
        progress.stop.store(true, Ordering::Release);
        let asker = asker.map_err(|why| format!("asker: {why}"))?;
        let answers = asker.join().map_err(|_| "the asker panicked".to_owned())?;
        Ok::<_, String>((run?, answers))
    })?;
    let status = settle(&cluster, run.sent);
    let after = count::by_name();
    cluster.stop();
    let mut findings = check_frames(&run.sent, &status);
    findings.extend(check_memory(&run.resident));
    findings.extend(check_polls(&before, &after));
    findings.extend(check_answers(&answers, &run.sent, options));
    let note = describe(&run, &answers, &status, &before, &after);
    Ok(Outcome { findings, note })
}

/// Sends whole batches until the time is over; samples memory meanwhile.
fn send(cluster: &Cluster, progress: &Progress, options: &Options) -> Result<Run, String> {
    let window = Window { frames: 1_024, batches: 2, rate: options.rate };
    let mut sender =
        Sender::new(cluster, window, Odd { duplicate_every: 501, malformed_every: 997 })?;
    let is_held = memory::hold_pages();
    let start = Instant::now();
    let end = Duration::from_secs(options.seconds);
    let mut resident = Vec::with_capacity(16 + options.seconds as usize * SAMPLES_PER_SECOND);
    while start.elapsed() < end {
        sender.batch(options.records)?;
        progress.closed.store(sender.sent().batches, Ordering::Release);
        let due = resident.len() as f64 / SAMPLES_PER_SECOND as f64;
        if start.elapsed().as_secs_f64() >= due && resident.len() < resident.capacity() {
            resident.extend(memory::resident());
        }
    }
    if let Some(path) = &options.samples {
        let lines: Vec<_> = resident.iter().map(u64::to_string).collect();
        std::fs::write(path, lines.join("\n"))
            .map_err(|why| format!("{}: {why}", path.display()))?;
    }
    Ok(Run { sent: sender.sent(), resident, is_held, seconds: start.elapsed().as_secs_f64() })
}

/// The node's numbers once it has counted all that was sent, or some seconds later.
fn settle(cluster: &Cluster, sent: Sent) -> NodeStatus {
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        let status = cluster.status();
        let is_all = status.ingest.frames_in + status.dropped >= sent.frames;
        if (is_all && cluster.batches_done() >= sent.batches) || Instant::now() > end {
            return status;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sent = counted by kind + refused + dropped, exactly; and each kind as it was sent where
/// nothing was lost.
fn check_frames(sent: &Sent, status: &NodeStatus) -> Vec<String> {
    let ingest = &status.ingest;
    let refused: u64 = ingest.refused.iter().sum();
    let kinds = ingest.data + ingest.close + ingest.duplicate + refused;
    let mut findings = Vec::new();
    if ingest.frames_in != kinds {
        findings.push(format!("{} frames in and {kinds} by kind", ingest.frames_in));
    }
    if sent.frames != ingest.frames_in + status.dropped {
        let (taken, dropped) = (ingest.frames_in, status.dropped);
        findings.push(format!("{} frames sent, {taken} in, {dropped} dropped", sent.frames));
    }
    if status.dropped == 0 {
        let counted = [ingest.data, ingest.close, ingest.duplicate, refused, ingest.records];
        let expected = [sent.data, sent.close, sent.duplicate, sent.malformed, sent.records];
        if counted != expected {
            findings.push(format!(
                "data, close, duplicate, refused, records: {counted:?}, sent {expected:?}"
            ));
        }
        if status.incomplete > 0 || status.verify_mismatch > 0 {
            findings.push(format!(
                "nothing was lost, and {} batches are incomplete, {} mismatch",
                status.incomplete, status.verify_mismatch
            ));
        }
    }
    findings
}

fn check_memory(resident: &[u64]) -> Option<String> {
    let thirds = memory::thirds(resident)?;
    let (middle, last) = thirds;
    let off = 100.0 * (last as f64 / middle as f64 - 1.0);
    let what = format!("resident memory went from {middle} to {last} bytes ({off:+.2} %)");
    (!memory::is_flat(thirds)).then_some(what)
}

type Counts = std::collections::BTreeMap<String, Asked>;

/// What threads of one name asked for between two moments.
fn more(before: &Counts, after: &Counts, name: &str) -> Asked {
    let (old, new) = (before.get(name), after.get(name));
    let old = old.copied().unwrap_or_default();
    let new = new.copied().unwrap_or_default();
    Asked { requests: new.requests - old.requests, bytes: new.bytes - old.bytes }
}

fn check_polls(before: &Counts, after: &Counts) -> Vec<String> {
    let mut findings = Vec::new();
    let polls: Vec<_> = after.keys().filter(|name| name.starts_with("bloomrf-rx-")).collect();
    if polls.is_empty() {
        findings.push("no poll thread was seen".to_owned());
    }
    for name in polls {
        let Asked { requests, bytes } = more(before, after, name);
        if requests > 0 {
            findings.push(format!("{name} asked {requests} times for memory, {bytes} bytes"));
        }
    }
    findings
}

fn check_answers(answers: &Answers, sent: &Sent, options: &Options) -> Vec<String> {
    let mut findings: Vec<String> = answers.wrong.iter().take(20).cloned().collect();
    if answers.wrong.len() > findings.len() {
        findings.push(format!("{} more wrong answers", answers.wrong.len() - findings.len()));
    }
    if answers.known == 0 || answers.excluded == 0 {
        findings.push(format!("lookups that prove nothing: {answers:?}"));
    }
    if options.seconds >= 30 && sent.batches < 3 * options.retain as u64 {
        findings.push(format!("retention turned over less than 3 times: {} batches", sent.batches));
    }
    findings
}

fn describe(
    run: &Run,
    answers: &Answers,
    status: &NodeStatus,
    before: &Counts,
    after: &Counts,
) -> String {
    let mut times = answers.took_ns.clone();
    times.sort_unstable();
    let at = |share: f64| {
        let at = (times.len() as f64 * share) as usize;
        times.get(at.min(times.len().saturating_sub(1))).map_or(0, |ns| ns / 1_000)
    };
    let Run { sent, seconds, .. } = run;
    let mut note = format!(
        "{:.0} records/s, {} batches, {} evicted, {} dropped, {} incomplete",
        sent.records as f64 / seconds,
        sent.batches,
        status.store.evicted,
        status.dropped,
        status.incomplete,
    );
    if let Some((middle, last)) = memory::thirds(&run.resident) {
        let off = 100.0 * (last as f64 / middle as f64 - 1.0);
        let held = if run.is_held { "" } else { " (not locked: the system may page it out)" };
        let _ = write!(note, "; resident {} MiB{held}, {off:+.2} %", last >> 20);
    }
    let _ = write!(
        note,
        "; {} lookups, {:.1} % of candidates evaluated excluded, {} late, p50 {} us, p99 {} us, \
         p99.9 {} us; requests for memory after start:",
        answers.answered,
        100.0 * answers.excluded as f64 / answers.evaluated.max(1) as f64,
        answers.late,
        at(0.5),
        at(0.99),
        at(0.999),
    );
    for name in after.keys().filter(|name| name.starts_with("bloomrf-")) {
        let _ = write!(note, " {name} {}", more(before, after, name).requests);
    }
    note
}

/// Looks at resident memory.
const SAMPLES_PER_SECOND: usize = 4;
