//! The lookup request and reply: every shape comes back as sent, order and duplicates included,
//! and a reply is never longer than its padded request.
#![forbid(unsafe_code)]

use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::limits::{
    CANDIDATES_MAX, LITERALS_MAX, LOOKUP_BYTES_MAX, PREDICATE_DEPTH_MAX, PREDICATE_NODES_MAX,
};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::TimeUnit;
use bloomrf_engine::wire::lookup::{
    Candidates, IdRange, LookupError, LookupReply, LookupRequest, LookupStatus, REPLY_BYTES_MIN,
    REQUEST_BYTES_MIN, message_bytes, reply_bytes,
};

fn request(candidates: Candidates, predicate: Predicate) -> LookupRequest {
    LookupRequest {
        query_id: 0x0102_0304_0506_0708,
        cluster: ClusterId(7),
        fingerprint: Fingerprint(8),
        budget_us: 9,
        float_order: FloatOrder::Total,
        candidates,
        predicate,
    }
}

fn encoded(request: &LookupRequest, pad: bool) -> Vec<u8> {
    let mut out = Vec::new();
    request.encode(&mut out, pad);
    out
}

fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let at = bytes.len() - 4;
    let crc = crc32c::crc32c(&bytes[..at]);
    bytes[at..].copy_from_slice(&crc.to_le_bytes());
    bytes
}

fn assert_survives(request: &LookupRequest) {
    for pad in [false, true] {
        let bytes = encoded(request, pad);
        assert_eq!(LookupRequest::parse(&bytes).as_ref(), Ok(request));
        assert!(bytes.len() >= REQUEST_BYTES_MIN);
        if pad {
            assert!(reply_bytes(request.candidates.len()) <= bytes.len());
        }
    }
}

fn leaf() -> Predicate {
    Predicate::Compare { column: 3, op: CompareOp::Eq, literal: Literal::Unsigned(445) }
}

fn every_literal() -> Vec<Literal> {
    vec![
        Literal::Unsigned(u64::MAX),
        Literal::Signed(i64::MIN),
        Literal::Float(-0.0),
        Literal::Bool(true),
        Literal::Bool(false),
        Literal::Timestamp(-1, TimeUnit::S),
        Literal::Timestamp(0, TimeUnit::Ms),
        Literal::Timestamp(1, TimeUnit::Us),
        Literal::Timestamp(i64::MAX, TimeUnit::Ns),
        Literal::Ipv4([10, 0, 0, 1]),
        Literal::Ipv6([6; 16]),
        Literal::Mac([1, 2, 3, 4, 5, 6]),
        Literal::Uuid([7; 16]),
        Literal::Bytes(Vec::new()),
        Literal::Bytes(vec![1; 1_400]),
    ]
}

#[test]
fn every_kind_of_node_and_literal_comes_back_as_sent() {
    use CompareOp::*;
    let compare = |op| Predicate::Compare { column: 65_535, op, literal: Literal::Signed(-5) };
    let tree = Predicate::And(vec![
        Predicate::Or([Eq, Ne, Lt, Le, Gt, Ge].map(compare).to_vec()),
        Predicate::Not(Box::new(Predicate::In { column: 0, list: every_literal() })),
        Predicate::Between { column: 1, low: Literal::Signed(2), high: Literal::Signed(1) },
        Predicate::In { column: 2, list: Vec::new() },
        Predicate::IsNull { column: 3 },
        Predicate::IsNotNull { column: 4 },
        Predicate::And(Vec::new()),
        Predicate::Or(Vec::new()),
        Predicate::Unknown,
    ]);
    assert_survives(&request(Candidates::Range { first: 1, count: 100 }, tree));
}

#[test]
fn lists_keep_order_duplicates_and_the_ends_of_the_domain() {
    let lists: [&[u64]; 5] = [
        &[],
        &[0],
        &[u64::MAX, 0, u64::MAX, u64::MAX, 1 << 63, (1 << 63) - 1],
        &[5, 5, 5, 4, 3, 1_000_000, 2],
        &[1 << 62, 1 << 63, 3 << 62],
    ];
    for ids in lists {
        let candidates = Candidates::List(ids.to_vec());
        assert!(candidates.iter().eq(ids.iter().copied()));
        assert_survives(&request(candidates, leaf()));
    }
}

