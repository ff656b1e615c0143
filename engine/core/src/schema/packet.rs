//! The built-in schema `packet`, and the fields that fill one of its records.
//!
//! 80 bytes: null bitmap and small numbers first, so that `ts` and the addresses lie aligned;
//! numbers little-endian, addresses in network order, null cells and the last 4 bytes zero.

use super::fingerprint::{Rules, fingerprint};
use super::{ByteOrder, Column, ColumnType, Schema, TimeUnit};

/// Bytes of one record of the schema `packet`.
pub const PACKET_RECORD_BYTES: usize = 80;

/// What is known of one captured packet. `None` becomes null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketFields {
    /// Nanoseconds since 1970.
    pub ts_ns: i64,
    /// Source MAC.
    pub src_mac: Option<[u8; 6]>,
    /// Destination MAC.
    pub dst_mac: Option<[u8; 6]>,
    /// EtherType of the innermost VLAN tag's payload.
    pub ethertype: Option<u16>,
    /// VLAN id of the outer tag.
    pub vlan: Option<u16>,
    /// Outer IPv4 source.
    pub src_ip4: Option<[u8; 4]>,
    /// Outer IPv4 destination.
    pub dst_ip4: Option<[u8; 4]>,
    /// Outer IPv6 source.
    pub src_ip6: Option<[u8; 16]>,
    /// Outer IPv6 destination.
    pub dst_ip6: Option<[u8; 16]>,
    /// IP protocol after extension headers.
    pub proto: Option<u8>,
    /// Source port (not for later fragments).
    pub src_port: Option<u16>,
    /// Destination port (not for later fragments).
    pub dst_port: Option<u16>,
    /// TCP flags byte.
    pub tcp_flags: Option<u8>,
    /// Bytes on the wire.
    pub length: u32,
}

impl PacketFields {
    /// Writes one record of the schema `packet`; `record` has exactly its size
    /// ([`PACKET_RECORD_BYTES`]), what it held before does not matter.
    ///
    /// # Panics
    /// When `record` has another size: that is the caller's mistake.
    pub fn encode(&self, record: &mut [u8]) {
        assert_eq!(record.len(), PACKET_RECORD_BYTES, "a packet record has a fixed size");
        record.fill(0);
        put(record, Place::TS, Some(self.ts_ns.to_le_bytes()));
        put(record, Place::SRC_MAC, self.src_mac);
        put(record, Place::DST_MAC, self.dst_mac);
        put(record, Place::ETHERTYPE, self.ethertype.map(u16::to_le_bytes));
        put(record, Place::VLAN, self.vlan.map(u16::to_le_bytes));
        put(record, Place::SRC_IP4, self.src_ip4);
        put(record, Place::DST_IP4, self.dst_ip4);
        put(record, Place::SRC_IP6, self.src_ip6);
        put(record, Place::DST_IP6, self.dst_ip6);
        put(record, Place::PROTO, self.proto.map(|v| [v]));
        put(record, Place::SRC_PORT, self.src_port.map(u16::to_le_bytes));
        put(record, Place::DST_PORT, self.dst_port.map(u16::to_le_bytes));
        put(record, Place::TCP_FLAGS, self.tcp_flags.map(|v| [v]));
        put(record, Place::LENGTH, Some(self.length.to_le_bytes()));
    }
}

/// The schema: columns `ts, src_mac, dst_mac, ethertype, vlan, src_ip4, dst_ip4, src_ip6,
/// dst_ip6, proto, src_port, dst_port, tcp_flags, length`, all but `ts` and `length` nullable.
pub(super) fn schema() -> Schema {
    let columns: Vec<Column> = PLACES
        .iter()
        .map(|&(name, kind, place)| Column {
            name: name.to_owned(),
            offset: place.offset,
            kind,
            order: ByteOrder::Little,
            null_bit: place.null_bit,
        })
        .collect();
    let version = 1;
    Schema {
        name: "packet".to_owned(),
        version,
        record_bytes: PACKET_RECORD_BYTES,
        fingerprint: fingerprint(Rules::CURRENT, version, PACKET_RECORD_BYTES, &columns),
        columns,
    }
}

/// Where a cell lies.
#[derive(Clone, Copy)]
struct Place {
    offset: usize,
    null_bit: Option<u16>,
}

impl Place {
    const TS: Self = Self { offset: 8, null_bit: None };
    const SRC_MAC: Self = Self::nullable(56, 0);
    const DST_MAC: Self = Self::nullable(62, 1);
    const ETHERTYPE: Self = Self::nullable(2, 2);
    const VLAN: Self = Self::nullable(4, 3);
    const SRC_IP4: Self = Self::nullable(48, 4);
    const DST_IP4: Self = Self::nullable(52, 5);
    const SRC_IP6: Self = Self::nullable(16, 6);
    const DST_IP6: Self = Self::nullable(32, 7);
    const PROTO: Self = Self::nullable(6, 8);
    const SRC_PORT: Self = Self::nullable(68, 9);
    const DST_PORT: Self = Self::nullable(70, 10);
    const TCP_FLAGS: Self = Self::nullable(7, 11);
    const LENGTH: Self = Self { offset: 72, null_bit: None };

    const fn nullable(offset: usize, bit: u16) -> Self {
        Self { offset, null_bit: Some(bit) }
    }
}

const PLACES: [(&str, ColumnType, Place); 14] = [
    ("ts", ColumnType::Timestamp(TimeUnit::Ns), Place::TS),
    ("src_mac", ColumnType::Mac, Place::SRC_MAC),
    ("dst_mac", ColumnType::Mac, Place::DST_MAC),
    ("ethertype", ColumnType::U16, Place::ETHERTYPE),
    ("vlan", ColumnType::U16, Place::VLAN),
    ("src_ip4", ColumnType::Ipv4, Place::SRC_IP4),
    ("dst_ip4", ColumnType::Ipv4, Place::DST_IP4),
    ("src_ip6", ColumnType::Ipv6, Place::SRC_IP6),
    ("dst_ip6", ColumnType::Ipv6, Place::DST_IP6),
    ("proto", ColumnType::U8, Place::PROTO),
    ("src_port", ColumnType::U16, Place::SRC_PORT),
    ("dst_port", ColumnType::U16, Place::DST_PORT),
    ("tcp_flags", ColumnType::U8, Place::TCP_FLAGS),
    ("length", ColumnType::U32, Place::LENGTH),
];

/// Writes a cell, or its null bit.
fn put<const N: usize>(record: &mut [u8], place: Place, cell: Option<[u8; N]>) {
    match (cell, place.null_bit) {
        (Some(bytes), _) => record[place.offset..place.offset + N].copy_from_slice(&bytes),
        (None, Some(bit)) => record[usize::from(bit / 8)] |= 1 << (bit % 8),
        (None, None) => {}
    }
}
