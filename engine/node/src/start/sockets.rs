//! Binding every socket of a node, with errors that name port, protocol and key to change.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};

use bloomrf_netio::LinkError;
use bloomrf_netio::link::udp::{UdpConfig, UdpLink};
use socket2::{Domain, Protocol, Socket, Type};

use super::StartError;
use crate::NodePorts;
use crate::config::Config;
use crate::respond::LookupSocket;

/// All sockets, bound.
pub(super) struct Sockets {
    pub(super) links: Vec<UdpLink>,
    pub(super) lookup_udp: LookupSocket,
    pub(super) lookup_tcp: TcpListener,
    pub(super) http: TcpListener,
    pub(super) ports: NodePorts,
}

impl Sockets {
    pub(super) fn bind(config: &Config) -> Result<Self, StartError> {
        let links = bind_links(config)?;
        let ingest = links.first().map(UdpLink::local_addr);
        let ingest = ingest.unwrap_or(SocketAddr::new(config.listen, config.production_port));
        let (lookup_udp, lookup_tcp) = bind_lookup(config)?;
        let address = SocketAddr::new(config.listen, config.observability_port);
        let http = bind_tcp(address).map_err(|e| HTTP.error(address, e))?;
        let ports = NodePorts {
            ingest,
            lookup: lookup_udp.address(),
            http: http.local_addr().map_err(|e| HTTP.error(address, e))?,
        };
        Ok(Sockets { links, lookup_udp, lookup_tcp, http, ports })
    }
}

fn bind_links(config: &Config) -> Result<Vec<UdpLink>, StartError> {
    let listen = SocketAddr::new(config.listen, config.production_port);
    let opened = UdpLink::open(&UdpConfig {
        listen,
        groups: config.groups.clone(),
        receive_buffer: config.receive_buffer_bytes,
        queues: config.queue_count(),
    });
    opened.map_err(|error| match error {
        LinkError::Setup { source, .. } if source.kind() == ErrorKind::AddrInUse => {
            INGEST.error(listen, source)
        }
        error => StartError::Link(error),
    })
}

/// UDP and TCP share one number; where a free one is asked for, both must be free.
fn bind_lookup(config: &Config) -> Result<(LookupSocket, TcpListener), StartError> {
    let port = config.lookup_port_wanted();
    let address = SocketAddr::new(config.listen, port);
    let mut tries = if port == 0 { FREE_PORT_TRIES } else { 1 };
    loop {
        let udp = LookupSocket::bind(address).map_err(|e| LOOKUP_UDP.error(address, e))?;
        tries -= 1;
        match bind_tcp(udp.address()) {
            Ok(tcp) => return Ok((udp, tcp)),
            Err(error) if error.kind() == ErrorKind::AddrInUse && tries > 0 => {}
            Err(error) => return Err(LOOKUP_TCP.error(udp.address(), error)),
        }
    }
}

fn bind_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    // Of TCP, this only skips the wait for connections of an earlier life; it shares no port.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// What a socket is for, and which setting moves it.
struct Purpose {
    what: &'static str,
    protocol: &'static str,
    key: &'static str,
    env: &'static str,
}

impl Purpose {
    fn error(&self, address: SocketAddr, source: io::Error) -> StartError {
        let &Purpose { what, protocol, key, env } = self;
        match source.kind() {
            ErrorKind::AddrInUse => {
                StartError::PortInUse { what, port: address.port(), protocol, key, env }
            }
            _ => StartError::Socket { what, protocol, address, key, source },
        }
    }
}

const INGEST: Purpose = Purpose {
    what: "ingest",
    protocol: "UDP",
    key: "production_port",
    env: "FERMIHDI_PRODUCTION_PORT",
};
const LOOKUP_UDP: Purpose =
    Purpose { what: "lookup", protocol: "UDP", key: "lookup_port", env: "BLOOMRF_LOOKUP_PORT" };
const LOOKUP_TCP: Purpose =
    Purpose { what: "lookup", protocol: "TCP", key: "lookup_port", env: "BLOOMRF_LOOKUP_PORT" };
const HTTP: Purpose = Purpose {
    what: "observability",
    protocol: "TCP",
    key: "observability_port",
    env: "FERMIHDI_OBSERVABILITY_PORT",
};

/// Free UDP ports tried until one is free for TCP too.
const FREE_PORT_TRIES: u32 = 32;
/// Connections that the system keeps waiting.
const BACKLOG: i32 = 128;