#[test]
fn ranges_stay_ranges_whatever_their_size() {
    let range = |first, count| IdRange { first, count };
    let cases = [
        Candidates::Range { first: 0, count: 0 },
        Candidates::Range { first: u64::MAX - 131_072, count: 131_072 },
        Candidates::Ranges(Vec::new()),
        Candidates::Ranges(vec![range(10, 5), range(8, 4), range(u64::MAX, 0)]),
    ];
    for candidates in cases {
        assert_eq!(candidates.iter().count(), candidates.len());
        assert_survives(&request(candidates, leaf()));
    }
    let two = Candidates::Ranges(vec![range(10, 2), range(9, 3)]);
    assert_eq!(two.iter().collect::<Vec<_>>(), [10, 11, 9, 10, 11]);
}

#[test]
fn counts_above_their_limits_are_refused() {
    let refused = |candidates, predicate| {
        LookupRequest::parse(&encoded(&request(candidates, predicate), true)).unwrap_err()
    };
    let one = || Candidates::Range { first: 1, count: 1 };
    let many = CANDIDATES_MAX + 1;
    let range = Candidates::Range { first: 0, count: many as u32 };
    assert_eq!(refused(range, leaf()), LookupError::Limit);
    assert_eq!(refused(Candidates::List(vec![0; many]), leaf()), LookupError::Limit);
    let wide = Predicate::Or(vec![leaf(); PREDICATE_NODES_MAX]);
    assert_eq!(refused(one(), wide), LookupError::Limit);
    let deep = (0..PREDICATE_DEPTH_MAX).fold(leaf(), |p, _| Predicate::Not(Box::new(p)));
    assert_eq!(refused(one(), deep), LookupError::Limit);
    let list = |n| Predicate::In { column: 0, list: vec![Literal::Bool(true); n] };
    assert_eq!(refused(one(), list(4_097)), LookupError::Limit);
    assert_eq!(refused(one(), list(70_000)), LookupError::Limit);
    assert_eq!(refused(one(), Predicate::And(vec![list(4_096); 5])), LookupError::Limit);
    let lists = [vec![list(LITERALS_MAX / 4); 4], vec![list(1)]].concat();
    assert_eq!(refused(one(), Predicate::And(lists)), LookupError::Limit);
    let ranges = vec![IdRange { first: 0, count: CANDIDATES_MAX as u32 / 2 }; 2];
    let one_more = [ranges, vec![IdRange { first: 5, count: 1 }]].concat();
    assert_eq!(refused(Candidates::Ranges(one_more), leaf()), LookupError::Limit);
    let long = |n| Predicate::In { column: 0, list: vec![Literal::Bytes(vec![0; n])] };
    assert_eq!(refused(one(), long(1_401)), LookupError::Limit);
    assert_eq!(refused(one(), long(70_000)), LookupError::Limit);
    assert_eq!(refused(one(), Predicate::And(vec![leaf(); 70_000])), LookupError::Limit);
}

#[test]
fn what_is_at_the_limits_is_accepted() {
    let one = || Candidates::Range { first: 1, count: 1 };
    assert_survives(&request(one(), Predicate::Or(vec![leaf(); PREDICATE_NODES_MAX - 1])));
    let deep = (1..PREDICATE_DEPTH_MAX).fold(leaf(), |p, _| Predicate::Not(Box::new(p)));
    assert_survives(&request(one(), deep));
    let list = Predicate::In { column: 0, list: vec![Literal::Ipv4([1; 4]); 4_096] };
    assert_survives(&request(one(), Predicate::And(vec![list; 4])));
    assert_survives(&request(Candidates::List(vec![u64::MAX / 3; CANDIDATES_MAX]), leaf()));
    let count = CANDIDATES_MAX as u32;
    assert_survives(&request(
        Candidates::Range { first: u64::MAX - u64::from(count), count },
        leaf(),
    ));
    let half = IdRange { first: 0, count: count / 2 };
    assert_survives(&request(Candidates::Ranges(vec![half; 2]), leaf()));
}

#[test]
fn a_message_is_read_at_the_limit_of_its_length_and_not_past_it() {
    let padded_to = |length: usize| {
        let mut out = encoded(&request(Candidates::Range { first: 1, count: 1 }, leaf()), false);
        let padding = length - out.len();
        out[60..64].copy_from_slice(&(padding as u32).to_le_bytes());
        out.splice(out.len() - 4.., vec![0; padding + 4]);
        assert_eq!(out.len(), length);
        LookupRequest::parse(&resealed(out)).map(|_| ())
    };
    assert_eq!(padded_to(LOOKUP_BYTES_MAX), Ok(()));
    assert_eq!(padded_to(LOOKUP_BYTES_MAX + 1), Err(LookupError::Length));
}

