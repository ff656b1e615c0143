//! The ingest frame: what is encoded is parsed, everything else is refused for a stated reason.
#![forbid(unsafe_code)]

use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::limits::{
    FRAME_BYTES_MAX, FRAMES_PER_BATCH_MAX, LANES_MAX, RECORDS_PER_BATCH_MAX,
};
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_engine::wire::frame::{
    Frame, FrameError, FrameHeader, HEADER_BYTES, LaneTotal, encode_close, encode_data,
    records_per_frame,
};

const RECORD_BYTES: usize = 10;

fn header() -> FrameHeader {
    FrameHeader {
        cluster: ClusterId(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10),
        fingerprint: Fingerprint(0x1112_1314_1516_1718),
        batch: 42,
        hash: HashAlgorithm::Blake3,
        lane: 1,
        lanes: 2,
        sequence: 7,
    }
}

fn data() -> Vec<u8> {
    let mut out = Vec::new();
    encode_data(&mut out, &header(), RECORD_BYTES, &[5; 3 * RECORD_BYTES]);
    out
}

fn close(totals: &[LaneTotal]) -> Vec<u8> {
    let mut out = Vec::new();
    encode_close(&mut out, &header(), totals);
    out
}

/// Puts the right CRC32C on a frame that was changed by hand.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[60..64].fill(0);
    let crc = crc32c::crc32c(&bytes);
    bytes[60..64].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Parses a DATA frame with one change behind a right checksum.
fn data_with(change: impl FnOnce(&mut Vec<u8>)) -> Result<(), FrameError> {
    let mut bytes = data();
    change(&mut bytes);
    Frame::parse(&resealed(bytes), RECORD_BYTES).map(|_| ())
}

#[test]
fn data_frame_comes_back_as_sent() {
    let bytes = data();
    assert_eq!(bytes.len(), HEADER_BYTES + 30);
    let frame = Frame::parse(&bytes, RECORD_BYTES).unwrap();
    let expected = Frame::Data { header: header(), records: 3, payload: &[5; 30] };
    assert_eq!(frame, expected);
    assert_eq!(frame.header(), &header());
}

#[test]
fn close_frame_comes_back_as_sent() {
    let sent = [LaneTotal { frames: 3, records: 9 }, LaneTotal { frames: 0, records: 0 }];
    let bytes = close(&sent);
    let Ok(Frame::Close { header: h, totals }) = Frame::parse(&bytes, RECORD_BYTES) else {
        panic!("not a CLOSE frame")
    };
    assert_eq!(h, header());
    assert_eq!(totals.len(), 2);
    assert!(!totals.is_empty());
    assert!(totals.iter().eq(sent));
}

#[test]
fn each_wrong_field_behind_a_right_checksum_has_its_reason() {
    use FrameError::*;
    assert_eq!(data_with(|_| {}), Ok(()));
    assert_eq!(data_with(|b| b[0] ^= 1), Err(Magic));
    assert_eq!(data_with(|b| b[4] = 2), Err(Version));
    assert_eq!(data_with(|b| b[5] = 3), Err(Kind));
    assert_eq!(data_with(|b| b[6] = 0), Err(Kind));
    assert_eq!(data_with(|b| b[6] = 4), Err(Kind));
    assert_eq!(data_with(|b| b[7] = 2), Err(Kind));
    assert_eq!(data_with(|b| b[7] = 1), Err(Length), "keyed, without a seal");
    assert_eq!(data_with(|b| b[40..44].fill(0xff)), Err(Records));
    assert_eq!(data_with(|b| b[44] = 2), Err(Lane));
    assert_eq!(data_with(|b| b[45] = 65), Err(Lane));
    assert_eq!(data_with(|b| b[45] = 0), Err(Lane));
    assert_eq!(data_with(|b| b[46] = 4), Err(Records));
    assert_eq!(data_with(|b| b[48] = 9), Err(Records));
    assert_eq!(data_with(|b| b[50] = 29), Err(Length));
    assert_eq!(data_with(|b| b[52] = 1), Err(Kind));
    assert_eq!(data_with(|b| b.push(0)), Err(Length));
    assert_eq!(data_with(|b| b.truncate(93)), Err(Length));
    assert_eq!(data_with(|b| b[5] = 2), Err(Records), "DATA read as CLOSE");
}

