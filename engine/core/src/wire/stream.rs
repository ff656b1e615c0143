//! The verification stream between node and SCC: length-prefixed messages over TCP, CRC32C each.
//!
//! Hot path: no lock, no syscall. A length is compared with `STREAM_BYTES_MAX` before anything is
//! kept for it, and a count with the bytes present before memory is reserved for it.
//!
//! Version 2 adds the repair of missing frames. A node says in Hello which version it speaks, the
//! SCC answers in the same one, and only a Welcome of version 2 may invite [`Missing`] requests:
//! neither side ever sends what the other does not know.

mod repair;

use super::cursor::{Reader, Short, Writer, saturated_u32};
use crate::identity::{BatchId, ClusterId, Fingerprint};
use crate::limits::{NAME_BYTES_MAX, STREAM_BYTES_MAX};
use crate::verify::{BatchHash, HashAlgorithm};

pub use repair::{FrameRange, Missing};

/// What Hello and Welcome start with, behind their kind.
pub const MAGIC: [u8; 4] = *b"BRFV";
/// Newest version of the layout.
pub const VERSION: u8 = 2;
/// Oldest version that is still spoken.
pub const VERSION_OLDEST: u8 = 1;
/// Longest read that a caller should push before it drains the messages.
pub const PUSH_BYTES_MAX: usize = 64 << 10;
/// Batches of one Deleted message; a longer list is sent as several.
pub const DELETED_MAX: usize = (STREAM_BYTES_MAX - 9) / 8;

const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const REFUSED: u8 = 3;
const SEEN: u8 = 4;
const VERDICT: u8 = 5;
const DELETED: u8 = 6;
const MISSING: u8 = 7;
const FRAME: u8 = 8;
const NOT_KEPT: u8 = 9;

const PREFIX_BYTES: usize = 4;
const CRC_BYTES: usize = 4;
/// Kind and CRC32C.
const MESSAGE_BYTES_MIN: usize = 1 + CRC_BYTES;

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
        /// Version that the node speaks on this connection.
        version: u8,
    },
    /// SCC to node: accepted, and the elected chain hash. Of the version of the Hello.
    Welcome {
        /// Chain hash of this cluster.
        hash: HashAlgorithm,
        /// Whether Missing is answered here; `None`: version 1, which has no repairs.
        repairs: Option<bool>,
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
        /// The hash that is judged, as it was reported: a verdict on an earlier report of the
        /// same batch must not be taken for one on the latest.
        hash: BatchHash,
        /// Judgement.
        verdict: Verdict,
    },
    /// SCC to node: these batches are gone.
    Deleted {
        /// Batches.
        batches: Vec<BatchId>,
    },
    /// Node to SCC: send these frames of a batch again.
    Missing(Missing),
    /// SCC to node: one ingest frame that was asked for, as it was broadcast.
    Frame {
        /// The datagram; `frame::HEADER_BYTES` to `FRAME_BYTES_MAX` bytes.
        bytes: Vec<u8>,
    },
    /// SCC to node: some of what was asked for is not kept, and nothing more comes of it.
    NotKept {
        /// Batch.
        batch: BatchId,
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

impl From<Short> for StreamError {
    fn from(Short: Short) -> Self {
        Self::Length
    }
}

impl StreamMessage {
    /// Appends the message with its length prefix. A Deleted of more than [`DELETED_MAX`] batches
    /// becomes several messages.
    ///
    /// # Panics
    /// Where a node's name is longer than `NAME_BYTES_MAX`: configuration is checked before; or a
    /// Missing is not [`Missing::is_sound`].
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hello { cluster, fingerprint, node, version } => {
                assert!(node.len() <= NAME_BYTES_MAX, "name of {} bytes", node.len());
                encode_one(out, HELLO, |w| {
                    w.bytes(&MAGIC);
                    w.u8(*version);
                    w.u128(cluster.0);
                    w.u64(fingerprint.0);
                    w.u8(node.len() as u8);
                    w.bytes(node.as_bytes());
                });
            }
            Self::Welcome { hash, repairs } => encode_one(out, WELCOME, |w| {
                w.bytes(&MAGIC);
                w.u8(if repairs.is_some() { VERSION } else { VERSION_OLDEST });
                w.u8(hash.code());
                repairs.iter().for_each(|repairs| w.u8(u8::from(*repairs)));
            }),
            Self::Refused { reason } => encode_one(out, REFUSED, |w| w.u8(reason_code(*reason))),
            Self::Seen { batch, records, hash } => encode_one(out, SEEN, |w| {
                w.u64(*batch);
                w.u64(*records);
                encode_hash(w, hash);
            }),
            Self::Verdict { batch, hash, verdict } => encode_one(out, VERDICT, |w| {
                w.u64(*batch);
                encode_hash(w, hash);
                w.u8(verdict_code(*verdict));
            }),
            Self::Deleted { batches } if batches.is_empty() => encode_deleted(out, &[]),
            Self::Deleted { batches } => {
                batches.chunks(DELETED_MAX).for_each(|ids| encode_deleted(out, ids));
            }
            Self::Missing(missing) => encode_one(out, MISSING, |w| missing.encode(w)),
            Self::Frame { bytes } => encode_one(out, FRAME, |w| w.bytes(bytes)),
            Self::NotKept { batch } => encode_one(out, NOT_KEPT, |w| w.u64(*batch)),
        }
    }
}

