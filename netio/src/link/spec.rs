//! Which link a configuration names: `udp`, or `kind:argument`.
//!
//! Hot path: not on it.

use std::fmt;
use std::str::FromStr;

/// Kind of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Sockets: [`super::udp`].
    Udp,
    /// A ring shared with the kernel; the argument names the interface.
    AfPacket,
    /// A poll-mode port; the argument is a device of DPDK, with its options.
    Dpdk,
    /// Replay of a capture; the argument names the file, options follow behind commas.
    Pcap,
}

impl LinkKind {
    /// All of them.
    pub const ALL: [LinkKind; 4] =
        [LinkKind::Udp, LinkKind::AfPacket, LinkKind::Dpdk, LinkKind::Pcap];

    /// Its name in a configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LinkKind::Udp => "udp",
            LinkKind::AfPacket => "af_packet",
            LinkKind::Dpdk => "dpdk",
            LinkKind::Pcap => "pcap",
        }
    }

    /// What its argument is, for messages; `None` where it takes none.
    fn argument(self) -> Option<&'static str> {
        match self {
            LinkKind::Udp => None,
            LinkKind::AfPacket => Some("an interface, like af_packet:eth1"),
            LinkKind::Dpdk => Some("a device, like dpdk:0000:03:00.0 or dpdk:net_null0"),
            LinkKind::Pcap => Some("a capture file, like pcap:day.pcap,loop"),
        }
    }
}

/// A link as a configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    /// Which.
    pub kind: LinkKind,
    /// The rest, for the link itself to read.
    pub argument: String,
}

impl LinkSpec {
    /// Sockets.
    #[must_use]
    pub fn udp() -> Self {
        LinkSpec { kind: LinkKind::Udp, argument: String::new() }
    }
}

/// Left out for what was measured: docs/OPERATIONS.md has the figures.
const NO_AF_XDP: &str = "there is no link of our own for AF_XDP, since a TPACKET_V3 ring costs no \
    more per frame: take af_packet:eth1, or AF_XDP by DPDK as dpdk:net_af_xdp0,iface=eth1";

/// Why a text names no link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no link: {expected}")]
pub struct SpecError {
    /// What was read.
    pub text: String,
    /// What would have been right.
    pub expected: String,
}

impl FromStr for LinkSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let text = text.trim();
        let (name, argument) = text.split_once(':').map_or((text, ""), |(name, rest)| (name, rest));
        let error = |expected: String| SpecError { text: text.to_owned(), expected };
        let kind = LinkKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            if name == "af_xdp" {
                return error(NO_AF_XDP.into());
            }
            let names = LinkKind::ALL.map(LinkKind::name).join(", ");
            error(format!("expected one of {names}, with its argument behind a colon"))
        })?;
        match kind.argument() {
            Some(what) if argument.is_empty() => Err(error(format!("{name} needs {what}"))),
            None if text.contains(':') => Err(error(format!("{name} takes no argument"))),
            _ => Ok(LinkSpec { kind, argument: argument.to_owned() }),
        }
    }
}

impl fmt::Display for LinkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.argument.as_str() {
            "" => f.write_str(self.kind.name()),
            argument => write!(f, "{}:{argument}", self.kind.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_reads_back_as_it_is_shown() {
        for text in ["udp", "af_packet:eth1", "dpdk:0000:03:00.0", "pcap:/tmp/a:b.pcap,loop"] {
            assert_eq!(text.parse::<LinkSpec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_link_is_named_with_what_would_be() {
        for (text, expected) in [
            ("", "`` is no link: expected one of udp, af_packet, dpdk, pcap"),
            ("tcp:1", "`tcp:1` is no link: expected one of"),
            ("af_xdp", "take af_packet:eth1, or AF_XDP by DPDK as dpdk:net_af_xdp0"),
            ("af_xdp:eth1", "a TPACKET_V3 ring costs no more per frame"),
            ("udp:", "udp takes no argument"),
            ("udp:6987", "udp takes no argument"),
            ("af_packet", "af_packet needs an interface"),
            ("dpdk:", "dpdk needs a device"),
        ] {
            let error = text.parse::<LinkSpec>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
