//! The lookup request and reply.

use bloomrf_engine::predicate::{Literal, Predicate};
use bloomrf_engine::wire::lookup::{
    Candidates, LookupError, LookupReply, LookupRequest, LookupStatus, MAGIC, VERSION, reply_bytes,
};

use super::mutate::{bit_flips, damaged, resealed_at_end, truncations};
use super::random::Random;

fn encoded(request: &LookupRequest, pad: bool) -> Vec<u8> {
    let mut out = Vec::new();
    request.encode(&mut out, pad);
    out
}

fn encoded_reply(reply: &LookupReply) -> Vec<u8> {
    let mut out = Vec::new();
    reply.encode(&mut out);
    out
}

/// Heap bytes that a predicate holds, reserved ones included.
fn heap_bytes(predicate: &Predicate) -> usize {
    let text = |literal: &Literal| match literal {
        Literal::Bytes(bytes) => bytes.capacity(),
        _ => 0,
    };
    match predicate {
        Predicate::And(children) | Predicate::Or(children) => {
            let below: usize = children.iter().map(heap_bytes).sum();
            children.capacity() * size_of::<Predicate>() + below
        }
        Predicate::Not(child) => size_of::<Predicate>() + heap_bytes(child),
        Predicate::In { list, .. } => {
            list.capacity() * size_of::<Literal>() + list.iter().map(text).sum::<usize>()
        }
        Predicate::Compare { literal, .. } => text(literal),
        Predicate::Between { low, high, .. } => text(low) + text(high),
        Predicate::IsNull { .. } | Predicate::IsNotNull { .. } | Predicate::Unknown => 0,
    }
}

/// Parses, and checks that what is accepted is whole, small, and answerable.
fn parse(bytes: &[u8]) -> Result<LookupRequest, LookupError> {
    let request = LookupRequest::parse(bytes)?;
    let list = match &request.candidates {
        Candidates::Range { .. } => 0,
        Candidates::Ranges(ranges) => ranges.capacity() * 16,
        Candidates::List(ids) => ids.capacity() * 8,
    };
    let per_byte = (size_of::<Predicate>() / 5).max(size_of::<Literal>() / 2) + 1;
    let heap = list + heap_bytes(&request.predicate);
    assert!(heap <= bytes.len() * per_byte, "{heap} bytes kept of {}", bytes.len());
    // By bytes, since NaN differs from itself.
    let again = encoded(&request, false);
    let twice = encoded(&LookupRequest::parse(&again)?, false);
    assert_eq!(again, twice);
    let n = request.candidates.len();
    assert_eq!(request.candidates.iter().count(), n);
    let mut reply = Vec::new();
    LookupReply::nothing_excluded(request.query_id, LookupStatus::TooShort, n).encode(&mut reply);
    assert!(reply.len() <= bytes.len(), "a reply longer than its request");
    assert!(LookupReply::parse(&reply).is_ok());
    Ok(request)
}

fn parse_reply(bytes: &[u8]) -> Result<LookupReply, LookupError> {
    let reply = LookupReply::parse(bytes)?;
    assert!(reply.excluded.capacity() <= bytes.len());
    assert_eq!(encoded_reply(&reply), bytes, "an accepted reply has one encoding");
    Ok(reply)
}

#[test]
fn random_requests_and_replies_come_back_as_sent() {
    let mut random = Random::seeded();
    for _ in 0..3_000 {
        let request = random.request();
        for pad in [false, true] {
            let bytes = encoded(&request, pad);
            let back = parse(&bytes).unwrap();
            assert_eq!(encoded(&back, pad), bytes);
            assert_eq!(back.candidates, request.candidates);
            assert!(!pad || reply_bytes(request.candidates.len()) <= bytes.len());
        }
        let reply = random.reply();
        assert_eq!(parse_reply(&encoded_reply(&reply)).as_ref(), Ok(&reply));
    }
}

#[test]
fn every_truncation_and_every_flipped_bit_is_refused() {
    let mut random = Random::seeded();
    for _ in 0..5 {
        let request = random.request();
        let message = encoded(&request, random.chance(2));
        truncations(&message, |bytes| assert!(parse(bytes).is_err()));
        bit_flips(&message, |bytes| assert!(parse(bytes).is_err()));
        let message = encoded_reply(&random.reply());
        truncations(&message, |bytes| assert!(parse_reply(bytes).is_err()));
        bit_flips(&message, |bytes| assert!(parse_reply(bytes).is_err()));
    }
}

#[test]
fn damage_behind_a_right_checksum_is_an_error_or_a_valid_question() {
    let mut random = Random::seeded();
    let mut accepted = 0;
    let mut try_one = |bytes: &[u8]| accepted += u32::from(parse(&resealed_at_end(bytes)).is_ok());
    for _ in 0..10 {
        let request = random.request();
        let message = encoded(&request, random.chance(4));
        damaged(&mut random, &message, 5_000, &mut try_one);
    }
    assert!(accepted > 1_000, "the checksum alone decided: {accepted}");
}

#[test]
fn damage_behind_a_right_checksum_is_an_error_or_a_valid_reply() {
    let mut random = Random::seeded();
    let mut accepted = 0;
    let mut try_one =
        |bytes: &[u8]| accepted += u32::from(parse_reply(&resealed_at_end(bytes)).is_ok());
    for _ in 0..10 {
        let message = encoded_reply(&random.reply());
        damaged(&mut random, &message, 5_000, &mut try_one);
    }
    assert!(accepted > 1_000, "the checksum alone decided: {accepted}");
}

#[test]
fn random_sections_behind_a_right_header_are_refused_or_valid() {
    let mut random = Random::seeded();
    for _ in 0..100_000 {
        let n = random.below(200);
        let bytes = random.bytes(n);
        assert!(parse(&bytes).is_err() && parse_reply(&bytes).is_err());
        // Few distinct byte values, so that random trees are often nearly valid.
        let mut section = |n| (0..n).map(|_| random.below(11) as u8).collect::<Vec<u8>>();
        let (ids, tree) = (section(n % 13), section(n));
        let mut message = [&MAGIC[..], &[VERSION, 0, 0, 0], &[0; 36], &[2, 0, 0, 0]].concat();
        for length in [ids.len(), ids.len(), tree.len(), 0] {
            message.extend_from_slice(&(length as u32).to_le_bytes());
        }
        message.extend_from_slice(&[&ids[..], &tree, &[0; 4]].concat());
        let _ = parse(&resealed_at_end(&message));
    }
}

/// AND within AND, each claiming as many children as its bytes could hold.
#[test]
fn nested_claims_do_not_add_up_to_more_memory_than_the_bytes_warrant() {
    let mut tree = vec![0; 5 * 1_000];
    for depth in 0..30 {
        let at = depth * 7;
        let body_bytes = (tree.len() - at - 5) as u32;
        let claimed = ((body_bytes as usize - 2) / 5).min(1_000 - depth) as u16;
        tree[at] = 6;
        tree[at + 1..at + 5].copy_from_slice(&body_bytes.to_le_bytes());
        tree[at + 5..at + 7].copy_from_slice(&claimed.to_le_bytes());
    }
    // Refused at the second claim, not only where the bytes in fact run out.
    assert_eq!(bloomrf_engine::wire::predicate::parse(&tree), Err(LookupError::Limit));
}
