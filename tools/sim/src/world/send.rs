//! The sender: batches, one, two or more at once, in order; abandoned, closed early, sent again.

use std::collections::BTreeSet;
use std::sync::Arc;

use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::wire::frame::{Frame, FrameHeader, encode_data};

use super::{Event, World};
use crate::records::{CLUSTER, Sent};
use crate::scc::Known;
use crate::settings::SLOT_NS;
use crate::weather::State;

/// What the sender is at.
#[derive(Debug)]
pub(super) struct Sender {
    next_id: BatchId,
    open: Vec<Sending>,
    /// Ids that forged frames have named, of batches that were and of batches to come.
    forged: BTreeSet<BatchId>,
    /// Begins no batch any more.
    pub(super) is_draining: bool,
}

/// A batch on its way.
#[derive(Debug)]
struct Sending {
    batch: BatchId,
    /// Index of the next frame.
    at: usize,
    closes_left: u64,
}

impl Sender {
    pub(super) fn new(next_id: BatchId) -> Self {
        Sender { next_id, open: Vec::new(), forged: BTreeSet::new(), is_draining: false }
    }

    /// Nothing is on its way.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }
}

impl World {
    /// One turn of the sender.
    pub(super) fn send(&mut self) {
        let slots = 1 + self.rng.below(4);
        self.agenda.after(slots * SLOT_NS, Event::Send);
        let wanted = if self.is_calm { 1 } else { *self.rng.pick(&[1, 1, 1, 2, 2, 3]) };
        if self.sender.open.len() < wanted && !self.sender.is_draining {
            self.begin_batch();
        }
        if self.sender.open.is_empty() {
            return;
        }
        let at = self.rng.below(self.sender.open.len() as u64) as usize;
        let burst = if self.is_calm { 1 } else { 1 + self.rng.below(4) };
        for _ in 0..burst {
            if self.send_next(at) {
                self.sender.open.remove(at);
                break;
            }
        }
        if !self.is_calm && self.rng.one_in(60) {
            self.send_foreign();
        }
    }

    /// Begins a new batch, or an old one once more.
    pub(super) fn begin_batch(&mut self) -> BatchId {
        let again = !self.is_calm && self.rng.one_in(120) && !self.records.is_empty();
        let batch = if again {
            let ids: Vec<BatchId> = self.records.keys().copied().collect();
            let batch = *self.rng.pick(&ids);
            self.note("again", batch, 0);
            batch
        } else {
            self.make_batch()
        };
        let closes_left = if self.is_calm { 2 } else { 1 + self.rng.below(3) };
        self.sender.open.push(Sending { batch, at: 0, closes_left });
        batch
    }

    fn make_batch(&mut self) -> BatchId {
        while self.is_calm && self.sender.forged.contains(&self.sender.next_id) {
            // Given up before it began, perhaps: nobody signs these frames.
            self.sender.next_id = self.sender.next_id.saturating_add(1);
        }
        let batch = self.sender.next_id;
        let gap = if self.rng.one_in(20) { self.rng.below(40) } else { 0 };
        self.sender.next_id = self.sender.next_id.saturating_add(1 + gap);
        let index = self.epochs.len() - 1;
        let epoch = (index, &self.epochs[index]);
        let mut sent = Sent::draw(batch, epoch, &self.settings.shape, &mut self.rng);
        sent.is_forged = self.sender.forged.contains(&batch);
        self.note("batch", batch, sent.frames.len() as u64);
        self.tally.one("batches");
        self.tally.add("records", sent.rows.len() as u64);
        self.records.insert(batch, sent);
        let delay = self.rng.below(if self.is_calm { 50 } else { 400 });
        self.agenda.after(delay * SLOT_NS, Event::Learn(batch));
        batch
    }

    /// Sends the next frame of an open batch, or a CLOSE; true where it has no more.
    fn send_next(&mut self, at: usize) -> bool {
        let Sending { batch, at: next, .. } = self.sender.open[at];
        let sent = &self.records[&batch];
        let frame = sent.frames.get(next).map(|frame| (frame.lane, Arc::clone(&frame.bytes)));
        let close = Arc::clone(&sent.close);
        let abandons = !self.is_calm && self.rng.one_in(400);
        if let Some((lane, bytes)) = frame {
            if abandons {
                self.note("abandoned", batch, next as u64);
                return true;
            }
            if !self.is_calm && self.rng.one_in(200) {
                self.transmit(0, &close);
            }
            self.sender.open[at].at += 1;
            self.transmit(usize::from(lane), &bytes);
            return false;
        }
        let lane = self.rng.below(4) as usize;
        self.transmit(lane, &close);
        self.sender.open[at].closes_left -= 1;
        self.sender.open[at].closes_left == 0
    }

    /// Puts a datagram of a lane on the wire.
    fn transmit(&mut self, lane: usize, bytes: &Arc<[u8]>) {
        for carried in self.link.carry(bytes, &mut self.rng) {
            let stray = if carried.is_stray { 1 + self.rng.below(3) as usize } else { 0 };
            let queue = (lane + stray) % self.settings.queues;
            if carried.state == State::Forged {
                self.note_forged(&carried.bytes);
            }
            let arrive = Event::Arrive { queue, bytes: carried.bytes, state: carried.state };
            self.agenda.after(carried.delay_ns, arrive);
        }
    }

    /// The batch that a forged frame names is not what its sender sent any more.
    fn note_forged(&mut self, bytes: &[u8]) {
        for epoch in &self.epochs {
            let Ok(frame) = Frame::parse(bytes, epoch.schema.record_bytes()) else { continue };
            let batch = frame.header().batch;
            self.sender.forged.insert(batch);
            if let Some(sent) = self.records.get_mut(&batch) {
                sent.is_forged = true;
            }
        }
    }

    /// A frame of another cluster, or of a batch that nobody knows.
    fn send_foreign(&mut self) {
        let (index, epoch) = self.epoch();
        let (schema, fingerprint) = (Arc::clone(&epoch.schema), epoch.schema.fingerprint());
        let shape = self.settings.shape.clone();
        let batch = self.rng.next();
        let sent = Sent::draw(batch, (index, &self.epochs[index]), &shape, &mut self.rng);
        if self.rng.one_in(2) {
            let bytes = sent.frames.first().map_or(&sent.close, |frame| &frame.bytes);
            self.transmit(0, &Arc::clone(bytes));
            return;
        }
        let header = FrameHeader {
            cluster: ClusterId(CLUSTER.0 ^ 1),
            fingerprint,
            batch: self.records.last_key_value().map_or(0, |last| *last.0),
            hash: sent.hash.algorithm,
            lane: 0,
            lanes: 1,
            sequence: 0,
        };
        let mut bytes = Vec::new();
        let record = vec![0xEE; schema.record_bytes()];
        encode_data(&mut bytes, &header, schema.record_bytes(), &record);
        self.transmit(0, &bytes.into());
    }

    /// The SCC learns what became of a batch.
    pub(super) fn learn(&mut self, batch: BatchId) {
        let known = if !self.is_calm && self.rng.one_in(15) {
            Known::GivenUp
        } else {
            Known::Stored(self.records[&batch].hash)
        };
        self.note("learn", batch, u64::from(known == Known::GivenUp));
        self.scc.learn(batch, known, &mut self.rng);
        self.flush_scc();
    }
}
