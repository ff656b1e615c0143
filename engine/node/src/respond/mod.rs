//! The lookup responder: one message in, at most one message out; the same over UDP and TCP.
//!
//! Hot path: no lock that ingest, seal or control can hold; the store is read through a snapshot,
//! loaded once per lookup. Work is bounded by the lookup budget. Every doubt is answered "found",
//! or not at all.

mod socket;
mod tcp;
mod udp;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bloomrf_engine::lookup::Evaluator;
use bloomrf_engine::wire::lookup::{LookupReply, LookupRequest, LookupStatus, reply_bytes};

use crate::metrics::LookupRefusal;
use crate::shared::Shared;

pub(crate) use socket::LookupSocket;
pub(crate) use tcp::TcpResponder;
pub(crate) use udp::UdpResponder;

/// Answers single messages; one per responder thread.
struct Responder {
    shared: Arc<Shared>,
    evaluator: Evaluator,
}

impl Responder {
    fn new(shared: Arc<Shared>) -> Self {
        let evaluator = Evaluator::new(shared.lookup_config());
        Responder { shared, evaluator }
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
        out.clear();
        let request = LookupRequest::parse(message).map_err(LookupRefusal::Malformed)?;
        let reply = if reply_bytes(request.candidates.len()) > reply_bytes_max {
            bare(&request, LookupStatus::TooShort)
        } else if self.shared.ready.load(Ordering::Acquire) {
            self.evaluate(&request)?
        } else {
            nothing_excluded(&request, LookupStatus::NotReady)
        };
        reply.encode(out);
        if out.len() > reply_bytes_max {
            return Err(LookupRefusal::Amplification);
        }
        let nanos = self.shared.clock.now_ns().saturating_sub(start_ns);
        self.shared.metrics.lookup.answered(&reply, nanos as f64 / 1e9);
        log(&reply, nanos / 1_000);
        Ok(())
    }

    /// A mistake of ours in one lookup costs that lookup its answer, and nobody else anything.
    fn evaluate(&mut self, request: &LookupRequest) -> Result<LookupReply, LookupRefusal> {
        let snapshot = self.shared.reader.load();
        let clock = self.shared.clock.as_ref();
        let evaluator = &mut self.evaluator;
        let answered = catch_unwind(AssertUnwindSafe(|| {
            let reply = evaluator.answer(request, &snapshot, clock);
            assert_eq!(reply.candidates as usize, request.candidates.len());
            assert_eq!(reply.query_id, request.query_id);
            reply
        }));
        answered.map_err(|_| {
            tracing::error!(query_id = request.query_id, "a lookup failed inside: not answered");
            self.evaluator = Evaluator::new(self.shared.lookup_config());
            LookupRefusal::Internal
        })
    }
}

fn bare(request: &LookupRequest, status: LookupStatus) -> LookupReply {
    LookupReply { excluded: Vec::new(), ..nothing_excluded(request, status) }
}

fn nothing_excluded(request: &LookupRequest, status: LookupStatus) -> LookupReply {
    let candidates = request.candidates.len();
    // The parser bounds the number of candidates far below this.
    let count = u32::try_from(candidates).unwrap_or(u32::MAX);
    LookupReply {
        query_id: request.query_id,
        status,
        candidates: count,
        evaluated: 0,
        no_filter: count,
        excluded_zone_map: 0,
        excluded_filter: 0,
        micros: 0,
        excluded: vec![0; candidates.div_ceil(8)],
    }
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
