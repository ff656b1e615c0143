//! Lookups: random trees over random candidates, as messages; every reply against the records.

use std::collections::BTreeSet;
use std::sync::Arc;

use bloomrf_engine::controller::{Unusable, check_reply};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::lookup::Outcome;
use bloomrf_engine::predicate::FloatOrder;
use bloomrf_engine::store::{BatchState, Snapshot};
use bloomrf_engine::wire::lookup::{Candidates, IdRange, LookupReply, LookupRequest, LookupStatus};

use super::{Event, World};
use crate::node::JumpClock;
use crate::records::{CLUSTER, Meaning};
use crate::settings::SLOT_NS;
use crate::shared::trees::tree;

impl World {
    /// Somebody asks, and will ask again.
    pub(super) fn ask_again(&mut self) {
        let pause =
            if self.is_calm { 4_000 } else { 1 + self.rng.below(2 * self.settings.ask_slots) };
        self.agenda.after(pause * SLOT_NS, Event::Ask);
        self.ask();
    }

    /// One question about what the store holds now, or held when a slow reader came.
    pub(super) fn ask(&mut self) {
        let Some(node) = &self.node else { return };
        let epoch = node.epoch;
        let now = Arc::clone(&node.reader.load());
        let is_old = !self.held.is_empty() && self.rng.one_in(4);
        let snapshot = if is_old { Arc::clone(self.rng.pick(&self.held)) } else { now };
        let asked_epoch = if self.rng.one_in(25) {
            self.rng.below(self.epochs.len() as u64) as usize
        } else {
            epoch
        };
        let request = self.question(asked_epoch);
        let is_datagram = self.rng.one_in(2);
        let mut message = Vec::new();
        request.encode(&mut message, is_datagram && !self.rng.one_in(8));
        if self.rng.one_in(12) {
            self.damage(&mut message);
        }
        let step_ns = *self.rng.pick(&[0, 0, 1, 300, 1_100]);
        let clock = JumpClock::new(self.agenda.now_ns(), step_ns);
        let Some(node) = &mut self.node else { return };
        let reply = node.answer(&message, is_datagram, &snapshot, &clock);
        // What was damaged on the way may still be a question, to be answered as such.
        let parsed = LookupRequest::parse(&message);
        self.note("asked", request.candidates.len() as u64, u64::from(reply.is_some()));
        self.tally.one("asked");
        assert_eq!(
            parsed.is_ok(),
            reply.is_some(),
            "malformed is unanswered, all else is answered"
        );
        let (Ok(request), Some(reply)) = (parsed, reply) else {
            self.tally.one("asked malformed");
            return;
        };
        self.check_answer(&request, &reply, &snapshot, is_old);
        if step_ns == 0 && self.rng.one_in(4) {
            self.check_explained(&request, &reply, &snapshot);
        }
    }

    /// A random question in the words of an epoch.
    fn question(&mut self, epoch: usize) -> LookupRequest {
        let candidates = self.candidates();
        let rng = &mut self.rng;
        let depth = rng.below(4) as u32;
        let epoch = &self.epochs[epoch];
        LookupRequest {
            query_id: rng.next(),
            cluster: CLUSTER,
            fingerprint: epoch.schema.fingerprint(),
            budget_us: *rng.pick(&[0, 0, 0, 1, 3]),
            float_order: *rng.pick(&[FloatOrder::Unstated, FloatOrder::Ieee, FloatOrder::Total]),
            candidates,
            predicate: tree(&epoch.pools, depth, rng),
        }
    }

    fn candidates(&mut self) -> Candidates {
        let rng = &mut self.rng;
        let first = self.records.first_key_value().map_or(0, |entry| *entry.0);
        let last = self.records.last_key_value().map_or(0, |entry| *entry.0);
        let span = (last - first).saturating_add(2).min(u64::MAX - first);
        let range = |rng: &mut crate::shared::Splitmix| {
            let first = first.saturating_sub(rng.below(3)) + rng.below(span);
            let count = rng.below(span + 5).min(u64::MAX - first).min(500) as u32;
            IdRange { first, count }
        };
        match rng.below(7) {
            0 | 1 => Candidates::Range { first, count: span.min(700) as u32 },
            2 => {
                let IdRange { first, count } = range(rng);
                Candidates::Range { first, count }
            }
            3 => Candidates::Ranges((0..rng.below(6)).map(|_| range(rng)).collect()),
            4 => {
                let mut ids: Vec<BatchId> = self.records.keys().copied().collect();
                for at in (1..ids.len()).rev() {
                    ids.swap(at, rng.below(at as u64 + 1) as usize);
                }
                ids.truncate(150);
                ids.extend_from_within(0..ids.len() / 2);
                Candidates::List(ids)
            }
            5 => Candidates::of(&self.records.keys().rev().take(20).copied().collect::<Vec<_>>()),
            _ => Candidates::List(
                (0..rng.below(40))
                    .map(|_| match rng.below(8) {
                        0 => u64::MAX,
                        1 => 0,
                        2 => rng.next(),
                        _ => first + rng.below(span),
                    })
                    .collect(),
            ),
        }
    }

