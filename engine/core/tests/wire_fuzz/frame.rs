//! The ingest frame.

use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::limits::{FRAMES_PER_BATCH_MAX, LANES_MAX, RECORDS_PER_BATCH_MAX};
use bloomrf_engine::wire::frame::{
    Frame, FrameError, FrameHeader, HEADER_BYTES, LaneTotal, MAGIC, VERSION, encode_close,
    encode_data,
};

use super::mutate::{bit_flips, damaged, truncations};
use super::random::Random;

const RECORD_BYTES: usize = 12;

fn header(random: &mut Random) -> FrameHeader {
    let lanes = 1 + random.below(LANES_MAX) as u8;
    FrameHeader {
        cluster: ClusterId(u128::from(random.next()) << 64 | u128::from(random.next())),
        fingerprint: Fingerprint(random.next()),
        batch: random.id(),
        hash: random.algorithm(),
        lane: random.below(usize::from(lanes)) as u8,
        lanes,
        sequence: random.below(FRAMES_PER_BATCH_MAX) as u32,
    }
}

fn totals(random: &mut Random, lanes: u8) -> Vec<LaneTotal> {
    let mut total = || {
        let frames = random.below(1_000) as u32;
        LaneTotal { frames, records: u64::from(frames) * (1 + random.below(1_000) as u64) }
    };
    (0..lanes).map(|_| total()).collect()
}

fn data(random: &mut Random) -> (FrameHeader, Vec<u8>, Vec<u8>) {
    let header = header(random);
    let records = 1 + random.below(30);
    let payload = random.bytes(records * RECORD_BYTES);
    let mut out = Vec::new();
    encode_data(&mut out, &header, RECORD_BYTES, &payload);
    (header, payload, out)
}

fn close(random: &mut Random) -> (FrameHeader, Vec<LaneTotal>, Vec<u8>) {
    let header = header(random);
    let totals = totals(random, header.lanes);
    let mut out = Vec::new();
    encode_close(&mut out, &header, &totals);
    (header, totals, out)
}

fn resealed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= HEADER_BYTES {
        bytes[60..64].fill(0);
        let crc = crc32c::crc32c(&bytes);
        bytes[60..64].copy_from_slice(&crc.to_le_bytes());
    }
    bytes
}

/// Parses, and checks that what is accepted keeps every promise of its type.
fn parse(bytes: &[u8]) -> Result<Frame<'_>, FrameError> {
    let frame = Frame::parse(bytes, RECORD_BYTES)?;
    let header = *frame.header();
    assert!(header.lane < header.lanes && usize::from(header.lanes) <= LANES_MAX);
    let mut again = Vec::new();
    match frame {
        Frame::Data { records, payload, .. } => {
            assert!(records > 0 && payload.len() == usize::from(records) * RECORD_BYTES);
            encode_data(&mut again, &header, RECORD_BYTES, payload);
        }
        Frame::Close { totals, .. } => {
            let totals: Vec<LaneTotal> = totals.iter().collect();
            assert_eq!(totals.len(), usize::from(header.lanes));
            let frames: u64 = totals.iter().map(|t| u64::from(t.frames)).sum();
            let records: u64 = totals.iter().map(|t| t.records).sum();
            assert!(frames <= FRAMES_PER_BATCH_MAX as u64 && records <= RECORDS_PER_BATCH_MAX);
            encode_close(&mut again, &header, &totals);
        }
    }
    assert_eq!(again, bytes, "an accepted frame has one encoding");
    Ok(frame)
}

#[test]
fn random_frames_come_back_as_sent() {
    let mut random = Random::seeded();
    for _ in 0..2_000 {
        let (sent, bytes_sent, bytes) = data(&mut random);
        let Ok(Frame::Data { header, payload, .. }) = parse(&bytes) else { panic!("not DATA") };
        assert_eq!((header, payload), (sent, &bytes_sent[..]));
        let (sent, totals_sent, bytes) = close(&mut random);
        let Ok(Frame::Close { header, totals }) = parse(&bytes) else { panic!("not CLOSE") };
        assert_eq!(header, sent);
        assert!(totals.iter().eq(totals_sent));
    }
}

#[test]
fn every_truncation_and_every_flipped_bit_is_refused() {
    let mut random = Random::seeded();
    for message in [data(&mut random).2, close(&mut random).2] {
        truncations(&message, |bytes| assert!(parse(bytes).is_err()));
        bit_flips(&message, |bytes| assert!(parse(bytes).is_err()));
    }
}

#[test]
fn damage_behind_a_right_checksum_is_an_error_or_a_valid_frame() {
    let mut random = Random::seeded();
    let mut accepted = 0;
    for message in [data(&mut random).2, close(&mut random).2] {
        let mut try_one = |bytes: &[u8]| accepted += u32::from(parse(&resealed(bytes)).is_ok());
        damaged(&mut random, &message, 20_000, &mut try_one);
        // Cut short as well: what the numbers say of the length is then wrong in another way.
        damaged(&mut random, &message[..message.len().min(200)], 0, &mut try_one);
    }
    assert!(accepted > 1_000, "the checksum alone decided: {accepted}");
}

#[test]
fn random_bytes_are_refused_or_valid() {
    let mut random = Random::seeded();
    for _ in 0..50_000 {
        let n = random.below(160);
        let mut bytes = random.bytes(n);
        assert!(parse(&bytes).is_err());
        if n >= HEADER_BYTES {
            bytes[..4].copy_from_slice(&MAGIC);
            bytes[4..8].copy_from_slice(&[VERSION, 1 + random.below(2) as u8, 1, 0]);
            bytes[44..46].copy_from_slice(&[0, 1]);
            bytes[50..52].copy_from_slice(&((n - HEADER_BYTES) as u16).to_le_bytes());
            bytes[52..60].fill(0);
            let _ = parse(&resealed(&bytes));
        }
    }
}
