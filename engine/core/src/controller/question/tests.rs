//! Which transport a question takes, and which are never sent.

use super::*;
use crate::controller::tests::request;
use crate::limits::{DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MAX_IPV6};
use crate::predicate::{Literal, Predicate};
use crate::wire::lookup::{message_bytes, reply_bytes};

fn range(count: u32) -> LookupRequest {
    request(Candidates::Range { first: 1, count })
}

#[test]
fn a_question_that_fits_goes_as_one_padded_datagram() {
    for (count, datagram_bytes_max) in
        [(0, 1_472), (1, 1_472), (11_392, DATAGRAM_BYTES_MAX), (11_232, DATAGRAM_BYTES_MAX_IPV6)]
    {
        let asked = question(&range(count), datagram_bytes_max).unwrap();
        assert_eq!(asked.transport, Transport::Datagram);
        assert!(asked.bytes.len() <= datagram_bytes_max);
        assert!(asked.bytes.len() >= reply_bytes(count as usize));
        assert_eq!(LookupRequest::parse(&asked.bytes), Ok(range(count)));
    }
}

#[test]
fn one_candidate_too_many_for_a_datagram_goes_over_tcp_unpadded() {
    let limits = [(11_393, DATAGRAM_BYTES_MAX), (11_233, DATAGRAM_BYTES_MAX_IPV6)];
    for (count, datagram_bytes_max) in limits.into_iter().chain([(131_072, 1_472)]) {
        let asked = question(&range(count), datagram_bytes_max).unwrap();
        assert_eq!(asked.transport, Transport::Stream);
        let (prefix, message) = asked.bytes.split_first_chunk().unwrap();
        assert_eq!(message_bytes(*prefix), Ok(message.len()));
        assert!(message.len() < 100, "a range is short, whatever its size");
        assert_eq!(LookupRequest::parse(message), Ok(range(count)));
    }
}

#[test]
fn a_question_above_a_limit_is_not_sent() {
    let err = |request: &LookupRequest| question(request, 1_472).unwrap_err();
    assert_eq!(err(&range(131_073)), LookupError::Limit);
    let past_the_end = IdRange { first: u64::MAX, count: 1 };
    let ranges = Candidates::Ranges(vec![past_the_end, past_the_end]);
    assert_eq!(err(&request(ranges)), LookupError::Candidates);
    let list =
        |n, bytes| Predicate::In { column: 0, list: vec![Literal::Bytes(vec![0; bytes]); n] };
    let with = |predicate| LookupRequest { predicate, ..range(1) };
    assert_eq!(err(&with(list(4_097, 0))), LookupError::Limit);
    assert_eq!(err(&with(list(1, 1_401))), LookupError::Limit);
    assert_eq!(err(&with(Predicate::And(vec![list(4_096, 0); 5]))), LookupError::Limit);
    assert_eq!(err(&with(Predicate::Or(vec![Predicate::Unknown; 1_024]))), LookupError::Limit);
    assert_eq!(err(&with(list(2_000, 1_400))), LookupError::Length);
    let leaf = || Predicate::IsNull { column: 0 };
    let deep = |n| (0..n).fold(leaf(), |p, _| Predicate::Not(Box::new(p)));
    assert_eq!(err(&with(deep(32))), LookupError::Limit);
    assert!(question(&with(deep(31)), 1_472).is_ok());
}
