//! Link layers, up to the IP header.
//!
//! Hot path: no allocation, no lock, no syscall; at most `TAGS_MAX` tags.

use etherparse::{Ethernet2HeaderSlice, SingleVlanHeaderSlice};

use super::{Headers, Trouble, be16, ip};

/// Most VLAN and VN tags of one frame.
pub(super) const TAGS_MAX: usize = 8;

/// 802.1Q.
pub(super) const VLAN: u16 = 0x8100;
/// 802.1ad.
pub(super) const VLAN_STACKED: u16 = 0x88a8;
/// Older numbers of stacked tags.
const VLAN_OLDER: [u16; 2] = [0x9100, 0x9200];
pub(super) const IPV4: u16 = 0x0800;
pub(super) const IPV6: u16 = 0x86dd;
const PPPOE_SESSION: u16 = 0x8864;
const VN_TAG: u16 = 0x8926;
/// Smaller values of the field are the length of an 802.3 frame.
pub(super) const ETHERTYPE_MIN: u16 = 0x0600;

/// Hardware types of cooked capture whose protocol field is no EtherType: frame relay, GRE,
/// 802.11 (3), netlink.
pub(super) const HARDWARE_OTHER: [u16; 6] = [770, 778, 801, 802, 803, 824];

const PPP_IPV4: u16 = 0x0021;
const PPP_IPV6: u16 = 0x0057;

/// Reads a packet of `link_type`, a LINKTYPE_* number. The three numbers of raw IP beside 101 are
/// the DLT_RAW of several systems, which old files hold.
pub(super) fn read(link_type: u32, bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    match link_type {
        0 | 108 => null(bytes, headers),
        1 => ethernet(bytes, headers),
        9 | 50 => ppp(bytes, headers),
        51 => pppoe(bytes, headers),
        12 | 14 | 101 => ip::read(bytes, headers),
        104 => cisco_hdlc(bytes, headers),
        113 => cooked(bytes, headers),
        204 => ppp(bytes.get(1..).ok_or(Trouble::LinkHeader)?, headers),
        228 => ip::read_v4(bytes, headers),
        229 => ip::read_v6(bytes, headers),
        276 => cooked_v2(bytes, headers),
        _ => Err(Trouble::LinkType),
    }
}

fn ethernet(bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    headers.dst_mac = bytes.first_chunk().copied();
    headers.src_mac = bytes.get(6..).and_then(|b| b.first_chunk()).copied();
    let ethernet = Ethernet2HeaderSlice::from_slice(bytes).map_err(|_| Trouble::LinkHeader)?;
    let rest = &bytes[ethernet.slice().len()..];
    ethertype(ethernet.ether_type().0, rest, headers)
}

/// Goes past tags, and on to what `ethertype` says of `bytes`.
fn ethertype(mut ethertype: u16, mut bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    for _ in 0..TAGS_MAX {
        let tag_bytes = match ethertype {
            kind if is_tag(kind) => {
                let tag =
                    SingleVlanHeaderSlice::from_slice(bytes).map_err(|_| Trouble::LinkHeader)?;
                headers.vlan.get_or_insert(tag.vlan_identifier().value());
                4
            }
            // Four bytes of virtual interfaces, then the EtherType.
            VN_TAG => 6,
            _ => return payload(ethertype, bytes, headers),
        };
        ethertype = be16(bytes, tag_bytes - 2).ok_or(Trouble::LinkHeader)?;
        bytes = bytes.get(tag_bytes..).unwrap_or_default();
    }
    Err(Trouble::LinkHeader)
}

/// Whether a VLAN tag follows.
pub(super) fn is_tag(ethertype: u16) -> bool {
    ethertype == VLAN || ethertype == VLAN_STACKED || VLAN_OLDER.contains(&ethertype)
}

fn payload(ethertype: u16, bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    if ethertype < ETHERTYPE_MIN {
        return snap(bytes, headers);
    }
    headers.ethertype = Some(ethertype);
    match ethertype {
        IPV4 => ip::read_v4(bytes, headers),
        IPV6 => ip::read_v6(bytes, headers),
        PPPOE_SESSION => pppoe(bytes, headers),
        _ => Err(Trouble::NotIp),
    }
}

/// 802.2: of its kinds, SNAP carries an EtherType behind an organisation code of zero.
fn snap(bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    if !bytes.starts_with(&[0xaa, 0xaa, 0x03, 0, 0, 0]) {
        return Err(Trouble::NotIp);
    }
    let ethertype = be16(bytes, 6).ok_or(Trouble::LinkHeader)?;
    headers.ethertype = Some(ethertype);
    let rest = bytes.get(8..).unwrap_or_default();
    match ethertype {
        IPV4 => ip::read_v4(rest, headers),
        IPV6 => ip::read_v6(rest, headers),
        _ => Err(Trouble::NotIp),
    }
}

