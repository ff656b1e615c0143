//! Allow-lists of sources: IPv4 and IPv6 networks, compared as one 128-bit number.
//!
//! Hot path: no allocation; one mask and compare per network, of which there are at most
//! `NETWORKS_MAX`. An IPv4 address is its IPv4-mapped IPv6 one, however a socket shows it.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use bloomrf_engine::limits::NETWORKS_MAX;

/// Networks from which something is allowed. None: from everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks {
    networks: Vec<Network>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: u128,
    mask: u128,
    is_ipv4: bool,
}

/// An address as networks are compared with it.
#[must_use]
pub(crate) fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().to_bits(),
        IpAddr::V6(ip) => ip.to_bits(),
    }
}

impl Networks {
    /// Reads `any`, or networks with commas between: `10.0.0.0/8`, `fd00::/8`, `192.0.2.1`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.trim() == "any" {
            return Ok(Networks::default());
        }
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if parts.len() > NETWORKS_MAX {
            return Err(format!("expected at most {NETWORKS_MAX} networks"));
        }
        let networks = parts.iter().map(|part| {
            network(part).ok_or_else(|| {
                format!(
                    "expected any, or networks such as 10.0.0.0/8 or fd00::/8 without bits past \
                     their prefix, and {part:?} is none"
                )
            })
        });
        Ok(Networks { networks: networks.collect::<Result<_, _>>()? })
    }

    /// Whether everything is allowed.
    #[must_use]
    pub(crate) fn are_any(&self) -> bool {
        self.networks.is_empty()
    }

    /// Whether an address, as [`bits`] shows it, is allowed.
    #[inline]
    #[must_use]
    pub(crate) fn allow(&self, address: u128) -> bool {
        self.are_any() || self.networks.iter().any(|n| address & n.mask == n.address)
    }
}

fn network(text: &str) -> Option<Network> {
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) if prefix.bytes().all(|b| b.is_ascii_digit()) => {
            (address, Some(prefix.parse::<u32>().ok()?))
        }
        Some(_) => return None,
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let (is_ipv4, width) = (address.is_ipv4(), if address.is_ipv4() { 32 } else { 128 });
    let prefix = prefix.unwrap_or(width);
    let past = width.checked_sub(prefix)?;
    let mask = u128::MAX.checked_shl(past).unwrap_or(0);
    let address = bits(address);
    let mapped = Network { address, mask, is_ipv4 };
    // Of an IPv4 network of prefix 0, the mask still says "IPv4".
    (address & mask == address).then_some(mapped)
}

impl fmt::Display for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.are_any() {
            return f.write_str("any");
        }
        for (i, n) in self.networks.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let (ip, prefix) = (Ipv6Addr::from_bits(n.address), n.mask.count_ones());
            match ip.to_ipv4_mapped().filter(|_| n.is_ipv4) {
                Some(ip) => write!(f, "{comma}{ip}/{}", prefix - 96)?,
                None => write!(f, "{comma}{ip}/{prefix}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(networks: &str, address: &str) -> bool {
        Networks::parse(networks).unwrap().allow(bits(address.parse().unwrap()))
    }

    #[test]
    fn an_address_is_allowed_within_its_networks_and_not_beside_them() {
        for (networks, address, allowed) in [
            ("any", "192.0.2.1", true),
            ("10.0.0.0/8", "10.255.255.255", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true),
            ("10.0.0.0/8", "a00::1", false),
            ("0.0.0.0/0", "255.255.255.255", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("::/0", "192.0.2.1", true),
            ("::/0", "2001:db8::1", true),
            ("fd00::/8, 192.0.2.1", "fdff::1", true),
            ("fd00::/8, 192.0.2.1", "fe00::1", false),
            ("fd00::/8, 192.0.2.1", "192.0.2.1", true),
            ("fd00::/8, 192.0.2.1", "192.0.2.2", false),
            ("::1", "::1", true),
            ("::1/128", "::2", false),
        ] {
            assert_eq!(allows(networks, address), allowed, "{address} of {networks}");
        }
    }

    #[test]
    fn what_is_no_network_is_refused_by_name() {
        for text in
            ["", ",", "10.0.0.0/8,", "10.0.0.0/33", "::/129", "10.0.0.1/8", "ten", "10.0.0.0/+8"]
        {
            assert!(Networks::parse(text).is_err(), "{text:?}");
        }
        let one_more = vec!["10.0.0.1"; NETWORKS_MAX + 1].join(",");
        assert!(Networks::parse(&one_more).unwrap_err().contains("256"));
        let most = vec!["10.0.0.1"; NETWORKS_MAX].join(",");
        assert!(Networks::parse(&most).is_ok());
    }

    #[test]
    fn what_is_shown_reads_back() {
        for text in ["any", "10.0.0.0/8", "0.0.0.0/0,::/0", "192.0.2.1/32,fd00::/8,::1/128"] {
            let networks = Networks::parse(text).unwrap();
            assert_eq!(networks.to_string(), text);
            assert_eq!(Networks::parse(&networks.to_string()), Ok(networks));
        }
    }
}
