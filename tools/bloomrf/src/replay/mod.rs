//! `bloomrf replay`: a capture file as batches on the network; with `--scc` the cluster's side as
//! well, so that a node of one's own can be tried without a cluster.

mod judge;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use bloomrf_engine::schema::Schema;
use bloomrf_refcluster::{BroadcastConfig, Broadcaster, Pace};

use crate::args::ReplayArgs;
use crate::intake::Intake;
use crate::keys;
use crate::outcome::{CommandError, Outcome, complain, print};
use crate::progress;
use crate::signals::Stop;
use judge::Judge;

pub(crate) fn run(args: &ReplayArgs) -> Outcome {
    let schema = Arc::new(Schema::packet());
    // Opened first: a file that is no capture is the caller's mistake.
    let mut intake = Intake::open(&args.file, &schema).map_err(CommandError::misused)?;
    let mut config = BroadcastConfig::new(args.cluster, schema.clone());
    config.batch_records = args.batch_records;
    config.lanes = args.lanes;
    config.first_batch = args.first_batch;
    config.hash = args.hash;
    config.key = args.keys.as_deref().map(keys::load_signer).transpose()?;
    let stop = Stop::listen()?;
    let judge = args.scc.map(|listen| Judge::start(args, listen, &schema)).transpose()?;
    let targets: Vec<_> =
        args.to.iter().copied().chain(judge.as_ref().map(Judge::target)).collect();
    let pace = match (args.rate, &judge) {
        (Some(rate), _) => Pace::rate(rate),
        (None, Some(judge)) => judge.pace(),
        (None, None) => Pace::Free,
    };
    let mut broadcaster =
        Broadcaster::connect(config, &targets, pace).map_err(CommandError::of_broadcast)?;
    if let Some(judge) = &judge {
        judge.wait_connected(&stop)?;
    }
    let bar = progress::spinner("replay", false);
    let started = Instant::now();
    loop {
        while !stop.is_set() {
            let Some(record) = intake.next_record() else { break };
            broadcaster.push(record).map_err(CommandError::failed)?;
            bar.set_position(broadcaster.totals().records);
        }
        for remark in intake.counts().remarks() {
            bar.suspend(|| complain("note", remark));
        }
        // An empty capture would loop without sending anything.
        if !args.repeat || stop.is_set() || intake.counts().packets.packets() == 0 {
            break;
        }
        intake = Intake::open(&args.file, &schema).map_err(CommandError::failed)?;
    }
    let totals = broadcaster.finish().map_err(CommandError::failed)?;
    bar.finish_and_clear();
    let seconds = started.elapsed().as_secs_f64();
    print(&format!(
        "{} records in {} batches ({} frames, {} bytes) in {:.2} s: {:.0} records/s\n",
        totals.records,
        totals.batches,
        totals.frames,
        totals.bytes,
        seconds,
        totals.records as f64 / seconds.max(1e-9)
    ))?;
    let Some(judge) = judge else { return Ok(ExitCode::SUCCESS) };
    let verified = judge.wait_judged(args.first_batch, totals.batches, &stop);
    print(&format!("{verified} of {} batches verified by the node\n", totals.batches))?;
    Ok(ExitCode::from(u8::from(verified < totals.batches)))
}
