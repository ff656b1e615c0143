//! Binding every socket of a node, with errors that name port, protocol and key to change.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};

use bloomrf_netio::link::udp::DropGauge;
use bloomrf_netio::link::{self, LinkKind, Port, PortOptions};
use bloomrf_netio::{FrameSender, Framing, Link, LinkError};
use socket2::{Domain, Protocol, Socket, Type};

use super::StartError;
use crate::NodePorts;
use crate::config::{Config, LinkConfig};
use crate::respond::LookupSocket;

/// All sockets, bound.
pub(super) struct Sockets {
    pub(super) links: Vec<Box<dyn Link>>,
    /// What the links had lost when they were opened: all that they lose from then on is lost to
    /// the first batches of a tap.
    pub(super) loss_marks: Vec<u64>,
    /// Of a raw port with addresses.
    pub(super) sender: Option<Box<dyn FrameSender>>,
    pub(super) gauges: Vec<DropGauge>,
    pub(super) lookup_udp: LookupSocket,
    pub(super) lookup_tcp: TcpListener,
    pub(super) http: TcpListener,
    pub(super) ports: NodePorts,
}

impl Sockets {
    /// Binds; `links` and `sender` are taken instead of a port where they are given.
    pub(super) fn bind(
        config: &Config,
        links: Option<Vec<Box<dyn Link>>>,
        sender: Option<Box<dyn FrameSender>>,
    ) -> Result<Self, StartError> {
        let ingest = SocketAddr::new(config.listen, config.production_port);
        let Port { mut links, sender, gauges, local, .. } = match links {
            Some(links) if links.len() == config.queue_count() => port_of(links, sender, ingest),
            Some(links) => return Err(links_error(links.len(), config.queue_count())),
            None => open_port(config, ingest)?,
        };
        let loss_marks = links.iter().map(|link| link.stats().loss_mark).collect();
        if !config.ingest_allow.are_any() {
            // Frames have their sources in them.
            let mut payloads = links.iter_mut().filter(|link| link.framing() == Framing::Payloads);
            payloads.try_for_each(keep_sources)?;
        }
        let (lookup_udp, lookup_tcp) = bind_lookup(config)?;
        let address = SocketAddr::new(config.listen, config.observability_port);
        let http = bind_tcp(address).map_err(|e| HTTP.error(address, e))?;
        let ports = NodePorts {
            ingest: local,
            lookup: lookup_udp.address(),
            http: http.local_addr().map_err(|e| HTTP.error(address, e))?,
        };
        Ok(Sockets { links, loss_marks, sender, gauges, lookup_udp, lookup_tcp, http, ports })
    }
}

/// Opens the port that the configuration names, and says what its queues are.
fn open_port(config: &Config, listen: SocketAddr) -> Result<Port, StartError> {
    let LinkConfig { spec, addresses, busy_poll_us, dpdk_args, .. } = &config.link;
    let options = PortOptions {
        queues: config.queue_count(),
        listen,
        groups: config.groups.clone(),
        receive_buffer: config.receive_buffer_bytes,
        busy_poll_us: *busy_poll_us,
        sends: !addresses.is_empty(),
        dpdk_args: dpdk_args.clone(),
    };
    let port = link::open(spec, &options).map_err(|error| match error {
        LinkError::Setup { source, .. }
            if spec.kind == LinkKind::Udp && source.kind() == ErrorKind::AddrInUse =>
        {
            INGEST.error(listen, source)
        }
        error => StartError::Link { spec: spec.clone(), error },
    })?;
    for link in &port.links {
        tracing::info!(link = link.describe(), "ingest queue open");
    }
    for warning in &port.warnings {
        tracing::warn!("{warning}");
    }
    Ok(port)
}

fn keep_sources(link: &mut Box<dyn Link>) -> Result<(), StartError> {
    if link.keep_sources() {
        return Ok(());
    }
    let reason = format!("{} cannot tell sources; set ingest_allow to any", link.describe());
    Err(StartError::Setup { what: "ingest_allow", reason })
}

/// A port of links that were handed in.
fn port_of(
    links: Vec<Box<dyn Link>>,
    sender: Option<Box<dyn FrameSender>>,
    local: SocketAddr,
) -> Port {
    Port { links, sender, gauges: Vec::new(), local, warnings: Vec::new() }
}

fn links_error(given: usize, queues: usize) -> StartError {
    let reason = format!("{given} are given, and the configuration has {queues} queues");
    StartError::Setup { what: "links", reason }
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
