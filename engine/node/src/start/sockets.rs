//! Binding every socket of a node, with errors that name port, protocol and key to change.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};

use bloomrf_netio::link::udp::{DropGauge, UdpConfig, UdpLink};
use bloomrf_netio::{Link, LinkError};
use socket2::{Domain, Protocol, Socket, Type};

use super::StartError;
use crate::NodePorts;
use crate::config::Config;
use crate::respond::LookupSocket;

/// All sockets, bound.
pub(super) struct Sockets {
    pub(super) links: Vec<Box<dyn Link>>,
    pub(super) gauges: Vec<DropGauge>,
    pub(super) lookup_udp: LookupSocket,
    pub(super) lookup_tcp: TcpListener,
    pub(super) http: TcpListener,
    pub(super) ports: NodePorts,
}

impl Sockets {
    /// Binds; `links` are taken instead of ingest sockets where they are given.
    pub(super) fn bind(
        config: &Config,
        links: Option<Vec<Box<dyn Link>>>,
    ) -> Result<Self, StartError> {
        let ingest = SocketAddr::new(config.listen, config.production_port);
        let (mut links, gauges, ingest) = match links {
            Some(links) if links.len() == config.queue_count() => (links, vec![], ingest),
            Some(links) => return Err(links_error(links.len(), config.queue_count())),
            None => bind_links(config, ingest)?,
        };
        if !config.ingest_allow.are_any() {
            links.iter_mut().try_for_each(keep_sources)?;
        }
        let (lookup_udp, lookup_tcp) = bind_lookup(config)?;
        let address = SocketAddr::new(config.listen, config.observability_port);
        let http = bind_tcp(address).map_err(|e| HTTP.error(address, e))?;
        let ports = NodePorts {
            ingest,
            lookup: lookup_udp.address(),
            http: http.local_addr().map_err(|e| HTTP.error(address, e))?,
        };
        Ok(Sockets { links, gauges, lookup_udp, lookup_tcp, http, ports })
    }
}

/// Links with the gauges of what the system drops before them, and where they listen.
type Ingest = (Vec<Box<dyn Link>>, Vec<DropGauge>, SocketAddr);

fn bind_links(config: &Config, listen: SocketAddr) -> Result<Ingest, StartError> {
    let opened = UdpLink::open(&UdpConfig {
        listen,
        groups: config.groups.clone(),
        receive_buffer: config.receive_buffer_bytes,
        queues: config.queue_count(),
    });
    let links = opened.map_err(|error| match error {
        LinkError::Setup { source, .. } if source.kind() == ErrorKind::AddrInUse => {
            INGEST.error(listen, source)
        }
        error => StartError::Link(error),
    })?;
    links.iter().for_each(log_link);
    let address = links.first().map_or(listen, UdpLink::local_addr);
    let gauges = links.iter().filter_map(UdpLink::drop_gauge).collect();
    Ok((links.into_iter().map(|link| Box::new(link) as Box<dyn Link>).collect(), gauges, address))
}

fn keep_sources(link: &mut Box<dyn Link>) -> Result<(), StartError> {
    if link.keep_sources() {
        return Ok(());
    }
    let reason = format!("{} cannot tell sources; set ingest_allow to any", link.describe());
    Err(StartError::Setup { what: "ingest_allow", reason })
}

fn links_error(given: usize, queues: usize) -> StartError {
    let reason = format!("{given} are given, and the configuration has {queues} queues");
    StartError::Setup { what: "links", reason }
}

fn log_link(link: &UdpLink) {
    tracing::info!(link = link.describe(), "ingest queue bound");
    let (wanted, granted) = link.receive_buffer();
    if granted < wanted {
        tracing::warn!(
            "receive_buffer = {wanted} B is wanted and the system grants {granted} B: bursts may \
             be lost; raise net.core.rmem_max (sysctl) or lower receive_buffer"
        );
    }
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
