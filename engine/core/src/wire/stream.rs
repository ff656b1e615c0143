//! The verification stream between node and SCC: length-prefixed messages over TCP, CRC32C each.

use crate::identity::{BatchId, ClusterId, Fingerprint};
use crate::verify::{BatchHash, HashAlgorithm};

/// A message in either direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamMessage {
    /// Node to SCC, first: who I am, what I expect.
    Hello {
        /// Cluster.
        cluster: ClusterId,
        /// Schema.
        fingerprint: Fingerprint,
        /// Name of the node, for logs; at most `NAME_BYTES_MAX` bytes.
        node: String,
    },
    /// SCC to node: accepted, and the elected chain hash.
    Welcome {
        /// Chain hash of this cluster.
        hash: HashAlgorithm,
    },
    /// SCC to node: refused; nothing else follows.
    Refused {
        /// Why.
        reason: RefuseReason,
    },
    /// Node to SCC: what I saw of a batch.
    Seen {
        /// Batch.
        batch: BatchId,
        /// Records.
        records: u64,
        /// Batch hash.
        hash: BatchHash,
    },
    /// SCC to node: my judgement of it.
    Verdict {
        /// Batch.
        batch: BatchId,
        /// Judgement.
        verdict: Verdict,
    },
    /// SCC to node: these batches are gone.
    Deleted {
        /// Batches.
        batches: Vec<BatchId>,
    },
}

/// The SCC's judgement of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The hash is that of the stored batch: the filter may be used.
    Verified,
    /// It differs: the filter must never be used.
    Mismatch,
    /// The SCC does not hold such a batch: drop the filter.
    Unknown,
}

/// Why the SCC refuses a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefuseReason {
    /// Another cluster.
    Cluster,
    /// Another schema.
    Schema,
    /// A protocol version that it does not speak.
    Version,
}

/// Why a stream is broken; the connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamError {
    /// A message longer than `STREAM_BYTES_MAX`, or whose contents do not fill it.
    Length,
    /// Not ours.
    Magic,
    /// A version that this build does not speak.
    Version,
    /// CRC32C does not match.
    Checksum,
    /// Unknown kind, or a field out of bounds.
    Field,
}

impl StreamMessage {
    /// Appends the message with its length prefix.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let _ = out;
        todo!("wire")
    }
}

/// Cuts a byte stream into messages. Holds at most one message's bytes.
#[derive(Debug, Default)]
pub struct StreamDecoder {
    buffer: Vec<u8>,
}

impl StreamDecoder {
    /// Takes bytes as they arrive.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message, if there is one. After an error the stream is dead.
    pub fn next_message(&mut self) -> Result<Option<StreamMessage>, StreamError> {
        todo!("wire")
    }
}
