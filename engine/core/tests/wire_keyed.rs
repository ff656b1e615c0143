//! Keyed messages: the seal covers every bit, a reply fits the one request that it answers, and
//! unkeyed messages are what they were.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use bloomrf_engine::controller::{
    Consultation, Transport, Unusable, check_keyed_reply, check_reply, keyed_question, question,
};
use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::limits::{DATAGRAM_BYTES_MAX, FRAME_BYTES_MAX};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_engine::wire::frame::{
    self, Frame, FrameError, FrameHeader, HEADER_BYTES, LaneTotal, encode_close, encode_data,
};
use bloomrf_engine::wire::lookup::{
    Candidates, LookupError, LookupReply, LookupRequest, LookupStatus, authenticate_reply,
    authenticate_request, reply_bytes,
};
use bloomrf_engine::wire::mac::{KeyRing, MacError, MacKey, SEAL_BYTES, Seal};

fn key(id: u32, fill: u8) -> MacKey {
    MacKey::new(id, &[fill; 16])
}

fn ring() -> KeyRing {
    KeyRing::parse(&format!("1 {}\n2 {}\n", "11".repeat(16), "22".repeat(16))).unwrap()
}

fn request(query_id: u64, count: u32) -> LookupRequest {
    LookupRequest {
        query_id,
        cluster: ClusterId(7),
        fingerprint: Fingerprint(8),
        budget_us: 9,
        float_order: FloatOrder::Unstated,
        candidates: Candidates::Range { first: 100, count },
        predicate: Predicate::Compare {
            column: 3,
            op: CompareOp::Eq,
            literal: Literal::Unsigned(445),
        },
    }
}

/// Excludes everything: the worst that a forger can say.
fn exclude_all(request: &LookupRequest) -> LookupReply {
    let candidates = request.candidates.len();
    let ok = LookupStatus::Ok;
    let mut reply = LookupReply::nothing_excluded(request.query_id, ok, candidates);
    (0..candidates).for_each(|i| reply.excluded[i / 8] |= 1 << (i % 8));
    reply.excluded_filter = reply.candidates;
    (reply.evaluated, reply.no_filter) = (reply.candidates, 0);
    reply
}

fn sealed(request: &LookupRequest, key: &MacKey) -> (Vec<u8>, Seal) {
    let mut bytes = Vec::new();
    let seal = request.encode_keyed(&mut bytes, true, key);
    (bytes, seal)
}

/// With a right CRC32C, as anybody can make it.
fn resummed(mut bytes: Vec<u8>) -> Vec<u8> {
    let at = bytes.len() - 4;
    let crc = crc32c::crc32c(&bytes[..at]);
    bytes[at..].copy_from_slice(&crc.to_le_bytes());
    bytes
}

#[test]
fn a_sealed_request_parses_as_the_unsealed_one_and_each_known_key_is_accepted() {
    let request = request(5, 100);
    for (id, fill) in [(1, 0x11), (2, 0x22)] {
        let (bytes, seal) = sealed(&request, &key(id, fill));
        assert_eq!(LookupRequest::parse(&bytes).as_ref(), Ok(&request));
        assert_eq!(seal.key, id);
        assert_eq!(authenticate_request(&bytes, &ring()).unwrap().key, id);
        let mut plain = Vec::new();
        request.encode(&mut plain, true);
        assert_eq!(bytes.len(), plain.len() + SEAL_BYTES);
        assert_eq!(authenticate_request(&plain, &ring()).unwrap_err(), MacError::Unkeyed);
    }
    let (unknown, _) = sealed(&request, &key(3, 0x11));
    assert_eq!(authenticate_request(&unknown, &ring()).unwrap_err(), MacError::UnknownKey);
    let (forged, _) = sealed(&request, &key(1, 0x12));
    assert_eq!(authenticate_request(&forged, &ring()).unwrap_err(), MacError::Tag);
}

