//! `bloomrf replay`: a capture file as batches on the network; with `--scc` the cluster's side as
//! well, so that a node of one's own can be tried without a cluster.

mod judge;
mod lanes;
mod report;
mod timing;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bloomrf_engine::schema::Schema;
use bloomrf_netio::link::pcap::Speed;
use bloomrf_refcluster::{BroadcastConfig, Broadcaster, Pace};
use indicatif::ProgressBar;

use crate::args::ReplayArgs;
use crate::intake::Intake;
use crate::keys;
use crate::outcome::{CommandError, Outcome, complain, print};
use crate::progress;
use crate::signals::Stop;
use judge::Judge;
use lanes::Prediction;
use report::Report;
use timing::Timing;

pub(crate) fn run(args: &ReplayArgs) -> Outcome {
    let schema = Arc::new(Schema::packet());
    // Opened first: a file that is no capture is the caller's mistake.
    let intake = Intake::open(&args.file, &schema).map_err(CommandError::misused)?;
    if args.scc.is_some() && args.passes == Some(None) {
        return Err(CommandError::misused(
            "--scc keeps every batch, and a --loop without a number never ends: give it a COUNT",
        ));
    }
    let config = config(args, &schema)?;
    let stop = Stop::listen()?;
    let judge = args.scc.map(|listen| Judge::start(args, listen, &schema)).transpose()?;
    let (mut broadcaster, predictions) = connect(args, config, judge.as_ref())?;
    if !args.json {
        print(&predictions.iter().map(Prediction::text).collect::<String>())?;
    }
    if let Some(judge) = &judge {
        judge.wait_connected(&stop)?;
    }
    let mut timing = Timing::start(args.speed.unwrap_or(Speed::Max));
    let passes = send(args, intake, &schema, &mut broadcaster, &mut timing, &stop)?;
    broadcaster.close_batch().map_err(CommandError::failed)?;
    let (totals, sender) = (broadcaster.totals(), broadcaster.sender_stats());
    let seconds = timing.seconds();
    let verified = judge.map(|judge| judge.wait_judged(args.first_batch, totals.batches, &stop));
    let asked = timing.asked(totals.records);
    let report = Report { totals, sender, seconds, asked, passes, verified, predictions };
    print(&if args.json { format!("{:#}\n", report.json()) } else { report.text() })?;
    Ok(ExitCode::from(u8::from(verified.is_some_and(|verified| verified < totals.batches))))
}

fn config(args: &ReplayArgs, schema: &Arc<Schema>) -> Result<BroadcastConfig, CommandError> {
    let mut config = BroadcastConfig::new(args.cluster, schema.clone());
    config.batch_records = args.batch_records;
    config.lanes = args.lanes;
    config.first_batch = args.first_batch;
    config.hash = args.hash;
    config.key = args.keys.as_deref().map(keys::load_signer).transpose()?;
    Ok(config)
}

fn connect(
    args: &ReplayArgs,
    config: BroadcastConfig,
    judge: Option<&Judge>,
) -> Result<(Broadcaster, Vec<Prediction>), CommandError> {
    let targets: Vec<_> = args.to.iter().copied().chain(judge.map(Judge::target)).collect();
    let pace = match (args.speed, judge) {
        (Some(Speed::Rate(rate)), _) => Pace::rate(rate),
        (None, Some(judge)) => judge.pace(),
        _ => Pace::Free,
    };
    let (lanes, predictions) = lanes::open(args, &targets)?;
    let broadcaster =
        Broadcaster::over_lanes(config, lanes, pace).map_err(CommandError::of_broadcast)?;
    Ok((broadcaster, predictions))
}

/// Plays the file, as often as asked for; returns how often it came to its end.
fn send(
    args: &ReplayArgs,
    mut intake: Intake,
    schema: &Schema,
    broadcaster: &mut Broadcaster,
    timing: &mut Timing,
    stop: &Stop,
) -> Result<u64, CommandError> {
    let passes_max = args.passes.map_or(1, |count| count.unwrap_or(u64::MAX));
    let (_, file_bytes) = intake.progress();
    let bar = match passes_max {
        u64::MAX => progress::spinner("replay", args.json),
        passes => progress::bytes("replay", file_bytes.saturating_mul(passes)),
    };
    let mut passes = 0;
    loop {
        let played_bytes = file_bytes.saturating_mul(passes);
        send_pass(&mut intake, broadcaster, timing, stop, |intake, records| {
            show(&bar, played_bytes, intake, records);
        })?;
        for remark in intake.counts().remarks() {
            bar.suspend(|| complain("note", remark));
        }
        if stop.is_set() {
            break;
        }
        passes += 1;
        timing.end_pass();
        // An empty capture would loop without sending anything.
        if passes >= passes_max || intake.counts().packets.packets() == 0 {
            break;
        }
        intake = Intake::open(&args.file, schema).map_err(CommandError::failed)?;
    }
    bar.finish_and_clear();
    Ok(passes)
}

fn send_pass(
    intake: &mut Intake,
    broadcaster: &mut Broadcaster,
    timing: &mut Timing,
    stop: &Stop,
    show: impl Fn(&Intake, u64),
) -> Result<(), CommandError> {
    while !stop.is_set() {
        let Some((ts_ns, record)) = intake.next_timed() else { break };
        let early = timing.until(ts_ns);
        if early > PAUSE_MIN {
            broadcaster.flush().map_err(CommandError::failed)?;
            timing::sleep(early, stop);
        }
        broadcaster.push(record).map_err(CommandError::failed)?;
        show(intake, broadcaster.totals().records);
    }
    Ok(())
}

fn show(bar: &ProgressBar, played_bytes: u64, intake: &Intake, records: u64) {
    match bar.length() {
        Some(_) => bar.set_position(played_bytes + intake.progress().0),
        None => bar.set_position(records),
    }
}

/// Shorter pauses are not worth a frame of its own; the schedule is absolute, so it still holds.
const PAUSE_MIN: Duration = Duration::from_millis(1);
