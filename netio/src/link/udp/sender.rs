//! Sends datagrams to one or more targets.
//!
//! Hot path: one system call per datagram and target, no allocation. A full send buffer is waited
//! for, bounded: the sender is paced, it does not drop.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::SendFlags;
use socket2::{Domain, Protocol, Socket, Type};

use super::super::LinkError;
use super::super::waker::timespec;

/// Waits for room before a send is given up.
const ATTEMPTS_MAX: u32 = 200;
/// One wait.
const WAIT: Duration = Duration::from_millis(5);

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Datagrams handed to the system, one per target.
    pub sent: u64,
    /// Times that the system had no room and the sender waited.
    pub waits: u64,
    /// Times that a target's machine said that nobody listens. Not an error: a broadcaster does
    /// not depend on one receiver.
    pub refused: u64,
}

/// Sends datagrams to one or more targets; one socket (own source port) per lane.
#[derive(Debug)]
pub struct UdpSender {
    ipv4: Option<Socket>,
    ipv6: Option<Socket>,
    targets: Vec<SocketAddr>,
    stats: SenderStats,
}

impl UdpSender {
    /// A sender to all `targets` (unicast, multicast or broadcast), from a port that is free.
    pub fn connect(targets: &[SocketAddr]) -> Result<Self, LinkError> {
        Self::connect_from(targets, 0)
    }

    /// The same from source port `port`, which decides the queue that a card puts the flow on.
    ///
    /// # Errors
    /// The port is taken, or needs a privilege.
    pub fn connect_from(targets: &[SocketAddr], port: u16) -> Result<Self, LinkError> {
        let socket_for = |any: SocketAddr| -> Result<Option<Socket>, LinkError> {
            if !targets.iter().any(|t| t.is_ipv4() == any.is_ipv4()) {
                return Ok(None);
            }
            let address = any.to_string();
            open(any).map(Some).map_err(|e| LinkError::Setup {
                what: "udp sender",
                address,
                source: e,
            })
        };
        Ok(UdpSender {
            ipv4: socket_for((Ipv4Addr::UNSPECIFIED, port).into())?,
            ipv6: socket_for((Ipv6Addr::UNSPECIFIED, port).into())?,
            targets: targets.to_vec(),
            stats: SenderStats::default(),
        })
    }

    /// Sends IPv4 multicast out of the interface that has address `interface`, instead of where
    /// the routing table says.
    pub fn set_multicast_interface(&self, interface: Ipv4Addr) -> Result<(), LinkError> {
        self.ipv4.as_ref().map_or(Ok(()), |s| s.set_multicast_if_v4(&interface)).map_err(|source| {
            LinkError::Setup { what: "multicast interface", address: interface.to_string(), source }
        })
    }

    /// Sends one datagram to every target.
    ///
    /// # Errors
    /// The first target that failed; the targets before it have the datagram.
    pub fn send(&mut self, datagram: &[u8]) -> Result<(), LinkError> {
        for &target in &self.targets {
            let socket = if target.is_ipv4() { &self.ipv4 } else { &self.ipv6 };
            let Some(socket) = socket else { continue };
            send_one(socket, target, datagram, &mut self.stats)
                .map_err(|errno| LinkError::Send { target, source: explain(errno, datagram) })?;
        }
        Ok(())
    }

    /// The source port of what goes to `target`.
    #[must_use]
    pub fn port_to(&self, target: SocketAddr) -> Option<u16> {
        let socket = if target.is_ipv4() { &self.ipv4 } else { &self.ipv6 };
        Some(socket.as_ref()?.local_addr().ok()?.as_socket()?.port())
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> SenderStats {
        self.stats
    }
}

/// The address that datagrams to `target` come from, as this machine's routes have it.
///
/// # Errors
/// There is no route.
pub fn source_towards(target: SocketAddr) -> Result<IpAddr, LinkError> {
    let any: IpAddr = match target {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let probe = || {
        let socket = open((any, 0).into())?;
        socket.connect(&target.into())?;
        let local = socket.local_addr()?.as_socket();
        local.map(|local| local.ip()).ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
    };
    probe().map_err(|source| LinkError::Setup {
        what: "route to",
        address: target.to_string(),
        source,
    })
}

fn open(any: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(any), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_broadcast(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&any.into())?;
    Ok(socket)
}

fn send_one(
    socket: &Socket,
    target: SocketAddr,
    datagram: &[u8],
    stats: &mut SenderStats,
) -> Result<(), Errno> {
    for _ in 0..ATTEMPTS_MAX {
        match rustix::net::sendto(socket, datagram, SendFlags::empty(), &target) {
            Ok(_) => {
                stats.sent += 1;
                return Ok(());
            }
            Err(Errno::CONNREFUSED) => stats.refused += 1,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                stats.waits += 1;
                let mut room = [PollFd::new(socket, PollFlags::OUT)];
                // However this ends, the next attempt tells.
                let _ = rustix::event::poll(&mut room, Some(&timespec(WAIT)));
            }
            // The interface's queue is full, which no poll reports.
            Err(Errno::NOBUFS) => {
                stats.waits += 1;
                std::thread::sleep(WAIT);
            }
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::NOBUFS)
}

fn explain(errno: Errno, datagram: &[u8]) -> io::Error {
    if errno == Errno::MSGSIZE {
        let text = format!("a datagram of {} bytes is too long for it", datagram.len());
        return io::Error::new(io::ErrorKind::InvalidInput, text);
    }
    errno.into()
}
