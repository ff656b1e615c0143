//! The test vectors of `docs/WIRE.md`: every block is what this crate encodes, and decodes to the
//! values that the document states; no block is missing and none is left over.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::collections::BTreeMap;
use std::path::Path;

use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::{
    ByteOrder, ColumnType, PACKET_RECORD_BYTES, PacketFields, Schema, TimeUnit,
};
use bloomrf_engine::verify::{BatchHash, ChainHasher, HashAlgorithm, frame_digest};
use bloomrf_engine::wire::frame::{self, Frame, FrameHeader, LaneTotal, encode_close, encode_data};
use bloomrf_engine::wire::lookup::{
    Candidates, IdRange, LookupReply, LookupRequest, LookupStatus, authenticate_reply,
    authenticate_request,
};
use bloomrf_engine::wire::mac::{KeyRing, MacKey};
use bloomrf_engine::wire::predicate;
use bloomrf_engine::wire::stream::{
    FrameRange, Missing, RefuseReason, StreamDecoder, StreamMessage, Verdict,
};
use xxhash_rust::xxh3::xxh3_64;

const CLUSTER: ClusterId = ClusterId(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100);
const FINGERPRINT: Fingerprint = Fingerprint(0x1716_1514_1312_1110);
const BATCH: u64 = 42;

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/WIRE.md");
    std::fs::read_to_string(path).expect("docs/WIRE.md")
}

/// The hex blocks of the document by name. In a block, `#` starts a remark.
fn blocks() -> BTreeMap<String, Vec<u8>> {
    let text = document();
    let mut blocks = BTreeMap::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("```hex ") {
            open = Some((name.to_owned(), String::new()));
        } else if line.starts_with("```") {
            if let Some((name, digits)) = open.take() {
                let twice = blocks.insert(name.clone(), from_hex(&digits));
                assert!(twice.is_none(), "{name} stands twice");
            }
        } else if let Some((_, digits)) = &mut open {
            let hex = line.split('#').next().unwrap_or_default();
            digits.extend(hex.chars().filter(|c| !c.is_whitespace()));
        }
    }
    blocks
}

fn from_hex(digits: &str) -> Vec<u8> {
    let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).expect("two hex digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn to_hex(bytes: &[u8]) -> String {
    let hex: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
    hex.chunks(32).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
}

/// The canonical form by the document's table, from what a schema shows of itself.
fn canonical_form(schema: &Schema) -> Vec<u8> {
    const SIMPLE: [&str; 11] =
        ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "bool", "f32", "f64"];
    const OCTETS: [&str; 4] = ["ipv4", "ipv6", "mac", "uuid"];
    let mut out = Vec::new();
    for number in [1, 1, 1, schema.version(), schema.record_bytes() as u32] {
        out.extend(number.to_le_bytes());
    }
    out.extend((schema.columns().len() as u16).to_le_bytes());
    let mut null_bits = 0u16..;
    for column in schema.columns() {
        let spelling = column.kind().to_string();
        let at = |names: &[&str]| names.iter().position(|name| *name == spelling);
        let (code, parameter) = match column.kind() {
            ColumnType::Timestamp(TimeUnit::S) => (12, 0),
            ColumnType::Timestamp(TimeUnit::Ms) => (12, 3),
            ColumnType::Timestamp(TimeUnit::Us) => (12, 6),
            ColumnType::Timestamp(TimeUnit::Ns) => (12, 9),
            ColumnType::Bytes(n) => (17, n),
            _ => (
                at(&SIMPLE)
                    .map_or_else(|| 13 + at(&OCTETS).expect("a type of the table"), |i| 1 + i),
                0,
            ),
        };
        out.extend((column.name().len() as u16).to_le_bytes());
        out.extend(column.name().as_bytes());
        out.push(code as u8);
        out.extend(parameter.to_le_bytes());
        out.extend((column.offset() as u32).to_le_bytes());
        out.push(u8::from(column.order() == ByteOrder::Big));
        let null_bit = if column.is_nullable() { null_bits.next() } else { None };
        out.extend(null_bit.unwrap_or(0xffff).to_le_bytes());
    }
    out
}