/// Linux cooked capture: packet type, hardware type, address length, address (8), protocol.
fn cooked(bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    const HEADER_BYTES: usize = 16;
    let hardware = be16(bytes, 2).ok_or(Trouble::LinkHeader)?;
    let address_bytes = be16(bytes, 4).ok_or(Trouble::LinkHeader)?;
    cooked_address(address_bytes, bytes.get(6..14), headers);
    let protocol = be16(bytes, 14).ok_or(Trouble::LinkHeader)?;
    cooked_payload(hardware, protocol, bytes.get(HEADER_BYTES..), headers)
}

/// Version 2: protocol, reserved, interface (4), hardware type, packet type, address length,
/// address (8).
fn cooked_v2(bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    const HEADER_BYTES: usize = 20;
    let protocol = be16(bytes, 0).ok_or(Trouble::LinkHeader)?;
    let hardware = be16(bytes, 8).ok_or(Trouble::LinkHeader)?;
    let address_bytes = *bytes.get(11).ok_or(Trouble::LinkHeader)?;
    cooked_address(address_bytes.into(), bytes.get(12..HEADER_BYTES), headers);
    cooked_payload(hardware, protocol, bytes.get(HEADER_BYTES..), headers)
}

fn cooked_address(address_bytes: u16, field: Option<&[u8]>, headers: &mut Headers) {
    if address_bytes == 6 {
        headers.src_mac = field.and_then(|f| f.first_chunk()).copied();
    }
}

fn cooked_payload(
    hardware: u16,
    protocol: u16,
    rest: Option<&[u8]>,
    headers: &mut Headers,
) -> Result<(), Trouble> {
    let rest = rest.ok_or(Trouble::LinkHeader)?;
    match hardware {
        _ if HARDWARE_OTHER.contains(&hardware) => Err(Trouble::NotIp),
        // Small numbers here are Linux's own: 1 for 802.3 without 802.2, 4 for 802.2.
        _ if protocol == 4 => snap(rest, headers),
        _ if protocol < ETHERTYPE_MIN => Err(Trouble::NotIp),
        _ => ethertype(protocol, rest, headers),
    }
}

/// BSD loopback: an address family in the byte order of the machine that captured.
fn null(bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    let family = bytes.first_chunk().ok_or(Trouble::LinkHeader)?;
    let rest = bytes.get(4..).unwrap_or_default();
    // Families are small numbers, so one of the two readings is a large one.
    match u32::from_be_bytes(*family).min(u32::from_le_bytes(*family)) {
        2 => ip::read_v4(rest, headers),
        // The number of IPv6 differs: NetBSD and OpenBSD, FreeBSD, macOS, Linux.
        24 | 28 | 30 | 10 => ip::read_v6(rest, headers),
        _ => Err(Trouble::NotIp),
    }
}

/// PPP: perhaps address and control (always the same, or absent), then a protocol of one or two
/// bytes; the last byte of a protocol is odd. HDLC framing of Cisco's kind is told by its address.
fn ppp(bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    let bytes = match bytes {
        [0x0f | 0x8f, 0x00, ..] => return cisco_hdlc(bytes, headers),
        [0xff, 0x03, rest @ ..] => rest,
        _ => bytes,
    };
    let (protocol, rest) = match bytes {
        [short, rest @ ..] if short & 1 == 1 => (u16::from(*short), rest),
        [high, low, rest @ ..] => (u16::from_be_bytes([*high, *low]), rest),
        _ => return Err(Trouble::LinkHeader),
    };
    match protocol {
        PPP_IPV4 => ip::read_v4(rest, headers),
        PPP_IPV6 => ip::read_v6(rest, headers),
        _ => Err(Trouble::NotIp),
    }
}

/// PPPoE session: version and type, code, session, length; then PPP without address and control.
fn pppoe(bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    let length = usize::from(be16(bytes, 4).ok_or(Trouble::LinkHeader)?);
    let rest = bytes.get(6..).unwrap_or_default();
    ppp(rest.get(..length).unwrap_or(rest), headers)
}

/// Cisco HDLC: address, control, EtherType.
fn cisco_hdlc(bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    let protocol = be16(bytes, 2).ok_or(Trouble::LinkHeader)?;
    payload(protocol, bytes.get(4..).unwrap_or_default(), headers)
}
