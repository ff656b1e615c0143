//! The built-in schema `packet`: what is encoded is what an independent reader decodes.

mod truth;

use bloomrf_engine::identity::Fingerprint;
use bloomrf_engine::schema::{CellKey, ColumnType, PACKET_RECORD_BYTES, PacketFields, Schema};
use bloomrf_oracle::{FieldType, Unit, Value, decode_row};

fn full() -> PacketFields {
    PacketFields {
        ts_ns: 1_700_000_000_123_456_789,
        src_mac: Some([1, 2, 3, 4, 5, 6]),
        dst_mac: Some([0xff; 6]),
        ethertype: Some(0x86dd),
        vlan: Some(4_094),
        src_ip4: Some([10, 1, 2, 3]),
        dst_ip4: Some([192, 168, 0, 1]),
        src_ip6: Some([0x20; 16]),
        dst_ip6: Some([0xfe; 16]),
        proto: Some(6),
        src_port: Some(50_000),
        dst_port: Some(443),
        tcp_flags: Some(0x12),
        length: 1_514,
    }
}

fn expected(fields: &PacketFields) -> Vec<Value> {
    let int = |v: Option<i128>| v.map_or(Value::Null, Value::Int);
    let octets = |kind, v: Option<Vec<u8>>| v.map_or(Value::Null, |b| Value::Octets(kind, b));
    vec![
        Value::Time(fields.ts_ns, Unit::Ns),
        octets(FieldType::Mac, fields.src_mac.map(Vec::from)),
        octets(FieldType::Mac, fields.dst_mac.map(Vec::from)),
        int(fields.ethertype.map(i128::from)),
        int(fields.vlan.map(i128::from)),
        octets(FieldType::Ipv4, fields.src_ip4.map(Vec::from)),
        octets(FieldType::Ipv4, fields.dst_ip4.map(Vec::from)),
        octets(FieldType::Ipv6, fields.src_ip6.map(Vec::from)),
        octets(FieldType::Ipv6, fields.dst_ip6.map(Vec::from)),
        int(fields.proto.map(i128::from)),
        int(fields.src_port.map(i128::from)),
        int(fields.dst_port.map(i128::from)),
        int(fields.tcp_flags.map(i128::from)),
        Value::Int(fields.length.into()),
    ]
}

/// The fields with every nullable one whose bit of `keep` is clear removed.
fn thinned(keep: u16) -> PacketFields {
    let full = full();
    let kept = |bit: u16| keep >> bit & 1 == 1;
    PacketFields {
        ts_ns: -5,
        src_mac: full.src_mac.filter(|_| kept(0)),
        dst_mac: full.dst_mac.filter(|_| kept(1)),
        ethertype: full.ethertype.filter(|_| kept(2)),
        vlan: full.vlan.filter(|_| kept(3)),
        src_ip4: full.src_ip4.filter(|_| kept(4)),
        dst_ip4: full.dst_ip4.filter(|_| kept(5)),
        src_ip6: full.src_ip6.filter(|_| kept(6)),
        dst_ip6: full.dst_ip6.filter(|_| kept(7)),
        proto: full.proto.filter(|_| kept(8)),
        src_port: full.src_port.filter(|_| kept(9)),
        dst_port: full.dst_port.filter(|_| kept(10)),
        tcp_flags: full.tcp_flags.filter(|_| kept(11)),
        length: u32::MAX,
    }
}

#[test]
fn every_combination_of_known_fields_decodes_to_what_was_encoded() {
    let schema = Schema::packet();
    let fields = truth::fields(&schema);
    // What the buffer held before must not shine through.
    let mut record = vec![0xa5; schema.record_bytes()];
    for keep in 0..1 << 12 {
        let packet = thinned(keep);
        packet.encode(&mut record);
        assert_eq!(decode_row(&fields, &record), expected(&packet), "keep={keep:#b}");
        for (ordinal, column) in schema.columns().iter().enumerate() {
            let null = expected(&packet)[ordinal] == Value::Null;
            assert_eq!(column.key(&record) == CellKey::Null, null, "{}", column.name());
        }
    }
    full().encode(&mut record);
    assert_eq!(decode_row(&fields, &record), expected(&full()));
}

#[test]
fn the_packet_schema_passes_the_check_that_schema_files_pass() {
    let schema = Schema::packet();
    let read = Schema::from_json(&schema.to_json().to_string()).unwrap();
    assert_eq!(read, schema);
    assert_eq!(schema.record_bytes(), PACKET_RECORD_BYTES);
    assert_eq!(schema.record_bytes() % 8, 0);
    let names: Vec<&str> = schema.columns().iter().map(|c| c.name()).collect();
    let expected = "ts src_mac dst_mac ethertype vlan src_ip4 dst_ip4 src_ip6 dst_ip6 proto \
        src_port dst_port tcp_flags length";
    assert_eq!(names.join(" "), expected);
    for column in schema.columns() {
        let always = ["ts", "length"].contains(&column.name());
        assert_eq!(column.is_nullable(), !always, "{}", column.name());
        if matches!(column.kind(), ColumnType::Timestamp(_)) {
            assert_eq!(column.offset() % 8, 0);
        }
    }
}

#[test]
fn the_fingerprint_of_the_packet_schema_is_pinned() {
    // A change here orphans every stored filter and every peer of another version.
    assert_eq!(Schema::packet().fingerprint(), Fingerprint(0x0a38_e12e_0f04_20f7));
}
