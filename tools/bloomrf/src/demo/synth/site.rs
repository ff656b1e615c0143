//! Who talks to whom: clients in a few subnets, servers near and far, services.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::packets::Endpoint;
use super::{Chance, HOUR_NS};
use crate::demo::chance::Zipf;

/// A machine.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    mac: [u8; 6],
    v4: Ipv4Addr,
    v6: Ipv6Addr,
    pub(super) vlan: Option<u16>,
    /// When it is in use: start and length, nanoseconds.
    sessions: Vec<(u64, u64)>,
}

/// A service, by its well-known port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    Dns,
    Tls,
    Http,
    Ssh,
    Smb,
    Ntp,
}

/// The site and the world around it.
#[derive(Debug)]
pub(super) struct Site {
    clients: Vec<Machine>,
    client_rank: Zipf,
    inside: Vec<Machine>,
    outside: Vec<Machine>,
    outside_rank: Zipf,
    gateway_mac: [u8; 6],
}

impl Site {
    pub(super) fn new(chance: &mut Chance) -> Self {
        let gateway_mac = mac([0x00, 0x1b, 0x17], chance);
        let clients = (0..CLIENTS).map(|i| client(i, chance)).collect();
        let inside = (0..SERVERS_INSIDE).map(|i| server_inside(i, chance)).collect();
        let outside = (0..SERVERS_OUTSIDE).map(|_| server_outside(gateway_mac, chance)).collect();
        Site {
            clients,
            client_rank: Zipf::new(CLIENTS as usize, 0.6),
            inside,
            outside,
            outside_rank: Zipf::new(SERVERS_OUTSIDE as usize, 1.05),
            gateway_mac,
        }
    }

    pub(super) fn client(&self, chance: &mut Chance) -> &Machine {
        &self.clients[self.client_rank.draw(chance)]
    }

    /// A service and a machine that offers it.
    pub(super) fn server(&self, chance: &mut Chance) -> (Service, &Machine) {
        let service = match chance.below(100) {
            0..40 => Service::Dns,
            40..72 => Service::Tls,
            72..82 => Service::Http,
            82..87 => Service::Ssh,
            87..95 => Service::Smb,
            _ => Service::Ntp,
        };
        let inside = |first: usize, count: u64, chance: &mut Chance| {
            &self.inside[first + chance.below(count) as usize]
        };
        let machine = match service {
            Service::Dns => inside(0, 2, chance),
            Service::Ntp => inside(2, 1, chance),
            Service::Smb => inside(3, 4, chance),
            Service::Ssh => inside(7, 17, chance),
            Service::Tls | Service::Http => &self.outside[self.outside_rank.draw(chance)],
        };
        (service, machine)
    }

    /// Somebody from outside whom nobody asked.
    pub(super) fn stranger(&self, chance: &mut Chance) -> Machine {
        server_outside(self.gateway_mac, chance)
    }

    /// Another address in the /24 of `machine`.
    pub(super) fn neighbour(&self, machine: &Machine, host: u8) -> IpAddr {
        let [a, b, c, _] = machine.v4.octets();
        Ipv4Addr::new(a, b, c, host).into()
    }
}

impl Machine {
    pub(super) fn endpoint(&self, v6: bool, port: u16) -> Endpoint {
        let ip = if v6 { self.v6.into() } else { self.v4.into() };
        Endpoint { mac: self.mac, ip, port }
    }

    /// A moment within one of its sessions, nanoseconds from the start.
    pub(super) fn active_at(&self, chance: &mut Chance) -> Option<i64> {
        let &(start, length) = chance.pick(&self.sessions)?;
        Some((start + chance.below(length)) as i64)
    }
}

impl Service {
    pub(super) fn port(self) -> u16 {
        match self {
            Service::Dns => 53,
            Service::Tls => 443,
            Service::Http => 80,
            Service::Ssh => 22,
            Service::Smb => 445,
            Service::Ntp => 123,
        }
    }

