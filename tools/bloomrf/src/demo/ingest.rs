//! The demo's ingest: from the capture through the broadcast, no faster than both receivers.

use std::path::Path;
use std::time::{Duration, Instant};

use bloomrf_refcluster::{BroadcastConfig, BroadcastTotals, Broadcaster, Pace};

use super::cluster::Cluster;
use crate::args::DemoArgs;
use crate::intake::{Intake, IntakeCounts};
use crate::outcome::CommandError;
use crate::progress;
use crate::signals::Stop;

/// What was sent, and how fast it was taken.
#[derive(Clone, Debug)]
pub(crate) struct Ingested {
    pub(crate) totals: BroadcastTotals,
    pub(crate) counts: IntakeCounts,
    /// From the first record read to the last frame taken by node and storage.
    pub(crate) seconds: f64,
    pub(crate) batch_records: u64,
}

pub(crate) fn run(
    args: &DemoArgs,
    cluster: &Cluster,
    stop: &Stop,
    capture: &Path,
    packets: u64,
    batch_records: u64,
) -> Result<Ingested, CommandError> {
    let mut intake = Intake::open(capture, cluster.schema()).map_err(CommandError::misused)?;
    let mut config = BroadcastConfig::new(Cluster::ID, cluster.schema().clone());
    config.batch_records = batch_records;
    config.lanes = args.lanes;
    config.hash = Cluster::HASH;
    // Every lane repeats it: enough copies where there are many lanes.
    config.close_repeats = CLOSE_FRAMES.div_ceil(u32::from(args.lanes));
    let batches = Some(cluster.batch_progress());
    let pace = Pace::window(cluster.frame_progress(), FRAMES_AHEAD_MAX, batches, STALL);
    let mut broadcaster = Broadcaster::connect(config, &cluster.targets(), pace)
        .map_err(CommandError::of_broadcast)?;
    let bar = progress::bar("ingest", packets, args.json);
    let started = Instant::now();
    while let Some(record) = intake.next_record() {
        broadcaster.push(record).map_err(CommandError::failed)?;
        if broadcaster.totals().records.is_multiple_of(1_000) {
            stop.check()?;
            bar.set_position(broadcaster.totals().records);
        }
    }
    let totals = broadcaster.finish().map_err(CommandError::failed)?;
    wait_taken(cluster, totals.frames);
    let seconds = started.elapsed().as_secs_f64();
    bar.finish_and_clear();
    Ok(Ingested { totals, counts: intake.counts().clone(), seconds, batch_records })
}

/// Waits until both receivers have seen `frames` frames, or see no more.
fn wait_taken(cluster: &Cluster, frames: u64) {
    for progress in cluster.frame_progress() {
        let (mut last, mut moved) = (progress(), Instant::now());
        while last < frames && moved.elapsed() < STALL {
            std::thread::sleep(POLL);
            let now = progress();
            if now != last {
                (last, moved) = (now, Instant::now());
            }
        }
    }
}

/// A socket buffer of 208 KiB (what many systems give without asking) holds about 90 datagrams
/// of 1,472 bytes at their true size in memory; the system doubles what is asked for.
const FRAMES_AHEAD_MAX: u64 = 96;
/// CLOSE frames per batch, over all lanes, where there are fewer lanes.
const CLOSE_FRAMES: u32 = 3;
/// A receiver without progress for this long has lost what is missing.
const STALL: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_micros(200);
