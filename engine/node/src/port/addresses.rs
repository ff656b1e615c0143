//! Addresses that a raw port owns: who they are, and which sources cannot be anybody's.
//!
//! Hot path: no allocation; at most `ADDRESSES_MAX` compares.
//!
//! A source of another network is answered, to the link-layer address that it came by: the last
//! router's. Who forges sources gains nothing, since no reply is longer than its request.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::config::PortAddress;
use crate::networks::bits;

/// Addresses of a port, and its link-layer address.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    mac: [u8; 6],
    list: Vec<PortAddress>,
    /// The same as numbers, IPv4 as mapped ones.
    bits: Vec<u128>,
}

impl Addresses {
    /// `configured`, and the link-local IPv6 address where there is IPv6, none of its kind is
    /// configured and room is left: neighbours ask from theirs.
    pub(crate) fn new(configured: &[PortAddress], mac: [u8; 6]) -> Self {
        let mut list: Vec<_> = configured.iter().copied().take(ADDRESSES_MAX).collect();
        let v6 = || {
            configured
                .iter()
                .filter_map(|a| if let IpAddr::V6(ip) = a.ip { Some(ip) } else { None })
        };
        if v6().next().is_some()
            && !v6().any(|ip| ip.is_unicast_link_local())
            && list.len() < ADDRESSES_MAX
        {
            list.push(PortAddress { ip: link_local(mac).into(), prefix: 64 });
        }
        Addresses { mac, bits: list.iter().map(|address| bits(address.ip)).collect(), list }
    }

    /// The link-layer address.
    pub(crate) fn mac(&self) -> [u8; 6] {
        self.mac
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = PortAddress> + '_ {
        self.list.iter().copied()
    }

    /// Whether the address is the port's own; IPv4 as a mapped one.
    pub(crate) fn owns(&self, address: u128) -> bool {
        self.bits.contains(&address)
    }

    /// Whether it is the group that neighbours ask for an own IPv6 address in.
    pub(crate) fn is_solicited(&self, address: u128) -> bool {
        address >> 24 == SOLICITED
            && self
                .list
                .iter()
                .zip(&self.bits)
                .any(|(own, bits)| own.ip.is_ipv6() && bits & 0xff_ffff == address & 0xff_ffff)
    }

    /// Whether something may be answered to this address: one host's, not ours, reachable.
    pub(crate) fn may_ask(&self, source: u128) -> bool {
        let source = Ipv6Addr::from_bits(source).to_canonical();
        let is_host = match source {
            IpAddr::V4(ip) => {
                let is_nobody = ip.is_unspecified() || ip.is_loopback() || ip.is_multicast();
                // 240.0.0.0/4 is kept free, and its last address is the broadcast.
                !is_nobody && ip.octets()[0] < 240 && !self.is_broadcast(ip)
            }
            IpAddr::V6(ip) => !(ip.is_unspecified() || ip.is_loopback() || ip.is_multicast()),
        };
        is_host && !self.owns(bits(source))
    }

    fn is_broadcast(&self, ip: Ipv4Addr) -> bool {
        self.list.iter().any(|own| is_broadcast_of(own, ip))
    }
}

/// Whether `ip` means all hosts of the network of `own`, or none of them.
fn is_broadcast_of(own: &PortAddress, ip: Ipv4Addr) -> bool {
    let IpAddr::V4(own_ip) = own.ip else { return false };
    // Networks of two addresses and of one have no broadcast (RFC 3021).
    if own.prefix >= 31 {
        return false;
    }
    let hosts = u32::MAX >> own.prefix;
    let differ = own_ip.to_bits() ^ ip.to_bits();
    differ & !hosts == 0 && (ip.to_bits() & hosts == hosts || ip.to_bits() & hosts == 0)
}

/// The link-local address that belongs to a link-layer address (RFC 4291, appendix A).
fn link_local([a, b, c, d, e, f]: [u8; 6]) -> Ipv6Addr {
    let group = u16::from_be_bytes;
    let [hosts, middle, low, last] =
        [group([a ^ 2, b]), group([c, 0xff]), group([0xfe, d]), group([e, f])];
    Ipv6Addr::new(0xfe80, 0, 0, 0, hosts, middle, low, last)
}

/// Most addresses of a port: what the slow path has room for.
pub(crate) const ADDRESSES_MAX: usize = 8;
/// ff02::1:ff00:0/104, without the 24 bits behind it.
const SOLICITED: u128 = 0xff02_0000_0000_0000_0000_0001_ff00_0000 >> 24;

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(list: &[&str]) -> Addresses {
        let parsed = list.iter().map(|text| {
            let (ip, prefix) = text.split_once('/').unwrap();
            PortAddress { ip: ip.parse().unwrap(), prefix: prefix.parse().unwrap() }
        });
        Addresses::new(&parsed.collect::<Vec<_>>(), [0x02, 0, 0, 0xaa, 0xbb, 0x01])
    }

    fn bits_of(text: &str) -> u128 {
        bits(text.parse().unwrap())
    }

    #[test]
    fn the_link_local_address_is_owned_where_there_is_ipv6() {
        let both = addresses(&["10.99.0.1/24", "2001:db8::1/64"]);
        for (address, owned) in [
            ("10.99.0.1", true),
            ("10.99.0.2", false),
            ("2001:db8::1", true),
            ("fe80::ff:feaa:bb01", true),
            ("fe80::1", false),
        ] {
            assert_eq!(both.owns(bits_of(address)), owned, "{address}");
        }
        assert!(!addresses(&["10.99.0.1/24"]).owns(bits_of("fe80::ff:feaa:bb01")));
        assert!(!addresses(&["fe80::7/64"]).owns(bits_of("fe80::ff:feaa:bb01")));
    }

    #[test]
    fn only_one_hosts_address_that_is_not_ours_may_ask() {
        let own = addresses(&["10.99.0.1/24", "10.98.0.0/31", "2001:db8::1/64"]);
        for (source, may) in [
            ("10.99.0.2", true),
            ("192.0.2.7", true),
            ("2001:db8::2", true),
            ("fe80::1", true),
            ("10.98.0.1", true),
            ("10.99.0.1", false),
            ("10.98.0.0", false),
            ("2001:db8::1", false),
            ("10.99.0.255", false),
            ("10.99.0.0", false),
            ("255.255.255.255", false),
            ("224.0.0.1", false),
            ("240.0.0.1", false),
            ("0.0.0.0", false),
            ("127.0.0.1", false),
            ("::1", false),
            ("::", false),
            ("ff02::1", false),
        ] {
            assert_eq!(own.may_ask(bits_of(source)), may, "{source}");
        }
    }

    #[test]
    fn only_the_groups_of_own_ipv6_addresses_are_solicited() {
        let own = addresses(&["10.99.0.1/24", "2001:db8::12:3456/64"]);
        for (group, is) in [
            ("ff02::1:ff12:3456", true),
            ("ff02::1:ffaa:bb01", true),
            ("ff02::1:ff12:3457", false),
            ("ff02::1:ff63:1", false),
            ("ff02::1", false),
            ("ff05::1:ff12:3456", false),
        ] {
            assert_eq!(own.is_solicited(bits_of(group)), is, "{group}");
        }
    }
}
