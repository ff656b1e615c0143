//! The built-in schema `packet`, and the fields that fill one of its records.

use super::Schema;

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
    /// Writes one record of the schema `packet`; `record` has exactly its size.
    pub fn encode(&self, record: &mut [u8]) {
        let _ = record;
        todo!("schema")
    }
}

/// The schema: columns `ts, src_mac, dst_mac, ethertype, vlan, src_ip4, dst_ip4, src_ip6,
/// dst_ip6, proto, src_port, dst_port, tcp_flags, length`, all but `ts` and `length` nullable.
pub(super) fn schema() -> Schema {
    todo!("schema")
}
