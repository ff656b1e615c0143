//! The verification stream.

use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::limits::{
    FRAME_BYTES_MAX, FRAMES_PER_BATCH_MAX, REPAIR_FRAMES_MAX, REPAIR_RANGES_MAX, STREAM_BYTES_MAX,
};
use bloomrf_engine::wire::frame;
use bloomrf_engine::wire::stream::{
    DELETED_MAX, FrameRange, Missing, PUSH_BYTES_MAX, RefuseReason, StreamDecoder, StreamError,
    StreamMessage, Verdict,
};

use super::mutate::{bit_flips, damaged, resealed_at_end, truncations};
use super::random::Random;

fn message(random: &mut Random, kind: usize) -> StreamMessage {
    let batch = random.id();
    match kind % KINDS {
        0 => {
            let n = random.below(33);
            let letters = (0..n).map(|_| random.pick(&['a', 'ß', '-', '7']));
            StreamMessage::Hello {
                node: letters.collect(),
                cluster: ClusterId(u128::from(random.next())),
                fingerprint: Fingerprint(random.next()),
                version: random.pick(&[1, 2]),
            }
        }
        1 => {
            let repairs = random.pick(&[None, Some(false), Some(true)]);
            StreamMessage::Welcome { hash: random.algorithm(), repairs }
        }
        2 => {
            use RefuseReason::*;
            StreamMessage::Refused { reason: random.pick(&[Cluster, Schema, Version]) }
        }
        3 => StreamMessage::Seen { batch, records: random.next(), hash: random.batch_hash() },
        4 => {
            use Verdict::*;
            let verdict = random.pick(&[Verified, Mismatch, Unknown]);
            StreamMessage::Verdict { batch, hash: random.batch_hash(), verdict }
        }
        5 => {
            let n = random.below(30);
            StreamMessage::Deleted { batches: (0..n).map(|_| random.id()).collect() }
        }
        6 => StreamMessage::Missing(missing(random, batch)),
        7 => {
            let n = frame::HEADER_BYTES + random.below(100);
            StreamMessage::Frame { bytes: random.bytes(n) }
        }
        _ => StreamMessage::NotKept { batch },
    }
}

const KINDS: usize = 9;

/// Ranges in the one order that there is, some close to the ends of what is allowed.
fn missing(random: &mut Random, batch: u64) -> Missing {
    let mut ranges = Vec::new();
    for lane in 0..random.below(4) as u8 {
        let mut first = random.below(3) as u32;
        for _ in 0..random.below(5) {
            let count = 1 + random.below(40) as u32;
            ranges.push(FrameRange { lane: lane * 21, first, count });
            first += count + 1 + random.below(200) as u32;
        }
    }
    Missing { batch, close: ranges.is_empty() || random.chance(2), ranges }
}

fn encoded(message: &StreamMessage) -> Vec<u8> {
    let mut out = Vec::new();
    message.encode(&mut out);
    out
}

/// The first message of `bytes`, if they begin with one; an error must be repeated for ever.
fn parse(bytes: &[u8]) -> Result<Option<StreamMessage>, StreamError> {
    let mut decoder = StreamDecoder::default();
    decoder.push(bytes);
    let outcome = decoder.next_message();
    match &outcome {
        Ok(Some(message)) => {
            let again = encoded(message);
            assert_eq!(again, bytes[..again.len()], "an accepted message has one encoding");
            match message {
                StreamMessage::Deleted { batches } => {
                    assert!(batches.capacity() * 8 <= bytes.len());
                }
                StreamMessage::Missing(missing) => assert!(missing.is_sound()),
                StreamMessage::Frame { bytes } => assert!(bytes.len() <= FRAME_BYTES_MAX),
                _ => {}
            }
        }
        Ok(None) => assert_eq!(decoder.held_bytes(), bytes.len()),
        Err(error) => {
            assert_eq!(decoder.held_bytes(), 0, "a dead stream keeps nothing");
            decoder.push(&encoded(&StreamMessage::Deleted { batches: vec![1] }));
            assert_eq!(decoder.next_message(), Err(*error));
        }
    }
    outcome
}

/// Right length prefix and right checksum on a damaged message.
fn resealed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(stated) = bytes.len().checked_sub(4) {
        bytes[..4].copy_from_slice(&(stated as u32).to_le_bytes());
    }
    resealed_at_end(&bytes)
}

#[test]
fn random_messages_come_back_as_sent_however_the_bytes_are_cut() {
    let mut random = Random::seeded();
    for _ in 0..300 {
        let sent: Vec<_> = (0..2 * KINDS).map(|kind| message(&mut random, kind)).collect();
        let bytes: Vec<u8> = sent.iter().flat_map(encoded).collect();
        let mut decoder = StreamDecoder::default();
        let mut received = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at((1 + random.below(90)).min(rest.len()));
            rest = later;
            decoder.push(now);
            while let Some(message) = decoder.next_message().unwrap() {
                received.push(message);
            }
        }
        assert_eq!(received, sent);
        assert_eq!(decoder.held_bytes(), 0);
    }
}

