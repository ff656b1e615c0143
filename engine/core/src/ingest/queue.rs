//! The ingest state machine of one receive queue.
//!
//! Hot path: no allocation, no lock, no syscall per frame; work bounded by the frame.

use std::sync::Arc;

use super::{IngestStats, OpenBoard, Partial};
use crate::filter::FilterPolicy;
use crate::identity::{BatchId, ClusterId};
use crate::schema::Schema;
use crate::wire::frame::LaneTotal;

/// What all queues of a node share, fixed for a schema epoch.
#[derive(Clone, Debug)]
pub struct IngestConfig {
    /// Cluster.
    pub cluster: ClusterId,
    /// Schema.
    pub schema: Arc<Schema>,
    /// Filters.
    pub policy: Arc<FilterPolicy>,
    /// Agreement on sizes.
    pub board: Arc<OpenBoard>,
    /// Without a frame for this long an open batch is ended as incomplete, nanoseconds.
    pub idle_ns: u64,
    /// Frames of one batch that a queue keeps digests of.
    pub frames_max: usize,
}

/// From a queue to the sealer.
#[derive(Debug)]
pub enum QueueEvent {
    /// A CLOSE frame arrived: totals per lane.
    Close {
        /// Batch.
        batch: BatchId,
        /// Totals in lane order.
        totals: Vec<LaneTotal>,
    },
    /// The answer to `Take`: this queue's share, if it has any.
    Taken {
        /// Batch.
        batch: BatchId,
        /// The share, or none.
        partial: Option<Box<Partial>>,
    },
    /// An open batch was ended here (third batch id, or idle too long): it is incomplete unless
    /// the sealer already has its totals and all frames. Carries this queue's share.
    Ended {
        /// Batch.
        batch: BatchId,
        /// The share.
        partial: Box<Partial>,
    },
}

/// From the sealer to a queue.
#[derive(Debug)]
pub enum QueueCommand {
    /// Hand over your share of this batch (and open a new one if more of it arrives).
    Take(BatchId),
    /// The batch is sealed or given up: frames of it are late from now on.
    Forget(BatchId),
    /// A used partial, to be emptied and used again.
    Recycle(Box<Partial>),
}

/// One receive queue.
#[derive(Debug)]
pub struct Queue {
    _private: (),
}

impl Queue {
    /// A queue with its partials reserved.
    #[must_use]
    pub fn new(config: IngestConfig) -> Self {
        let _ = config;
        todo!("ingest")
    }

    /// Takes one datagram.
    pub fn on_datagram(&mut self, bytes: &[u8], now_ns: u64) {
        let _ = (bytes, now_ns);
        todo!("ingest")
    }

    /// Takes a command of the sealer.
    pub fn on_command(&mut self, command: QueueCommand, now_ns: u64) {
        let _ = (command, now_ns);
        todo!("ingest")
    }

    /// Called between bursts: ends what has been idle too long.
    pub fn on_tick(&mut self, now_ns: u64) {
        let _ = now_ns;
        todo!("ingest")
    }

    /// The next event for the sealer.
    pub fn next_event(&mut self) -> Option<QueueEvent> {
        todo!("ingest")
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> &IngestStats {
        todo!("ingest")
    }
}
