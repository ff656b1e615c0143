//! The node's side of the verification stream as a state machine: connected or not, it remembers
//! what the SCC has not judged yet and sends it again after every reconnect.
//!
//! Invariants: at most `pending_max` reports are kept, one per batch; a verdict counts only for
//! the very hash that is pending; what is to be sent is derived from the reports, so a peer that
//! does not read cannot make output grow. The caller drains events after each call.
//!
//! Versions: Hello is of the newest version. Where that was not welcomed twice in a row (an older
//! SCC hangs up, or refuses the version) the third one is of the oldest, and so in turn until one
//! is welcomed. What a version does not know is never sent in it.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::{BatchHash, HashAlgorithm};
use crate::identity::{BatchId, ClusterId, Fingerprint};
use crate::limits::REPAIR_BATCHES_MAX;
use crate::wire::stream::{
    Missing, PUSH_BYTES_MAX, RefuseReason, StreamDecoder, StreamError, StreamMessage, VERSION,
    VERSION_OLDEST, Verdict,
};

/// Who the node is.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// Cluster.
    pub cluster: ClusterId,
    /// Schema.
    pub fingerprint: Fingerprint,
    /// Name, for the SCC's logs.
    pub node: String,
    /// Most batches remembered as unjudged; the oldest is given up first (and said).
    pub pending_max: usize,
}

/// What the node learns from the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// The SCC accepted us and elected this hash.
    Welcome(HashAlgorithm),
    /// The SCC refused us.
    Refused(RefuseReason),
    /// The report of a batch with this hash was judged.
    Judged(BatchId, BatchHash, Verdict),
    /// A verdict against a filter that is not pending: it was judged before, perhaps as verified.
    /// Whoever holds a batch of this hash drops it.
    Revoked(BatchId, BatchHash, Verdict),
    /// These batches are gone.
    Deleted(Vec<BatchId>),
    /// A frame that was asked for with [`Session::ask`] (nothing in it was checked).
    Frame(Vec<u8>),
    /// Not everything that was asked for of this batch is kept; nothing more comes.
    NotKept(BatchId),
    /// Too many unjudged batches: this one will never be verified.
    GivenUp(BatchId),
    /// The ingest frames state another hash than the SCC elected: nothing will verify until both
    /// are configured alike. Said once per connection.
    OtherHash {
        /// By the SCC.
        elected: HashAlgorithm,
        /// By the frames of a batch.
        seen: HashAlgorithm,
    },
}

