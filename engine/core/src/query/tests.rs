use super::*;
use crate::predicate::{CompareOp, Literal};
use crate::schema::TimeUnit;

fn packet(text: &str) -> Predicate {
    parse_where(&Schema::packet(), text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn ordinal(name: &str) -> u16 {
    Schema::packet().ordinal(name).unwrap()
}

fn compare(name: &str, op: CompareOp, literal: Literal) -> Predicate {
    Predicate::Compare { column: ordinal(name), op, literal }
}

fn equal(name: &str, literal: Literal) -> Predicate {
    compare(name, CompareOp::Eq, literal)
}

fn between(name: &str, low: Literal, high: Literal) -> Predicate {
    Predicate::Between { column: ordinal(name), low, high }
}

fn unsigned(list: &[u64]) -> Vec<Literal> {
    list.iter().map(|&v| Literal::Unsigned(v)).collect()
}

fn not(predicate: Predicate) -> Predicate {
    Predicate::Not(Box::new(predicate))
}

/// A schema with a column of every type, named after it.
fn types() -> Schema {
    Schema::from_toml(
        r#"
        name = "types"
        version = 1
        columns = [
            { name = "u8", type = "u8" }, { name = "u64", type = "u64" },
            { name = "i8", type = "i8" }, { name = "i64", type = "i64" },
            { name = "flag", type = "bool" }, { name = "f32", type = "f32" },
            { name = "f64", type = "f64" }, { name = "s", type = "timestamp(s)" },
            { name = "ns", type = "timestamp(ns)" }, { name = "id", type = "uuid" },
            { name = "text", type = "bytes(4)" }, { name = "select", type = "u8" },
        ]
        "#,
    )
    .unwrap()
}

fn typed(name: &str, literal: &str) -> Result<Literal, QueryError> {
    match parse_where(&types(), &format!("{name} = {literal}"))? {
        Predicate::Compare { literal, .. } => Ok(literal),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_operator_and_shape_becomes_its_node() {
    let port = |op| compare("dst_port", op, Literal::Unsigned(53));
    for (text, op) in [
        ("=", CompareOp::Eq),
        ("!=", CompareOp::Ne),
        ("<>", CompareOp::Ne),
        ("<", CompareOp::Lt),
        ("<=", CompareOp::Le),
        (">", CompareOp::Gt),
        (">=", CompareOp::Ge),
    ] {
        assert_eq!(packet(&format!("dst_port {text} 53")), port(op));
    }
    let range = between("length", Literal::Unsigned(64), Literal::Unsigned(128));
    assert_eq!(packet("length BETWEEN 64 AND 128"), range);
    assert_eq!(packet("length NOT BETWEEN 64 AND 128"), not(range));
    let list = Predicate::In { column: ordinal("proto"), list: unsigned(&[6, 17]) };
    assert_eq!(packet("proto IN (6, 17)"), list);
    assert_eq!(packet("proto NOT IN (6, 17)"), not(list));
    let column = ordinal("vlan");
    assert_eq!(packet("vlan IS NULL"), Predicate::IsNull { column });
    assert_eq!(packet("vlan IS NOT NULL"), Predicate::IsNotNull { column });
    assert_eq!(packet("NOT vlan IS NULL"), not(Predicate::IsNull { column }));
    assert_eq!(packet("TRUE"), Predicate::And(vec![]));
    assert_eq!(packet("false"), Predicate::Or(vec![]));
}

#[test]
fn a_literal_on_the_left_flips_the_operator() {
    for (flipped, text) in [
        ("53 = dst_port", "dst_port = 53"),
        ("53 <> dst_port", "dst_port != 53"),
        ("53 < dst_port", "dst_port > 53"),
        ("53 <= dst_port", "dst_port >= 53"),
        ("53 > dst_port", "dst_port < 53"),
        ("(53) >= (dst_port)", "dst_port <= 53"),
        ("1024 > port", "port < 1024"),
    ] {
        assert_eq!(packet(flipped), packet(text), "{flipped}");
    }
}

#[test]
fn connectives_keep_precedence_and_parentheses() {
    let [a, b, c] = [6, 17, 1].map(|v| equal("proto", Literal::Unsigned(v)));
    let and = |p: &[&Predicate]| Predicate::And(p.iter().map(|&p| p.clone()).collect());
    let or = |p: &[&Predicate]| Predicate::Or(p.iter().map(|&p| p.clone()).collect());
    assert_eq!(packet("proto=6 AND proto=17 AND proto=1"), and(&[&a, &b, &c]));
    assert_eq!(packet("proto=6 OR proto=17 AND proto=1"), or(&[&a, &and(&[&b, &c])]));
    assert_eq!(packet("(proto=6 OR proto=17) AND proto=1"), and(&[&or(&[&a, &b]), &c]));
    assert_eq!(packet("(proto=6 AND proto=17) AND proto=1"), and(&[&and(&[&a, &b]), &c]));
    // ClickHouse#94020: (a OR b) AND NOT c.
    let tree = and(&[&or(&[&a, &b]), &not(c.clone())]);
    assert_eq!(packet("(proto=6 OR proto=17) AND NOT proto=1"), tree);
    assert_eq!(packet("NOT (proto=6 OR proto=17)"), not(or(&[&a, &b])));
}

#[test]
fn identifiers_fold_to_lower_case_and_keywords_are_quoted() {
    assert_eq!(packet("DST_PORT = 53"), packet("dst_port = 53"));
    assert_eq!(packet("\"dst_port\" = 53"), packet("dst_port = 53"));
    assert!(parse_where(&Schema::packet(), "\"DST_PORT\" = 53").is_err());
    assert_eq!(typed("\"select\"", "1"), Ok(Literal::Unsigned(1)));
    let keyword = parse_where(&types(), "\"select\" = 1").unwrap();
    assert_eq!(to_text(&types(), &keyword), "\"select\" = 1");
}

#[test]
fn numbers_stay_exact_whatever_the_column_can_hold() {
    assert_eq!(typed("u64", "18446744073709551615"), Ok(Literal::Unsigned(u64::MAX)));
    assert_eq!(typed("u8", "-1"), Ok(Literal::Signed(-1)));
    assert_eq!(typed("u8", "70000"), Ok(Literal::Unsigned(70_000)));
    assert_eq!(typed("i64", "-9223372036854775808"), Ok(Literal::Signed(i64::MIN)));
    assert_eq!(typed("i64", "9223372036854775808"), Ok(Literal::Unsigned(1 << 63)));
    assert_eq!(typed("i8", "+5"), Ok(Literal::Signed(5)));
    assert_eq!(typed("u64", "18446744073709551616"), Ok(Literal::Float(2f64.powi(64))));
    assert_eq!(typed("i64", "-1e30"), Ok(Literal::Float(-1e30)));
    assert_eq!(typed("u8", "3.5"), Ok(Literal::Float(3.5)));
    assert_eq!(typed("u8", "0x1F"), Ok(Literal::Unsigned(31)));
    assert_eq!(typed("i8", "X'ff'"), Ok(Literal::Signed(255)));
    assert_eq!(typed("f64", "5"), Ok(Literal::Float(5.0)));
    assert_eq!(typed("f64", "9007199254740993"), Ok(Literal::Signed((1 << 53) + 1)));
    assert_eq!(typed("f32", "0.1"), Ok(Literal::Float(0.1)));
    assert_eq!(typed("f32", "'-Infinity'"), Ok(Literal::Float(f64::NEG_INFINITY)));
    assert!(matches!(typed("f64", "'NaN'"), Ok(Literal::Float(v)) if v.is_nan()));
    // databend#20520, duckdb#23829: -0.0 and 0.0 are equal; the sign is left for the key map.
    assert!(matches!(typed("f64", "-0.0"), Ok(Literal::Float(v)) if v == 0.0));
}

#[test]
fn strings_are_read_by_the_columns_type() {
    assert_eq!(packet("src_ip4 = '10.0.0.1'"), equal("src_ip4", Literal::Ipv4([10, 0, 0, 1])));
    let mut v6 = [0; 16];
    v6[..4].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8]);
    v6[15] = 1;
    assert_eq!(packet("dst_ip6 = '2001:db8::1'"), equal("dst_ip6", Literal::Ipv6(v6)));
    let mac = equal("src_mac", Literal::Mac([0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff]));
    assert_eq!(packet("src_mac = 'aa:bb:cc:DD:ee:ff'"), mac);
    assert_eq!(packet("src_mac = 'aa-bb-cc-dd-ee-ff'"), mac);
    let uuid = Literal::Uuid(*b"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff");
    assert_eq!(typed("id", "'00112233-4455-6677-8899-aabbccddeeff'"), Ok(uuid.clone()));
    assert_eq!(typed("id", "'00112233445566778899AABBCCDDEEFF'"), Ok(uuid));
    assert_eq!(typed("flag", "TRUE"), Ok(Literal::Bool(true)));
    assert_eq!(parse_where(&types(), "flag"), parse_where(&types(), "flag = TRUE"));
    assert_eq!(typed("ns", "'1970-01-01T00:00:01'"), Ok(ticks(1_000_000_000, TimeUnit::Ns)));
    assert_eq!(
        typed("ns", "TIMESTAMP '1970-01-01 00:00:00.5Z'"),
        Ok(ticks(500_000_000, TimeUnit::Ns))
    );
    assert_eq!(typed("s", "DATE '1970-01-02'"), Ok(ticks(86_400, TimeUnit::S)));
    assert_eq!(typed("s", "'1970-01-01 00:00:00.25'"), Ok(ticks(250, TimeUnit::Ms)));
    assert_eq!(typed("ns", "'9999-01-01'"), Ok(ticks(253_370_764_800, TimeUnit::S)));
    assert_eq!(typed("s", "-7"), Ok(ticks(-7, TimeUnit::S)));
}

fn ticks(ticks: i64, unit: TimeUnit) -> Literal {
    Literal::Timestamp(ticks, unit)
}

/// duckdb#23053: a BLOB literal hashed as its escaped text.
#[test]
fn blob_literals_are_their_raw_bytes() {
    assert_eq!(typed("text", "X'00ff27'"), Ok(Literal::Bytes(vec![0, 0xff, 0x27])));
    assert_eq!(typed("text", "'\\x00'"), Ok(Literal::Bytes(b"\\x00".to_vec())));
    assert_eq!(typed("text", "'it''s'"), Ok(Literal::Bytes(b"it's".to_vec())));
    assert_eq!(typed("text", "''"), Ok(Literal::Bytes(vec![])));
    assert!(typed("text", "X'0'").is_err());
}

#[test]
fn a_network_is_its_inclusive_range_and_one_address_an_equality() {
    let v4 = |low, high| between("src_ip4", Literal::Ipv4(low), Literal::Ipv4(high));
    assert_eq!(packet("in_net(src_ip4, '10.0.0.0/8')"), v4([10, 0, 0, 0], [10, 255, 255, 255]));
    assert_eq!(packet("in_net(src_ip4, '0.0.0.0/0')"), v4([0; 4], [255; 4]));
    assert_eq!(packet("in_net(src_ip4, '128.0.0.0/1')"), v4([128, 0, 0, 0], [255; 4]));
    let one = equal("src_ip4", Literal::Ipv4([10, 1, 2, 3]));
    assert_eq!(packet("in_net(src_ip4, '10.1.2.3/32')"), one);
    assert_eq!(packet("IN_NET(src_ip4, '10.1.2.3')"), one);
    let mut low = [0; 16];
    low[..4].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8]);
    let mut high = [0xff; 16];
    high[..4].copy_from_slice(&low[..4]);
    let v6 = between("src_ip6", Literal::Ipv6(low), Literal::Ipv6(high));
    assert_eq!(packet("in_net(src_ip6, '2001:db8::/32')"), v6);
    assert_eq!(packet("in_net(src_ip6, '2001:db8::/128')"), equal("src_ip6", Literal::Ipv6(low)));
    let all = between("src_ip6", Literal::Ipv6([0; 16]), Literal::Ipv6([0xff; 16]));
    assert_eq!(packet("in_net(src_ip6, '::/0')"), all);
}

