//! The wall clock goes back and forward, by an hour and to the ends of time; the monotonic one
//! leaps ahead, as after a machine's sleep. No batch is lost by the first, no answer is wrong by
//! either, and nothing hangs on what time people think it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

use bloomrf_engine::env::Clock;
use bloomrf_netio::Link;
use bloomrf_netio::link::mem::{self, MemSender};
use bloomrf_node::Surroundings;
use bloomrf_report::Report;

use super::case;
use crate::cluster::{Cluster, Frames, wait_for};

/// A clock whose hands are moved.
struct MovedClock {
    origin: Instant,
    unix_us: AtomicI64,
    leapt_ns: AtomicU64,
}

impl Clock for MovedClock {
    fn now_ns(&self) -> u64 {
        let since = u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        since + self.leapt_ns.load(Ordering::SeqCst)
    }

    fn unix_us(&self) -> i64 {
        self.unix_us.load(Ordering::SeqCst)
    }
}

/// Wall clocks, microseconds since 1970.
const NOW_US: i64 = 1_790_000_000_000_000;
const HOUR_US: i64 = 3_600_000_000;
const WALLS: [i64; 6] = [NOW_US + HOUR_US, NOW_US - HOUR_US, 0, -HOUR_US, i64::MAX, i64::MIN];
/// Leaps of the monotonic clock, nanoseconds.
const LEAPS: [u64; 3] = [1_000_000_000, 3_600_000_000_000, 40 * 24 * 3_600_000_000_000];

pub(super) fn run(report: &mut Report) {
    let clock = Arc::new(MovedClock {
        origin: Instant::now(),
        unix_us: AtomicI64::new(NOW_US),
        leapt_ns: AtomicU64::new(0),
    });
    let (sender, link) = mem::pair(4_096);
    let links: Vec<Box<dyn Link>> = vec![Box::new(link)];
    let surroundings =
        Surroundings { clock: Some(clock.clone()), links: Some(links), ..Surroundings::default() };
    let cluster = match Cluster::start(|_| {}, surroundings) {
        Ok(cluster) => cluster,
        Err(reason) => return case(report, "a node with a moved clock", Err(reason)),
    };
    let mut batch = 0;
    for wall in WALLS {
        batch += 1;
        let turned = turned_within(&cluster, &sender, batch, || {
            clock.unix_us.store(wall, Ordering::SeqCst);
        });
        let outcome = turned.and_then(|()| must_be_verified(&cluster, batch));
        case(report, &format!("wall clock set to {wall} us within a batch"), outcome);
    }
    for leap in LEAPS {
        batch += 1;
        // A batch that is open meanwhile may be ended as idle; the next one may not.
        let turned = turned_within(&cluster, &sender, batch, || {
            clock.leapt_ns.fetch_add(leap, Ordering::SeqCst);
        });
        batch += 1;
        let outcome = turned
            .and_then(|()| turned_within(&cluster, &sender, batch, || {}))
            .and_then(|()| must_be_verified(&cluster, batch));
        case(report, &format!("monotonic clock leaps by {leap} ns within a batch"), outcome);
    }
    let all: Vec<u64> = (1..=batch).collect();
    case(report, "answers after all of it", cluster.judge_answers(&all));
}

/// Sends one half of a batch, moves the clock, sends the other half.
fn turned_within(
    cluster: &Cluster,
    sender: &MemSender,
    batch: u64,
    turn: impl FnOnce(),
) -> Result<(), String> {
    let Frames { datagrams, .. } = cluster.batch(batch, 60);
    let (first, second) = datagrams.split_at(datagrams.len() / 2);
    let send = |datagrams: &[Vec<u8>]| {
        let before = cluster.node.status().ingest.frames_in;
        datagrams.iter().for_each(|datagram| {
            sender.send(datagram);
        });
        let all = before + datagrams.len() as u64;
        wait_for("frames to come in", || cluster.node.status().ingest.frames_in == all)
    };
    send(first)?;
    turn();
    send(second)?;
    cluster.judge_answers(&[batch])
}

fn must_be_verified(cluster: &Cluster, batch: u64) -> Result<(), String> {
    wait_for(&format!("batch {batch} to be verified"), || {
        cluster.ask(batch, &[batch]).is_some_and(|reply| reply.evaluated == 1)
    })?;
    cluster.judge_answers(&[batch])
}
