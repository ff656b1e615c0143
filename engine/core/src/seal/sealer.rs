//! The sealer: hears CLOSE from any queue, asks every queue for its share until the totals are
//! met or the grace time is over, then seals or gives up.

use super::SealedBatch;
use crate::identity::BatchId;
use crate::ingest::{IngestConfig, QueueCommand, QueueEvent};

/// How the sealer behaves.
#[derive(Clone, Debug)]
pub struct SealerConfig {
    /// The queues' shared configuration.
    pub ingest: IngestConfig,
    /// Number of queues.
    pub queues: usize,
    /// After CLOSE, how long to wait for frames that are still on their way, nanoseconds.
    pub grace_ns: u64,
    /// How often to ask again meanwhile, nanoseconds.
    pub retry_ns: u64,
}

/// Why a batch was given up. It reads "no filter" for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IncompleteReason {
    /// Frames are missing after the grace time.
    Gap,
    /// No CLOSE arrived before the batch was ended.
    NoClose,
    /// Copies of a frame differed, or frames disagreed about the batch.
    Conflict,
    /// Rows inserted are not the record total: our own mistake, never sealed.
    Rows,
}

/// What the sealer wants done.
#[derive(Debug)]
pub enum SealAction {
    /// Give a queue a command.
    Queue(usize, QueueCommand),
    /// A batch is sealed: store it as pending and report its hash.
    Sealed(Box<SealedBatch>),
    /// A batch was given up.
    Incomplete(BatchId, IncompleteReason),
}

/// The sealer's state machine. No I/O, no clock of its own.
#[derive(Debug)]
pub struct Sealer {
    _private: (),
}

impl Sealer {
    /// A sealer for a node.
    #[must_use]
    pub fn new(config: SealerConfig) -> Self {
        let _ = config;
        todo!("seal")
    }

    /// Takes an event of queue number `queue`.
    pub fn on_event(&mut self, queue: usize, event: QueueEvent, now_ns: u64) {
        let _ = (queue, event, now_ns);
        todo!("seal")
    }

    /// Called regularly: asks again, gives up what is overdue.
    pub fn on_tick(&mut self, now_ns: u64) {
        let _ = now_ns;
        todo!("seal")
    }

    /// The next thing to do.
    pub fn next_action(&mut self) -> Option<SealAction> {
        todo!("seal")
    }

    /// When `on_tick` has something to do next, if anything is open.
    #[must_use]
    pub fn next_tick_ns(&self) -> Option<u64> {
        todo!("seal")
    }
}