#[test]
fn data_frame_without_records_is_refused() {
    let refused = data_with(|b| {
        b.truncate(HEADER_BYTES);
        b[46..52].fill(0);
        b[48] = RECORD_BYTES as u8;
    });
    assert_eq!(refused, Err(FrameError::Records));
}

#[test]
fn records_of_another_size_than_the_schemas_are_refused() {
    assert_eq!(Frame::parse(&data(), 15), Err(FrameError::Records));
    assert_eq!(Frame::parse(&data(), 0), Err(FrameError::Records));
    assert_eq!(Frame::parse(&data(), usize::MAX), Err(FrameError::Records));
}

#[test]
fn sequences_and_lengths_are_taken_at_their_limits_and_not_past_them() {
    let with = |sequence: u32| data_with(|b| b[40..44].copy_from_slice(&sequence.to_le_bytes()));
    assert_eq!(with(FRAMES_PER_BATCH_MAX as u32 - 1), Ok(()));
    assert_eq!(with(FRAMES_PER_BATCH_MAX as u32), Err(FrameError::Records));
    let of = |payload_bytes: usize| {
        let mut out = Vec::new();
        encode_data(&mut out, &header(), 4, &vec![1; payload_bytes]);
        out
    };
    let mut longest = of(FRAME_BYTES_MAX - HEADER_BYTES);
    assert_eq!(longest.len(), FRAME_BYTES_MAX);
    assert!(Frame::parse(&longest, 4).is_ok());
    // One record more, right in every other way.
    longest.extend([1; 4]);
    longest[46..48].copy_from_slice(&2_228_u16.to_le_bytes());
    longest[50..52].copy_from_slice(&8_912_u16.to_le_bytes());
    assert_eq!(Frame::parse(&resealed(longest), 4), Err(FrameError::Length));
    assert_eq!(Frame::parse(&of(4)[..HEADER_BYTES - 1], 4), Err(FrameError::Length));
}

#[test]
fn totals_that_no_batch_can_have_are_refused() {
    let with = |frames: u32, records: u64| {
        let mut bytes = close(&[LaneTotal::default(), LaneTotal { frames: 1, records: 1 }]);
        bytes[64..68].copy_from_slice(&frames.to_le_bytes());
        bytes[68..76].copy_from_slice(&records.to_le_bytes());
        Frame::parse(&resealed(bytes), RECORD_BYTES).map(|_| ())
    };
    let frames_max = FRAMES_PER_BATCH_MAX as u32;
    assert_eq!(with(1, 1), Ok(()));
    assert_eq!(with(frames_max - 1, RECORDS_PER_BATCH_MAX - 1), Ok(()));
    assert_eq!(with(frames_max, RECORDS_PER_BATCH_MAX - 1), Err(FrameError::Records));
    assert_eq!(with(frames_max - 1, RECORDS_PER_BATCH_MAX), Err(FrameError::Records));
    assert_eq!(with(u32::MAX, u64::MAX), Err(FrameError::Records));
    assert_eq!(with(0, 1), Err(FrameError::Records), "records without a frame");
    assert_eq!(with(2, 1), Err(FrameError::Records), "a frame without a record");
    assert_eq!(with(1, 65_536), Err(FrameError::Records), "more than one frame can say");
}

#[test]
fn close_of_the_most_lanes_fits_the_smallest_datagram_and_an_empty_batch_is_one() {
    let header = FrameHeader { lane: 63, lanes: LANES_MAX as u8, ..header() };
    let mut out = Vec::new();
    encode_close(&mut out, &header, &[LaneTotal::default(); LANES_MAX]);
    assert!(out.len() <= bloomrf_engine::limits::DATAGRAM_BYTES_MAX_IPV6);
    assert!(Frame::parse(&out, RECORD_BYTES).is_ok());
}

#[test]
fn as_many_records_as_fit_are_put_into_a_frame() {
    assert_eq!(records_per_frame(100, 1_472), 14);
    assert_eq!(records_per_frame(1_400, 1_472), 1);
    assert_eq!(records_per_frame(1_400, 1_452), 0);
    assert_eq!(records_per_frame(1, usize::MAX), 8_908);
    assert_eq!(records_per_frame(0, 1_472), 0);
    assert_eq!(records_per_frame(10, 3), 0);
}
