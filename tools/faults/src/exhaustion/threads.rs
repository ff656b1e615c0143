//! The sealer or the responder stands still: the others go on, within what they may hold.

use std::sync::Arc;

use bloomrf_netio::Link;
use bloomrf_netio::link::mem::{self, MemSender};
use bloomrf_node::Surroundings;

use super::gate::{GatedClock, Opens};
use super::{judge_frames, judge_fresh_batch, send_all, told, well_again};
use crate::cluster::{Cluster, exchange, wait_for};

fn start(gate: &Arc<GatedClock>) -> Result<(Cluster, MemSender), String> {
    let (sender, link) = mem::pair(256);
    let links: Vec<Box<dyn Link>> = vec![Box::new(link)];
    let surroundings =
        Surroundings { clock: Some(gate.clone()), links: Some(links), ..Surroundings::default() };
    let change = |config: &mut bloomrf_node::Config| {
        (config.batch_idle_ms, config.close_grace_ms) = (500, 50);
    };
    Ok((Cluster::start(change, surroundings)?, sender))
}

/// More batches than there are partials and places in rings come while nobody seals. None may stop
/// ingest; whatever becomes of them, no answer is wrong, and later ones are sealed.
pub(super) fn sealer(seed: u64) -> Result<(), String> {
    let gate = Arc::new(GatedClock::new());
    let (cluster, sender) = start(&gate)?;
    let _opens = Opens(&gate);
    judge_fresh_batch(&cluster, &sender, 1)?;
    let mut batches = vec![1];
    for stall in 0..2 {
        gate.close_for("bloomrf-seal");
        wait_for("the sealer to stand still", || gate.stood_for().is_some())?;
        let first = 1_000 * (stall + 1);
        for batch in first..first + BATCHES {
            send_all(&sender, &cluster.batch(batch, 5 + (seed + batch) % 30))?;
            batches.push(batch);
        }
        told(&cluster, &gate, "bloomrf-seal")?;
        judge_frames(&cluster)?;
        cluster.judge_answers(&batches)?;
        gate.open();
        well_again(&cluster)?;
        batches.push(first + 500);
        judge_settled(&cluster, &sender, first + 500)?;
    }
    judge_frames(&cluster)?;
    cluster.judge_answers(&batches)
}

/// Batches that were under way end; then a fresh one is sealed and verified.
fn judge_settled(cluster: &Cluster, sender: &MemSender, batch: u64) -> Result<(), String> {
    let ends = |cluster: &Cluster| {
        let status = cluster.node.status();
        (status.incomplete, status.store.verified, status.store.pending)
    };
    let (mut last, mut quiet) = (ends(cluster), 0);
    wait_for("what was under way to end", || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let now = ends(cluster);
        quiet = if now == last { quiet + 1 } else { 0 };
        last = now;
        quiet >= 8
    })?;
    judge_fresh_batch(cluster, sender, batch).map(|_| ())
}

/// A question holds the responder up; batches are sealed and verified all the same, and the answer
/// comes in the end.
pub(super) fn responder(seed: u64) -> Result<(), String> {
    let gate = Arc::new(GatedClock::new());
    let (cluster, sender) = start(&gate)?;
    let _opens = Opens(&gate);
    judge_fresh_batch(&cluster, &sender, 1)?;
    gate.close_for("bloomrf-lookup");
    let mut question = Vec::new();
    cluster.question(1, &[1]).encode(&mut question, true);
    let lookup = cluster.node.ports().lookup;
    let asker = std::thread::spawn(move || exchange(lookup, &question));
    wait_for("the responder to stand still", || gate.stood_for().is_some())?;
    told(&cluster, &gate, "bloomrf-lookup")?;
    let verified = cluster.node.status().store.verified;
    send_all(&sender, &cluster.batch(2, 10 + seed % 50))?;
    cluster.wait_verified(verified + 1).map_err(|e| format!("{e} beside a stopped responder"))?;
    gate.open();
    match asker.join() {
        Ok(Some(_)) => {}
        _ => return Err("the question was never answered".to_owned()),
    }
    well_again(&cluster)?;
    judge_fresh_batch(&cluster, &sender, 3)?;
    cluster.judge_answers(&[1, 2, 3])
}

/// Batches that come while nobody seals: more than a queue has partials for.
const BATCHES: u64 = 60;