/// A request for batch 1 whose predicate section is `bytes`, checksum right.
fn with_predicate(bytes: &[u8]) -> Result<Predicate, LookupError> {
    let mut out = encoded(&request(Candidates::Range { first: 1, count: 1 }, leaf()), false);
    out.truncate(64 + 12);
    out[56..60].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
    out.extend_from_slice(&[0; 4]);
    LookupRequest::parse(&resealed(out)).map(|r| r.predicate)
}

#[test]
fn what_a_later_version_adds_is_unknown_and_its_neighbours_are_still_read() {
    let known = [5, 2, 0, 0, 0, 9, 0];
    let cases: [&[u8]; 5] = [
        &[200, 3, 0, 0, 0, 1, 2, 3],                  // kind
        &[1, 5, 0, 0, 0, 3, 0, 7, 99, 1],             // operator
        &[1, 6, 0, 0, 0, 3, 0, 1, 99, 1, 2],          // literal type
        &[1, 6, 0, 0, 0, 3, 0, 1, 5, 9, 2],           // time unit
        &[3, 9, 0, 0, 0, 3, 0, 2, 0, 4, 1, 77, 1, 2], // literal type within IN
    ];
    for unknown in cases {
        let body_bytes = (2 + unknown.len() + known.len()) as u8;
        let mut tree = vec![6, body_bytes, 0, 0, 0, 2, 0];
        tree.extend_from_slice(unknown);
        tree.extend_from_slice(&known);
        let expected = Predicate::And(vec![Predicate::Unknown, Predicate::IsNotNull { column: 9 }]);
        assert_eq!(with_predicate(&tree), Ok(expected), "{unknown:?}");
    }
}

#[test]
fn malformed_trees_are_refused() {
    let cases: [&[u8]; 11] = [
        &[],
        &[6, 2, 0, 0, 0, 1, 0],          // AND of a child that is not there
        &[6, 2, 0, 0, 0, 255, 3],        // AND of 1,023 that are not there
        &[8, 0, 0, 0, 0],                // NOT of nothing
        &[4, 3, 0, 0, 0, 1, 0, 0],       // IS NULL with a byte left over
        &[4, 2, 0, 0, 0, 1, 0, 0],       // a byte behind the root
        &[4, 255, 255, 255, 255, 1, 0],  // longer than the section
        &[1, 5, 0, 0, 0, 3, 0, 1, 1, 1], // literal longer than its node
        &[1, 5, 0, 0, 0, 3, 0, 1, 4, 2], // neither true nor false
        &[3, 4, 0, 0, 0, 0, 0, 0, 16],   // IN of 4,096 that are not there
        &[8, 14, 0, 0, 0, 4, 2, 0, 0, 0, 1, 0, 4, 2, 0, 0, 0, 1, 0], // NOT of two
    ];
    for bytes in cases {
        let refused = with_predicate(bytes);
        assert!(
            matches!(refused, Err(LookupError::Predicate | LookupError::Length)),
            "{bytes:?} {refused:?}"
        );
    }
}

#[test]
fn hostile_candidate_sections_are_refused() {
    let with = |kind: u8, count: u32, section: &[u8]| {
        let mut out = encoded(&request(Candidates::List(Vec::new()), leaf()), false);
        out[44] = kind;
        out[48..52].copy_from_slice(&count.to_le_bytes());
        out[52..56].copy_from_slice(&(section.len() as u32).to_le_bytes());
        out.splice(64..64, section.iter().copied());
        LookupRequest::parse(&resealed(out)).map(|r| r.candidates)
    };
    let range = |first: u64, count: u32| [&first.to_le_bytes()[..], &count.to_le_bytes()].concat();
    use LookupError::{Candidates as Bad, Limit};
    assert_eq!(with(2, 1, &[2]), Ok(Candidates::List(vec![1])));
    assert_eq!(with(0, 0, &[]), Err(Bad), "kind");
    assert_eq!(with(3, 0, &[]), Err(Bad), "kind");
    assert_eq!(with(2, 2, &[2]), Err(Limit), "more ids than bytes");
    assert_eq!(with(2, u32::MAX, &[2]), Err(Limit));
    assert_eq!(with(2, 1, &[2, 2]), Err(Bad), "bytes left over");
    assert_eq!(with(2, 1, &[0x80]), Err(Bad), "cut number");
    assert_eq!(with(2, 1, &[0x80, 0]), Err(Bad), "overlong number");
    assert_eq!(with(2, 1, &[0xff; 10]), Err(Bad), "eleven digits");
    let ten = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
    assert_eq!(with(2, 1, &ten), Err(Bad), "65 bits");
    assert_eq!(with(1, 2, &range(1, 1)), Err(Bad), "count of another range");
    assert_eq!(with(1, 1, &range(u64::MAX, 1)), Err(Bad), "past the last id");
    assert_eq!(with(1, 1, &range(1, 1)[..11]), Err(Bad), "cut range");
    let sum_wraps = [range(0, u32::MAX), range(0, 2)].concat();
    assert_eq!(with(1, 1, &sum_wraps), Err(Bad), "counts that wrap to one");
}

