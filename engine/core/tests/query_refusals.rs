//! What a WHERE text cannot say is refused by a message that names the part; hostile text ends
//! in an error, in bounded time and on a small stack.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use bloomrf_engine::limits::{IN_LIST_MAX, PREDICATE_DEPTH_MAX, QUERY_TEXT_BYTES_MAX};
use bloomrf_engine::predicate::Predicate;
use bloomrf_engine::query::{QueryError, parse_where, to_text};
use bloomrf_engine::schema::Schema;

fn refusal(text: &str) -> String {
    match parse_where(&Schema::packet(), text) {
        Err(error) => error.to_string(),
        Ok(tree) => panic!("{text}: parsed to {tree:?}"),
    }
}

/// Every fragment occurs in the message.
fn assert_names(text: &str, fragments: &[&str]) {
    let message = refusal(text);
    for fragment in fragments {
        assert!(message.contains(fragment), "{text}\n  gave: {message}\n  without: {fragment}");
    }
}

#[test]
fn unsupported_sql_is_refused_by_its_part() {
    // quickwit#6788: a pattern looked up as if it were a literal.
    for (text, part) in [
        ("proto = 6 AND src_mac LIKE 'aa%'", "`src_mac LIKE 'aa%'`"),
        ("src_mac NOT LIKE 'aa%'", "`src_mac NOT LIKE 'aa%'`"),
        ("src_mac ILIKE 'aa%'", "ILIKE"),
        ("proto IN (SELECT 1)", "`proto IN (SELECT 1)`"),
        ("proto IN protocols", "`proto IN protocols`"),
        ("EXISTS (SELECT 1)", "EXISTS"),
        ("proto = (SELECT 1)", "SELECT 1"),
        ("src_port + 1 = 54", "`src_port + 1`"),
        ("src_port = 50 + 4", "`50 + 4`"),
        ("src_port & 1 = 0", "`src_port & 1`"),
        ("length << 2", "`length << 2`"),
        ("src_port = dst_port", "`dst_port`"),
        ("1 = 1", "`1 = 1`"),
        ("1 BETWEEN src_port AND dst_port", "`1`"),
        ("src_port = 1 = TRUE", "`src_port = 1`"),
        // duckdb#23829: `f(col) = x` probed the column's filter.
        ("abs(src_port) = 53", "`abs(src_port)`"),
        ("lower(src_mac) IN ('x')", "`lower(src_mac)`"),
        ("src_port IS DISTINCT FROM 3", "IS DISTINCT FROM"),
        ("proto <=> 6", "`proto <=> 6`"),
        ("CASE WHEN proto = 6 THEN TRUE END", "CASE WHEN"),
        ("CAST(src_port AS INT) = 3", "CAST(src_port AS INT)"),
        ("p.proto = 6", "`p.proto`"),
        ("proto = ANY(6)", "ANY"),
        ("(proto, vlan) IN ((6, 1))", "`(proto, vlan)`"),
        ("proto", "`proto`"),
        ("53", "`53`"),
        ("'text'", "`'text'`"),
        ("NULL", "`NULL`"),
        ("in_net(src_ip4)", "`in_net(src_ip4)`"),
        ("out_net(src_ip4, '10.0.0.0/8')", "`out_net(src_ip4, '10.0.0.0/8')`"),
        ("in_net(src_ip4, dst_ip4)", "`dst_ip4`"),
        ("in_net(DISTINCT src_ip4, '10.0.0.0/8')", "DISTINCT"),
        ("port(53) OVER ()", "OVER"),
        ("host > '10.0.0.1'", "`host > '10.0.0.1'`"),
        ("net BETWEEN 1 AND 2", "`net BETWEEN`"),
        ("host IS NULL", "`host IS NULL`"),
        ("proto = ?", "`?`"),
        ("proto = 6 -- comment\n AND vlan LIKE 1", "LIKE"),
        ("src_mac = E'aa'", "E'aa'"),
    ] {
        assert_names(text, &[part, "not supported"]);
    }
}

