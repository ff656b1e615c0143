//! IPv4 and IPv6: addresses, and the way along extension headers to the transport header.
//!
//! Hot path: no allocation, no lock, no syscall; at most `EXTENSIONS_MAX` extension headers.

use etherparse::{
    IpAuthHeaderSlice, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice,
    Ipv6RawExtHeaderSlice,
};

use super::{Headers, Trouble, transport};

/// Most extension headers of one packet; more is taken for malice.
pub(super) const EXTENSIONS_MAX: usize = 16;

pub(super) const HOP_BY_HOP: u8 = 0;
pub(super) const ROUTING: u8 = 43;
pub(super) const FRAGMENT: u8 = 44;
pub(super) const AUTHENTICATION: u8 = 51;
pub(super) const DESTINATION: u8 = 60;
const MOBILITY: u8 = 135;
const HOST_IDENTITY: u8 = 139;
const SHIM6: u8 = 140;

/// IP of the version that its first byte says.
pub(super) fn read(bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    match bytes.first().ok_or(Trouble::IpHeader)? >> 4 {
        4 => read_v4(bytes, headers),
        6 => read_v6(bytes, headers),
        _ => Err(Trouble::IpHeader),
    }
}

pub(super) fn read_v4(bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    let Ok(header) = Ipv4HeaderSlice::from_slice(bytes) else {
        return Err(fixed_part_v4(bytes, headers));
    };
    headers.ip4 = Some((header.source(), header.destination()));
    let header_bytes = header.slice().len();
    let protocol = header.protocol().0;
    let total = usize::from(header.total_len());
    if total != 0 && total < header_bytes {
        headers.proto = Some(protocol);
        return Err(Trouble::IpHeader);
    }
    // A total of 0 is that of a packet which the network card was to cut in pieces.
    let end = if total == 0 { bytes.len() } else { total.min(bytes.len()) };
    let payload = bytes.get(header_bytes..end).unwrap_or_default();
    if header.fragments_offset().value() != 0 {
        headers.proto = Some(protocol).filter(|p| *p != AUTHENTICATION);
        return Ok(());
    }
    walk(protocol, payload, headers, |kind| kind == AUTHENTICATION)
}

/// Addresses and protocol of a header whose options are cut.
fn fixed_part_v4(bytes: &[u8], headers: &mut Headers) -> Trouble {
    if let Some(fixed) = bytes.first_chunk::<20>()
        && fixed[0] >> 4 == 4
    {
        let [.., s0, s1, s2, s3, d0, d1, d2, d3] = *fixed;
        headers.ip4 = Some(([s0, s1, s2, s3], [d0, d1, d2, d3]));
        headers.proto = Some(fixed[9]).filter(|p| *p != AUTHENTICATION);
    }
    Trouble::IpHeader
}

pub(super) fn read_v6(bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    let header = Ipv6HeaderSlice::from_slice(bytes).map_err(|_| Trouble::IpHeader)?;
    headers.ip6 = Some((header.source(), header.destination()));
    let payload = &bytes[header.slice().len()..];
    // A length of 0 is that of a jumbogram, or of a packet which the card was to cut in pieces.
    let payload = match usize::from(header.payload_length()) {
        0 => payload,
        length => payload.get(..length).unwrap_or(payload),
    };
    walk(header.next_header().0, payload, headers, is_extension)
}

fn is_extension(kind: u8) -> bool {
    matches!(
        kind,
        HOP_BY_HOP
            | ROUTING
            | FRAGMENT
            | AUTHENTICATION
            | DESTINATION
            | MOBILITY
            | HOST_IDENTITY
            | SHIM6
    )
}

/// Goes along the headers that `follows` names, and reads the transport header behind them.
fn walk(
    mut kind: u8,
    mut bytes: &[u8],
    headers: &mut Headers,
    follows: impl Fn(u8) -> bool,
) -> Result<(), Trouble> {
    for _ in 0..EXTENSIONS_MAX {
        if !follows(kind) {
            headers.proto = Some(kind);
            return transport::read(kind, bytes, headers);
        }
        let (next, header_bytes) = match kind {
            FRAGMENT => {
                let fragment =
                    Ipv6FragmentHeaderSlice::from_slice(bytes).map_err(|_| Trouble::IpHeader)?;
                if fragment.fragment_offset().value() != 0 {
                    // What follows is the middle of a packet. The kind is that of its first
                    // header, which is the protocol unless extensions come first.
                    headers.proto = Some(fragment.next_header().0).filter(|k| !follows(*k));
                    return Ok(());
                }
                (fragment.next_header().0, fragment.slice().len())
            }
            AUTHENTICATION => {
                let auth = IpAuthHeaderSlice::from_slice(bytes).map_err(|_| Trouble::IpHeader)?;
                (auth.next_header().0, auth.slice().len())
            }
            _ => {
                let extension =
                    Ipv6RawExtHeaderSlice::from_slice(bytes).map_err(|_| Trouble::IpHeader)?;
                (extension.next_header().0, extension.slice().len())
            }
        };
        kind = next;
        bytes = bytes.get(header_bytes..).unwrap_or_default();
    }
    Err(Trouble::IpHeader)
}
