//! The responder: one message in, at most one message out, as in `engine/node/src/respond`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bloomrf_engine::env::Clock;
use bloomrf_engine::filter::{ColumnZone, SealedColumn};
use bloomrf_engine::lookup::{BatchExplain, Evaluator, LookupConfig};
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::store::Snapshot;
use bloomrf_engine::wire::lookup::{
    Candidates, LookupReply, LookupRequest, LookupStatus, reply_bytes,
};
use bloomrf_kernels::Zone;

use super::SimNode;
use crate::canary::Canary;
use crate::epoch::Epoch;
use crate::records::CLUSTER;
use crate::settings::Settings;

/// Time that goes on by a step whenever somebody looks.
pub(crate) struct JumpClock {
    now_ns: AtomicU64,
    step_ns: u64,
}

impl JumpClock {
    pub(crate) fn new(now_ns: u64, step_ns: u64) -> Self {
        JumpClock { now_ns: AtomicU64::new(now_ns), step_ns }
    }
}

impl Clock for JumpClock {
    fn now_ns(&self) -> u64 {
        self.now_ns.fetch_add(self.step_ns, Ordering::Relaxed)
    }

    fn unix_us(&self) -> i64 {
        0
    }
}

impl SimNode {
    /// Answers over UDP (`is_datagram`) or TCP; nothing where the message is malformed.
    pub(crate) fn answer(
        &mut self,
        message: &[u8],
        is_datagram: bool,
        snapshot: &Snapshot,
        clock: &JumpClock,
    ) -> Option<Vec<u8>> {
        let request = LookupRequest::parse(message).ok()?;
        let candidates = request.candidates.len();
        let reply = if is_datagram && reply_bytes(candidates) > message.len() {
            let status = LookupStatus::TooShort;
            LookupReply::nothing_excluded(request.query_id, status, candidates)
        } else {
            let reply = self.evaluator.answer(&request, snapshot, clock);
            self.spoiled(&request, reply)
        };
        let mut out = Vec::new();
        reply.encode(&mut out);
        assert!(!is_datagram || out.len() <= message.len(), "a reply longer than its request");
        Some(out)
    }

    /// The same question, with reasons.
    pub(crate) fn explain(
        &mut self,
        request: &LookupRequest,
        snapshot: &Snapshot,
        clock: &JumpClock,
    ) -> Vec<BatchExplain> {
        self.evaluator.explain(request, snapshot, clock)
    }

    /// What canaries make of a reply.
    fn spoiled(&self, request: &LookupRequest, mut reply: LookupReply) -> LookupReply {
        match self.canary {
            Some(Canary::TimeExcludes) if reply.status == LookupStatus::TimedOut => {
                let candidates = reply.candidates as usize;
                reply.excluded.fill(0);
                (0..candidates).for_each(|i| reply.excluded[i / 8] |= 1 << (i % 8));
                reply.excluded_filter = reply.candidates - reply.excluded_zone_map;
                (reply.evaluated, reply.no_filter) = (reply.candidates, 0);
            }
            Some(Canary::SortedReply) => {
                let Candidates::List(ids) = &request.candidates else { return reply };
                let mut order: Vec<usize> = (0..ids.len()).collect();
                order.sort_by_key(|&i| ids[i]);
                let bits: Vec<bool> = order.iter().map(|&i| reply.is_excluded(i)).collect();
                reply.excluded.fill(0);
                for (i, _) in bits.iter().enumerate().filter(|(_, excluded)| **excluded) {
                    reply.excluded[i / 8] |= 1 << (i % 8);
                }
            }
            _ => {}
        }
        reply
    }
}

/// A responder of an epoch.
pub(super) fn evaluator(settings: &Settings, epoch: &Epoch) -> Evaluator {
    Evaluator::new(LookupConfig {
        cluster: CLUSTER,
        schema: Arc::clone(&epoch.schema),
        probes_max: settings.probes_max,
        budget_us: 10_000,
        kernel: settings.ask_kernel,
    })
}

/// Takes the largest key out of the zone map of a column.
pub(super) fn lose_largest_key(batch: &mut SealedBatch) {
    for column in &mut batch.columns {
        let ColumnZone::Narrow(zone) = column.zone else { continue };
        if let Some((min, max)) = zone.bounds()
            && min < max
        {
            let mut smaller = Zone::default();
            smaller.insert(min);
            smaller.insert(max - 1);
            let zone = ColumnZone::Narrow(smaller);
            *column = Arc::new(SealedColumn { zone, ..SealedColumn::clone(column) });
            return;
        }
    }
}
