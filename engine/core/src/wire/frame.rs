//! The ingest frame: DATA (records of one lane) and CLOSE (the totals of a batch).
//!
//! Hot path: no allocation, no lock, no syscall; one pass of CRC32C per frame.
//!
//! A frame is a 64-byte header and a payload that fills the datagram exactly; a keyed one ends
//! with a seal. What [`Frame::parse`] returns has been checked throughout: nothing behind it needs
//! to look at lengths again. Whether a seal is right is [`authenticate`]'s question alone.

use super::cursor::{Reader, Short, Writer, saturated_u16};
use super::mac::{self, Context, KEYED, KeyRing, MacError, MacKey, SEAL_BYTES};
use crate::identity::{BatchId, ClusterId, Fingerprint};
use crate::limits::{
    FRAME_BYTES_MAX, FRAMES_PER_BATCH_MAX, LANES_MAX, RECORD_BYTES_MAX, RECORDS_PER_BATCH_MAX,
};
use crate::verify::HashAlgorithm;

/// Bytes of the frame header, which is followed by the payload.
pub const HEADER_BYTES: usize = 64;
/// First four bytes of every frame.
pub const MAGIC: [u8; 4] = *b"BRFI";
/// Version of the layout.
pub const VERSION: u8 = 1;

const KIND_DATA: u8 = 1;
const KIND_CLOSE: u8 = 2;
const FLAGS_AT: usize = 7;
const CRC_AT: usize = 60;
const TOTAL_BYTES: usize = 12;

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
        self.bytes.as_chunks::<TOTAL_BYTES>().0.iter().map(|chunk| {
            let [f0, f1, f2, f3, records @ ..] = *chunk;
            LaneTotal {
                frames: u32::from_le_bytes([f0, f1, f2, f3]),
                records: u64::from_le_bytes(records),
            }
        })
    }

    /// Number of lanes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / TOTAL_BYTES
    }

    /// Never true for a parsed frame: a batch has at least one lane.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether a batch within the limits can have these totals.
    fn are_possible(&self) -> bool {
        let (mut frames, mut records) = (0u64, 0u64);
        for total in self.iter() {
            let n = u64::from(total.frames);
            // A DATA frame holds 1..=65,535 records.
            if total.records < n || total.records > n * u64::from(u16::MAX) {
                return false;
            }
            // No overflow: at most 64 terms, each below 2^32 and 2^48.
            frames += n;
            records += total.records;
        }
        frames <= FRAMES_PER_BATCH_MAX as u64 && records <= RECORDS_PER_BATCH_MAX
    }
}

/// Why a datagram was refused. The sender learns nothing; a counter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameError {
    /// Shorter than its header or its stated length, with bytes left over, or too long.
    Length,
    /// Another magic: not ours.
    Magic,
    /// A version that this build does not speak.
    Version,
    /// CRC32C does not match.
    Checksum,
    /// Unknown kind, hash algorithm or flag, or a reserved byte that is not zero.
    Kind,
    /// Lane or lane count out of bounds.
    Lane,
    /// Payload is not `records * record_bytes`, no records, another record size than the schema's,
    /// or a sequence or total that no batch within the limits can have.
    Records,
}

impl From<Short> for FrameError {
    fn from(Short: Short) -> Self {
        Self::Length
    }
}

/// The header's fields that are checked and then forgotten.
struct Stated {
    kind: u8,
    records: u16,
    record_bytes: u16,
}

