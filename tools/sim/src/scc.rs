//! The controller (SCC): what it holds, whom it has told what; it restarts, forgets, deletes, and
//! is slow, early or repeats itself.

use std::collections::{BTreeMap, BTreeSet};

use bloomrf_engine::identity::{BatchId, Fingerprint};
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_engine::wire::stream::{
    Missing, RefuseReason, StreamDecoder, StreamMessage, VERSION, VERSION_OLDEST, Verdict,
};

use crate::records::CLUSTER;
use crate::shared::Splitmix;

/// What the SCC knows of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Stored, with this hash.
    Stored(BatchHash),
    /// Given up: it holds no such batch.
    GivenUp,
    /// Held once.
    Deleted,
}

/// The controller.
#[derive(Debug, Default)]
pub(crate) struct Scc {
    pub(crate) known: BTreeMap<BatchId, Known>,
    /// Reports that wait for the batch to be stored.
    waiting: BTreeMap<BatchId, BatchHash>,
    /// Batches that some verdict has ever verified.
    pub(crate) ever_verified: BTreeSet<BatchId>,
    decoder: StreamDecoder,
    is_welcomed: bool,
    /// It speaks the oldest version only.
    is_old: bool,
    /// It sends missing frames again.
    repairs: bool,
    /// Frames that the node asks for again.
    pub(crate) wanted: Vec<Missing>,
    /// It is neither hasty nor forgetful any more.
    pub(crate) is_calm: bool,
    /// To be said, each after a delay in slots.
    pub(crate) out: Vec<(u64, StreamMessage)>,
}

impl Scc {
    /// One that speaks the oldest version only, or that sends missing frames again.
    pub(crate) fn new(is_old: bool, repairs: bool) -> Self {
        Scc { is_old, repairs, ..Scc::default() }
    }

    /// The node has connected.
    pub(crate) fn on_connected(&mut self) {
        self.decoder = StreamDecoder::default();
        self.is_welcomed = false;
        self.waiting.clear();
        self.out.clear();
    }

    /// Bytes of the node; false where they are none of ours.
    pub(crate) fn on_bytes(
        &mut self,
        bytes: &[u8],
        expected: Fingerprint,
        rng: &mut Splitmix,
    ) -> bool {
        self.decoder.push(bytes);
        loop {
            match self.decoder.next_message() {
                Ok(Some(message)) => self.on_message(&message, expected, rng),
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    fn on_message(&mut self, message: &StreamMessage, expected: Fingerprint, rng: &mut Splitmix) {
        match message.clone() {
            StreamMessage::Hello { cluster, fingerprint, version, .. } => {
                let refuse = |reason| StreamMessage::Refused { reason };
                let answer = if self.is_old && version != VERSION_OLDEST {
                    refuse(RefuseReason::Version)
                } else if cluster != CLUSTER || fingerprint != expected {
                    refuse(RefuseReason::Schema)
                } else {
                    self.is_welcomed = true;
                    let repairs = (version == VERSION).then_some(self.repairs);
                    let hash = HashAlgorithm::ALL[rng.below(3) as usize];
                    StreamMessage::Welcome { hash, repairs }
                };
                self.out.push((1, answer));
            }
            StreamMessage::Seen { batch, hash, .. } if self.is_welcomed => {
                if self.known.contains_key(&batch) {
                    self.judge(batch, hash, rng);
                } else if !self.is_calm && rng.one_in(20) {
                    self.say(batch, hash, Verdict::Unknown, rng);
                } else {
                    self.waiting.insert(batch, hash);
                }
            }
            StreamMessage::Missing(missing) if self.is_welcomed => self.wanted.push(missing),
            _ => {}
        }
    }

    /// A batch was stored, or given up.
    pub(crate) fn learn(&mut self, batch: BatchId, known: Known, rng: &mut Splitmix) {
        self.known.insert(batch, known);
        if let Some(hash) = self.waiting.remove(&batch) {
            self.judge(batch, hash, rng);
        } else if self.is_welcomed && rng.one_in(6) {
            // It tells what nobody asked for.
            if let Known::Stored(hash) = known {
                self.say(batch, hash, Verdict::Verified, rng);
            }
        }
    }

    /// Some of what it holds is gone; it says so, mostly.
    pub(crate) fn delete(&mut self, rng: &mut Splitmix) {
        let held: Vec<BatchId> = self.held().collect();
        if held.is_empty() {
            return;
        }
        let batches: Vec<BatchId> = (0..1 + rng.below(8)).map(|_| *rng.pick(&held)).collect();
        batches.iter().for_each(|&batch| {
            self.known.insert(batch, Known::Deleted);
        });
        if self.is_welcomed && !rng.one_in(5) {
            self.out.push((1, StreamMessage::Deleted { batches }));
        }
    }

    /// A restart without some of what it knew.
    pub(crate) fn lose_memory(&mut self, rng: &mut Splitmix) {
        let share = rng.below(60);
        self.known.retain(|_, _| !rng.percent(share));
        self.is_welcomed = false;
        self.waiting.clear();
    }

    /// Batches that it holds.
    pub(crate) fn held(&self) -> impl Iterator<Item = BatchId> + '_ {
        let stored = self.known.iter().filter(|(_, known)| matches!(known, Known::Stored(_)));
        stored.map(|(batch, _)| *batch)
    }

    fn judge(&mut self, batch: BatchId, asked: BatchHash, rng: &mut Splitmix) {
        let verdict = match self.known.get(&batch) {
            Some(Known::Stored(held)) if *held == asked => Verdict::Verified,
            Some(Known::Stored(held)) => {
                if !rng.one_in(3) {
                    // Of the very batch that it holds, to whoever may have that; this node's turn
                    // comes later.
                    let (hash, verdict) = (*held, Verdict::Verified);
                    self.out.push((1, StreamMessage::Verdict { batch, hash, verdict }));
                    let (hash, verdict) = (asked, Verdict::Mismatch);
                    let delay = 100 + rng.below(200);
                    self.out.push((delay, StreamMessage::Verdict { batch, hash, verdict }));
                    return;
                }
                Verdict::Mismatch
            }
            _ => Verdict::Unknown,
        };
        self.say(batch, asked, verdict, rng);
    }

    /// Now or much later, perhaps twice.
    fn say(&mut self, batch: BatchId, hash: BatchHash, verdict: Verdict, rng: &mut Splitmix) {
        if verdict == Verdict::Verified {
            self.ever_verified.insert(batch);
        }
        for _ in 0..1 + u64::from(rng.one_in(8)) {
            let delay = if rng.one_in(8) { rng.below(600) } else { 1 + rng.below(4) };
            self.out.push((delay, StreamMessage::Verdict { batch, hash, verdict }));
        }
    }
}
