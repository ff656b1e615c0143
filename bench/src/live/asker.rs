//! Asks a node over UDP and checks what must hold of every answer.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use bloomrf_engine::identity::{BatchId, Fingerprint};
use bloomrf_engine::predicate::{FloatOrder, Predicate};
use bloomrf_engine::wire::lookup::{Candidates, LookupReply, LookupRequest};

use super::Cluster;
use super::traffic::CLUSTER;

/// Somebody with a socket.
pub struct Asker {
    socket: UdpSocket,
    fingerprint: Fingerprint,
    query_id: u64,
    request: Vec<u8>,
    reply: Vec<u8>,
}

/// An answer, and how long it took.
pub struct Answer {
    /// What the node said.
    pub reply: LookupReply,
    /// From before the request was sent to after the reply was read.
    pub took: Duration,
}

impl Asker {
    /// Asks the node of `cluster`.
    pub fn new(cluster: &Cluster) -> Result<Self, String> {
        let connect = || -> std::io::Result<UdpSocket> {
            let socket = UdpSocket::bind("127.0.0.1:0")?;
            socket.connect(cluster.lookup())?;
            socket.set_read_timeout(Some(PATIENCE))?;
            Ok(socket)
        };
        Ok(Asker {
            socket: connect().map_err(|why| format!("asker: {why}"))?,
            fingerprint: cluster.schema().fingerprint(),
            query_id: 0,
            request: Vec::new(),
            reply: vec![0; 2_048],
        })
    }

    /// Asks about the batches `first..first + count`; `None` where no answer came in time.
    pub fn ask(
        &mut self,
        predicate: Predicate,
        first: BatchId,
        count: u32,
    ) -> Result<Option<Answer>, String> {
        self.query_id += 1;
        let request = LookupRequest {
            query_id: self.query_id,
            cluster: CLUSTER,
            fingerprint: self.fingerprint,
            budget_us: 0,
            float_order: FloatOrder::Unstated,
            candidates: Candidates::Range { first, count },
            predicate,
        };
        self.request.clear();
        request.encode(&mut self.request, true);
        let start = Instant::now();
        self.socket.send(&self.request).map_err(|why| format!("asker: {why}"))?;
        loop {
            let Ok(length) = self.socket.recv(&mut self.reply) else { return Ok(None) };
            let took = start.elapsed();
            let reply = LookupReply::parse(&self.reply[..length])
                .map_err(|why| format!("a reply that is none: {why:?}"))?;
            // An answer to a question that was given up before.
            if reply.query_id < self.query_id {
                continue;
            }
            if reply.candidates != count || reply.evaluated + reply.no_filter != count {
                return Err(format!("counts of a reply to {count} candidates: {reply:?}"));
            }
            return Ok(Some(Answer { reply, took }));
        }
    }
}

/// Far beyond any budget of a lookup.
const PATIENCE: Duration = Duration::from_secs(2);