/// ClickHouse#26760: OR of source and destination on a packet table.
#[test]
fn host_net_and_port_mean_source_or_destination() {
    for (sugar, plain) in [
        ("port = 53", "src_port = 53 OR dst_port = 53"),
        ("port(53)", "src_port = 53 OR dst_port = 53"),
        ("port != 53", "NOT (src_port = 53 OR dst_port = 53)"),
        ("port IN (53, 80)", "src_port IN (53, 80) OR dst_port IN (53, 80)"),
        ("port NOT IN (53)", "NOT (src_port IN (53) OR dst_port IN (53))"),
        ("port BETWEEN 1 AND 9", "src_port BETWEEN 1 AND 9 OR dst_port BETWEEN 1 AND 9"),
        ("host = '10.0.0.1'", "src_ip4 = '10.0.0.1' OR dst_ip4 = '10.0.0.1'"),
        ("host('::1')", "src_ip6 = '::1' OR dst_ip6 = '::1'"),
        ("'::1' != host", "NOT (src_ip6 = '::1' OR dst_ip6 = '::1')"),
        (
            "host IN ('10.0.0.1', '::1')",
            "src_ip4 IN ('10.0.0.1') OR dst_ip4 IN ('10.0.0.1') \
             OR src_ip6 IN ('::1') OR dst_ip6 IN ('::1')",
        ),
        ("net('10.0.0.0/8')", "in_net(src_ip4, '10.0.0.0/8') OR in_net(dst_ip4, '10.0.0.0/8')"),
        ("net = 'fe80::/10'", "in_net(src_ip6, 'fe80::/10') OR in_net(dst_ip6, 'fe80::/10')"),
        ("net IN ('10.0.0.0/8')", "net = '10.0.0.0/8'"),
        ("net IN ('10.0.0.0/8', '::/0')", "(net = '10.0.0.0/8') OR (net = '::/0')"),
        ("in_net(host, '10.0.0.0/8')", "net = '10.0.0.0/8'"),
    ] {
        assert_eq!(packet(sugar), packet(plain), "{sugar}");
    }
}

#[test]
fn a_column_of_that_name_wins_over_the_sugar() {
    let schema = Schema::from_toml(
        "name = \"s\"\nversion = 1\ncolumns = [{ name = \"port\", type = \"u16\" }]",
    )
    .unwrap();
    let tree = parse_where(&schema, "port = 53").unwrap();
    let literal = Literal::Unsigned(53);
    assert_eq!(tree, Predicate::Compare { column: 0, op: CompareOp::Eq, literal });
    let error = parse_where(&schema, "host = '::1'").unwrap_err().to_string();
    assert!(error.contains("src_ip6 OR dst_ip6"), "{error}");
}