    /// Flips a bit, mostly with the checksum made right again.
    fn damage(&mut self, message: &mut Vec<u8>) {
        let rng = &mut self.rng;
        let bit = rng.below(8 * message.len() as u64) as usize;
        message[bit / 8] ^= 1 << (bit % 8);
        match rng.below(5) {
            0 => message.truncate(rng.below(message.len() as u64) as usize),
            1 => {}
            _ => {
                let end = message.len() - 4;
                let crc = crc32c::crc32c(&message[..end]);
                message[end..].copy_from_slice(&crc.to_le_bytes());
            }
        }
    }

    /// The reply is about what was asked, its counts add up, and it excludes nothing that matches.
    fn check_answer(
        &mut self,
        request: &LookupRequest,
        bytes: &[u8],
        snapshot: &Snapshot,
        is_old: bool,
    ) {
        let reply = LookupReply::parse(bytes);
        let reply = reply.unwrap_or_else(|error| panic!("an unreadable reply: {error:?}"));
        let usable = match check_reply(request, bytes) {
            Ok(usable) => usable,
            Err(Unusable::Status) => {
                assert!(reply.excluded.iter().all(|&byte| byte == 0), "{:?}", reply.status);
                let same = request.cluster == CLUSTER && self.is_of_node(request);
                let foreign = reply.status == LookupStatus::OtherSchema;
                assert!(!(same && foreign), "a question in the node's schema is refused");
                self.tally.one("asked elsewhere");
                return;
            }
            Err(error) => panic!("a reply that no asker can use, {error:?}: {reply:?}"),
        };
        assert!(self.is_of_node(request), "a question in another schema is answered");
        self.tally.add("excluded by zone map", u64::from(usable.excluded_zone_map));
        self.tally.add("excluded by filter", u64::from(usable.excluded_filter));
        self.tally.add("timed out", u64::from(usable.timed_out));
        self.tally.add("evaluated", u64::from(reply.evaluated));
        if !is_old && self.rng.one_in(3) {
            self.check_evaluated(request, &reply);
        }
        let meaning = Meaning::of(&request.predicate, request.float_order);
        let mut known: BTreeSet<BatchId> = BTreeSet::new();
        for &batch in &usable.excluded {
            if known.insert(batch) {
                self.check_excluded(request, &meaning, batch, snapshot);
            }
        }
    }

    fn is_of_node(&self, request: &LookupRequest) -> bool {
        let node = self.node.as_ref().map(|node| node.epoch);
        let epoch = node.map(|epoch| self.epochs[epoch].schema.fingerprint());
        epoch == Some(request.fingerprint)
    }

    fn check_excluded(
        &self,
        request: &LookupRequest,
        meaning: &Meaning,
        batch: BatchId,
        snapshot: &Snapshot,
    ) {
        let (predicate, order) = (&request.predicate, request.float_order);
        let sent = self.records.get(&batch);
        let sent = sent.unwrap_or_else(|| panic!("batch {batch} was never sent, and is excluded"));
        let node_epoch = self.node.as_ref().map(|node| node.epoch);
        assert_eq!(Some(sent.epoch), node_epoch, "batch {batch} of another schema is excluded");
        // Whoever left the store is dead in every snapshot, however old.
        let is_held =
            self.node.as_ref().is_some_and(|node| node.reader.load().place(batch).is_some());
        assert!(is_held, "batch {batch} has left the store, and is excluded");
        let place = snapshot.place(batch);
        let held = place.and_then(|p| snapshot.chunks()[p.chunk as usize].slot(p.slot as usize));
        let held = held.unwrap_or_else(|| panic!("batch {batch} is not held, and is excluded"));
        assert!(
            held.hash == sent.hash && self.scc.ever_verified.contains(&batch),
            "batch {batch} was never verified, and is excluded"
        );
        assert!(
            !meaning.may_match(&sent.rows),
            "FALSE NEGATIVE in batch {batch}: {predicate:?} under {order:?}"
        );
    }

    /// Evaluated are the candidates that the store says are verified, each as often as asked.
    fn check_evaluated(&self, request: &LookupRequest, reply: &LookupReply) {
        let Some(node) = &self.node else { return };
        let held = node.store.list().into_iter();
        let verified = held.filter(|(_, state)| *state == BatchState::Verified);
        let verified: BTreeSet<BatchId> = verified.map(|(batch, _)| batch.batch).collect();
        let usable = request.candidates.iter().filter(|batch| verified.contains(batch)).count();
        assert_eq!(reply.evaluated as usize, usable, "evaluated are the verified ones");
    }

    /// A clock that stands still gives the same answer with reasons.
    fn check_explained(&mut self, request: &LookupRequest, bytes: &[u8], snapshot: &Snapshot) {
        let (Some(node), Ok(reply)) = (&mut self.node, LookupReply::parse(bytes)) else { return };
        if reply.status != LookupStatus::Ok {
            return;
        }
        let clock = JumpClock::new(self.agenda.now_ns(), 0);
        let explained = node.explain(request, snapshot, &clock);
        assert_eq!(explained.len(), reply.candidates as usize);
        for (i, line) in explained.iter().enumerate() {
            assert_eq!(line.outcome.is_excluded(), reply.is_excluded(i), "{line:?}");
        }
        let zones = explained.iter().filter(|line| line.outcome == Outcome::ExcludedZoneMap);
        assert_eq!(zones.count(), reply.excluded_zone_map as usize);
        self.tally.one("explained");
    }
}
