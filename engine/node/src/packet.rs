//! From a captured packet to a record of the schema `packet`.
//!
//! A packet that cannot be decoded still becomes a record: the known columns, and nulls for the
//! rest. Why is counted by reason, so that a capture's report adds up.

use std::fmt;

use bloomrf_engine::schema::PacketFields;
use bloomrf_netio::Received;
use bloomrf_netio::capture::Packet;
use bloomrf_netio::parse::{self, Trouble};

/// A packet wherever it lies: of a capture file, or in a link's memory.
#[derive(Clone, Copy, Debug)]
pub struct PacketView<'a> {
    /// When it was captured, nanoseconds since 1970.
    pub ts_ns: i64,
    /// LINKTYPE_* of its first header.
    pub link_type: u32,
    /// Bytes captured.
    pub bytes: &'a [u8],
    /// Bytes on the wire.
    pub wire_bytes: u32,
}

impl<'a> From<&'a Packet> for PacketView<'a> {
    fn from(packet: &'a Packet) -> Self {
        let Packet { ts_ns, link_type, bytes, wire_bytes } = packet;
        PacketView { ts_ns: *ts_ns, link_type: *link_type, bytes, wire_bytes: *wire_bytes }
    }
}

impl<'a> From<&Received<'a>> for PacketView<'a> {
    fn from(frame: &Received<'a>) -> Self {
        let Received { bytes, ts_ns, wire_bytes, link_type, .. } = *frame;
        PacketView { ts_ns, link_type: u32::from(link_type), bytes, wire_bytes }
    }
}

/// What is known of a packet, and why no more is. Neither allocates nor copies.
#[must_use]
pub fn fields<'a>(packet: impl Into<PacketView<'a>>) -> (PacketFields, Option<Trouble>) {
    let packet = packet.into();
    let (headers, trouble) = parse::headers(packet.link_type, packet.bytes);
    let fields = PacketFields {
        ts_ns: packet.ts_ns,
        src_mac: headers.src_mac,
        dst_mac: headers.dst_mac,
        ethertype: headers.ethertype,
        vlan: headers.vlan,
        src_ip4: headers.ip4.map(|(source, _)| source),
        dst_ip4: headers.ip4.map(|(_, target)| target),
        src_ip6: headers.ip6.map(|(source, _)| source),
        dst_ip6: headers.ip6.map(|(_, target)| target),
        proto: headers.proto,
        src_port: headers.ports.map(|(source, _)| source),
        dst_port: headers.ports.map(|(_, target)| target),
        tcp_flags: headers.tcp_flags,
        length: packet.wire_bytes,
    };
    (fields, trouble)
}

/// Writes the record of `packet` (`record` has exactly the size of the schema `packet`), and
/// counts it.
pub fn encode<'a>(packet: impl Into<PacketView<'a>>, record: &mut [u8], counts: &mut PacketCounts) {
    let (fields, trouble) = fields(packet);
    fields.encode(record);
    counts.add(trouble);
}

/// Packets, and those with incomplete headers by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCounts {
    packets: u64,
    troubles: [u64; Trouble::ALL.len()],
}

impl PacketCounts {
    /// Counts one packet.
    pub fn add(&mut self, trouble: Option<Trouble>) {
        self.packets += 1;
        if let Some(trouble) = trouble {
            self.troubles[trouble.index()] += 1;
        }
    }

    /// All packets.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Packets whose headers were read in full.
    #[must_use]
    pub fn whole(&self) -> u64 {
        self.packets - self.troubles.iter().sum::<u64>()
    }

    /// Packets of one reason.
    #[must_use]
    pub fn of(&self, trouble: Trouble) -> u64 {
        self.troubles[trouble.index()]
    }

    /// Every reason with its count, zeros included.
    pub fn by_reason(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Trouble::ALL.iter().map(|t| (t.label(), self.of(*t)))
    }
}

impl std::ops::AddAssign for PacketCounts {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        for (total, part) in self.troubles.iter_mut().zip(other.troubles) {
            *total += part;
        }
    }
}

/// For reports: `1723 packets, of which not_ip 22, transport_header 1`.
impl fmt::Display for PacketCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets", self.packets)?;
        let mut between = ", of which ";
        for (label, count) in self.by_reason().filter(|(_, count)| *count > 0) {
            write!(f, "{between}{label} {count}")?;
            between = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Raw IPv4, UDP from 10.0.0.1:4660 to 10.0.0.2:53.
    const DNS: [u8; 28] = [
        0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x12, 0x34, 0, 53, 0,
        8, 0, 0,
    ];

    fn packet(link_type: u32, bytes: &[u8]) -> Packet {
        Packet { ts_ns: 77, link_type, bytes: bytes.to_vec(), wire_bytes: 1_500 }
    }

    #[test]
    fn every_field_of_a_packet_lands_in_its_column() {
        let expected = PacketFields {
            ts_ns: 77,
            src_ip4: Some([10, 0, 0, 1]),
            dst_ip4: Some([10, 0, 0, 2]),
            proto: Some(17),
            src_port: Some(0x1234),
            dst_port: Some(53),
            length: 1_500,
            ..PacketFields::default()
        };
        assert_eq!(fields(&packet(101, &DNS)), (expected, None));
    }

    #[test]
    fn a_record_of_every_packet_is_written_and_counted() {
        let schema = bloomrf_engine::schema::Schema::packet();
        let (mut known, mut unknown) =
            (vec![0xee; schema.record_bytes()], vec![0xee; schema.record_bytes()]);
        let mut counts = PacketCounts::default();
        encode(&packet(101, &DNS), &mut known, &mut counts);
        encode(&packet(999, &DNS), &mut unknown, &mut counts);
        assert_eq!(counts.packets(), 2);
        let nulls = |record: &[u8]| schema.columns().iter().filter(|c| c.is_null(record)).count();
        let nullable = schema.columns().iter().filter(|c| c.is_nullable()).count();
        assert_eq!((nulls(&known), nulls(&unknown)), (nullable - 5, nullable));
    }

    #[test]
    fn an_unreadable_packet_keeps_time_and_length_and_is_counted_by_reason() {
        let expected = PacketFields { ts_ns: 77, length: 1_500, ..PacketFields::default() };
        assert_eq!(fields(&packet(999, &DNS)), (expected.clone(), Some(Trouble::LinkType)));
        let mut counts = PacketCounts::default();
        for (link_type, bytes) in [(999, &DNS[..]), (101, &DNS), (101, &DNS[..22]), (1, &DNS[..3])]
        {
            counts.add(fields(&packet(link_type, bytes)).1);
        }
        assert_eq!((counts.packets(), counts.whole()), (4, 1));
        assert_eq!(counts.of(Trouble::TransportHeader), 1);
        let text = "4 packets, of which link_type 1, link_header 1, transport_header 1";
        assert_eq!(counts.to_string(), text);
    }
}
