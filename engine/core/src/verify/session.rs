//! The node's side of the verification stream as a state machine: connected or not, it remembers
//! what the SCC has not judged yet and sends it again after every reconnect.

use super::{BatchHash, HashAlgorithm};
use crate::identity::{BatchId, ClusterId, Fingerprint};
use crate::wire::stream::{RefuseReason, StreamError, Verdict};

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
    /// A batch was judged.
    Judged(BatchId, Verdict),
    /// These batches are gone.
    Deleted(Vec<BatchId>),
    /// Too many unjudged batches: this one will never be verified.
    GivenUp(BatchId),
}

/// The state machine. Feed it bytes, take bytes and events out.
#[derive(Debug)]
pub struct Session {
    _private: (),
}

impl Session {
    /// Not connected, nothing pending.
    #[must_use]
    pub fn new(config: SessionConfig) -> Self {
        let _ = config;
        todo!("verify")
    }

    /// A connection stands: queues Hello and every unjudged batch.
    pub fn on_connected(&mut self) {
        todo!("verify")
    }

    /// The connection is gone; partial input is dropped.
    pub fn on_disconnected(&mut self) {
        todo!("verify")
    }

    /// Bytes from the SCC. An error means: close the connection.
    pub fn on_bytes(&mut self, bytes: &[u8]) -> Result<(), StreamError> {
        let _ = bytes;
        todo!("verify")
    }

    /// A batch was sealed: report it now or after the next connect.
    pub fn offer(&mut self, batch: BatchId, records: u64, hash: BatchHash) {
        let _ = (batch, records, hash);
        todo!("verify")
    }

    /// Bytes to send, if any (taken out).
    pub fn take_output(&mut self) -> Vec<u8> {
        todo!("verify")
    }

    /// The next event.
    pub fn next_event(&mut self) -> Option<SessionEvent> {
        todo!("verify")
    }

    /// Batches reported or to be reported that have no verdict yet.
    #[must_use]
    pub fn pending(&self) -> usize {
        todo!("verify")
    }
}
