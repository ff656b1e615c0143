//! `to_text` is the inverse of `parse_where`; random and damaged text never panics either parser.
//!
//! Invariants checked: parse(to_text(tree)) == tree for trees that WHERE text can say; to_text
//! is total; schema files and WHERE texts of any bytes give an error or a valid value.

mod seeded;

use bloomrf_engine::predicate::{CompareOp, Literal, Predicate};
use bloomrf_engine::query::{parse_where, to_text};
use bloomrf_engine::schema::{ColumnType, Schema, TimeUnit};
use seeded::Splitmix;

const TYPES: &str = r#"
name = "types"
version = 1
columns = [
    { name = "c0", type = "u8" }, { name = "c1", type = "u16", nullable = true },
    { name = "c2", type = "u32" }, { name = "c3", type = "u64", order = "big" },
    { name = "c4", type = "i8" }, { name = "c5", type = "i16" }, { name = "c6", type = "i32" },
    { name = "c7", type = "i64" }, { name = "timestamp", type = "bool" },
    { name = "c9", type = "f32" }, { name = "c10", type = "f64" },
    { name = "date", type = "timestamp(s)" }, { name = "c12", type = "timestamp(ns)" },
    { name = "not", type = "ipv4" }, { name = "x", type = "ipv6" }, { name = "n", type = "mac" },
    { name = "select", type = "uuid" }, { name = "case", type = "bytes(9)" },
]
"#;

/// A literal that a text for the column can spell, in the form in which it is read.
fn literal(kind: ColumnType, rng: &mut Splitmix) -> Literal {
    // Of every magnitude.
    let word = rng.next() >> rng.below(64);
    let float = || -> f64 {
        let v = f64::from_bits(word.rotate_right(9));
        if v.is_nan() { 0.5 } else { v }
    };
    match kind {
        ColumnType::Bool => Literal::Bool(word % 2 == 1),
        ColumnType::F32 | ColumnType::F64 => Literal::Float(float()),
        ColumnType::Timestamp(unit) => {
            let exact = Literal::Timestamp(word as i64, unit);
            let finer = Literal::Timestamp((word % 1_000_000) as i64 * 10 + 1, TimeUnit::Ns);
            if unit == TimeUnit::S && rng.below(2) == 0 { finer } else { exact }
        }
        ColumnType::Ipv4 => Literal::Ipv4((word as u32).to_be_bytes()),
        ColumnType::Ipv6 => Literal::Ipv6((u128::from(word) << rng.below(65)).to_be_bytes()),
        ColumnType::Mac => Literal::Mac([1, 2, 3, word as u8, 0xff, 0]),
        ColumnType::Uuid => Literal::Uuid(u128::from(word).to_be_bytes()),
        ColumnType::Bytes(_) => {
            let alphabet: &[u8] = if rng.below(2) == 0 { b"a'\\-\"% " } else { b"\0\n\xff'\x7fz" };
            let byte = |_| alphabet[rng.below(alphabet.len() as u64) as usize];
            Literal::Bytes((0..word % 12).map(byte).collect())
        }
        _ if rng.below(8) == 0 && float().is_finite() => Literal::Float(float()),
        ColumnType::U8 | ColumnType::U16 | ColumnType::U32 | ColumnType::U64 => match word as i64 {
            negative @ ..0 if rng.below(2) == 0 => Literal::Signed(negative),
            _ => Literal::Unsigned(word),
        },
        _ if rng.below(8) == 0 => Literal::Unsigned(word | 1 << 63),
        _ => Literal::Signed(word as i64),
    }
}

fn leaf(schema: &Schema, rng: &mut Splitmix) -> Predicate {
    use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let column = rng.below(schema.columns().len() as u64) as u16;
    let kind = schema.columns()[usize::from(column)].kind();
    match rng.below(8) {
        0 => Predicate::IsNull { column },
        1 => Predicate::IsNotNull { column },
        2 => Predicate::Between { column, low: literal(kind, rng), high: literal(kind, rng) },
        3 => {
            let list = (0..1 + rng.below(5)).map(|_| literal(kind, rng)).collect();
            Predicate::In { column, list }
        }
        _ => {
            let op = [Eq, Ne, Lt, Le, Gt, Ge][rng.below(6) as usize];
            Predicate::Compare { column, op, literal: literal(kind, rng) }
        }
    }
}

fn tree(schema: &Schema, depth: usize, rng: &mut Splitmix) -> Predicate {
    let parts = |rng: &mut Splitmix| -> Vec<Predicate> {
        // One part alone has no text of its own: `a` is not AND of `a`.
        let count = [0, 2, 2, 3][rng.below(4) as usize];
        (0..count).map(|_| tree(schema, depth - 1, rng)).collect()
    };
    match rng.below(if depth == 0 { 1 } else { 4 }) {
        1 => Predicate::And(parts(rng)),
        2 => Predicate::Or(parts(rng)),
        3 => Predicate::Not(Box::new(tree(schema, depth - 1, rng))),
        _ => leaf(schema, rng),
    }
}

