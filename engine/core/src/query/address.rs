//! Text of addresses, networks, MACs and uuids.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// First and last address of a network, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// IPv4.
    V4([u8; 4], [u8; 4]),
    /// IPv6.
    V6([u8; 16], [u8; 16]),
}

/// `10.0.0.0/8`, `2001:db8::/32`, or an address alone. The error says what is wrong with it.
pub(super) fn network(text: &str) -> Result<Network, String> {
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (text, None),
    };
    let address: IpAddr = address
        .parse()
        .map_err(|_| "expected a network such as '10.0.0.0/8' or '2001:db8::/32'".to_owned())?;
    let bits: u32 = if address.is_ipv4() { 32 } else { 128 };
    let length = match prefix {
        None => bits,
        Some(digits) => prefix_length(digits, bits)
            .ok_or_else(|| format!("expected a prefix length of 0 to {bits} after the slash"))?,
    };
    // A shift by the whole width is no shift: /0 has no network bits.
    match address {
        IpAddr::V4(v4) => {
            let number = v4.to_bits();
            let host_bits = u32::MAX.checked_shr(length).unwrap_or(0);
            let first = number & !host_bits;
            if first != number {
                return Err(host_bits_set(Ipv4Addr::from_bits(first).into(), length));
            }
            Ok(Network::V4(first.to_be_bytes(), (first | host_bits).to_be_bytes()))
        }
        IpAddr::V6(v6) => {
            let number = v6.to_bits();
            let host_bits = u128::MAX.checked_shr(length).unwrap_or(0);
            let first = number & !host_bits;
            if first != number {
                return Err(host_bits_set(Ipv6Addr::from_bits(first).into(), length));
            }
            Ok(Network::V6(first.to_be_bytes(), (first | host_bits).to_be_bytes()))
        }
    }
}

fn prefix_length(digits: &str, bits: u32) -> Option<u32> {
    let plain = (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|&length| plain && length <= bits)
}

fn host_bits_set(network: IpAddr, length: u32) -> String {
    format!("has bits set behind the prefix: did you mean '{network}/{length}'?")
}

/// `aa:bb:cc:dd:ee:ff`, or the same with `-`.
pub(super) fn mac(text: &str) -> Option<[u8; 6]> {
    let separator = if text.contains('-') { '-' } else { ':' };
    let mut mac = [0; 6];
    let mut parts = text.split(separator);
    for byte in &mut mac {
        let part = parts.next().filter(|p| p.len() == 2)?;
        *byte = hex_byte(part.as_bytes())?;
    }
    parts.next().is_none().then_some(mac)
}

/// `00112233-4455-6677-8899-aabbccddeeff`, or the same without `-`.
pub(super) fn uuid(text: &str) -> Option<[u8; 16]> {
    let mut digits = text.to_owned();
    if text.len() == 36 {
        let dash = |&i: &usize| text.as_bytes().get(i) == Some(&b'-');
        if ![8, 13, 18, 23].iter().all(dash) {
            return None;
        }
        digits.retain(|c| c != '-');
    }
    hex(&digits)?.try_into().ok()
}

/// Bytes of an even number of hexadecimal digits.
pub(super) fn hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.as_bytes().chunks_exact(2).map(hex_byte).collect()
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let &[high, low] = digits else { return None };
    let digit = |b: u8| char::from(b).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}
