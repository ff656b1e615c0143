//! Random requests to answer or to refuse: legal ones of every shape, padded or not, and damage.

use bloomrf_engine::identity::Fingerprint;
use bloomrf_engine::limits::DATAGRAM_BYTES_MAX;
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::wire::lookup::{Candidates, IdRange, LookupReply, LookupRequest, LookupStatus};

use crate::chance::Chance;
use crate::cluster::CLUSTER;

/// A legal request that fits a datagram; padded two times out of three.
pub(super) fn legal(schema: &Schema, query_id: u64, chance: &mut Chance) -> Vec<u8> {
    let fingerprint = match chance.below(20) {
        0 => Fingerprint(chance.draw()),
        _ => schema.fingerprint(),
    };
    let request = LookupRequest {
        query_id,
        cluster: CLUSTER,
        fingerprint,
        budget_us: if chance.below(4) == 0 { 100 } else { 0 },
        float_order: chance.pick(&[FloatOrder::Unstated, FloatOrder::Ieee, FloatOrder::Total]),
        candidates: candidates(chance),
        predicate: predicate(schema, 3, chance),
    };
    let (pad, mut bytes) = (chance.below(3) > 0, Vec::new());
    request.encode(&mut bytes, pad);
    if bytes.len() > DATAGRAM_BYTES_MAX {
        bytes.clear();
        let candidates = Candidates::Range { first: 1, count: 64 };
        LookupRequest { candidates, predicate: Predicate::Unknown, ..request }
            .encode(&mut bytes, pad);
    }
    bytes
}

fn candidates(chance: &mut Chance) -> Candidates {
    match chance.below(4) {
        0 => Candidates::Range { first: 1, count: chance.below(12_000) as u32 },
        1 => Candidates::Range { first: chance.draw() >> 1, count: chance.below(131_073) as u32 },
        2 => Candidates::Ranges(
            (0..chance.below(9))
                .map(|_| IdRange { first: chance.below(600), count: chance.below(200) as u32 })
                .collect(),
        ),
        _ => Candidates::List((0..chance.below(400)).map(|_| chance.below(700)).collect()),
    }
}

fn predicate(schema: &Schema, depth: u32, chance: &mut Chance) -> Predicate {
    let column = chance.below(schema.columns().len() as u64 + 1) as u16;
    let literal = |chance: &mut Chance| match chance.below(4) {
        0 => Literal::Unsigned(chance.below(70_000)),
        1 => Literal::Signed(chance.draw().cast_signed()),
        2 => Literal::Ipv4((chance.draw() as u32).to_be_bytes()),
        _ => Literal::Bytes(vec![7; chance.below(20) as usize]),
    };
    let parts = |chance: &mut Chance| {
        (0..chance.below(4)).map(|_| predicate(schema, depth - 1, chance)).collect()
    };
    match chance.below(if depth == 0 { 5 } else { 8 }) {
        0 => Predicate::IsNull { column },
        1 => Predicate::Between { column, low: literal(chance), high: literal(chance) },
        2 => {
            Predicate::In { column, list: (0..chance.below(12)).map(|_| literal(chance)).collect() }
        }
        3 | 4 => {
            let op = chance.pick(&[CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Ge]);
            Predicate::Compare { column, op, literal: literal(chance) }
        }
        5 => Predicate::And(parts(chance)),
        6 => Predicate::Or(parts(chance)),
        _ => Predicate::Not(Box::new(predicate(schema, depth - 1, chance))),
    }
}

/// What nobody may be answered for: noise, cut or flipped requests, replies.
pub(super) fn illegal(schema: &Schema, query_id: u64, chance: &mut Chance) -> Vec<u8> {
    let mut bytes = legal(schema, query_id, chance);
    match chance.below(5) {
        0 => (0..chance.below(1_500)).map(|_| chance.draw() as u8).collect(),
        1 => {
            bytes.truncate(chance.below(bytes.len() as u64) as usize);
            bytes
        }
        2 => {
            let at = chance.below(bytes.len() as u64) as usize;
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << chance.below(8));
            bytes
        }
        3 => {
            bytes.resize(bytes.len() + 1 + chance.below(40) as usize, 0);
            bytes
        }
        _ => reflected(query_id, chance.below(8_000) as usize),
    }
}

/// A true reply, as another node would send it.
pub(super) fn reflected(query_id: u64, candidates: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    LookupReply::nothing_excluded(query_id, LookupStatus::Ok, candidates).encode(&mut bytes);
    bytes
}
