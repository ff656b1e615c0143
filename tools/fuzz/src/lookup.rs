//! Lookup requests and replies: an error, or a value that is small, answerable and comes back as it
//! was sent.

use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::wire::lookup::{
    Candidates, IdRange, LookupReply, LookupRequest, LookupStatus, reply_bytes,
};

use crate::checksum::seal_end;

/// Bytes as they are, and with a right checksum, as both directions.
pub fn run(bytes: &[u8]) {
    both(bytes);
    let mut sealed = bytes.to_vec();
    seal_end(&mut sealed);
    both(&sealed);
}

fn both(bytes: &[u8]) {
    if let Ok(request) = LookupRequest::parse(bytes) {
        check_request(&request, bytes.len());
    }
    if let Ok(reply) = LookupReply::parse(bytes) {
        let mut again = Vec::new();
        reply.encode(&mut again);
        // A keyed reply ends in a seal that this encoder does not write.
        if again.len() == bytes.len() {
            assert_eq!(again, bytes, "a reply has one encoding");
        }
        let candidates = reply.candidates as usize;
        let excluded = (0..candidates).filter(|&i| reply.is_excluded(i)).count();
        assert!(excluded <= candidates);
    }
}

fn check_request(request: &LookupRequest, bytes: usize) {
    let candidates = request.candidates.len();
    assert_eq!(request.candidates.iter().count(), candidates);
    let mut once = Vec::new();
    request.encode(&mut once, false);
    let again = LookupRequest::parse(&once).expect("what was parsed is encoded so that it parses");
    let mut twice = Vec::new();
    again.encode(&mut twice, false);
    assert_eq!(once, twice, "by bytes, since NaN differs from itself");
    let status = LookupStatus::TooShort;
    let mut refusal = Vec::new();
    LookupReply::nothing_excluded(request.query_id, status, candidates).encode(&mut refusal);
    assert!(refusal.len() <= bytes, "the shortest answer is no longer than its request");
    let mut padded = Vec::new();
    request.encode(&mut padded, true);
    assert!(reply_bytes(candidates) <= padded.len(), "a padded request pays for its reply");
}

/// Messages to start from.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let leaf = |column, literal| Predicate::Compare { column, op: CompareOp::Eq, literal };
    let tree = Predicate::And(vec![
        leaf(0, Literal::Unsigned(6)),
        Predicate::Or(vec![
            Predicate::Not(Box::new(leaf(1, Literal::Unsigned(443)))),
            Predicate::IsNull { column: 2 },
            Predicate::In {
                column: 2,
                list: (0..9).map(|i| Literal::Bytes(vec![i; 16])).collect(),
            },
        ]),
    ]);
    let lists = [
        Candidates::Range { first: 1, count: 100 },
        Candidates::Ranges(vec![IdRange { first: 1, count: 3 }, IdRange { first: 9, count: 1 }]),
        Candidates::List(vec![9, 3, 3, u64::MAX]),
    ];
    let mut all = Vec::new();
    for candidates in lists {
        let request = LookupRequest {
            query_id: 1,
            cluster: ClusterId(7),
            fingerprint: Fingerprint(9),
            budget_us: 0,
            float_order: FloatOrder::Unstated,
            candidates,
            predicate: tree.clone(),
        };
        let mut bytes = Vec::new();
        request.encode(&mut bytes, true);
        all.push(bytes);
    }
    let mut reply = Vec::new();
    LookupReply::nothing_excluded(1, LookupStatus::Ok, 77).encode(&mut reply);
    all.push(reply);
    all
}
