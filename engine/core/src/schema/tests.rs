use super::fingerprint::{Rules, fingerprint};
use super::*;

const TWO: &str = r#"
name = "two"
version = 1
[[columns]]
name = "a"
type = "u16"
nullable = true
[[columns]]
name = "b"
type = "timestamp(ms)"
order = "big"
"#;

fn two() -> Schema {
    Schema::from_toml(TWO).unwrap()
}

/// Replaces one thing in the file and returns the message that it is refused with.
fn refusal(from: &str, to: &str) -> String {
    assert!(TWO.contains(from), "{from}");
    match Schema::from_toml(&TWO.replacen(from, to, 1)) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{to}: accepted"),
    }
}

#[test]
fn offsets_are_packed_behind_the_null_bitmap() {
    let schema = two();
    assert_eq!(schema.null_bitmap_bytes(), 1);
    assert_eq!(schema.record_bytes(), 11);
    let [a, b] = schema.columns() else { panic!() };
    assert_eq!(
        (a.name(), a.offset(), a.kind(), a.order()),
        ("a", 1, ColumnType::U16, ByteOrder::Little)
    );
    assert_eq!((b.offset(), b.kind()), (3, ColumnType::Timestamp(TimeUnit::Ms)));
    assert_eq!(b.order(), ByteOrder::Big);
    assert!(a.is_nullable() && !b.is_nullable());
    assert_eq!(schema.ordinal("b"), Some(1));
    assert_eq!(schema.ordinal("c"), None);
}

#[test]
fn a_schema_is_read_back_from_its_json() {
    let all = r#"{"name": "all", "version": 7, "record_bytes": 200, "columns": [
        {"name": "a", "type": "u8", "nullable": true}, {"name": "b", "type": "i16", "order": "big"},
        {"name": "c", "type": "f32", "offset": 100, "order": "little"},
        {"name": "d", "type": "bytes(31)", "nullable": true}, {"name": "e", "type": "uuid"},
        {"name": "f", "type": "bool"}, {"name": "g", "type": "timestamp(s)"}]}"#;
    for schema in [Schema::from_json(all).unwrap(), two(), Schema::packet()] {
        let json = schema.to_json().to_string();
        assert_eq!(Schema::from_json(&json).unwrap(), schema, "{json}");
    }
}

/// What is replaced in the file, by what, and a part of the message.
const REFUSALS: &[(&str, &str, &str)] = &[
    ("name = \"b\"", "name = \"a\"", "column \"a\" is defined twice, as columns 0 and 1"),
    ("\"timestamp(ms)\"", "\"timestamp\"", "column \"b\": unknown type \"timestamp\": expected u8"),
    ("\"timestamp(ms)\"", "\"bytes(0)\"", "unknown type \"bytes(0)\""),
    ("\"timestamp(ms)\"", "\"bytes(1401)\"", "N in 1..=1400"),
    ("\"timestamp(ms)\"", "\"bytes(+8)\"", "unknown type \"bytes(+8)\""),
    ("\"timestamp(ms)\"", "\"ipv4\"", "column \"b\": type ipv4 has no byte order"),
    ("\"timestamp(ms)\"", "\"u8\"", "column \"b\": type u8 has no byte order"),
    (
        "order = \"big\"",
        "offset = 0",
        "column \"b\" starts at byte 0: the null bitmap of 1 nullable columns takes bytes 0..1",
    ),
    (
        "order = \"big\"",
        "offset = 2",
        "column \"b\" starts at byte 2, inside column \"a\" which takes bytes 1..3: \
             expected an offset of at least 3",
    ),
    (
        "order = \"big\"",
        "offset = 1393",
        "column \"b\" of type timestamp(ms) ends at byte 1401: a record has 1 to 1400 bytes",
    ),
    ("order = \"big\"", "offset = 9223372036854775807", "ends at byte 9223372036854775815"),
    ("order = \"big\"", "offset = -1", "offset"),
    (
        "version = 1",
        "version = 1\nrecord_bytes = 10",
        "column \"b\" of type timestamp(ms) takes bytes 3..11, past the record's 10 bytes",
    ),
    (
        "version = 1",
        "version = 1\nrecord_bytes = 1401",
        "record_bytes 1401: a record has 1 to 1400 bytes",
    ),
    ("version = 1", "version = -1", "version"),
    ("version = 1\n", "", "missing field `version`"),
    ("nullable = true", "nullabel = true", "unknown field `nullabel`"),
    ("version = 1", "version = 1\nextra = 2", "unknown field `extra`"),
    ("order = \"big\"", "order = \"network\"", "unknown variant `network`"),
    ("name = \"a\"", "name = \"A\"", "column 0 name \"A\": expected 1 to 64 characters"),
    ("name = \"a\"", "name = \"\"", "column 0 name \"\""),
    ("name = \"a\"", "name = \"1a\"", "column 0 name \"1a\""),
    ("name = \"a\"", "name = \"a b\"", "column 0 name \"a b\""),
    ("name = \"two\"", "name = \"T\"", "schema name \"T\""),
    ("name = \"two\"", "name = two", "schema file: TOML parse error at line 2"),
];