#[test]
fn text_that_is_no_sql_is_refused_with_its_place() {
    assert_eq!(parse_where(&Schema::packet(), " \n\t"), Err(QueryError::Empty));
    assert_eq!(parse_where(&Schema::packet(), "-- nothing"), Err(QueryError::Empty));
    assert_names("proto = 6 vlan = 1", &["unexpected `vlan`", "line 1, column 11"]);
    assert_names("proto = 6;", &["unexpected `;`"]);
    assert_names("proto = ", &["Expected"]);
    assert_names("(proto = 6", &["Expected", ")"]);
    assert_names("proto = 'abc", &["Unterminated", "Column: 9"]);
    assert_names("proto IN ()", &["Expected"]);
}

#[test]
fn an_unknown_column_is_refused_with_the_near_ones() {
    assert_names(
        "src_prt = 53",
        &["`src_prt`", "did you mean src_port", "columns are ts, src_mac"],
    );
    assert_names("ip4 = '10.0.0.1'", &["`ip4`", "src_ip4"]);
    assert_names("zzzzzzzzzzzz = 1", &["`zzzzzzzzzzzz`", "columns are ts"]);
    assert!(!refusal("zzzzzzzzzzzz = 1").contains("did you mean"));
    assert_names("\"port\" = 1", &["`port`"]);
}

#[test]
fn a_wrong_literal_type_is_refused_naming_column_type_and_literal() {
    for (text, literal, column, kind) in [
        ("src_port = 'http'", "'http'", "src_port", "u16"),
        ("src_port = TRUE", "true", "src_port", "u16"),
        ("length = DATE '2026-01-01'", "DATE '2026-01-01'", "length", "u32"),
        ("src_ip4 = 167772161", "167772161", "src_ip4", "ipv4"),
        ("src_ip4 = '10.0.0'", "'10.0.0'", "src_ip4", "ipv4"),
        ("src_ip4 = '::1'", "'::1'", "src_ip4", "ipv4"),
        ("src_ip6 = '10.0.0.1'", "'10.0.0.1'", "src_ip6", "ipv6"),
        ("src_mac = 'aa:bb:cc:dd:ee'", "'aa:bb:cc:dd:ee'", "src_mac", "mac"),
        ("src_mac = 'aa:bb:cc:dd:ee:f'", "'aa:bb:cc:dd:ee:f'", "src_mac", "mac"),
        ("src_mac = X'aabbccddeeff'", "X'aabbccddeeff'", "src_mac", "mac"),
        ("ts = 1.5", "1.5", "ts", "timestamp(ns)"),
        ("port IN (53, 'http')", "'http'", "src_port", "u16"),
        ("in_net(src_port, '10.0.0.0/8')", "'10.0.0.0/8'", "src_port", "u16"),
        ("in_net(src_ip4, '2001:db8::/32')", "'2001:db8::/32'", "src_ip4", "ipv4"),
    ] {
        assert_names(text, &[literal, column, &format!("of type {kind}"), "expected"]);
    }
}

#[test]
fn a_wrong_value_is_refused_with_what_is_wrong() {
    assert_names("net = '10.1.2.3/8'", &["'10.1.2.3/8'", "did you mean '10.0.0.0/8'"]);
    assert_names("in_net(src_ip6, '2001:db8::1/32')", &["did you mean '2001:db8::/32'"]);
    assert_names("in_net(src_ip4, '10.0.0.0/33')", &["prefix length of 0 to 32"]);
    assert_names("in_net(src_ip4, '10.0.0.0/')", &["prefix length of 0 to 32"]);
    assert_names("in_net(src_ip4, '10.0.0.0/+8')", &["prefix length of 0 to 32"]);
    assert_names("in_net(src_ip4, '10.0.0/8')", &["'10.0.0/8'", "expected a network"]);
    assert_names("host = 'example.org'", &["'example.org'", "expected an address"]);
    assert_names("host = 5", &["`5`", "single quotes"]);
    assert_names("vlan = NULL", &["`NULL`", "use IS NULL"]);
    assert_names("vlan IN (1, NULL)", &["use IS NULL"]);
    assert_names("ts > '2026-02-30'", &["no such day"]);
    assert_names("ts > '2026-02-01T25:00'", &["no such time of day"]);
    assert_names("ts > 'yesterday'", &["'yesterday'", "2026-01-31"]);
    assert_names("ts > 99999999999999999999", &["64 bits"]);
    assert_names("length < 1e999", &["`1e999`", "binary64"]);
}

