//! Claims about lookups over TCP, asked by a second stack.

use std::collections::VecDeque;

use bloomrf_engine::limits::{CANDIDATES_MAX, LOOKUP_CONNECTIONS_MAX, LOOKUP_SHORT_BYTES};
use bloomrf_engine::wire::lookup::{LookupReply, LookupStatus};
use smoltcp::iface::{Config as StackConfig, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr};

use super::*;

/// An asker with a stack of its own, wired to the port.
struct Asker {
    bench: Bench,
    interface: Interface,
    wires: Wires,
    sockets: SocketSet<'static>,
    next_port: u16,
}

#[derive(Default)]
struct Wires {
    to_asker: VecDeque<Vec<u8>>,
    to_port: VecDeque<Vec<u8>>,
}

struct Rx(Vec<u8>);
struct Tx<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Rx {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Tx<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let mut frame = vec![0; length];
        let made = f(&mut frame);
        self.0.push_back(frame);
        made
    }
}

impl Device for Wires {
    type RxToken<'a> = Rx;
    type TxToken<'a> = Tx<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Rx, Tx<'_>)> {
        let frame = self.to_asker.pop_front()?;
        Some((Rx(frame), Tx(&mut self.to_port)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Tx<'_>> {
        Some(Tx(&mut self.to_port))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = 1_514;
        capabilities
    }
}

impl Asker {
    fn new(bench: Bench) -> Self {
        let mut wires = Wires::default();
        let config = StackConfig::new(EthernetAddress(MAC).into());
        let mut interface = Interface::new(config, &mut wires, Instant::from_secs(1));
        interface.update_ip_addrs(|list| {
            list.push(IpCidr::new(IpAddress::from(std::net::IpAddr::from(IP)), 24)).unwrap();
            list.push(IpCidr::new(IpAddress::from(std::net::IpAddr::from(IP_6)), 64)).unwrap();
        });
        Asker { bench, interface, wires, sockets: SocketSet::new(vec![]), next_port: 50_000 }
    }

    /// A millisecond goes by on both sides.
    fn tick(&mut self) {
        self.bench.pass_ms(1);
        let now = Instant::from_micros((self.bench.now_ns() / 1_000) as i64);
        self.interface.poll(now, &mut self.wires, &mut self.sockets);
        while let Some(frame) = self.wires.to_port.pop_front() {
            let sent = self.bench.give(&frame);
            self.wires.to_asker.extend(sent);
        }
        let sent = self.bench.rest();
        self.wires.to_asker.extend(sent);
    }

    fn until(&mut self, what: &str, done: impl Fn(&mut Asker) -> bool) {
        for _ in 0..6_000 {
            if done(self) {
                return;
            }
            self.tick();
        }
        panic!("waited in vain for {what}");
    }

    fn dial(&mut self, target: std::net::IpAddr) -> SocketHandle {
        let buffer = || SocketBuffer::new(vec![0; 1 << 16]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_nagle_enabled(false);
        self.next_port += 1;
        let target = (IpAddress::from(target), LOOKUP);
        socket.connect(self.interface.context(), target, self.next_port).unwrap();
        self.sockets.add(socket)
    }

    fn connect(&mut self) -> SocketHandle {
        let handle = self.dial(OWN.into());
        self.until("a connection", |a| a.state(handle) == State::Established);
        handle
    }

    fn state(&self, handle: SocketHandle) -> State {
        self.sockets.get::<Socket<'_>>(handle).state()
    }

    fn socket(&mut self, handle: SocketHandle) -> &mut Socket<'static> {
        self.sockets.get_mut::<Socket<'_>>(handle)
    }

    fn write(&mut self, handle: SocketHandle, mut bytes: &[u8]) {
        for _ in 0..10_000 {
            let taken = self.socket(handle).send_slice(bytes).unwrap();
            bytes = &bytes[taken..];
            if bytes.is_empty() {
                return;
            }
            self.tick();
        }
        panic!("the port takes no bytes");
    }

    fn read(&mut self, handle: SocketHandle, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        let mut at = 0;
        while at < count {
            self.until("a reply", |a| a.socket(handle).can_recv());
            at += self.socket(handle).recv_slice(&mut bytes[at..]).unwrap();
        }
        bytes
    }

    fn ask(&mut self, handle: SocketHandle, message: &[u8]) -> LookupReply {
        self.write(handle, &framed(message));
        let prefix = self.read(handle, 4);
        let length = u32::from_le_bytes(prefix.try_into().unwrap()) as usize;
        let reply = self.read(handle, length);
        LookupReply::parse(&reply).unwrap()
    }

    fn open_connections(&self) -> i64 {
        self.bench.shared.metrics.lookup.connections.get()
    }
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u32).to_le_bytes(), message].concat()
}

