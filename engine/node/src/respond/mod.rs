//! The lookup responder: one message in, at most one message out; the same over UDP and TCP.
//!
//! Hot path: no lock that ingest, seal or control can hold; the store is read through a snapshot,
//! loaded once per lookup. Work is bounded by the lookup budget. Every doubt is answered "found",
//! or not at all. Over UDP reasons are counted after the reply is on its way.

mod answerer;
mod gate;
mod rate;
mod socket;
mod tcp;
mod udp;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::lookup::{Evaluator, NoOpinion, NoOpinionCounts};
use bloomrf_engine::store::{Absence, Snapshot};
use bloomrf_engine::wire::lookup::{
    Candidates, LookupReply, LookupRequest, LookupStatus, authenticate_request, is_keyed,
    reply_bytes,
};
use bloomrf_engine::wire::mac::{KeyRing, SEAL_BYTES};

use crate::metrics::LookupRefusal;
use crate::shared::Shared;

pub(crate) use answerer::Answerer;
pub(crate) use socket::LookupSocket;
pub(crate) use tcp::{IDLE_MAX, MESSAGE_MAX, TcpResponder};
pub(crate) use udp::{LOOKUP_NICENESS, UdpResponder};

/// Answers single messages; one per responder thread.
struct Responder {
    shared: Arc<Shared>,
    evaluator: Evaluator,
    last: Option<(LookupRequest, LookupReply, u64)>,
}

impl Responder {
    fn new(shared: Arc<Shared>) -> Self {
        let evaluator = Evaluator::new(shared.lookup_config());
        Responder { shared, evaluator, last: None }
    }

    /// Writes the reply to `message` into `out` (cleared first). A reply that would be longer than
    /// `reply_bytes_max` shrinks to a bare "too short"; malformed messages get none.
    fn answer(
        &mut self,
        message: &[u8],
        reply_bytes_max: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), LookupRefusal> {
        let start_ns = self.shared.clock.now_ns();
        self.last = None;
        // A mistake of ours in one lookup costs that lookup its answer, and nobody else anything.
        let answered = catch_unwind(AssertUnwindSafe(|| {
            out.clear();
            let keys = self.shared.keys.lookup().map(|book| book.load());
            match keys {
                Some(keys) => self.answer_keyed(message, &keys, reply_bytes_max, out),
                None => self.answer_anybody(message, reply_bytes_max, out),
            }
        }));
        let (request, reply) = answered.unwrap_or_else(|_| {
            tracing::error!("a lookup failed inside and is not answered: a defect, please report");
            self.evaluator = Evaluator::new(self.shared.lookup_config());
            Err(LookupRefusal::Internal)
        })?;
        if out.len() > reply_bytes_max {
            return Err(LookupRefusal::Amplification);
        }
        let nanos = self.shared.clock.now_ns().saturating_sub(start_ns);
        self.last = Some((request, reply, nanos));
        Ok(())
    }

    fn answer_anybody(
        &mut self,
        message: &[u8],
        reply_bytes_max: usize,
        out: &mut Vec<u8>,
    ) -> Result<(LookupRequest, LookupReply), LookupRefusal> {
        let request = LookupRequest::parse(message).map_err(LookupRefusal::Malformed)?;
        if is_keyed(message) {
            // An asker who seals believes no unsealed reply.
            return Err(LookupRefusal::Key);
        }
        let reply = self.reply_to(&request, reply_bytes_max);
        reply.encode(out);
        Ok((request, reply))
    }

    fn answer_keyed(
        &mut self,
        message: &[u8],
        keys: &KeyRing,
        reply_bytes_max: usize,
        out: &mut Vec<u8>,
    ) -> Result<(LookupRequest, LookupReply), LookupRefusal> {
        let seal = authenticate_request(message, keys).map_err(|_| LookupRefusal::Key)?;
        let key = keys.find(seal.key).map_err(|_| LookupRefusal::Key)?;
        let request = LookupRequest::parse(message).map_err(LookupRefusal::Malformed)?;
        let reply = self.reply_to(&request, reply_bytes_max.saturating_sub(SEAL_BYTES));
        reply.encode_keyed(out, key, seal);
        Ok((request, reply))
    }

    fn reply_to(&mut self, request: &LookupRequest, reply_bytes_max: usize) -> LookupReply {
        let candidates = request.candidates.len();
        let nothing = |status| LookupReply::nothing_excluded(request.query_id, status, candidates);
        if reply_bytes(candidates) > reply_bytes_max {
            return nothing(LookupStatus::TooShort);
        }
        if !self.shared.ready.load(Ordering::Acquire) {
            return nothing(LookupStatus::NotReady);
        }
        let snapshot = self.shared.reader.load();
        let reply = self.evaluator.answer(request, &snapshot, self.shared.clock.as_ref());
        assert_eq!(reply.query_id, request.query_id);
        assert_eq!(reply.candidates as usize, candidates);
        reply
    }

    /// Counts and logs the last answer; called before the next one.
    fn account(&mut self) {
        let Some((request, reply, nanos)) = self.last.take() else { return };
        let metrics = &self.shared.metrics.lookup;
        metrics.answered(&reply, nanos as f64 / 1e9);
        metrics.no_opinion(&absences(&request, &reply, &self.shared.reader.load()));
        if matches!(reply.status, LookupStatus::Ok | LookupStatus::TimedOut) {
            metrics.no_opinion(self.evaluator.undecided());
        }
        log(&reply, nanos / 1_000);
    }
}

/// Why candidates had no usable filter. A verdict or an eviction between answer and account moves
/// a candidate from one reason to another, never out of the sum.
fn absences(request: &LookupRequest, reply: &LookupReply, snapshot: &Snapshot) -> NoOpinionCounts {
    let mut counts = NoOpinionCounts::default();
    let mut rest = u64::from(reply.no_filter);
    match reply.status {
        LookupStatus::Ok | LookupStatus::TimedOut => {}
        LookupStatus::OtherSchema => {
            counts[NoOpinion::Schema.index()] = rest;
            return counts;
        }
        // Nobody looked at the candidates, and the status is counted.
        _ => return counts,
    }
    let mut count = |why: Absence| {
        let n = rest.min(1);
        counts[NoOpinion::from(why).index()] += n;
        rest -= n;
    };
    // A range costs what the store knows of it, however many ids it names.
    let mut range = |first, n| snapshot.absences_in(first, n).for_each(&mut count);
    match &request.candidates {
        Candidates::Range { first, count } => range(*first, *count),
        Candidates::Ranges(ranges) => ranges.iter().for_each(|r| range(r.first, r.count)),
        Candidates::List(ids) => {
            let absent = ids.iter().filter(|&&batch| !is_live(snapshot, batch));
            absent.map(|&batch| snapshot.absence(batch)).for_each(count);
        }
    }
    counts[NoOpinion::NoFilter.index()] += rest;
    counts
}

fn is_live(snapshot: &Snapshot, batch: BatchId) -> bool {
    let Some(place) = snapshot.place(batch) else { return false };
    let chunk = snapshot.chunks().get(place.chunk as usize);
    chunk.is_some_and(|chunk| chunk.live() >> place.slot & 1 == 1)
}

fn log(reply: &LookupReply, micros: u64) {
    tracing::info!(
        target: "bloomrf_lookup",
        query_id = reply.query_id,
        candidates = reply.candidates,
        evaluated = reply.evaluated,
        excluded_zone_map = reply.excluded_zone_map,
        excluded_filter = reply.excluded_filter,
        no_filter = reply.no_filter,
        micros,
        status = crate::metrics::status_label(reply.status),
        "bloomrf_lookup"
    );
}