/// Runs `work` on a thread with `stack_bytes` of stack: an overflow would end the process.
fn on_stack<T: Send>(stack_bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack_bytes);
        thread.spawn_scoped(scope, work).unwrap().join().unwrap()
    })
}

/// Each is repeated: openings that nest, and operators that chain.
const PIECES: &[&str] = &[
    "(",
    "NOT ",
    "- ",
    "+",
    "!",
    "~",
    "a+",
    "a OR ",
    "a=",
    "a IS NULL ",
    "a::int::",
    "[",
    "{",
    "CASE ",
    "CASE WHEN ",
    "case-",
    "IF(",
    "f(",
    "(SELECT ",
    "EXISTS(",
    "a.",
    "a[1]",
    "a COLLATE ",
    "INTERVAL ",
    "CAST(",
    "a AT TIME ZONE ",
    "a IN (",
    "a BETWEEN ",
    "x->",
    "'",
    "/*",
    "ARRAY[",
    "STRUCT(",
    "TRIM(",
    "EXTRACT(a FROM ",
    "a LIKE ",
    "ROW(",
    "\"",
    "DATE ",
    "a, ",
    "1,",
    "a||",
    "NOT a IN (",
    "((a) = ",
    "a !",
    "current_time(",
    "GROUPING SETS((",
];

#[test]
fn hostile_texts_end_in_an_error_on_a_small_stack() {
    let bulk = |piece: &str| piece.repeat(QUERY_TEXT_BYTES_MAX / piece.len());
    let texts: Vec<String> = PIECES
        .iter()
        .flat_map(|piece| {
            let whole = bulk(piece);
            // The bounds on tokens must not be what alone keeps long chains out.
            [
                piece.repeat(100),
                piece.repeat(1_000),
                format!("proto = 6 AND {}", piece.repeat(900)),
                whole,
            ]
        })
        .collect();
    on_stack(2 << 20, || {
        for text in &texts {
            let start = std::time::Instant::now();
            assert!(parse_where(&Schema::packet(), text).is_err(), "{:.40}", text);
            let took = start.elapsed();
            assert!(took.as_secs() < 10, "{text:.40} took {took:?}");
        }
    });
}

#[test]
fn lengths_and_depths_are_bounded() {
    let too_long = " ".repeat(QUERY_TEXT_BYTES_MAX + 1);
    assert!(matches!(parse_where(&Schema::packet(), &too_long), Err(QueryError::TooLong { .. })));
    let list = |count: usize| {
        let values: Vec<String> = (0..count).map(|v| format!("-{v}")).collect();
        format!("src_port IN ({})", values.join(","))
    };
    assert!(parse_where(&Schema::packet(), &list(IN_LIST_MAX)).is_ok());
    assert_names(&list(IN_LIST_MAX + 1), &["`src_port`", "4097 values"]);
    let conditions = |count: usize| vec!["src_port BETWEEN 1 AND 2"; count].join(" OR ");
    assert!(parse_where(&Schema::packet(), &conditions(1_000)).is_ok());
    assert_names(&conditions(1_024), &["more than 1024"]);
    assert_names(&vec!["port = 1"; 400].join(" OR "), &["more than 1024"]);
    assert_names(&format!("proto = '{}'", "x".repeat(2_000)), &["..."]);
}

#[test]
fn a_tree_of_the_greatest_depth_is_written_and_read_back() {
    let schema = Schema::packet();
    let leaf = || Predicate::IsNull { column: schema.ordinal("vlan").unwrap() };
    let deep = |levels: usize, shape: usize| {
        (1..levels).fold(leaf(), |tree, level| match (level + shape) % 3 {
            0 => Predicate::Not(Box::new(tree)),
            1 => Predicate::And(vec![tree, leaf()]),
            _ => Predicate::Or(vec![leaf(), tree]),
        })
    };
    on_stack(2 << 20, || {
        for shape in 0..3 {
            let tree = deep(PREDICATE_DEPTH_MAX, shape);
            assert_eq!(parse_where(&schema, &to_text(&schema, &tree)), Ok(tree));
            let deeper = to_text(&schema, &deep(PREDICATE_DEPTH_MAX + 1, shape));
            assert_eq!(parse_where(&schema, &deeper), Err(QueryError::TooDeep));
        }
    });
}