impl<'a> Frame<'a> {
    /// Parses and checks one datagram of a stream of records of `record_bytes`.
    pub fn parse(bytes: &'a [u8], record_bytes: usize) -> Result<Self, FrameError> {
        if bytes.len() < HEADER_BYTES || bytes.len() > FRAME_BYTES_MAX {
            return Err(FrameError::Length);
        }
        let (header, stated, payload) = parse_header(bytes)?;
        match stated.kind {
            KIND_DATA => {
                let whole = usize::from(stated.records) * usize::from(stated.record_bytes);
                if stated.records == 0
                    || usize::from(stated.record_bytes) != record_bytes
                    || payload.len() != whole
                    || header.sequence as usize >= FRAMES_PER_BATCH_MAX
                {
                    return Err(FrameError::Records);
                }
                Ok(Frame::Data { header, records: stated.records, payload })
            }
            KIND_CLOSE => {
                let totals = LaneTotals { bytes: payload };
                if stated.records != 0
                    || stated.record_bytes != 0
                    || payload.len() != usize::from(header.lanes) * TOTAL_BYTES
                    || !totals.are_possible()
                {
                    return Err(FrameError::Records);
                }
                Ok(Frame::Close { header, totals })
            }
            _ => Err(FrameError::Kind),
        }
    }

    /// The header, whatever the kind.
    #[must_use]
    pub fn header(&self) -> &FrameHeader {
        match self {
            Frame::Data { header, .. } | Frame::Close { header, .. } => header,
        }
    }
}

/// Whether the seal of a frame is that of a known key. Asked of whole datagrams that
/// [`Frame::parse`] has accepted; of any others the answer is an error.
pub fn authenticate(bytes: &[u8], keys: &KeyRing) -> Result<(), MacError> {
    if bytes.get(FLAGS_AT).is_none_or(|flags| flags & KEYED == 0) {
        return Err(MacError::Unkeyed);
    }
    let (covered, seal) = mac::split(bytes).map_err(|Short| MacError::Unkeyed)?;
    let (head, payload) = covered.split_at_checked(HEADER_BYTES).ok_or(MacError::Unkeyed)?;
    let key = keys.find(seal.key)?;
    key.check(seal, Context::None, &[&head[..CRC_AT], &[0; 4], payload])
}

