//! A poll thread stands still behind a ring of a few buffers: what finds no room is counted, to
//! the datagram, and every buffer is free again afterwards.

use std::sync::Arc;

use bloomrf_netio::Link;
use bloomrf_netio::link::mem;
use bloomrf_node::Surroundings;

use super::gate::{GatedClock, Opens};
use super::{Sent, judge_frames, judge_fresh_batch, told, well_again};
use crate::cluster::{Cluster, wait_for};

/// One node, some stalls of different length in datagrams.
pub(super) fn run(seed: u64) -> Result<(), String> {
    let capacity = 4 + (seed % 13) as usize;
    let gate = Arc::new(GatedClock::new());
    let (sender, link) = mem::pair(capacity);
    let links: Vec<Box<dyn Link>> = vec![Box::new(link)];
    let surroundings =
        Surroundings { clock: Some(gate.clone()), links: Some(links), ..Surroundings::default() };
    let cluster = Cluster::start(
        |config| (config.batch_idle_ms, config.close_grace_ms) = (200, 50),
        surroundings,
    )?;
    let _opens = Opens(&gate);
    let mut sent = judge_fresh_batch(&cluster, &sender, 1)?;
    for stall in 0..STALLS {
        gate.close_for("bloomrf-rx-0");
        wait_for("the queue to stand still", || gate.stood_for().is_some())?;
        let batch = 10 + stall;
        // Far more than the ring holds, of whatever size it is.
        let packets = 20 * capacity as u64 + 60 + 20 * (seed + stall) % 100;
        for datagram in &cluster.batch(batch, packets).datagrams {
            match sender.send(datagram) {
                true => sent.accepted += 1,
                false => sent.refused += 1,
            }
        }
        told(&cluster, &gate, "bloomrf-rx-0")?;
        gate.open();
        well_again(&cluster)?;
        judge_counts(&cluster, sent)?;
        sent += judge_fresh_batch(&cluster, &sender, 100 + stall)?;
        judge_counts(&cluster, sent)?;
    }
    if sent.refused == 0 {
        return Err("the ring was never full: the case shows nothing".to_owned());
    }
    let batches: Vec<_> = [1].into_iter().chain(10..10 + STALLS).chain(100..100 + STALLS).collect();
    cluster.judge_answers(&batches)
}

/// All that was accepted has come out of the ring, and all that was not is counted as dropped.
fn judge_counts(cluster: &Cluster, sent: Sent) -> Result<(), String> {
    let Sent { accepted, refused } = sent;
    wait_for(&format!("{accepted} frames to come in"), || {
        cluster.node.status().ingest.frames_in == accepted
    })?;
    let metric = cluster.metric("frames_dropped{place=\"link\"}").map(|dropped| dropped as u64);
    let dropped = cluster.node.status().dropped;
    if dropped != refused || metric != Some(refused) {
        return Err(format!(
            "{refused} datagrams found no room; {dropped} and {metric:?} are counted as dropped"
        ));
    }
    judge_frames(cluster)
}

/// Stalls of one case.
const STALLS: u64 = 2;
