//! The control thread: offers to the session, bytes from and to the SCC, verdicts to the store; as
//! in `engine/node/src/control/scc.rs`.

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::verify::SessionEvent;
use bloomrf_engine::wire::stream::{StreamMessage, Verdict};

use super::{FromScc, SimNode};
use crate::canary::Canary;

/// What the node learned from the SCC, and did.
#[derive(Debug)]
pub(crate) enum Learned {
    /// A verdict was applied to a batch that the store held; does it hold it still?
    Judged(BatchId, Verdict, bool),
    /// These batches are gone.
    Deleted(Vec<BatchId>),
    /// It does not want us.
    Refused,
}

impl SimNode {
    /// Takes what the seal thread has offered.
    pub(crate) fn take_offers(&mut self) {
        while let Some((batch, records, hash)) = self.offers.pop_front() {
            self.session.offer(batch, records, hash);
        }
        while let Some(missing) = self.questions.pop_front() {
            self.session.ask(missing);
        }
    }

    /// The connection is gone.
    pub(crate) fn on_disconnected(&mut self) {
        self.session.on_disconnected();
        self.repaired.push_back(FromScc::Repairs(false));
    }

    /// A connection stands: every batch of the store is offered anew.
    pub(crate) fn on_connected(&mut self) {
        for (batch, _) in self.store.list() {
            self.session.offer(batch.batch, batch.records, batch.hash);
        }
        self.session.on_connected();
        self.gullible = Default::default();
    }

    /// Bytes of the SCC; false where the connection is to be closed.
    pub(crate) fn on_bytes(&mut self, bytes: &[u8], learned: &mut Vec<Learned>) -> bool {
        let is_sound = self.session.on_bytes(bytes).is_ok();
        if self.canary == Some(Canary::VerdictWithoutHash) {
            self.believe(bytes);
        }
        self.apply(learned);
        is_sound
    }

    /// Applies what the session has learned.
    pub(crate) fn apply(&mut self, learned: &mut Vec<Learned>) {
        while let Some(event) = self.session.next_event() {
            match event {
                SessionEvent::Judged(batch, hash, verdict)
                | SessionEvent::Revoked(batch, hash, verdict) => {
                    self.is_news = true;
                    if self.store.judge_report(batch, &hash, verdict) {
                        let is_held = self.reader.load().place(batch).is_some();
                        learned.push(Learned::Judged(batch, verdict, is_held));
                    }
                }
                SessionEvent::Deleted(batches) => {
                    self.delete(&batches);
                    learned.push(Learned::Deleted(batches));
                }
                SessionEvent::Refused(_) => learned.push(Learned::Refused),
                SessionEvent::Welcome(_) => {
                    self.repaired.push_back(FromScc::Repairs(self.session.repairs()));
                }
                SessionEvent::Frame(bytes) => self.repaired.push_back(FromScc::Frame(bytes)),
                SessionEvent::NotKept(batch) => self.repaired.push_back(FromScc::NotKept(batch)),
                _ => {}
            }
        }
    }

    /// Drops batches on word of the SCC, those that are not sealed yet as well.
    pub(super) fn delete(&mut self, batches: &[BatchId]) {
        if self.canary != Some(Canary::DeletedStay) {
            self.deleted.note(batches);
            self.store.delete(batches);
            self.is_news = true;
        }
    }

    fn believe(&mut self, bytes: &[u8]) {
        self.gullible.push(bytes);
        while let Ok(Some(message)) = self.gullible.next_message() {
            if let StreamMessage::Verdict { batch, verdict, .. } = message {
                self.store.judge(batch, verdict);
            }
        }
    }
}
