//! The slow path: a small TCP/IP stack (`smoltcp`) that answers ARP, neighbour discovery and pings
//! of own addresses, and carries lookups over TCP.
//!
//! Hot path: not the UDP one. Bounded: one frame per call, sockets and buffers fixed at start. A
//! mistake inside the stack costs its connections, nobody else anything: it is made anew.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpCidr};

use super::Addresses;
use super::seats::Seats;
use super::wire::{Turn, Wire};
use crate::respond::Answerer;
use crate::shared::Shared;

/// The stack of one port.
pub(super) struct Stack {
    settings: Settings,
    interface: Interface,
    sockets: SocketSet<'static>,
    seats: Seats,
    /// When it must turn again, nanoseconds.
    due_ns: u64,
}

/// What a stack is made of.
struct Settings {
    own: Addresses,
    gateways: Vec<IpAddr>,
    lookup_port: u16,
    verify: bool,
}

impl Stack {
    /// With all memory that it will ever use.
    pub(super) fn new(shared: &Shared, own: Addresses, lookup_port: u16, wire: &mut Wire) -> Self {
        let link = &shared.config.link;
        let verify = link.checksums == crate::config::Checksums::Verify;
        let settings = Settings { own, gateways: link.gateways.clone(), lookup_port, verify };
        let now = instant(shared.clock.now_ns());
        let interface = settings.interface(wire, now);
        let mut sockets = SocketSet::new(Vec::new());
        let seats = Seats::new(&mut sockets, lookup_port);
        Stack { settings, interface, sockets, seats, due_ns: 0 }
    }

    /// Whether a connection from there exists, or is about to.
    pub(super) fn knows(&self, source: IpAddr, port: u16) -> bool {
        self.seats.knows(&self.sockets, source, port)
    }

    /// Takes one frame, without tag.
    pub(super) fn take(&mut self, frame: &[u8], wire: &mut Wire, shared: &Shared) {
        let now_ns = shared.clock.now_ns();
        let verify = self.settings.verify;
        let taken = catch_unwind(AssertUnwindSafe(|| {
            let mut turn = Turn { frame: Some(frame), wire, verify };
            self.interface.poll_ingress_single(instant(now_ns), &mut turn, &mut self.sockets);
            // Whoever comes next finds somebody listening.
            if self.seats.make_room(&mut self.sockets, shared) {
                turn.frame = None;
                self.interface.poll_egress(instant(now_ns), &mut turn, &mut self.sockets);
                self.seats.listen(&mut self.sockets);
            }
        }));
        if taken.is_err() {
            self.begin_anew(wire, shared);
        }
        self.due_ns = 0;
    }

    /// When it must turn again, nanoseconds.
    pub(super) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Serves connections, at most one question of them, and sends what there is to send.
    pub(super) fn turn(&mut self, wire: &mut Wire, answerer: &mut Answerer, shared: &Shared) {
        let now_ns = shared.clock.now_ns();
        let verify = self.settings.verify;
        let turned = catch_unwind(AssertUnwindSafe(|| {
            let more = self.seats.serve(&mut self.sockets, answerer, shared, now_ns);
            let mut turn = Turn { frame: None, wire, verify };
            self.interface.poll_egress(instant(now_ns), &mut turn, &mut self.sockets);
            self.seats.listen(&mut self.sockets);
            if more {
                return now_ns;
            }
            let delay = self.interface.poll_delay(instant(now_ns), &self.sockets);
            let delay = delay.map_or(DELAY_MAX, Duration::from).min(DELAY_MAX);
            // Never at once: what waits for a neighbour's answer would turn and turn.
            now_ns + u64::try_from(delay.max(DELAY_MIN).as_nanos()).unwrap_or(0)
        }));
        match turned {
            Ok(due_ns) => self.due_ns = due_ns.min(self.seats.deadline_ns().max(now_ns)),
            Err(_) => self.begin_anew(wire, shared),
        }
    }

    #[cold]
    fn begin_anew(&mut self, wire: &mut Wire, shared: &Shared) {
        tracing::error!("the stack of the port failed and begins anew: a defect, please report");
        let now = instant(shared.clock.now_ns());
        self.interface = self.settings.interface(wire, now);
        self.sockets = SocketSet::new(Vec::new());
        self.seats.end(shared);
        self.seats = Seats::new(&mut self.sockets, self.settings.lookup_port);
        self.due_ns = 0;
    }
}

impl Settings {
    fn interface(&self, wire: &mut Wire, now: Instant) -> Interface {
        let mac = EthernetAddress(self.own.mac());
        let mut config = Config::new(HardwareAddress::Ethernet(mac));
        // Sequence numbers of connections are nobody's to guess.
        config.random_seed = RandomState::new().hash_one(0);
        let mut turn = Turn { frame: None, wire, verify: self.verify };
        let mut interface = Interface::new(config, &mut turn, now);
        interface.update_ip_addrs(|list| {
            for own in self.own.iter() {
                // There is room for as many as `Addresses` holds.
                let _ = list.push(IpCidr::new(own.ip.into(), own.prefix));
            }
        });
        for gateway in &self.gateways {
            let routes = interface.routes_mut();
            // One of each family at most: there is room for them.
            let _ = match *gateway {
                IpAddr::V4(ip) => routes.add_default_ipv4_route(ip),
                IpAddr::V6(ip) => routes.add_default_ipv6_route(ip),
            };
        }
        interface
    }
}

fn instant(now_ns: u64) -> Instant {
    Instant::from_micros(i64::try_from(now_ns / 1_000).unwrap_or(i64::MAX))
}

/// Shortest and longest time between two turns without a frame.
const DELAY_MIN: Duration = Duration::from_micros(200);
const DELAY_MAX: Duration = Duration::from_millis(100);