/// A question with a list of this many ids, longer than a short message from some number on.
fn long_question(ids: u64) -> Vec<u8> {
    let mut request = LookupRequest::parse(&question(1, false)).unwrap();
    // Far apart, so that each takes several bytes.
    request.candidates = Candidates::List((0..ids).map(|id| id << 40).collect());
    let mut bytes = Vec::new();
    request.encode(&mut bytes, false);
    bytes
}

#[test]
fn lookups_over_tcp_are_answered_over_both_families_one_after_the_other() {
    for own in [std::net::IpAddr::from(OWN), OWN_6.into()] {
        let mut asker = Asker::new(Bench::new());
        let handle = asker.dial(own);
        asker.until("a connection", |a| a.state(handle) == State::Established);
        for candidates in [0, 1, 100, 11_000, CANDIDATES_MAX as u32] {
            let reply = asker.ask(handle, &question(candidates, false));
            assert_eq!((reply.status, reply.candidates), (LookupStatus::Ok, candidates));
        }
        assert_eq!(asker.open_connections(), 1);
        asker.socket(handle).close();
        asker.until("its end", |a| a.open_connections() == 0);
        let again = asker.connect();
        asker.ask(again, &question(1, false));
    }
}

#[test]
fn a_message_in_single_bytes_and_two_messages_in_one_piece_are_answered() {
    let mut asker = Asker::new(Bench::new());
    let handle = asker.connect();
    for byte in framed(&question(8, false)) {
        asker.write(handle, &[byte]);
        asker.tick();
    }
    let length = u32::from_le_bytes(asker.read(handle, 4).try_into().unwrap()) as usize;
    LookupReply::parse(&asker.read(handle, length)).unwrap();
    let both = [framed(&question(8, false)), framed(&question(9, false))].concat();
    asker.write(handle, &both);
    for candidates in [8, 9] {
        let length = u32::from_le_bytes(asker.read(handle, 4).try_into().unwrap()) as usize;
        let reply = LookupReply::parse(&asker.read(handle, length)).unwrap();
        assert_eq!(reply.candidates, candidates);
    }
}

#[test]
fn long_messages_are_read_few_at_a_time_and_all_answered() {
    let mut asker = Asker::new(Bench::new());
    let message = long_question(30_000);
    assert!(message.len() > 2 * LOOKUP_SHORT_BYTES, "{}", message.len());
    let handles: Vec<_> = (0..3).map(|_| asker.connect()).collect();
    for handle in handles {
        let reply = asker.ask(handle, &message);
        assert_eq!((reply.status, reply.candidates), (LookupStatus::Ok, 30_000));
    }
}

#[test]
fn an_asker_that_dawdles_errs_or_lies_about_its_length_is_reset() {
    let mut asker = Asker::new(Bench::new());
    let (silent, begun) = (asker.connect(), asker.connect());
    asker.write(begun, &framed(&question(8, false))[..20]);
    let longest = (2_u32 << 20) + 1;
    for lie in [longest.to_le_bytes(), 0_u32.to_le_bytes(), u32::MAX.to_le_bytes()] {
        let handle = asker.connect();
        asker.write(handle, &lie);
        asker.until("a reset", |a| a.state(handle) == State::Closed);
    }
    let mut malformed = question(8, false);
    malformed[30] ^= 1;
    let handle = asker.connect();
    asker.write(handle, &framed(&malformed));
    asker.until("a reset", |a| a.state(handle) == State::Closed);
    asker.until("the end of who has begun", |a| a.state(begun) == State::Closed);
    assert_eq!(asker.state(silent), State::Established);
    assert_eq!(asker.open_connections(), 1);
    asker.bench.pass_ms(30_000);
    asker.until("the end of the silent one", |a| a.state(silent) == State::Closed);
    assert_eq!(asker.open_connections(), 0);
}