/// The state machine. Feed it bytes, take bytes and events out.
#[derive(Debug)]
pub struct Session {
    config: SessionConfig,
    state: State,
    decoder: StreamDecoder,
    /// Unjudged reports by age.
    reports: BTreeMap<u64, Report>,
    age_of: HashMap<BatchId, u64>,
    age_next: u64,
    /// Reports of a lower age were sent on this connection.
    sent_below: u64,
    hello_due: bool,
    /// Greetings in a row that were not welcomed.
    unwelcome: u32,
    /// Frames to ask for: the newest requests, as many as are ever under way.
    questions: VecDeque<Missing>,
    other_hash_said: bool,
    events: VecDeque<SessionEvent>,
    verdicts_ignored: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Down,
    /// Hello goes out, nothing came back yet.
    Greeting,
    Welcomed {
        elected: HashAlgorithm,
        repairs: bool,
    },
    Refused,
    Broken {
        error: StreamError,
        /// Before it welcomed us.
        greeting: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Report {
    batch: BatchId,
    records: u64,
    hash: BatchHash,
}

impl Session {
    /// Not connected, nothing pending.
    #[must_use]
    pub fn new(config: SessionConfig) -> Self {
        Session {
            config,
            state: State::Down,
            decoder: StreamDecoder::default(),
            reports: BTreeMap::new(),
            age_of: HashMap::new(),
            age_next: 0,
            sent_below: 0,
            hello_due: false,
            unwelcome: 0,
            questions: VecDeque::new(),
            other_hash_said: false,
            events: VecDeque::new(),
            verdicts_ignored: 0,
        }
    }

    /// A connection stands: queues Hello and every unjudged batch.
    pub fn on_connected(&mut self) {
        self.on_disconnected();
        self.state = State::Greeting;
        self.hello_due = true;
    }

    /// The connection is gone; partial input is dropped.
    pub fn on_disconnected(&mut self) {
        match self.state {
            State::Down => {}
            // Perhaps it does not know our version.
            State::Greeting | State::Broken { greeting: true, .. } => {
                self.unwelcome = self.unwelcome.wrapping_add(1);
            }
            // It may be another SCC, or a newer one, that we meet next.
            _ => self.unwelcome = 0,
        }
        self.state = State::Down;
        self.decoder = StreamDecoder::default();
        self.sent_below = 0;
        self.hello_due = false;
        self.questions.clear();
        self.other_hash_said = false;
    }

    /// Bytes from the SCC. An error means: close the connection. It is repeated until then.
    pub fn on_bytes(&mut self, bytes: &[u8]) -> Result<(), StreamError> {
        if let State::Broken { error, .. } = self.state {
            return Err(error);
        }
        if self.state == State::Down {
            return Ok(());
        }
        let outcome = self.take_bytes(bytes);
        if let Err(error) = outcome {
            self.state = State::Broken { error, greeting: self.state == State::Greeting };
        }
        outcome
    }

    /// Asks for frames, where the SCC [repairs](Session::repairs); else nothing is asked. Of more
    /// requests than are ever under way the oldest is dropped.
    ///
    /// # Panics
    /// Where the request is not [`Missing::is_sound`].
    pub fn ask(&mut self, missing: Missing) {
        assert!(missing.is_sound(), "a request that no SCC would take");
        if self.repairs() {
            if self.questions.len() == REPAIR_BATCHES_MAX {
                self.questions.pop_front();
            }
            self.questions.push_back(missing);
        }
    }

    /// A batch was sealed: report it now or after the next connect. The same report again changes
    /// nothing while it is unjudged; another hash for the same batch replaces the first, whose
    /// verdict then counts no more. A judged batch may be offered again: at every connect the
    /// node offers its stored ones, to learn what the SCC no longer holds.
    pub fn offer(&mut self, batch: BatchId, records: u64, hash: BatchHash) {
        let report = Report { batch, records, hash };
        if self.pending_report(batch) == Some(&report) {
            return;
        }
        self.forget(batch);
        self.reports.insert(self.age_next, report);
        self.age_of.insert(batch, self.age_next);
        self.age_next += 1;
        if self.reports.len() > self.config.pending_max.max(1)
            && let Some((_, oldest)) = self.reports.pop_first()
        {
            self.age_of.remove(&oldest.batch);
            self.events.push_back(SessionEvent::GivenUp(oldest.batch));
        }
        self.compare_hashes();
    }

    /// Bytes to send, if any (taken out).
    pub fn take_output(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if !matches!(self.state, State::Greeting | State::Welcomed { .. }) {
            return out;
        }
        if std::mem::take(&mut self.hello_due) {
            let SessionConfig { cluster, fingerprint, ref node, .. } = self.config;
            let (node, version) = (node.clone(), self.version());
            StreamMessage::Hello { cluster, fingerprint, node, version }.encode(&mut out);
        }
        for Report { batch, records, hash } in self.reports.range(self.sent_below..).map(|r| *r.1) {
            StreamMessage::Seen { batch, records, hash }.encode(&mut out);
        }
        self.sent_below = self.age_next;
        for missing in self.questions.drain(..) {
            StreamMessage::Missing(missing).encode(&mut out);
        }
        out
    }

    /// The next event.
    pub fn next_event(&mut self) -> Option<SessionEvent> {
        self.events.pop_front()
    }

    /// Batches reported or to be reported that have no verdict yet.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.reports.len()
    }

    /// Verdicts that nobody waited for, since the start: of batches that are not pending, or of
    /// another hash than the pending one. None of them verifies anything.
    #[must_use]
    pub fn verdicts_ignored(&self) -> u64 {
        self.verdicts_ignored
    }

    /// Whether the SCC has accepted us on the present connection.
    #[must_use]
    pub fn is_welcomed(&self) -> bool {
        matches!(self.state, State::Welcomed { .. })
    }

    /// Whether the SCC sends missing frames again on the present connection.
    #[must_use]
    pub fn repairs(&self) -> bool {
        matches!(self.state, State::Welcomed { repairs: true, .. })
    }

    fn take_bytes(&mut self, bytes: &[u8]) -> Result<(), StreamError> {
        for part in bytes.chunks(PUSH_BYTES_MAX) {
            self.decoder.push(part);
            while let Some(message) = self.decoder.next_message()? {
                self.on_message(message)?;
            }
        }
        Ok(())
    }

    fn on_message(&mut self, message: StreamMessage) -> Result<(), StreamError> {
        match (self.state, message) {
            (State::Greeting, StreamMessage::Welcome { hash, repairs }) => {
                if repairs.is_some() != (self.version() == VERSION) {
                    return Err(StreamError::Version);
                }
                self.state =
                    State::Welcomed { elected: hash, repairs: repairs.unwrap_or_default() };
                self.events.push_back(SessionEvent::Welcome(hash));
                self.compare_hashes();
            }
            (State::Greeting, StreamMessage::Refused { reason: RefuseReason::Version })
                if self.version() != VERSION_OLDEST =>
            {
                return Err(StreamError::Version);
            }
            (State::Greeting | State::Welcomed { .. }, StreamMessage::Refused { reason }) => {
                self.state = State::Refused;
                self.events.push_back(SessionEvent::Refused(reason));
            }
            (State::Welcomed { .. }, StreamMessage::Verdict { batch, hash, verdict }) => {
                self.on_verdict(batch, hash, verdict);
            }
            (State::Welcomed { .. }, StreamMessage::Deleted { batches }) => {
                batches.iter().for_each(|batch| self.forget(*batch));
                self.events.push_back(SessionEvent::Deleted(batches));
            }
            (State::Welcomed { repairs: true, .. }, StreamMessage::Frame { bytes }) => {
                self.events.push_back(SessionEvent::Frame(bytes));
            }
            (State::Welcomed { repairs: true, .. }, StreamMessage::NotKept { batch }) => {
                self.events.push_back(SessionEvent::NotKept(batch));
            }
            // Out of order, or a message that only nodes send.
            _ => return Err(StreamError::Field),
        }
        Ok(())
    }

    /// Of the present connection's Hello.
    fn version(&self) -> u8 {
        if self.unwelcome % 3 == 2 { VERSION_OLDEST } else { VERSION }
    }

    fn on_verdict(&mut self, batch: BatchId, hash: BatchHash, verdict: Verdict) {
        if self.pending_report(batch).is_some_and(|report| report.hash == hash) {
            self.forget(batch);
            self.events.push_back(SessionEvent::Judged(batch, hash, verdict));
            return;
        }
        self.verdicts_ignored += 1;
        // Nobody asked, and yet to give a filter up is never wrong.
        if verdict != Verdict::Verified {
            self.events.push_back(SessionEvent::Revoked(batch, hash, verdict));
        }
    }

    fn pending_report(&self, batch: BatchId) -> Option<&Report> {
        self.reports.get(self.age_of.get(&batch)?)
    }

    fn forget(&mut self, batch: BatchId) {
        if let Some(age) = self.age_of.remove(&batch) {
            self.reports.remove(&age);
        }
    }

    fn compare_hashes(&mut self) {
        let State::Welcomed { elected, .. } = self.state else { return };
        if self.other_hash_said {
            return;
        }
        let mut seen = self.reports.values().map(|report| report.hash.algorithm);
        if let Some(seen) = seen.find(|seen| *seen != elected) {
            self.other_hash_said = true;
            self.events.push_back(SessionEvent::OtherHash { elected, seen });
        }
    }
}

#[cfg(test)]
mod tests;