    pub(super) fn is_udp(self) -> bool {
        matches!(self, Service::Dns | Service::Ntp)
    }

    pub(super) fn may_be_v6(self) -> bool {
        matches!(self, Service::Dns | Service::Tls | Service::Http)
    }

    /// Questions and answers in one flow: mostly few, sometimes many.
    pub(super) fn exchanges(self, chance: &mut Chance) -> u64 {
        let tail = |chance: &mut Chance, most: f64| {
            (1.0 / (1.0 - chance.unit()).powf(0.75)).min(most) as u64
        };
        match self {
            Service::Dns => 1 + u64::from(chance.percent(15)),
            Service::Ntp => 1,
            Service::Http => 1 + tail(chance, 30.0),
            Service::Tls => 2 + tail(chance, 120.0),
            Service::Ssh => 4 + tail(chance, 200.0),
            Service::Smb => 3 + tail(chance, 80.0),
        }
    }

    /// Bytes of one segment from the server.
    pub(super) fn segment(self, chance: &mut Chance) -> u16 {
        match self {
            Service::Ssh => chance.between(36, 260) as u16,
            _ if chance.percent(55) => 1_448,
            _ => chance.between(60, 1_447) as u16,
        }
    }

    /// Longest pause between exchanges.
    pub(super) fn think_ns(self) -> u64 {
        match self {
            Service::Ssh => 4_000_000_000,
            _ => 600_000_000,
        }
    }
}

/// Six subnets of clients, three of them on VLANs of their own.
fn client(index: u64, chance: &mut Chance) -> Machine {
    let subnet = index % SUBNETS;
    let host = 10 + index / SUBNETS;
    let sessions = (0..chance.between(1, 3)).map(|_| {
        let length = chance.between(60, 900) * SECOND_NS;
        (chance.below(HOUR_NS - length), length)
    });
    Machine {
        sessions: sessions.collect(),
        mac: mac([0x3c, 0x52, 0x82], chance),
        v4: Ipv4Addr::new(10, 20, (subnet * 4) as u8, host as u8),
        v6: Ipv6Addr::new(0x2001, 0xdb8, 0x20, subnet as u16, 0, 0, 0x100, host as u16),
        vlan: (subnet >= 3).then_some(100 + subnet as u16 * 10),
    }
}

fn server_inside(index: u64, chance: &mut Chance) -> Machine {
    Machine {
        mac: mac([0x00, 0x50, 0x56], chance),
        v4: Ipv4Addr::new(192, 168, (index / 16) as u8, 10 + (index % 16) as u8),
        v6: Ipv6Addr::new(0x2001, 0xdb8, 0x1, 0, 0, 0, 0, 0x10 + index as u16),
        vlan: None,
        sessions: vec![(0, HOUR_NS)],
    }
}

/// Behind the gateway: its MAC, an address in one of ten large networks.
fn server_outside(gateway_mac: [u8; 6], chance: &mut Chance) -> Machine {
    let [a, b, c, d] = [(); 4].map(|()| chance.between(1, 254) as u8);
    let first = [23, 34, 52, 81, 104, 142, 151, 185, 203, 217][usize::from(a % 10)];
    let low = chance.next_u64();
    Machine {
        mac: gateway_mac,
        v4: Ipv4Addr::new(first, b, c, d),
        v6: Ipv6Addr::new(0x2a00, u16::from(b) << 8, u16::from(c), 0, 0, 0, 0, low as u16),
        vlan: None,
        sessions: vec![(0, HOUR_NS)],
    }
}

fn mac(vendor: [u8; 3], chance: &mut Chance) -> [u8; 6] {
    let [a, b, c, ..] = chance.next_u64().to_le_bytes();
    [vendor[0], vendor[1], vendor[2], a, b, c]
}

const CLIENTS: u64 = 240;
const SUBNETS: u64 = 6;
const SERVERS_INSIDE: u64 = 24;
const SERVERS_OUTSIDE: u64 = 600;
const SECOND_NS: u64 = 1_000_000_000;