#[test]
fn only_a_gapless_ascent_is_sent_as_a_range() {
    assert_eq!(Candidates::of(&[5, 6, 7]), Candidates::Range { first: 5, count: 3 });
    for list in [vec![], vec![5, 7], vec![7, 6], vec![5, 5], vec![u64::MAX, 0], vec![u64::MAX]] {
        // No range that a node would refuse.
        assert_eq!(Candidates::of(&list), Candidates::List(list));
    }
}

#[test]
fn reply_comes_back_as_sent() {
    let reply = LookupReply {
        query_id: 5,
        status: LookupStatus::TimedOut,
        candidates: 17,
        evaluated: 11,
        no_filter: 6,
        excluded_zone_map: 2,
        excluded_filter: 1,
        micros: 99,
        excluded: vec![0b101, 0, 1],
    };
    let mut bytes = Vec::new();
    reply.encode(&mut bytes);
    assert_eq!(bytes.len(), reply_bytes(17));
    assert_eq!(LookupReply::parse(&bytes).as_ref(), Ok(&reply));
    let excluded = (0..40).filter(|i| reply.is_excluded(*i)).collect::<Vec<_>>();
    assert_eq!(excluded, [0, 2, 16]);
    assert_eq!(LookupRequest::parse(&bytes), Err(LookupError::Direction));
    let question = encoded(&request(Candidates::List(vec![1]), leaf()), false);
    assert_eq!(LookupReply::parse(&question), Err(LookupError::Direction));
}

#[test]
fn a_reply_has_room_in_a_padded_request_and_a_bare_one_in_any() {
    for n in [0, 1, 8, 200, 296, 297, 305, 5_000] {
        let request = request(Candidates::Range { first: 0, count: n }, leaf());
        for pad in [false, true] {
            let asked = encoded(&request, pad);
            let bytes = |status| {
                let mut out = Vec::new();
                LookupReply::nothing_excluded(1, status, n as usize).encode(&mut out);
                out
            };
            let full = bytes(LookupStatus::Ok);
            assert_eq!(full.len(), reply_bytes(n as usize));
            assert!(!pad || full.len() <= asked.len(), "{n} candidates");
            let bare = bytes(LookupStatus::TooShort);
            assert!(bare.len() <= asked.len(), "{n} candidates");
            assert_eq!(LookupReply::parse(&bare).unwrap().status, LookupStatus::TooShort);
        }
    }
    const { assert!(REPLY_BYTES_MIN <= REQUEST_BYTES_MIN) };
}

#[test]
fn a_tcp_prefix_out_of_bounds_is_refused_before_anything_is_buffered() {
    assert_eq!(message_bytes(100u32.to_le_bytes()), Ok(100));
    assert_eq!(message_bytes(0u32.to_le_bytes()), Err(LookupError::Length));
    assert_eq!(message_bytes(u32::MAX.to_le_bytes()), Err(LookupError::Length));
}

#[test]
fn padding_that_is_not_zero_or_not_as_stated_is_refused() {
    let padded = encoded(&request(Candidates::Range { first: 0, count: 5_000 }, leaf()), true);
    let mut dirty = padded.clone();
    dirty[300] = 1;
    assert_eq!(LookupRequest::parse(&resealed(dirty)), Err(LookupError::Length));
    let mut longer = padded.clone();
    longer.push(0);
    assert_eq!(LookupRequest::parse(&resealed(longer)), Err(LookupError::Length));
    for at in [7, 45, 47] {
        let mut reserved = padded.clone();
        // Bit 0 of the flags says "keyed".
        reserved[at] = 2;
        assert_eq!(LookupRequest::parse(&resealed(reserved)), Err(LookupError::Version));
    }
}
