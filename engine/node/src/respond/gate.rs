//! Who is answered at all: looked at before a byte of the question is.
//!
//! Hot path: no allocation, no lock; a few compares and one hash per datagram.

use std::net::{IpAddr, SocketAddr};

use super::rate::RateSketch;
use crate::config::Config;
use crate::metrics::LookupRefusal;
use crate::networks::{Networks, bits};

/// The gate of one responder thread.
pub(super) struct Gate {
    allow: Networks,
    rate: Option<RateSketch>,
}

impl Gate {
    pub(super) fn new(config: &Config) -> Self {
        Gate { allow: config.lookup_allow.clone(), rate: RateSketch::new(config.lookup_rate) }
    }

    /// Whether `source` is on the allow-list; nothing is charged.
    pub(super) fn is_allowed(&self, source: IpAddr) -> bool {
        self.allow.allow(bits(source))
    }

    /// Whether a question of `source` is heard; it is charged to its network.
    pub(super) fn admit(&mut self, source: IpAddr, now_ns: u64) -> Result<(), LookupRefusal> {
        if !self.is_allowed(source) {
            return Err(LookupRefusal::NotAllowed);
        }
        let admitted = self.rate.as_mut().is_none_or(|rate| rate.admit(source, now_ns));
        if admitted { Ok(()) } else { Err(LookupRefusal::Rate) }
    }
}

/// Whether a source may get a reply: two nodes must not talk to each other for ever, and a forged
/// source must not make us shout at a whole network.
pub(super) fn may_answer(source: SocketAddr, own_port: u16) -> bool {
    let unicast = match source.ip().to_canonical() {
        IpAddr::V4(ip) => !ip.is_broadcast() && !ip.is_multicast() && !ip.is_unspecified(),
        IpAddr::V6(ip) => !ip.is_multicast() && !ip.is_unspecified(),
    };
    unicast && source.port() != 0 && source.port() != own_port
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unicast_sources_with_a_port_of_their_own_are_answered() {
        for (source, allowed) in [
            ("10.0.0.1:5000", true),
            ("[fe80::1]:5000", true),
            ("10.0.0.1:6997", false),
            ("10.0.0.1:0", false),
            ("0.0.0.0:5000", false),
            ("255.255.255.255:5000", false),
            ("239.1.2.3:5000", false),
            ("[ff02::1]:5000", false),
            ("[::]:5000", false),
            ("[::ffff:255.255.255.255]:5000", false),
        ] {
            assert_eq!(may_answer(source.parse().unwrap(), 6_997), allowed, "{source}");
        }
    }

    #[test]
    fn a_source_that_is_not_allowed_is_not_charged_and_one_that_asks_too_much_waits() {
        let config = Config {
            lookup_allow: Networks::parse("10.0.0.0/8").unwrap(),
            lookup_rate: 1,
            ..Config::default()
        };
        let mut gate = Gate::new(&config);
        let (ours, theirs) = ("10.0.0.1".parse().unwrap(), "11.0.0.1".parse().unwrap());
        for _ in 0..3 {
            assert_eq!(gate.admit(theirs, 1), Err(LookupRefusal::NotAllowed));
        }
        assert_eq!(gate.admit(ours, 1), Ok(()));
        assert_eq!(gate.admit(ours, 2), Err(LookupRefusal::Rate));
        assert_eq!(gate.admit(ours, 1_000_000_002), Ok(()));
    }
}
