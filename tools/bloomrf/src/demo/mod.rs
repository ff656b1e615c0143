//! `bloomrf demo`: the whole job on one machine, and the proof.
//!
//! A capture (yours or a synthetic one) is broadcast to a filter node and a storage node; the
//! controller verifies the node's hashes; questions are asked over the real lookup; every batch
//! file is read to know the truth; a table says what was excluded, and that nothing was lost.

mod ask;
mod chance;
mod cluster;
mod ingest;
mod questions;
mod report;
mod synth;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use bloomrf_engine::controller::Mode;
use bloomrf_engine::identity::BatchId;
use bloomrf_refcluster::scc::{mode_from_env, timeout_from_env};
use bloomrf_refcluster::storage::file::list_batches;
use bloomrf_refcluster::truth;

use crate::args::DemoArgs;
use crate::intake::count_packets;
use crate::outcome::{CommandError, Outcome};
use crate::progress;
use crate::signals::Stop;
use ask::{Asked, Asker};
use chance::Chance;
use cluster::{Cluster, ClusterShape};
use questions::{Generator, Question};
use report::{Report, Unverified};

pub(crate) fn run(args: &DemoArgs) -> Outcome {
    let timeout = timeout_from_env().map_err(CommandError::misused)?;
    let mode = mode_from_env(Mode::Active).map_err(CommandError::misused)?;
    // From here on an interrupt removes the folder on its way out.
    let stop = Stop::listen()?;
    let folder = tempfile::Builder::new()
        .prefix("bloomrf-demo-")
        .tempdir()
        .map_err(|e| CommandError::failed(format!("temporary folder: {e}")))?;
    let capture = capture_path(args, folder.path(), &stop)?;
    let (packets, cut) = count_packets(&capture, &stop).map_err(CommandError::misused)?;
    stop.check()?;
    let mut report = Report::new(args, packets);
    if packets == 0 {
        report.say_no_packets(&capture, cut)?;
        return Ok(ExitCode::SUCCESS);
    }
    let batch_records =
        args.batch_records.unwrap_or((packets / 100).clamp(100, 50_000)).min(packets);
    let shape = ClusterShape {
        folder: folder.path().to_owned(),
        queues: usize::from(args.queues),
        batches: packets.div_ceil(batch_records),
        batch_records,
        timeout,
    };
    let cluster = Cluster::start(&shape)?;
    let ingested = ingest::run(args, &cluster, &stop, &capture, packets, batch_records)?;
    let unverified = cluster.wait_verified(ingested.totals.batches, args.json);
    let ids = list_batches(cluster.batch_folder()).map_err(CommandError::failed)?;
    let asked = ask_all(args, &cluster, &stop, &ids, mode, timeout)?;
    let (verified, lost) =
        (cluster.status(), ingested.totals.batches.saturating_sub(ids.len() as u64));
    report.fill(&ingested, &verified, Unverified { batches: unverified, lost }, asked);
    report.print()?;
    if args.keep {
        keep(args, &cluster, &stop, report.telling_question(), &ids);
    }
    Ok(report.exit_code())
}

fn capture_path(args: &DemoArgs, folder: &Path, stop: &Stop) -> Result<PathBuf, CommandError> {
    if let Some(path) = &args.pcap {
        // Counted first, then sent: what can be read once only would not be there a second time.
        if path.metadata().is_ok_and(|of| !of.is_file() && !of.is_dir()) {
            return Err(CommandError::misused(format!(
                "{}: not a capture that can be read twice, as the demo does: expected a file, \
                 not a pipe or device",
                path.display()
            )));
        }
        return Ok(path.clone());
    }
    let path = folder.join("synthetic.pcap");
    let spinner = progress::spinner("synthesise", args.json);
    synth::write(&path, args.packets, args.seed, &|| stop.is_set())
        .map_err(|e| CommandError::failed(format!("{}: {e}", path.display())))?;
    spinner.finish_and_clear();
    stop.check()?;
    Ok(path)
}

fn ask_all(
    args: &DemoArgs,
    cluster: &Cluster,
    stop: &Stop,
    ids: &[BatchId],
    mode: Mode,
    timeout: Duration,
) -> Result<Vec<Asked>, CommandError> {
    let schema = cluster.schema();
    let mut chance = Chance::new(args.seed ^ QUESTION_STREAM);
    let sample =
        questions::sample(cluster.batch_folder(), ids, &truth::fields(schema), &mut chance)
            .map_err(CommandError::failed)?;
    let questions: Vec<Question> =
        Generator::new(schema, &sample, chance).generate(args.questions as usize);
    let asker = Asker { cluster, ids, mode, timeout };
    let bar = progress::bar("ask", questions.len() as u64, args.json);
    let mut asked = Vec::with_capacity(questions.len());
    for (number, question) in questions.into_iter().enumerate() {
        stop.check()?;
        asked.push(asker.ask(number as u64, question));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let bar = progress::bar("truth", ids.len() as u64, args.json);
    asker.judge(&mut asked, || bar.inc(1)).map_err(CommandError::failed)?;
    bar.finish_and_clear();
    Ok(asked)
}

/// Leaves everything running until Ctrl-C, and says what to try.
fn keep(args: &DemoArgs, cluster: &Cluster, stop: &Stop, telling: Option<&Asked>, ids: &[BatchId]) {
    let text = match telling {
        Some(asked) => cluster.invitation(&asked.question.text, asked.boundary(ids)),
        None => cluster.invitation("port = 53", None),
    };
    // Nobody may be reading; the cluster runs on.
    let _ =
        if args.json { writeln!(io::stderr(), "{text}") } else { writeln!(io::stdout(), "{text}") };
    stop.wait();
}

/// Keeps the questions' chance apart from the capture's.
const QUESTION_STREAM: u64 = 0x7175_6573_7469_6f6e;