#[test]
fn half_a_message_and_a_close_free_the_seat() {
    let mut asker = Asker::new(Bench::new());
    for bytes in [2, 4, 30] {
        let handle = asker.connect();
        asker.write(handle, &framed(&question(8, false))[..bytes]);
        asker.tick();
        asker.socket(handle).close();
        asker.until("its end", |a| a.open_connections() == 0);
    }
}

#[test]
fn a_flood_of_connections_is_bounded_and_who_asks_keeps_its_seat() {
    let mut asker = Asker::new(Bench::new());
    let busy = asker.connect();
    asker.ask(busy, &question(8, false));
    for _ in 0..LOOKUP_CONNECTIONS_MAX + 20 {
        asker.connect();
        assert!(asker.open_connections() <= LOOKUP_CONNECTIONS_MAX as i64);
    }
    assert_eq!(asker.open_connections(), LOOKUP_CONNECTIONS_MAX as i64);
    assert_eq!(asker.ask(busy, &question(9, false)).candidates, 9);
    let newcomer = asker.connect();
    assert_eq!(asker.ask(newcomer, &question(9, false)).candidates, 9);
}

#[test]
fn where_everybody_has_asked_a_newcomer_still_gets_a_seat() {
    let mut asker = Asker::new(Bench::new());
    for _ in 0..LOOKUP_CONNECTIONS_MAX + 20 {
        let handle = asker.connect();
        assert_eq!(asker.ask(handle, &question(9, false)).candidates, 9);
    }
    assert_eq!(asker.open_connections(), LOOKUP_CONNECTIONS_MAX as i64);
}

#[test]
fn half_open_connections_leave_room_for_whole_ones() {
    let mut asker = Asker::new(Bench::new());
    for i in 0..1_000_u16 {
        let mut syn = Vec::new();
        let host = [10, 99, (i / 250) as u8, 3 + (i % 250) as u8];
        PacketBuilder::ethernet2(MAC, OWN_MAC)
            .ipv4(host, OWN, 64)
            .tcp(1_000 + i, LOOKUP, 5, 1_000)
            .syn()
            .write(&mut syn, &[])
            .unwrap();
        assert!(asker.bench.give(&syn).len() <= 3);
    }
    let handle = asker.connect();
    assert_eq!(asker.ask(handle, &question(9, false)).candidates, 9);
    // Its stack is slow to say that it has the reply; then all handshakes have had their time.
    (0..20).for_each(|_| asker.tick());
    asker.bench.pass_ms(2_500);
    asker.tick();
    assert_eq!(asker.open_connections(), 1);
}

#[test]
fn networks_that_are_not_allowed_reach_no_connection() {
    let mut asker = Asker::new(Bench::with(|config| {
        config.lookup_allow = crate::Networks::parse("10.98.0.0/16").unwrap();
    }));
    let handle = asker.dial(OWN.into());
    (0..50).for_each(|_| asker.tick());
    assert_eq!(asker.state(handle), State::SynSent);
    assert!(asker.bench.counted(PortOutcome::Source) > 0);
}

#[test]
fn a_connection_counts_as_a_question() {
    let mut asker = Asker::new(Bench::with(|config| config.lookup_rate = 1));
    asker.connect();
    let second = asker.dial(OWN.into());
    (0..50).for_each(|_| asker.tick());
    assert_eq!(asker.state(second), State::SynSent);
    assert_eq!(asker.bench.counted(PortOutcome::Refused), 1);
}

#[test]
fn who_asks_too_often_over_tcp_is_reset() {
    let mut asker = Asker::new(Bench::with(|config| config.lookup_rate = 4));
    let handle = asker.connect();
    // Its connection, then a quarter of a second's worth.
    let message = framed(&question(8, false));
    asker.write(handle, &[message.as_slice(); 8].concat());
    asker.until("a reset", |a| a.state(handle) == State::Closed);
}