#[test]
fn no_bit_of_a_sealed_request_can_be_changed_however_right_its_checksum() {
    let (bytes, _) = sealed(&request(5, 100), &key(1, 0x11));
    for bit in 0..(bytes.len() - 4) * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(authenticate_request(&resummed(changed), &ring()).is_err(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert!(authenticate_request(&bytes[..length], &ring()).is_err(), "{length} bytes");
    }
}

fn check(request: &LookupRequest, reply: &[u8], seal: Seal) -> Result<Consultation, Unusable> {
    check_keyed_reply(request, reply, &key(1, 0x11), seal)
}

#[test]
fn a_forged_or_replayed_reply_excludes_nothing() {
    let asked = request(5, 100);
    let (_, seal) = sealed(&asked, &key(1, 0x11));
    let worst = exclude_all(&asked);
    let mut right = Vec::new();
    worst.encode_keyed(&mut right, &key(1, 0x11), seal);
    assert_eq!(check(&asked, &right, seal).unwrap().excluded.len(), 100);
    let mut unkeyed = Vec::new();
    worst.encode(&mut unkeyed);
    assert_eq!(check(&asked, &unkeyed, seal), Err(Unusable::Forged));
    // Of another key, and the first key under another id.
    for other in [key(2, 0x22), key(2, 0x11), key(1, 0x22)] {
        let mut forged = Vec::new();
        worst.encode_keyed(&mut forged, &other, seal);
        assert_eq!(check(&asked, &forged, seal), Err(Unusable::Forged));
    }
    // A true reply to the same query id, asked with anything else.
    for other in [request(5, 99), LookupRequest { budget_us: 10, ..asked.clone() }] {
        let (_, theirs) = sealed(&other, &key(1, 0x11));
        let mut replayed = Vec::new();
        worst.encode_keyed(&mut replayed, &key(1, 0x11), theirs);
        assert_eq!(check(&asked, &replayed, seal), Err(Unusable::Forged));
    }
    // The question itself, sent back as if it were an answer.
    let (mut mirrored, _) = sealed(&asked, &key(1, 0x11));
    mirrored[5] = 0x80;
    assert_eq!(check(&asked, &resummed(mirrored), seal), Err(Unusable::Forged));
    for bit in 0..(right.len() - 4) * 8 {
        let mut changed = right.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(check(&asked, &resummed(changed), seal), Err(Unusable::Forged), "bit {bit}");
    }
}

#[test]
fn a_keyed_reply_has_room_in_its_padded_request() {
    for count in [0, 1, 8, 9, 500, 8_000, 11_200] {
        let request = request(1, count);
        let (bytes, seal) = sealed(&request, &key(1, 1));
        let mut reply = Vec::new();
        exclude_all(&request).encode_keyed(&mut reply, &key(1, 1), seal);
        assert_eq!(reply.len(), reply_bytes(count as usize) + SEAL_BYTES);
        assert!(reply.len() <= bytes.len(), "{count} candidates");
        let too_short = LookupReply::nothing_excluded(1, LookupStatus::TooShort, count as usize);
        reply.clear();
        too_short.encode_keyed(&mut reply, &key(1, 1), seal);
        let mut bare = Vec::new();
        request.encode_keyed(&mut bare, false, &key(1, 1));
        assert!(reply.len() <= bare.len(), "{count} candidates, bare");
        assert_eq!(LookupReply::parse(&reply), Ok(too_short));
        assert_eq!(authenticate_reply(&reply, &key(1, 1), seal), Ok(()));
    }
}

#[test]
fn a_keyed_question_goes_where_it_fits() {
    for count in [1, 11_296, 11_297, 100_000] {
        let asked = request(1, count);
        let (keyed, _) = keyed_question(&asked, DATAGRAM_BYTES_MAX, &key(1, 1)).unwrap();
        let plain = question(&asked, DATAGRAM_BYTES_MAX).unwrap();
        let fits = reply_bytes(count as usize) + SEAL_BYTES <= DATAGRAM_BYTES_MAX;
        let expected = if fits { Transport::Datagram } else { Transport::Stream };
        assert_eq!(keyed.transport, expected, "{count} candidates");
        assert_eq!(fits, count <= 11_296);
        if keyed.transport == plain.transport {
            assert_eq!(keyed.bytes.len(), plain.bytes.len() + SEAL_BYTES);
        }
    }
}

#[test]
fn other_flags_and_cut_seals_are_refused_whatever_the_checksum() {
    let (bytes, seal) = sealed(&request(5, 3), &key(1, 1));
    for flags in [2, 3, 0x80, 0x81] {
        let mut changed = bytes.clone();
        changed[7] = flags;
        assert_eq!(LookupRequest::parse(&resummed(changed)), Err(LookupError::Version));
    }
    // An unkeyed message that claims a seal: its last bytes are taken for one.
    let mut plain = Vec::new();
    request(5, 3).encode(&mut plain, false);
    plain[7] = 1;
    assert!(LookupRequest::parse(&resummed(plain)).is_err());
    let mut reply = Vec::new();
    exclude_all(&request(5, 3)).encode_keyed(&mut reply, &key(1, 1), seal);
    reply[7] = 0;
    assert_eq!(LookupReply::parse(&resummed(reply.clone())), Err(LookupError::Length));
    assert_eq!(check_reply(&request(5, 3), &resummed(reply)), Err(Unusable::Malformed));
    for length in 0..60 {
        let mut cut = vec![0; length];
        cut[..bytes.len().min(8).min(length)].copy_from_slice(&bytes[..8.min(length)]);
        let _ = LookupRequest::parse(&cut);
        let _ = LookupReply::parse(&cut);
    }
}

fn header(lanes: u8) -> FrameHeader {
    FrameHeader {
        cluster: ClusterId(1),
        fingerprint: Fingerprint(2),
        batch: 42,
        hash: HashAlgorithm::Xxh3,
        lane: 0,
        lanes,
        sequence: 3,
    }
}

#[test]
fn a_signed_frame_parses_as_the_unsigned_one_and_no_bit_can_be_changed() {
    let (mut data, mut close) = (Vec::new(), Vec::new());
    encode_data(&mut data, &header(2), 4, b"recArecB");
    encode_close(&mut close, &header(1), &[LaneTotal { frames: 1, records: 2 }]);
    for plain in [data, close] {
        let mut signed = plain.clone();
        frame::sign(&mut signed, &key(2, 0x22));
        assert_eq!(signed.len(), plain.len() + SEAL_BYTES);
        let (theirs, ours) = (Frame::parse(&plain, 4).unwrap(), Frame::parse(&signed, 4).unwrap());
        assert_eq!(theirs.header(), ours.header());
        match (theirs, ours) {
            (Frame::Data { payload: a, .. }, Frame::Data { payload: b, .. }) => assert_eq!(a, b),
            (Frame::Close { totals: a, .. }, Frame::Close { totals: b, .. }) => assert_eq!(a, b),
            _ => panic!("another kind"),
        }
        assert_eq!(frame::authenticate(&signed, &ring()), Ok(()));
        assert_eq!(frame::authenticate(&plain, &ring()), Err(MacError::Unkeyed));
        for bit in 0..signed.len() * 8 {
            let mut changed = signed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            // The CRC is covered by nothing but itself, and says so.
            let in_crc = (60 * 8..64 * 8).contains(&bit);
            let crc = frame_sum(&changed);
            if !in_crc {
                changed[60..64].copy_from_slice(&crc.to_le_bytes());
            }
            let parsed = Frame::parse(&changed, 4);
            let right = frame::authenticate(&changed, &ring()).is_ok();
            assert!(if in_crc { parsed.is_err() } else { !right }, "bit {bit}");
        }
        for length in 0..signed.len() {
            assert!(Frame::parse(&signed[..length], 4).is_err());
            assert!(frame::authenticate(&signed[..length], &ring()).is_err());
        }
    }
}

/// CRC32C of a frame with its own field read as zero.
fn frame_sum(frame: &[u8]) -> u32 {
    let crc = crc32c::crc32c(&frame[..60]);
    crc32c::crc32c_append(crc32c::crc32c_append(crc, &[0; 4]), &frame[64..])
}

#[test]
fn the_longest_frame_has_room_for_its_seal_or_is_refused() {
    let record = FRAME_BYTES_MAX - HEADER_BYTES - SEAL_BYTES;
    let (bytes, records) = (record / 8, 8);
    let mut frame = Vec::new();
    encode_data(&mut frame, &header(1), bytes, &vec![1; bytes * records]);
    frame::sign(&mut frame, &key(1, 0x11));
    assert!(frame.len() <= FRAME_BYTES_MAX && frame.len() + 8 > FRAME_BYTES_MAX);
    assert!(Frame::parse(&frame, bytes).is_ok());
    frame.resize(FRAME_BYTES_MAX + 1, 0);
    assert_eq!(Frame::parse(&frame, bytes), Err(FrameError::Length));
}