#[test]
fn no_truncation_and_no_flipped_bit_yields_a_message() {
    let mut random = Random::seeded();
    for kind in 0..KINDS {
        let bytes = encoded(&message(&mut random, kind));
        truncations(&bytes, |bytes| assert_eq!(parse(bytes), Ok(None)));
        bit_flips(&bytes, |bytes| assert!(!matches!(parse(bytes), Ok(Some(_)))));
    }
}

#[test]
fn damage_behind_a_right_checksum_is_an_error_or_a_valid_message() {
    let mut random = Random::seeded();
    let mut accepted = 0;
    for kind in 0..10 * KINDS {
        let bytes = encoded(&message(&mut random, kind));
        damaged(&mut random, &bytes, 500, |bytes| {
            accepted += u32::from(matches!(parse(&resealed(bytes)), Ok(Some(_))));
            let _ = parse(&resealed_at_end(bytes));
        });
    }
    assert!(accepted > 1_000, "the checksum alone decided: {accepted}");
}

#[test]
fn random_bytes_yield_no_message() {
    let mut random = Random::seeded();
    for _ in 0..50_000 {
        let n = random.below(100);
        let bytes = random.bytes(n);
        assert!(!matches!(parse(&bytes), Ok(Some(_))));
        let _ = parse(&resealed(&bytes));
    }
}

#[test]
fn a_hostile_length_is_refused_before_its_bytes_are_awaited() {
    for stated in [0, 4, STREAM_BYTES_MAX as u32 + 1, u32::MAX] {
        assert_eq!(parse(&stated.to_le_bytes()), Err(StreamError::Length), "{stated}");
    }
    assert_eq!(parse(&(STREAM_BYTES_MAX as u32).to_le_bytes()), Ok(None));
}

#[test]
fn the_decoder_holds_less_than_a_message_and_a_push() {
    let batches: Vec<u64> = (0..2 * DELETED_MAX as u64 + 5).collect();
    let bytes = encoded(&StreamMessage::Deleted { batches: batches.clone() });
    let mut decoder = StreamDecoder::default();
    let mut received = Vec::new();
    for part in bytes.chunks(PUSH_BYTES_MAX) {
        decoder.push(part);
        assert!(decoder.held_bytes() <= 4 + STREAM_BYTES_MAX + PUSH_BYTES_MAX);
        while let Some(StreamMessage::Deleted { batches }) = decoder.next_message().unwrap() {
            received.push(batches);
        }
    }
    let parts: Vec<usize> = received.iter().map(Vec::len).collect();
    assert_eq!(parts, [DELETED_MAX, DELETED_MAX, 5]);
    assert_eq!(received.concat(), batches);
}

#[test]
fn requests_past_a_limit_or_out_of_order_are_refused() {
    let range = |lane, first, count| FrameRange { lane, first, count };
    let last = FRAMES_PER_BATCH_MAX as u32;
    let many: Vec<_> = (0..REPAIR_RANGES_MAX as u32).map(|i| range(0, 2 * i, 1)).collect();
    let whole = vec![range(0, 0, REPAIR_FRAMES_MAX as u32)];
    for (sound, close, ranges) in [
        (true, true, vec![]),
        (true, false, many.clone()),
        (true, true, whole.clone()),
        (true, false, vec![range(63, last - 1, 1)]),
        (true, false, vec![range(0, 5, 2), range(0, 8, 1), range(1, 0, 1)]),
        (false, false, vec![]),
        (false, false, [many, vec![range(1, 0, 1)]].concat()),
        (false, false, [whole, vec![range(1, 0, 1)]].concat()),
        (false, false, vec![range(64, 0, 1)]),
        (false, false, vec![range(0, 7, 0)]),
        (false, false, vec![range(0, last, 1)]),
        (false, false, vec![range(0, u32::MAX, u32::MAX)]),
        (false, false, vec![range(0, 5, 2), range(0, 7, 1)]),
        (false, false, vec![range(0, 5, 2), range(0, 6, 1)]),
        (false, false, vec![range(1, 0, 1), range(0, 0, 1)]),
    ] {
        let missing = Missing { batch: 9, close, ranges };
        assert_eq!(missing.is_sound(), sound, "{missing:?}");
        // As a peer would write it that keeps to no rule.
        let mut bytes = vec![0, 0, 0, 0, 7];
        bytes.extend(9u64.to_le_bytes());
        bytes.push(u8::from(close));
        bytes.extend((missing.ranges.len() as u16).to_le_bytes());
        for FrameRange { lane, first, count } in &missing.ranges {
            bytes.push(*lane);
            bytes.extend(first.to_le_bytes());
            bytes.extend(count.to_le_bytes());
        }
        bytes.extend([0; 4]);
        let parsed = parse(&resealed(&bytes));
        let expected =
            if sound { Ok(Some(StreamMessage::Missing(missing))) } else { Err(StreamError::Field) };
        assert_eq!(parsed, expected);
    }
    for (length, sound) in [
        (frame::HEADER_BYTES - 1, false),
        (frame::HEADER_BYTES, true),
        (FRAME_BYTES_MAX, true),
        (FRAME_BYTES_MAX + 1, false),
    ] {
        let bytes = encoded(&StreamMessage::Frame { bytes: vec![7; length] });
        assert_eq!(parse(&bytes).is_ok(), sound, "a frame of {length} bytes");
    }
}