/// Cuts a byte stream into messages.
///
/// Between two calls it holds less than one message (`STREAM_BYTES_MAX`) plus what was pushed
/// since the last drain. The bound is therefore the caller's to keep: push reads of at most
/// [`PUSH_BYTES_MAX`], and call [`StreamDecoder::next_message`] until it has no more.
#[derive(Debug, Default)]
pub struct StreamDecoder {
    buffer: Vec<u8>,
    /// Bytes at the start of `buffer` that were handed out already.
    used: usize,
    dead: Option<StreamError>,
}

impl StreamDecoder {
    /// Takes bytes as they arrive. A dead stream takes none.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.dead.is_some() {
            return;
        }
        self.buffer.drain(..self.used);
        self.used = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message, if there is one. After an error the stream is dead: every further
    /// call repeats the error.
    pub fn next_message(&mut self) -> Result<Option<StreamMessage>, StreamError> {
        if let Some(error) = self.dead {
            return Err(error);
        }
        match cut(&self.buffer[self.used..]) {
            Ok(None) => Ok(None),
            Ok(Some((message, bytes))) => {
                self.used += bytes;
                Ok(Some(message))
            }
            Err(error) => {
                *self = StreamDecoder { dead: Some(error), ..Self::default() };
                Err(error)
            }
        }
    }

    /// Bytes held that no message has used yet.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.buffer.len() - self.used
    }
}

/// The first message of `bytes` and its length with prefix; none where it is not whole yet.
fn cut(bytes: &[u8]) -> Result<Option<(StreamMessage, usize)>, StreamError> {
    let mut r = Reader::new(bytes);
    let Ok(stated) = r.u32() else { return Ok(None) };
    let stated = stated as usize;
    if !(MESSAGE_BYTES_MIN..=STREAM_BYTES_MAX).contains(&stated) {
        return Err(StreamError::Length);
    }
    if r.len() < stated {
        return Ok(None);
    }
    let whole = PREFIX_BYTES + stated;
    let (summed, crc) = bytes[..whole].split_at(whole - CRC_BYTES);
    if Reader::new(crc).u32()? != crc32c::crc32c(summed) {
        return Err(StreamError::Checksum);
    }
    let mut body = Reader::new(&summed[PREFIX_BYTES..]);
    let message = parse_body(&mut body)?;
    if !body.is_empty() {
        return Err(StreamError::Length);
    }
    Ok(Some((message, whole)))
}