fn packet_record() -> Vec<u8> {
    let fields = PacketFields {
        ts_ns: 1_700_000_000_123_456_789,
        src_mac: Some([2, 0, 0, 0, 0, 1]),
        dst_mac: Some([2, 0, 0, 0, 0, 2]),
        ethertype: Some(0x0800),
        src_ip4: Some([192, 0, 2, 1]),
        dst_ip4: Some([198, 51, 100, 7]),
        proto: Some(6),
        src_port: Some(50_000),
        dst_port: Some(443),
        tcp_flags: Some(0x12),
        length: 1_514,
        ..PacketFields::default()
    };
    let mut record = vec![0xff; PACKET_RECORD_BYTES];
    fields.encode(&mut record);
    record
}

fn header(sequence: u32) -> FrameHeader {
    FrameHeader {
        cluster: CLUSTER,
        fingerprint: FINGERPRINT,
        batch: BATCH,
        hash: HashAlgorithm::Xxh3,
        lane: 1,
        lanes: 2,
        sequence,
    }
}

const TOTALS: [LaneTotal; 2] =
    [LaneTotal { frames: 2, records: 9 }, LaneTotal { frames: 1, records: 2 }];

fn padded_request() -> LookupRequest {
    LookupRequest {
        query_id: 0x2726_2524_2322_2120,
        cluster: CLUSTER,
        fingerprint: FINGERPRINT,
        budget_us: 10_000,
        float_order: FloatOrder::Unstated,
        candidates: Candidates::Range { first: 100, count: 500 },
        predicate: Predicate::Compare {
            column: 11,
            op: CompareOp::Eq,
            literal: Literal::Unsigned(445),
        },
    }
}

fn list_request() -> LookupRequest {
    LookupRequest {
        float_order: FloatOrder::Ieee,
        candidates: Candidates::List(vec![5, 3, 3, 1_000, u64::MAX]),
        predicate: Predicate::And(vec![
            Predicate::Between {
                column: 5,
                low: Literal::Ipv4([10, 0, 0, 0]),
                high: Literal::Ipv4([10, 255, 255, 255]),
            },
            Predicate::Not(Box::new(Predicate::IsNull { column: 3 })),
        ]),
        ..padded_request()
    }
}

fn ranges_request() -> LookupRequest {
    let ranges = vec![IdRange { first: 200, count: 3 }, IdRange { first: 100, count: 2 }];
    LookupRequest {
        float_order: FloatOrder::Total,
        candidates: Candidates::Ranges(ranges),
        predicate: Predicate::Or(vec![
            Predicate::Unknown,
            Predicate::In { column: 9, list: vec![Literal::Unsigned(6), Literal::Unsigned(17)] },
            Predicate::IsNotNull { column: 4 },
        ]),
        ..padded_request()
    }
}