/// Turns a frame, as [`encode_data`] or [`encode_close`] wrote it into an empty buffer, into a
/// keyed one, [`SEAL_BYTES`] longer.
///
/// # Panics
/// On our own mistakes: no frame, a frame that is keyed already, one that gets too long.
pub fn sign(frame: &mut Vec<u8>, key: &MacKey) {
    assert!(frame.len() >= HEADER_BYTES && frame[FLAGS_AT] & KEYED == 0, "not an unkeyed frame");
    assert!(frame.len() + SEAL_BYTES <= FRAME_BYTES_MAX, "frame too long");
    frame[FLAGS_AT] |= KEYED;
    frame[CRC_AT..HEADER_BYTES].fill(0);
    let end = frame.len();
    frame.extend_from_slice(&key.id().to_le_bytes());
    let tag = key.tag(Context::None, &[frame]);
    frame.extend_from_slice(&tag.to_bytes());
    debug_assert_eq!(frame.len(), end + SEAL_BYTES);
    let crc = checksum(frame);
    frame[CRC_AT..HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
}

/// Most whole records that fit one frame of at most `datagram_bytes` bytes; 0 where not one does.
#[must_use]
pub fn records_per_frame(record_bytes: usize, datagram_bytes: usize) -> usize {
    let room = datagram_bytes.min(FRAME_BYTES_MAX).saturating_sub(HEADER_BYTES);
    room.checked_div(record_bytes).unwrap_or(0)
}

/// Appends a DATA frame; `payload` holds whole records.
///
/// # Panics
/// On our own mistakes: a payload that is empty or not whole records, a frame longer than
/// `FRAME_BYTES_MAX`, a lane out of bounds.
pub fn encode_data(out: &mut Vec<u8>, header: &FrameHeader, record_bytes: usize, payload: &[u8]) {
    assert!((1..=RECORD_BYTES_MAX).contains(&record_bytes), "record of {record_bytes} bytes");
    let records = payload.len() / record_bytes;
    assert!(records > 0 && records * record_bytes == payload.len(), "payload is not whole records");
    assert!((header.sequence as usize) < FRAMES_PER_BATCH_MAX, "sequence out of bounds");
    let mut w = Writer::new(out);
    let stated = Stated {
        kind: KIND_DATA,
        records: saturated_u16(records),
        record_bytes: saturated_u16(record_bytes),
    };
    write_header(&mut w, header, &stated, payload.len());
    w.bytes(payload);
    seal(w);
}

/// Appends a CLOSE frame.
///
/// # Panics
/// On our own mistakes: not one total per lane, totals above the limits, a lane out of bounds.
pub fn encode_close(out: &mut Vec<u8>, header: &FrameHeader, totals: &[LaneTotal]) {
    assert_eq!(totals.len(), usize::from(header.lanes), "one total per lane");
    let mut w = Writer::new(out);
    let stated = Stated { kind: KIND_CLOSE, records: 0, record_bytes: 0 };
    write_header(&mut w, header, &stated, totals.len() * TOTAL_BYTES);
    for total in totals {
        w.u32(total.frames);
        w.u64(total.records);
    }
    let table = LaneTotals { bytes: &w.written()[HEADER_BYTES..] };
    assert!(table.are_possible(), "totals that no batch can have");
    seal(w);
}

fn parse_header(bytes: &[u8]) -> Result<(FrameHeader, Stated, &[u8]), FrameError> {
    let mut r = Reader::new(bytes);
    if r.array()? != MAGIC {
        return Err(FrameError::Magic);
    }
    if r.u8()? != VERSION {
        return Err(FrameError::Version);
    }
    let kind = r.u8()?;
    let hash = HashAlgorithm::from_code(r.u8()?);
    let flags = r.u8()?;
    let cluster = ClusterId(r.u128()?);
    let fingerprint = Fingerprint(r.u64()?);
    let batch = r.u64()?;
    let sequence = r.u32()?;
    let (lane, lanes) = (r.u8()?, r.u8()?);
    let (records, record_bytes) = (r.u16()?, r.u16()?);
    let payload_bytes = usize::from(r.u16()?);
    let reserved = r.u64()?;
    let crc = r.u32()?;
    let seal_bytes = if flags & KEYED == 0 { 0 } else { SEAL_BYTES };
    let (payload, seal) = r.rest().split_at_checked(payload_bytes).ok_or(FrameError::Length)?;
    if seal.len() != seal_bytes {
        return Err(FrameError::Length);
    }
    if checksum(bytes) != crc {
        return Err(FrameError::Checksum);
    }
    let Some(hash) = hash.filter(|_| flags & !KEYED == 0 && reserved == 0) else {
        return Err(FrameError::Kind);
    };
    if lane >= lanes || usize::from(lanes) > LANES_MAX {
        return Err(FrameError::Lane);
    }
    let header = FrameHeader { cluster, fingerprint, batch, hash, lane, lanes, sequence };
    Ok((header, Stated { kind, records, record_bytes }, payload))
}

fn write_header(w: &mut Writer<'_>, header: &FrameHeader, stated: &Stated, payload_bytes: usize) {
    assert!(HEADER_BYTES + payload_bytes <= FRAME_BYTES_MAX, "frame too long");
    assert!(header.lane < header.lanes && usize::from(header.lanes) <= LANES_MAX, "lane");
    w.bytes(&MAGIC);
    w.u8(VERSION);
    w.u8(stated.kind);
    w.u8(header.hash.code());
    w.u8(0);
    w.u128(header.cluster.0);
    w.u64(header.fingerprint.0);
    w.u64(header.batch);
    w.u32(header.sequence);
    w.u8(header.lane);
    w.u8(header.lanes);
    w.u16(stated.records);
    w.u16(stated.record_bytes);
    w.u16(saturated_u16(payload_bytes));
    w.zeros(12);
}

fn seal(mut w: Writer<'_>) {
    let crc = checksum(w.written());
    w.patch_u32(CRC_AT, crc);
}

/// CRC32C of a frame with its own field read as zero. The caller has checked the length.
fn checksum(bytes: &[u8]) -> u32 {
    let (head, payload) = bytes.split_at(HEADER_BYTES);
    let crc = crc32c::crc32c(&head[..CRC_AT]);
    crc32c::crc32c_append(crc32c::crc32c_append(crc, &[0; 4]), payload)
}