#[test]
fn every_tree_is_read_back_from_its_text() {
    let schema = Schema::from_toml(TYPES).unwrap();
    let mut rng = Splitmix::from_env(0x5eed);
    for round in 0..4_000 {
        let tree = tree(&schema, 5, &mut rng);
        let text = to_text(&schema, &tree);
        let read = parse_where(&schema, &text);
        assert_eq!(read.as_ref(), Ok(&tree), "seed={} round={round}\n{text}", rng.seed);
    }
}

#[test]
fn what_sql_cannot_say_is_written_all_the_same() {
    let schema = Schema::packet();
    let odd = |literal| Predicate::Compare { column: 900, op: CompareOp::Eq, literal };
    let unknown =
        to_text(&schema, &Predicate::And(vec![Predicate::Unknown, odd(Literal::Bool(true))]));
    assert_eq!(unknown, "unknown() AND column(900) = TRUE");
    assert!(parse_where(&schema, &unknown).is_err());
    let empty = Predicate::In { column: 0, list: vec![] };
    assert_eq!(to_text(&schema, &empty), "FALSE");
    assert_eq!(to_text(&schema, &Predicate::Not(Box::new(empty))), "NOT FALSE");
    let far = Predicate::Compare {
        column: 0,
        op: CompareOp::Lt,
        literal: Literal::Timestamp(i64::MAX, TimeUnit::S),
    };
    assert_eq!(to_text(&schema, &far), format!("ts < {}", i64::MAX));
}

/// Parted by single spaces, so that a line break can be a word.
const WORDS: &str = "proto ts src_ip4 dst_ip6 src_mac port host net in_net = != < <= > >= <> AND \
    OR NOT IN BETWEEN IS NULL ( ) ( ) , 1 - 5 3.5 1e9 '10.0.0.0/8' '::1' X'00ff' TRUE CASE WHEN \
    THEN END CAST AS :: [ ] { } INTERVAL DATE '2026-01-01' LIKE ESCAPE ANY EXISTS SELECT FROM + * \
    / || -> ? $1 :a @v \" ' E'\\n' /* */ -- \n . ; \0 \u{fffd} ä COLLATE AT TIME ZONE OVER FILTER \
    ARRAY STRUCT MAP";

#[test]
fn token_soup_gives_an_error_or_a_tree_and_never_a_panic() {
    let words: Vec<&str> = WORDS.split(' ').collect();
    let schema = Schema::packet();
    let mut rng = Splitmix::from_env(0x5eed);
    let mut trees = 0;
    for _ in 0..20_000 {
        let count = 1 + rng.below(14);
        let soup: Vec<&str> =
            (0..count).map(|_| words[rng.below(words.len() as u64) as usize]).collect();
        let text = soup.join(" ");
        if let Ok(tree) = parse_where(&schema, &text) {
            trees += 1;
            let again = to_text(&schema, &tree);
            assert_eq!(parse_where(&schema, &again), Ok(tree), "seed={} {text}", rng.seed);
        }
    }
    println!("{trees} of 20000 texts were predicates");
}

#[test]
fn damaged_text_never_panics_a_parser() {
    let json = Schema::packet().to_json().to_string();
    let wheres = "port = 53 AND in_net(src_ip4, '10.0.0.0/8') OR ts > '2026-01-01T00:00:00.5Z' \
        AND NOT src_mac IN ('aa:bb:cc:dd:ee:ff', '00-00-00-00-00-00') OR length BETWEEN -1 AND 1e3";
    let schema = Schema::packet();
    assert!(parse_where(&schema, wheres).is_ok());
    let mut rng = Splitmix::from_env(0x5eed);
    for original in [TYPES, json.as_str(), wheres] {
        for _ in 0..3_000 {
            let mut bytes = original.as_bytes().to_vec();
            bytes.truncate(1 + rng.below(bytes.len() as u64) as usize);
            for _ in 0..rng.below(4) {
                let at = rng.below(bytes.len() as u64) as usize;
                match rng.below(3) {
                    0 => bytes[at] ^= 1 << rng.below(8),
                    1 => bytes[at] = b"\"'{}[](),=0 9-\n\x00"[rng.below(16) as usize],
                    _ => drop(bytes.remove(at)),
                }
                if bytes.is_empty() {
                    break;
                }
            }
            let text = String::from_utf8_lossy(&bytes);
            for read in [Schema::from_toml(&text), Schema::from_json(&text)].into_iter().flatten() {
                assert_eq!(Schema::from_json(&read.to_json().to_string()).unwrap(), read);
            }
            let _ = parse_where(&schema, &text);
        }
    }
    for deep in ["[".repeat(100_000), "{\"a\":".repeat(50_000), "a=[".repeat(80_000)] {
        assert!(Schema::from_toml(&deep).is_err());
        assert!(Schema::from_json(&deep).is_err());
    }
}