#[test]
fn a_schema_that_cannot_be_is_refused_by_an_exact_message() {
    for (from, to, message) in REFUSALS {
        let refused = refusal(from, to);
        assert!(refused.contains(message), "{to}\n  gave: {refused}\n  expected: {message}");
    }
    let none = Schema::from_toml("name = \"s\"\nversion = 1").unwrap_err();
    assert_eq!(none, SchemaError::NoColumns);
    let long = " ".repeat(crate::limits::SCHEMA_TEXT_BYTES_MAX + 1);
    assert!(matches!(Schema::from_json(&long), Err(SchemaError::TooLong { .. })));
}

#[test]
fn the_number_of_columns_is_bounded() {
    let columns = |count: usize| {
        let column = |i| format!("{{\"name\": \"c{i}\", \"type\": \"u8\", \"nullable\": true}}");
        let columns: Vec<String> = (0..count).map(column).collect();
        format!("{{\"name\": \"s\", \"version\": 1, \"columns\": [{}]}}", columns.join(","))
    };
    let most = Schema::from_json(&columns(256)).unwrap();
    assert_eq!(most.null_bitmap_bytes(), 32);
    assert_eq!(most.record_bytes(), 32 + 256);
    let refused = Schema::from_json(&columns(257));
    assert_eq!(refused, Err(SchemaError::TooManyColumns { count: 257 }));
}

#[test]
fn every_type_is_read_back_from_its_spelling() {
    let spelt = "u8 u16 u32 u64 i8 i16 i32 i64 bool f32 f64 timestamp(s) timestamp(ms) \
        timestamp(us) timestamp(ns) ipv4 ipv6 mac uuid bytes(1) bytes(1400)";
    for text in spelt.split_whitespace() {
        let kind: ColumnType = text.parse().unwrap();
        assert_eq!(kind.to_string(), text);
    }
    for text in ["", "U8", "u8 ", "bytes", "bytes()", "bytes(01)", "bytes(-1)", "timestamp()"] {
        assert_eq!(text.parse::<ColumnType>(), Err(UnknownType), "{text:?}");
    }
}

/// ClickHouse#118376 (signedness), #58885 (another version's hash): the fingerprint changes with
/// everything that a stored key or a record's layout depends on.
#[test]
fn everything_but_the_schemas_name_changes_the_fingerprint() {
    let base = two().fingerprint();
    let of =
        |from: &str, to: &str| Schema::from_toml(&TWO.replacen(from, to, 1)).unwrap().fingerprint();
    assert_eq!(of("\"two\"", "\"other\""), base);
    let mut seen = vec![
        base,
        of("version = 1", "version = 2"),
        of("version = 1", "version = 1\nrecord_bytes = 12"),
        of("name = \"a\"", "name = \"c\""),
        of("\"u16\"", "\"i16\""),
        of("(ms)", "(us)"),
        of("order = \"big\"", "order = \"big\"\noffset = 4"),
        of("order = \"big\"", ""),
        of("nullable = true", ""),
        of("order = \"big\"", "order = \"big\"\nnullable = true"),
    ];
    let (bytes, columns) = (two().record_bytes, two().columns);
    for rules in [
        Rules { padding: 2, ..Rules::CURRENT },
        Rules { nulls: 2, ..Rules::CURRENT },
        Rules { key_map: KEY_MAP_VERSION + 1, ..Rules::CURRENT },
    ] {
        seen.push(fingerprint(rules, 1, bytes, &columns));
    }
    assert_eq!(fingerprint(Rules::CURRENT, 1, bytes, &columns), base);
    let mut reordered = columns.clone();
    reordered.swap(0, 1);
    seen.push(fingerprint(Rules::CURRENT, 1, bytes, &reordered));
    seen.push(fingerprint(Rules::CURRENT, 1, bytes, &columns[..1]));
    for (index, one) in seen.iter().enumerate() {
        assert!(!seen[..index].contains(one), "change {index} goes unnoticed");
    }
}
