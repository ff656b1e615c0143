//! Reads and shows settings of the link.

use std::net::IpAddr;
use std::path::Path;

use bloomrf_netio::LinkSpec;
use bloomrf_netio::link::LinkKind;

use super::{address, join};
use crate::config::link::PortAddress;
use crate::config::value::{self, Expected};

/// A link; a capture's relative path counts from the folder `base`.
pub(in crate::config) fn link(text: &str, base: &Path) -> Result<LinkSpec, Expected> {
    let mut spec: LinkSpec =
        text.parse().map_err(|e: bloomrf_netio::link::SpecError| e.expected)?;
    if spec.kind == LinkKind::Pcap {
        spec.argument = base.join(&spec.argument).display().to_string();
    }
    Ok(spec)
}

/// One of a few values by name.
pub(in crate::config) fn choice<T: Copy>(
    text: &str,
    names: &[(&'static str, T)],
) -> Result<T, Expected> {
    let found = names.iter().find(|(name, _)| *name == text.trim());
    found.map(|(_, value)| *value).ok_or_else(|| {
        let all: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        format!("expected {}", all.join(" or "))
    })
}

/// The name of one of a few values.
pub(in crate::config) fn name_of<T: PartialEq>(
    value: T,
    names: &[(&'static str, T)],
) -> &'static str {
    names.iter().find(|(_, one)| *one == value).map_or("", |(name, _)| name)
}

/// Most addresses of a raw port.
const PORT_ADDRESSES_MAX: usize = 8;

pub(in crate::config) fn port_addresses(text: &str) -> Result<Vec<PortAddress>, Expected> {
    let addresses = value::list(text, |part| {
        port_address(part).ok_or_else(|| {
            format!(
                "expected addresses of one host with prefix length, such as 10.0.0.5/24, and \
                 {part:?} is none"
            )
        })
    })?;
    if addresses.len() > PORT_ADDRESSES_MAX {
        return Err(format!("expected at most {PORT_ADDRESSES_MAX} addresses"));
    }
    let needs_link_local =
        addresses.iter().any(|a| a.ip.is_ipv6()) && !addresses.iter().any(is_link_local);
    if needs_link_local && addresses.len() == PORT_ADDRESSES_MAX {
        return Err(format!(
            "expected at most {} addresses where one is IPv6: its link-local one is the {}th",
            PORT_ADDRESSES_MAX - 1,
            PORT_ADDRESSES_MAX
        ));
    }
    for (i, one) in addresses.iter().enumerate() {
        if addresses.iter().take(i).any(|other| other.ip == one.ip) {
            return Err(format!("{} is named twice", one.ip));
        }
    }
    Ok(addresses)
}

fn port_address(text: &str) -> Option<PortAddress> {
    let (ip, prefix) = text.split_once('/')?;
    let ip: IpAddr = ip.parse().ok()?;
    let prefix = prefix.bytes().all(|b| b.is_ascii_digit()).then(|| prefix.parse().ok())??;
    let width = if ip.is_ipv4() { 32 } else { 128 };
    let one = PortAddress { ip, prefix };
    let host = !ip.is_unspecified() && !ip.is_multicast() && !ip.is_loopback();
    (host && (1..=width).contains(&prefix) && !one.is_nobodys()).then_some(one)
}

fn is_link_local(address: &PortAddress) -> bool {
    matches!(address.ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
}

pub(in crate::config) fn gateways(text: &str) -> Result<Vec<IpAddr>, Expected> {
    if text.trim() == "none" {
        return Ok(Vec::new());
    }
    let gateways = value::list(text, address)?;
    let ipv4 = gateways.iter().filter(|g| g.is_ipv4()).count();
    if gateways.is_empty() || ipv4 > 1 || gateways.len() - ipv4 > 1 {
        return Err("expected none, or one address, or one of each family".to_owned());
    }
    Ok(gateways)
}

pub(in crate::config) fn none_or_list<T: ToString>(values: &[T]) -> String {
    if values.is_empty() { "none".to_owned() } else { join(values) }
}

/// Longest text of EAL arguments, bytes.
const DPDK_ARGS_BYTES_MAX: usize = 1_024;

pub(in crate::config) fn dpdk_args(text: &str) -> Result<Vec<String>, Expected> {
    if text.len() > DPDK_ARGS_BYTES_MAX || text.chars().any(char::is_control) {
        let most = DPDK_ARGS_BYTES_MAX;
        return Err(format!("expected at most {most} bytes without control characters"));
    }
    Ok(text.split_whitespace().map(str::to_owned).collect())
}
