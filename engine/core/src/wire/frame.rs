//! The ingest frame: DATA (records of one lane) and CLOSE (the totals of a batch).
//!
//! Hot path: no allocation, no lock, no syscall; one pass of CRC32C per frame.

use crate::identity::{BatchId, ClusterId, Fingerprint};
use crate::verify::HashAlgorithm;

/// Bytes of the frame header, which is followed by the payload.
pub const HEADER_BYTES: usize = 64;

/// What every frame says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Cluster that the batch belongs to.
    pub cluster: ClusterId,
    /// Schema of the records.
    pub fingerprint: Fingerprint,
    /// Batch.
    pub batch: BatchId,
    /// Chain hash that the cluster elected.
    pub hash: HashAlgorithm,
    /// Lane of this frame, `0..LANES_MAX`; for CLOSE the lane it was sent on.
    pub lane: u8,
    /// Lanes of this batch, `1..=LANES_MAX`.
    pub lanes: u8,
    /// DATA: number of this frame within its lane, from 0 without gaps. CLOSE: repetition number.
    pub sequence: u32,
}

/// A checked frame, borrowing the datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Frame<'a> {
    /// Whole records, one after the other.
    Data {
        /// Header.
        header: FrameHeader,
        /// Number of records.
        records: u16,
        /// `records * record_bytes` bytes.
        payload: &'a [u8],
    },
    /// The batch is complete.
    Close {
        /// Header.
        header: FrameHeader,
        /// Totals per lane, in lane order, `header.lanes` of them.
        totals: LaneTotals<'a>,
    },
}

/// What a lane has sent in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneTotal {
    /// DATA frames.
    pub frames: u32,
    /// Records in them.
    pub records: u64,
}

/// The table of a CLOSE frame, read in place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneTotals<'a> {
    bytes: &'a [u8],
}

impl LaneTotals<'_> {
    /// The totals in lane order.
    pub fn iter(&self) -> impl Iterator<Item = LaneTotal> + '_ {
        let _ = self.bytes;
        std::iter::from_fn(|| todo!("wire"))
    }
}

/// Why a datagram was refused. The sender learns nothing; a counter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameError {
    /// Shorter than its header or its stated length, or with bytes left over.
    Length,
    /// Another magic: not ours.
    Magic,
    /// A version that this build does not speak.
    Version,
    /// CRC32C does not match.
    Checksum,
    /// Unknown kind, hash algorithm or flag.
    Kind,
    /// Lane or lane count out of bounds.
    Lane,
    /// Payload is not `records * record_bytes`, or no records.
    Records,
}

impl<'a> Frame<'a> {
    /// Parses and checks one datagram of a stream of records of `record_bytes`.
    pub fn parse(bytes: &'a [u8], record_bytes: usize) -> Result<Self, FrameError> {
        let _ = (bytes, record_bytes);
        todo!("wire")
    }
}

/// Appends a DATA frame; `payload` holds whole records.
pub fn encode_data(out: &mut Vec<u8>, header: &FrameHeader, record_bytes: usize, payload: &[u8]) {
    let _ = (out, header, record_bytes, payload);
    todo!("wire")
}

/// Appends a CLOSE frame.
pub fn encode_close(out: &mut Vec<u8>, header: &FrameHeader, totals: &[LaneTotal]) {
    let _ = (out, header, totals);
    todo!("wire")
}
