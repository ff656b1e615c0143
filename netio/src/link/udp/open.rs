//! Setting up the sockets of one port.
//!
//! Hot path: not on it; runs once at start.
//!
//! SO_REUSEPORT would silently share a port with another process of the same user, which then
//! receives part of the flows. So the first socket binds *without* it, which fails where anybody
//! else is bound, and takes the option on afterwards, so that our own further queues can join.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};

use super::super::waker::WakeSource;
use super::{LinkError, LinkStats, QUEUES_MAX, Receiver, UdpConfig, UdpLink, filter};

pub(super) fn open(config: &UdpConfig) -> Result<Vec<UdpLink>, LinkError> {
    if config.queues == 0 || config.queues > QUEUES_MAX {
        let reason = format!("{} queues asked for, 1 to {QUEUES_MAX} possible", config.queues);
        return Err(setup(config.listen, io::Error::new(ErrorKind::InvalidInput, reason)));
    }
    let mut bind = bind_address(config);
    let mut links = Vec::with_capacity(config.queues);
    for queue in 0..config.queues {
        let socket = bind_one(bind, queue).map_err(|e| setup(bind, explain(e)))?;
        let local = local_addr(&socket).map_err(|e| setup(bind, e))?;
        if queue == 0 && config.queues > 1 {
            socket.set_reuse_port(true).map_err(|e| setup(bind, e))?;
            bind.set_port(local.port());
        }
        if config.queues > 1 {
            filter::spread_groups(&socket, queue, config.queues).map_err(|e| setup(bind, e))?;
        }
        for &group in &config.groups {
            join(&socket, group, config.listen).map_err(|source| LinkError::Setup {
                what: "join multicast group",
                address: group.to_string(),
                source,
            })?;
        }
        let buffer_granted =
            widen_buffer(&socket, config.receive_buffer).map_err(|e| setup(bind, e))?;
        links.push(UdpLink {
            wake: WakeSource::new().map_err(|e| setup(bind, e))?,
            socket,
            local,
            queue,
            queues: config.queues,
            buffer_wanted: config.receive_buffer,
            buffer_granted,
            keeps_sources: false,
            receiver: Receiver::new(),
            stats: LinkStats::default(),
        });
    }
    Ok(links)
}

/// Group datagrams carry the group's address: a socket bound to one of ours never sees them.
fn bind_address(config: &UdpConfig) -> SocketAddr {
    let mut address = config.listen;
    if !config.groups.is_empty() && !address.ip().is_multicast() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        });
    }
    address
}

fn bind_one(address: SocketAddr, queue: usize) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        socket.set_only_v6(false)?;
    }
    socket.set_broadcast(true)?;
    socket.set_nonblocking(true)?;
    if queue > 0 {
        socket.set_reuse_port(true)?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}

fn local_addr(socket: &Socket) -> io::Result<SocketAddr> {
    socket.local_addr()?.as_socket().ok_or_else(|| ErrorKind::AddrNotAvailable.into())
}

fn join(socket: &Socket, group: IpAddr, listen: SocketAddr) -> io::Result<()> {
    if !group.is_multicast() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a multicast address"));
    }
    match (group, listen) {
        (IpAddr::V4(group), SocketAddr::V4(listen)) => {
            let interface = Some(*listen.ip()).filter(|ip| !ip.is_multicast());
            socket.join_multicast_v4(&group, &interface.unwrap_or(Ipv4Addr::UNSPECIFIED))
        }
        (IpAddr::V6(group), SocketAddr::V6(listen)) => {
            socket.join_multicast_v6(&group, listen.scope_id())
        }
        _ => Err(io::Error::new(
            ErrorKind::InvalidInput,
            format!("the listen address {listen} is of the other IP family"),
        )),
    }
}

/// Asks for `wanted` bytes, past the system's ceiling where that is allowed (root); returns what
/// was granted.
fn widen_buffer(socket: &Socket, wanted: usize) -> io::Result<usize> {
    if wanted > 0 {
        #[cfg(target_os = "linux")]
        let forced =
            rustix::net::sockopt::set_socket_recv_buffer_size_force(socket, wanted).is_ok();
        #[cfg(not(target_os = "linux"))]
        let forced = false;
        if !forced {
            socket.set_recv_buffer_size(wanted)?;
        }
    }
    // Linux doubles what was asked for, as room for its own bookkeeping, and reports that.
    let granted = socket.recv_buffer_size()?;
    Ok(if cfg!(target_os = "linux") { granted / 2 } else { granted })
}

fn setup(address: SocketAddr, source: io::Error) -> LinkError {
    LinkError::Setup { what: "udp", address: address.to_string(), source }
}

/// The system's reason in words that say what to do.
fn explain(error: io::Error) -> io::Error {
    let text = match error.kind() {
        ErrorKind::AddrInUse => {
            "address in use; another process listens there: stop it, or choose another port"
        }
        ErrorKind::AddrNotAvailable => "no interface of this machine has this address",
        ErrorKind::PermissionDenied => {
            "not permitted; a port below 1024 needs a privilege (CAP_NET_BIND_SERVICE)"
        }
        _ => return error,
    };
    io::Error::new(error.kind(), text)
}
