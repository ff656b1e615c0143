//! `bloomrf replay`: a capture file as batches on the network.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use bloomrf_engine::schema::Schema;
use bloomrf_refcluster::{BroadcastConfig, Broadcaster, Pace};

use crate::args::ReplayArgs;
use crate::intake::Intake;
use crate::outcome::{CommandError, Outcome, complain, print};
use crate::progress;
use crate::signals::Stop;

pub(crate) fn run(args: &ReplayArgs) -> Outcome {
    let schema = Arc::new(Schema::packet());
    // Opened first: a file that is no capture is the caller's mistake.
    let mut intake = Intake::open(&args.file, &schema).map_err(CommandError::misused)?;
    let mut config = BroadcastConfig::new(args.cluster, schema.clone());
    config.batch_records = args.batch_records;
    config.lanes = args.lanes;
    config.first_batch = args.first_batch;
    config.hash = args.hash;
    let pace = args.rate.map_or(Pace::Free, Pace::rate);
    let mut broadcaster =
        Broadcaster::connect(config, &args.to, pace).map_err(CommandError::of_broadcast)?;
    let stop = Stop::listen()?;
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
    Ok(ExitCode::SUCCESS)
}