fn literals() -> Predicate {
    let list = vec![
        Literal::Unsigned(445),
        Literal::Signed(-2),
        Literal::Float(1.5),
        Literal::Bool(true),
        Literal::Timestamp(1_000, TimeUnit::Us),
        Literal::Ipv4([192, 0, 2, 1]),
        Literal::Ipv6([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        Literal::Mac([2, 0, 0, 0, 0, 1]),
        Literal::Uuid(*b"0123456789abcdef"),
        Literal::Bytes(b"abc".to_vec()),
    ];
    Predicate::In { column: 258, list }
}

fn reply() -> LookupReply {
    LookupReply {
        query_id: 0x2726_2524_2322_2120,
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

fn too_short() -> LookupReply {
    LookupReply::nothing_excluded(0x2726_2524_2322_2120, LookupStatus::TooShort, 500)
}

fn key() -> MacKey {
    KeyRing::parse("7 000102030405060708090a0b0c0d0e0f").unwrap().signer().clone()
}

/// Of one candidate.
fn keyed_request() -> LookupRequest {
    let candidates = Candidates::Range { first: 100, count: 1 };
    LookupRequest { candidates, predicate: Predicate::IsNull { column: 3 }, ..padded_request() }
}

fn keyed_reply() -> LookupReply {
    let mut reply = LookupReply::nothing_excluded(0x2726_2524_2322_2120, LookupStatus::Ok, 1);
    (reply.evaluated, reply.no_filter, reply.excluded_zone_map) = (1, 0, 1);
    reply.excluded[0] = 1;
    reply
}

fn batch_hash(algorithm: HashAlgorithm) -> BatchHash {
    let mut chain = ChainHasher::new(algorithm, CLUSTER, FINGERPRINT, BATCH, 2);
    for (lane, payload) in [(0, "alpha"), (0, "beta"), (1, "gamma")] {
        chain.frame(lane, &frame_digest(algorithm, payload.as_bytes()));
    }
    chain.finish(6)
}

fn messages() -> [(&'static str, StreamMessage); 11] {
    let hash = batch_hash(HashAlgorithm::Xxh3);
    let hello = |version| StreamMessage::Hello {
        cluster: CLUSTER,
        fingerprint: FINGERPRINT,
        node: "node-1".to_owned(),
        version,
    };
    let welcome = |repairs| StreamMessage::Welcome { hash: HashAlgorithm::Xxh3, repairs };
    let ranges = vec![
        FrameRange { lane: 0, first: 3, count: 1 },
        FrameRange { lane: 0, first: 1_000, count: 2 },
        FrameRange { lane: 1, first: 0, count: 258 },
    ];
    let mut frame = Vec::new();
    encode_data(&mut frame, &header(0), 4, b"recArecB");
    [
        ("stream-hello", hello(2)),
        ("stream-hello-1", hello(1)),
        ("stream-welcome", welcome(Some(true))),
        ("stream-welcome-1", welcome(None)),
        ("stream-refused", StreamMessage::Refused { reason: RefuseReason::Schema }),
        ("stream-seen", StreamMessage::Seen { batch: BATCH, records: 6, hash }),
        (
            "stream-verdict",
            StreamMessage::Verdict { batch: BATCH, hash, verdict: Verdict::Verified },
        ),
        ("stream-deleted", StreamMessage::Deleted { batches: vec![42, 43] }),
        ("stream-missing", StreamMessage::Missing(Missing { batch: BATCH, close: true, ranges })),
        ("stream-frame", StreamMessage::Frame { bytes: frame }),
        ("stream-not-kept", StreamMessage::NotKept { batch: BATCH }),
    ]
}

fn vectors() -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut add = |name: &str, encode: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        encode(&mut out);
        all.insert(name.to_owned(), out);
    };
    add("schema-packet", &|out| out.extend(canonical_form(&Schema::packet())));
    add("record-packet", &|out| out.extend(packet_record()));
    add("frame-data", &|out| encode_data(out, &header(0), 4, b"recArecB"));
    add("frame-close", &|out| encode_close(out, &header(0), &TOTALS));
    add("frame-keyed", &|out| {
        encode_data(out, &header(0), 4, b"recArecB");
        frame::sign(out, &key());
    });
    add("lookup-request-keyed", &|out| _ = keyed_request().encode_keyed(out, true, &key()));
    add("lookup-reply-keyed", &|out| {
        let seal = keyed_request().encode_keyed(&mut Vec::new(), true, &key());
        keyed_reply().encode_keyed(out, &key(), seal);
    });
    add("lookup-request-padded", &|out| padded_request().encode(out, true));
    add("lookup-request-list", &|out| list_request().encode(out, false));
    add("lookup-request-ranges", &|out| ranges_request().encode(out, false));
    add("lookup-reply", &|out| reply().encode(out));
    add("lookup-reply-too-short", &|out| too_short().encode(out));
    add("predicate-literals", &|out| predicate::encode(out, &literals()));
    for (name, message) in messages() {
        add(name, &|out| message.encode(out));
    }
    for (name, algorithm) in
        ["chain-xxh3", "chain-blake3", "chain-sha256"].into_iter().zip(HashAlgorithm::ALL)
    {
        add(name, &|out| out.extend(batch_hash(algorithm).digest));
    }
    all
}

#[test]
fn every_vector_of_the_document_is_what_is_encoded() {
    let (blocks, vectors) = (blocks(), vectors());
    for (name, bytes) in &vectors {
        let expected = format!("```hex {name}\n{}\n```", to_hex(bytes));
        assert_eq!(blocks.get(name), Some(bytes), "docs/WIRE.md should say\n{expected}");
    }
    let left_over: Vec<_> = blocks.keys().filter(|name| !vectors.contains_key(*name)).collect();
    assert!(left_over.is_empty(), "blocks that nothing checks: {left_over:?}");
}

#[test]
fn the_canonical_form_of_the_document_has_the_fingerprint_that_it_states() {
    let packet = Schema::packet().fingerprint();
    assert_eq!(xxh3_64(&blocks()["schema-packet"]), packet.0);
    assert!(document().contains(&format!("the fingerprint 0x{packet},")));
    let carried: Vec<String> = packet.0.to_le_bytes().map(|b| format!("{b:02x}")).to_vec();
    assert!(document().contains(&format!("`{}`", carried.join(" "))));
    let every_type = r#"{"name": "all", "version": 7, "record_bytes": 200, "columns": [
        {"name": "a", "type": "u8", "nullable": true}, {"name": "b", "type": "i16", "order": "big"},
        {"name": "c", "type": "f32"}, {"name": "d", "type": "bytes(31)", "nullable": true},
        {"name": "e", "type": "uuid"}, {"name": "f", "type": "bool"}, {"name": "g", "type": "mac"},
        {"name": "h", "type": "timestamp(s)"}, {"name": "i", "type": "timestamp(ms)"},
        {"name": "j", "type": "timestamp(us)"}, {"name": "k", "type": "u64"},
        {"name": "l", "type": "i8"}, {"name": "m", "type": "i32"}, {"name": "n", "type": "i64"},
        {"name": "o", "type": "f64", "order": "big"}, {"name": "p", "type": "ipv6"}]}"#;
    let schema = Schema::from_json(every_type).unwrap();
    assert_eq!(xxh3_64(&canonical_form(&schema)), schema.fingerprint().0);
}

#[test]
fn the_frames_of_the_document_parse_to_what_it_states() {
    let blocks = blocks();
    let data = Frame::parse(&blocks["frame-data"], 4).unwrap();
    assert_eq!(data, Frame::Data { header: header(0), records: 2, payload: b"recArecB" });
    let Ok(Frame::Close { header: h, totals }) = Frame::parse(&blocks["frame-close"], 4) else {
        panic!("not CLOSE")
    };
    assert_eq!(h, header(0));
    assert!(totals.iter().eq(TOTALS));
}

#[test]
fn the_lookups_of_the_document_parse_to_what_it_states() {
    let blocks = blocks();
    let request = |name: &str| LookupRequest::parse(&blocks[name]).unwrap();
    assert_eq!(request("lookup-request-padded"), padded_request());
    assert_eq!(request("lookup-request-list"), list_request());
    assert_eq!(request("lookup-request-ranges"), ranges_request());
    assert_eq!(predicate::parse(&blocks["predicate-literals"]), Ok(literals()));
    assert_eq!(LookupReply::parse(&blocks["lookup-reply"]), Ok(reply()));
    assert_eq!(LookupReply::parse(&blocks["lookup-reply-too-short"]), Ok(too_short()));
    let ring = KeyRing::of(key());
    let keyed = &blocks["lookup-request-keyed"];
    assert_eq!(LookupRequest::parse(keyed), Ok(keyed_request()));
    let seal = authenticate_request(keyed, &ring).unwrap();
    assert_eq!(LookupReply::parse(&blocks["lookup-reply-keyed"]), Ok(keyed_reply()));
    assert_eq!(authenticate_reply(&blocks["lookup-reply-keyed"], &key(), seal), Ok(()));
    assert_eq!(frame::authenticate(&blocks["frame-keyed"], &ring), Ok(()));
}

#[test]
fn the_stream_of_the_document_parses_to_what_it_states() {
    let blocks = blocks();
    let mut decoder = StreamDecoder::default();
    for (name, message) in messages() {
        decoder.push(&blocks[name]);
        assert_eq!(decoder.next_message(), Ok(Some(message)), "{name}");
        assert_eq!(decoder.next_message(), Ok(None));
    }
}
