//! Random cells and predicate trees, with literals that the columns hold and others. The
//! simulation includes it as well.

use bloomrf_engine::predicate::{CompareOp, Literal, Predicate};
use bloomrf_engine::schema::{ColumnType, TimeUnit};

use super::domain::{cell, last, literal, nan};
use super::seeded::Splitmix;

/// A cell as little-endian or network bytes; `None` is null.
pub(crate) type Cell = Option<Vec<u8>>;

/// Values of one column that a world draws from.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) kind: ColumnType,
    pub(crate) nullable: bool,
    pub(crate) ordinals: Vec<u128>,
}

/// The ends, the middle (where signs change), a run of neighbours and a few others.
pub(crate) fn ordinals(kind: ColumnType, rng: &mut Splitmix) -> Vec<u128> {
    let end = last(kind);
    let random =
        |rng: &mut Splitmix| if end == u128::MAX { rng.wide() } else { rng.wide() % (end + 1) };
    let near = random(rng);
    let mut ordinals = vec![0, end, end / 2, (end / 2 + 1).min(end)];
    ordinals.extend((0..5).map(|i| near.saturating_add(i * i).min(end)));
    ordinals.extend((0..3).map(|_| random(rng)));
    ordinals
}

pub(crate) fn random_cell(pool: &Pool, part: &[u128], rng: &mut Splitmix) -> Cell {
    if pool.nullable && rng.one_in(6) {
        return None;
    }
    if pool.kind.is_float() && rng.one_in(8) {
        return Some(nan(pool.kind, rng));
    }
    Some(cell(pool.kind, *rng.pick(part)))
}

/// A random tree of at most `depth` inner levels.
pub(crate) fn tree(pools: &[Pool], depth: u32, rng: &mut Splitmix) -> Predicate {
    if depth == 0 || rng.one_in(4) {
        return leaf(pools, rng);
    }
    match rng.below(5) {
        0 => Predicate::Not(Box::new(tree(pools, depth - 1, rng))),
        1 | 2 => Predicate::And(parts(pools, depth, rng)),
        _ => Predicate::Or(parts(pools, depth, rng)),
    }
}

fn parts(pools: &[Pool], depth: u32, rng: &mut Splitmix) -> Vec<Predicate> {
    let count = if rng.one_in(12) { 0 } else { 1 + rng.below(3) };
    (0..count).map(|_| tree(pools, depth - 1, rng)).collect()
}

/// A random leaf, now and then one that nobody can decide.
pub(crate) fn leaf(pools: &[Pool], rng: &mut Splitmix) -> Predicate {
    let column = rng.below(pools.len() as u64) as u16;
    let pool = &pools[usize::from(column)];
    match rng.below(24) {
        0..=8 => Predicate::Compare { column, op: operator(rng), literal: any_literal(pool, rng) },
        9..=13 => {
            let (low, high) = (any_literal(pool, rng), any_literal(pool, rng));
            Predicate::Between { column, low, high }
        }
        14..=18 => {
            let count = if rng.one_in(8) { 0 } else { 1 + rng.below(4) };
            Predicate::In { column, list: (0..count).map(|_| any_literal(pool, rng)).collect() }
        }
        19 | 20 => Predicate::IsNull { column },
        21 | 22 => Predicate::IsNotNull { column },
        _ if rng.one_in(2) => Predicate::Unknown,
        _ => Predicate::IsNull { column: 999 },
    }
}

fn operator(rng: &mut Splitmix) -> CompareOp {
    use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
    *rng.pick(&[Eq, Eq, Ne, Lt, Le, Gt, Ge])
}

/// A value of the pool, its neighbour, or an odd literal.
fn any_literal(pool: &Pool, rng: &mut Splitmix) -> Literal {
    if rng.one_in(7) {
        return odd_literal(rng);
    }
    let at = *rng.pick(&pool.ordinals);
    let at = match rng.below(4) {
        0 => at.saturating_sub(1),
        1 => at.saturating_add(1).min(last(pool.kind)),
        _ => at,
    };
    match literal(pool.kind, at) {
        Literal::Bytes(mut bytes) if rng.one_in(2) => {
            // Padding does not count; anything else past the width does.
            bytes.extend([0, 0]);
            if rng.one_in(3) {
                bytes.push(7);
            }
            Literal::Bytes(bytes)
        }
        Literal::Unsigned(v) if rng.one_in(5) => Literal::Float(v as f64 + 0.5),
        Literal::Signed(v) if rng.one_in(5) => Literal::Float(v as f64 - 0.5),
        Literal::Unsigned(v) if rng.one_in(5) => Literal::Signed(v as i64),
        Literal::Signed(v) if rng.one_in(5) => Literal::Unsigned(v as u64),
        Literal::Timestamp(ticks, _) if rng.one_in(5) => {
            Literal::Timestamp(ticks, *rng.pick(&[TimeUnit::S, TimeUnit::Ms, TimeUnit::Ns]))
        }
        known => known,
    }
}

fn odd_literal(rng: &mut Splitmix) -> Literal {
    let floats = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        0.0,
        0.1,
        -2.5,
        255.5,
        256.0,
        1e10,
        -1e300,
        9_007_199_254_740_992.0,
        18_446_744_073_709_551_616.0,
        1.5e-45,
    ];
    match rng.below(8) {
        0..=2 => Literal::Float(*rng.pick(&floats)),
        3 => Literal::Unsigned(*rng.pick(&[0, 1, 255, 256, 65_536, 1 << 53, u64::MAX])),
        4 => Literal::Signed(*rng.pick(&[i64::MIN, -129, -1, 0, 128, (1 << 53) + 1, i64::MAX])),
        5 => Literal::Timestamp(*rng.pick(&[i64::MIN, -1, 0, i64::MAX]), TimeUnit::Us),
        6 => Literal::Bytes(rng.pick(&[&b""[..], b"\0", b"abc", b"abc\0d", &[255; 24]]).to_vec()),
        _ => Literal::Bool(rng.one_in(2)),
    }
}

/// The tree with every undecidable node made true or false.
pub(crate) fn settled(predicate: &Predicate, as_true: bool) -> Predicate {
    let all = |parts: &[Predicate]| parts.iter().map(|p| settled(p, as_true)).collect();
    match predicate {
        Predicate::Unknown if as_true => Predicate::And(Vec::new()),
        Predicate::Unknown => Predicate::Or(Vec::new()),
        Predicate::And(parts) => Predicate::And(all(parts)),
        Predicate::Or(parts) => Predicate::Or(all(parts)),
        Predicate::Not(part) => Predicate::Not(Box::new(settled(part, as_true))),
        leaf => leaf.clone(),
    }
}
