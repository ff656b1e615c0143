//! The verification stream.

use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::limits::STREAM_BYTES_MAX;
use bloomrf_engine::wire::stream::{
    DELETED_MAX, PUSH_BYTES_MAX, RefuseReason, StreamDecoder, StreamError, StreamMessage, Verdict,
};

use super::mutate::{bit_flips, damaged, resealed_at_end, truncations};
use super::random::Random;

fn message(random: &mut Random, kind: usize) -> StreamMessage {
    let batch = random.id();
    match kind % 6 {
        0 => {
            let n = random.below(33);
            let letters = (0..n).map(|_| random.pick(&['a', 'ß', '-', '7']));
            StreamMessage::Hello {
                node: letters.collect(),
                cluster: ClusterId(u128::from(random.next())),
                fingerprint: Fingerprint(random.next()),
            }
        }
        1 => StreamMessage::Welcome { hash: random.algorithm() },
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
        _ => {
            let n = random.below(30);
            StreamMessage::Deleted { batches: (0..n).map(|_| random.id()).collect() }
        }
    }
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
            if let StreamMessage::Deleted { batches } = message {
                assert!(batches.capacity() * 8 <= bytes.len());
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
        let sent: Vec<_> = (0..12).map(|kind| message(&mut random, kind)).collect();
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
    for kind in 0..6 {
        let bytes = encoded(&message(&mut random, kind));
        truncations(&bytes, |bytes| assert_eq!(parse(bytes), Ok(None)));
        bit_flips(&bytes, |bytes| assert!(!matches!(parse(bytes), Ok(Some(_)))));
    }
}

#[test]
fn damage_behind_a_right_checksum_is_an_error_or_a_valid_message() {
    let mut random = Random::seeded();
    let mut accepted = 0;
    for kind in 0..60 {
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
