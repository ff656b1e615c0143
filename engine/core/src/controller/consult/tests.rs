//! Which replies are believed, and that every doubt is refused.

use super::*;
use crate::controller::tests::request;
use crate::wire::lookup::Candidates;

const ASKED: [BatchId; 10] = [9, 3, 3, 70, 5, 6, 7, 8, 1, 2];

/// Excludes candidates 0, 2 and 9 of ten.
fn reply() -> LookupReply {
    LookupReply {
        query_id: 5,
        status: LookupStatus::Ok,
        candidates: 10,
        evaluated: 8,
        no_filter: 2,
        excluded_zone_map: 2,
        excluded_filter: 1,
        micros: 77,
        excluded: vec![0b0000_0101, 0b0000_0010],
    }
}

fn check(change: impl FnOnce(&mut LookupReply)) -> Result<Consultation, Unusable> {
    let mut reply = reply();
    change(&mut reply);
    let mut bytes = Vec::new();
    reply.encode(&mut bytes);
    check_reply(&request(Candidates::List(ASKED.to_vec())), &bytes)
}

#[test]
fn excluded_ids_are_those_asked_in_the_order_asked() {
    let answer = check(|_| {}).unwrap();
    assert_eq!(answer.excluded, [9, 3, 2]);
    assert_eq!((answer.excluded_zone_map, answer.excluded_filter), (2, 1));
    assert_eq!((answer.no_filter, answer.micros, answer.timed_out), (2, 77, false));
}

#[test]
fn a_timed_out_answer_is_usable_and_says_so() {
    assert!(check(|r| r.status = LookupStatus::TimedOut).unwrap().timed_out);
}

#[test]
fn an_answer_to_nothing_excludes_nothing() {
    let mut bytes = Vec::new();
    LookupReply::nothing_excluded(5, LookupStatus::Ok, 0).encode(&mut bytes);
    for nothing in [Candidates::List(Vec::new()), Candidates::Range { first: 3, count: 0 }] {
        assert!(check_reply(&request(nothing), &bytes).unwrap().excluded.is_empty());
    }
}

#[test]
fn every_doubt_makes_an_answer_unusable() {
    use Unusable::*;
    let err = |change: fn(&mut LookupReply)| check(change).unwrap_err();
    assert_eq!(err(|r| r.query_id = 6), OtherQuestion);
    assert_eq!(err(|r| r.status = LookupStatus::OtherSchema), Status);
    assert_eq!(err(|r| r.status = LookupStatus::NotReady), Status);
    assert_eq!(err(|r| r.evaluated = 9), Inconsistent);
    assert_eq!(err(|r| r.no_filter = 1), Inconsistent);
    assert_eq!(err(|r| (r.evaluated, r.no_filter) = (u32::MAX, 11)), Inconsistent);
    assert_eq!(err(|r| r.excluded_filter = 2), Inconsistent);
    assert_eq!(err(|r| r.excluded_zone_map = 1), Inconsistent);
    assert_eq!(err(|r| r.excluded_zone_map = u32::MAX), Inconsistent);
    assert_eq!(err(|r| r.excluded[0] |= 1 << 7), Inconsistent, "one more than counted");
    let past_the_end = |r: &mut LookupReply| r.excluded[1] = 0b0000_0100;
    assert_eq!(err(past_the_end), Inconsistent, "no candidate has that bit");
    let more_than_evaluated = |r: &mut LookupReply| (r.evaluated, r.no_filter) = (2, 8);
    assert_eq!(err(more_than_evaluated), Inconsistent, "excluded without a filter");
    let shorter = |r: &mut LookupReply| {
        (r.candidates, r.evaluated) = (9, 7);
        r.excluded[1] = 1;
    };
    assert_eq!(err(shorter), Inconsistent, "fewer candidates than asked");
    assert_eq!(err(|r| r.candidates = 9), Inconsistent, "only the count itself differs");
    let longer = |r: &mut LookupReply| (r.candidates, r.evaluated) = (11, 9);
    assert_eq!(err(longer), Inconsistent, "more candidates than asked");
}

#[test]
fn what_is_no_reply_is_malformed() {
    let request = request(Candidates::List(ASKED.to_vec()));
    let mut bytes = Vec::new();
    reply().encode(&mut bytes);
    assert_eq!(check_reply(&request, &[]), Err(Unusable::Malformed));
    assert_eq!(check_reply(&request, &bytes[1..]), Err(Unusable::Malformed));
    let mut question = Vec::new();
    request.encode(&mut question, true);
    assert_eq!(check_reply(&request, &question), Err(Unusable::Malformed));
    let mut bare = Vec::new();
    LookupReply::nothing_excluded(5, LookupStatus::TooShort, 10).encode(&mut bare);
    assert_eq!(check_reply(&request, &bare), Err(Unusable::Status));
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(check_reply(&request, &bytes), Err(Unusable::Malformed), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}