fn parse_body(r: &mut Reader<'_>) -> Result<StreamMessage, StreamError> {
    match r.u8()? {
        HELLO => {
            let version = parse_version(r)?;
            let cluster = ClusterId(r.u128()?);
            let fingerprint = Fingerprint(r.u64()?);
            let name_bytes = usize::from(r.u8()?);
            if name_bytes > NAME_BYTES_MAX {
                return Err(StreamError::Field);
            }
            let name = std::str::from_utf8(r.take(name_bytes)?).map_err(|_| StreamError::Field)?;
            Ok(StreamMessage::Hello { cluster, fingerprint, node: name.to_owned(), version })
        }
        WELCOME => {
            let version = parse_version(r)?;
            let hash = HashAlgorithm::from_code(r.u8()?).ok_or(StreamError::Field)?;
            let repairs = if version == VERSION { Some(parse_bool(r)?) } else { None };
            Ok(StreamMessage::Welcome { hash, repairs })
        }
        REFUSED => Ok(StreamMessage::Refused { reason: reason_of(r.u8()?)? }),
        SEEN => {
            let (batch, records) = (r.u64()?, r.u64()?);
            Ok(StreamMessage::Seen { batch, records, hash: parse_hash(r)? })
        }
        VERDICT => {
            let (batch, hash) = (r.u64()?, parse_hash(r)?);
            Ok(StreamMessage::Verdict { batch, hash, verdict: verdict_of(r.u8()?)? })
        }
        DELETED => {
            let count = r.u32()? as usize;
            let (ids, rest) = r.take(r.len())?.as_chunks::<8>();
            if ids.len() != count || !rest.is_empty() {
                return Err(StreamError::Length);
            }
            let batches = ids.iter().map(|id| u64::from_le_bytes(*id)).collect();
            Ok(StreamMessage::Deleted { batches })
        }
        MISSING => Ok(StreamMessage::Missing(Missing::parse(r)?)),
        FRAME => Ok(StreamMessage::Frame { bytes: repair::parse_frame(r)? }),
        NOT_KEPT => Ok(StreamMessage::NotKept { batch: r.u64()? }),
        _ => Err(StreamError::Field),
    }
}

fn parse_version(r: &mut Reader<'_>) -> Result<u8, StreamError> {
    if r.array()? != MAGIC {
        return Err(StreamError::Magic);
    }
    match r.u8()? {
        version @ VERSION_OLDEST..=VERSION => Ok(version),
        _ => Err(StreamError::Version),
    }
}

fn parse_bool(r: &mut Reader<'_>) -> Result<bool, StreamError> {
    match r.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(StreamError::Field),
    }
}

fn encode_hash(w: &mut Writer<'_>, hash: &BatchHash) {
    w.u8(hash.algorithm.code());
    w.bytes(&hash.digest);
}

fn parse_hash(r: &mut Reader<'_>) -> Result<BatchHash, StreamError> {
    let algorithm = HashAlgorithm::from_code(r.u8()?).ok_or(StreamError::Field)?;
    let digest: [u8; 32] = r.array()?;
    if digest[algorithm.digest_bytes()..].iter().any(|b| *b != 0) {
        return Err(StreamError::Field);
    }
    Ok(BatchHash { algorithm, digest })
}

fn encode_one(out: &mut Vec<u8>, kind: u8, body: impl FnOnce(&mut Writer<'_>)) {
    let mut w = Writer::new(out);
    w.u32(0);
    w.u8(kind);
    body(&mut w);
    let stated = w.len() - PREFIX_BYTES + CRC_BYTES;
    assert!(stated <= STREAM_BYTES_MAX, "message of {stated} bytes");
    w.patch_u32(0, saturated_u32(stated));
    let crc = crc32c::crc32c(w.written());
    w.u32(crc);
}

fn encode_deleted(out: &mut Vec<u8>, ids: &[BatchId]) {
    encode_one(out, DELETED, |w| {
        w.u32(saturated_u32(ids.len()));
        ids.iter().for_each(|id| w.u64(*id));
    });
}

fn verdict_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Verified => 1,
        Verdict::Mismatch => 2,
        Verdict::Unknown => 3,
    }
}

fn verdict_of(code: u8) -> Result<Verdict, StreamError> {
    match code {
        1 => Ok(Verdict::Verified),
        2 => Ok(Verdict::Mismatch),
        3 => Ok(Verdict::Unknown),
        _ => Err(StreamError::Field),
    }
}

fn reason_code(reason: RefuseReason) -> u8 {
    match reason {
        RefuseReason::Cluster => 1,
        RefuseReason::Schema => 2,
        RefuseReason::Version => 3,
    }
}

fn reason_of(code: u8) -> Result<RefuseReason, StreamError> {
    match code {
        1 => Ok(RefuseReason::Cluster),
        2 => Ok(RefuseReason::Schema),
        3 => Ok(RefuseReason::Version),
        _ => Err(StreamError::Field),
    }
}
