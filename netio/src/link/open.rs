//! Opening the port that a configuration names: all its queues, and what else it offers.
//!
//! Hot path: not on it; runs once at start.

use std::io::{Error, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::pcap::{Monotonic, PcapConfig, PcapLink};
use super::udp::{DropGauge, UdpConfig, UdpLink};
use super::{FrameSender, Link, LinkError, LinkKind, LinkSpec};

/// What a port is opened with. Links take what concerns them.
#[derive(Clone, Debug)]
pub struct PortOptions {
    /// Receive queues, one per poll loop.
    pub queues: usize,
    /// Of sockets: address and port; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Of sockets: multicast groups to join.
    pub groups: Vec<IpAddr>,
    /// Of sockets: wanted receive buffer, bytes.
    pub receive_buffer: usize,
    /// Of sockets: how long a receive may poll the device, microseconds; 0: not at all.
    pub busy_poll_us: u32,
    /// Of raw ports: whether a sender is wanted, too.
    pub sends: bool,
    /// Of DPDK: further arguments of its EAL, and settings of ours: `memory_mib=`, `pool_mbufs=`
    /// and `descriptors=` with a number. EAL's, and memory, are taken from a process's first port.
    pub dpdk_args: Vec<String>,
}

/// An open port.
pub struct Port {
    /// One link per queue.
    pub links: Vec<Box<dyn Link>>,
    /// Raw ports, where asked for: for the thread that answers.
    pub sender: Option<Box<dyn FrameSender>>,
    /// Of sockets: readers of the kernel's drop counts, for another thread.
    pub gauges: Vec<DropGauge>,
    /// Address really bound; of raw ports what was asked for.
    pub local: SocketAddr,
    /// Warnings for the log: what was granted less than asked for, and what to do.
    pub warnings: Vec<String>,
}

/// Opens the port.
///
/// # Errors
/// It is missing, down, held by somebody else, or has too few queues: with what to do.
pub fn open(spec: &LinkSpec, options: &PortOptions) -> Result<Port, LinkError> {
    match spec.kind {
        LinkKind::Udp => open_udp(options),
        LinkKind::Pcap => open_pcap(&spec.argument, options),
        #[cfg(feature = "dpdk")]
        LinkKind::Dpdk => super::dpdk::open(&spec.argument, options),
        #[cfg(not(feature = "dpdk"))]
        LinkKind::Dpdk => Err(LinkError::NotBuilt { kind: spec.kind.name() }),
        #[cfg(target_os = "linux")]
        LinkKind::AfPacket => super::af_packet::open_port(&spec.argument, options),
        #[cfg(not(target_os = "linux"))]
        LinkKind::AfPacket => Err(LinkError::NotBuilt { kind: spec.kind.name() }),
    }
}

/// Ends what links share in this process; to be called last, when all ports are closed.
///
/// # Errors
/// Memory of DPDK's had not come back.
pub fn shutdown() -> Result<(), LinkError> {
    #[cfg(feature = "dpdk")]
    super::dpdk::shutdown()?;
    Ok(())
}

fn open_udp(options: &PortOptions) -> Result<Port, LinkError> {
    let links = UdpLink::open(&UdpConfig {
        listen: options.listen,
        groups: options.groups.clone(),
        receive_buffer: options.receive_buffer,
        queues: options.queues,
    })?;
    let mut warnings = busy_poll(&links, options.busy_poll_us);
    warnings.extend(links.iter().filter_map(|link| {
        let (wanted, granted) = link.receive_buffer();
        (granted < wanted).then(|| {
            format!(
                "receive_buffer = {wanted} B is wanted and the system grants {granted} B: bursts \
                 may be lost; raise net.core.rmem_max (sysctl) or lower receive_buffer"
            )
        })
    }));
    Ok(Port {
        sender: None,
        gauges: links.iter().filter_map(UdpLink::drop_gauge).collect(),
        local: links.first().map_or(options.listen, UdpLink::local_addr),
        warnings,
        links: links.into_iter().map(|link| Box::new(link) as Box<dyn Link>).collect(),
    })
}

/// All queues of a port are alike: one warning is enough.
fn busy_poll(links: &[UdpLink], microseconds: u32) -> Vec<String> {
    let refused = links
        .iter()
        .filter(|_| microseconds > 0)
        .find_map(|link| link.set_busy_poll(microseconds).err());
    let words = |error| {
        format!(
            "busy_poll_us = {microseconds} is wanted and the system refuses it ({error}): receive \
             calls do not poll the device; raise net.core.busy_read (sysctl), or grant \
             CAP_NET_ADMIN, or set it to 0"
        )
    };
    refused.map(words).into_iter().collect()
}

fn open_pcap(argument: &str, options: &PortOptions) -> Result<Port, LinkError> {
    let config = PcapConfig::parse(argument, options.queues).map_err(|expected| {
        let source = Error::new(ErrorKind::InvalidInput, expected);
        LinkError::Setup { what: "pcap", address: argument.to_owned(), source }
    })?;
    let (links, warnings) = PcapLink::open(&config, Arc::new(Monotonic::new()))?;
    Ok(Port {
        links: links.into_iter().map(|link| Box::new(link) as Box<dyn Link>).collect(),
        sender: None,
        gauges: Vec::new(),
        local: options.listen,
        warnings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_poll_that_the_system_refuses_is_one_warning() {
        let listen = "127.0.0.1:0".parse().unwrap();
        let config = UdpConfig { listen, groups: Vec::new(), receive_buffer: 0, queues: 2 };
        let links = UdpLink::open(&config).unwrap();
        assert_eq!(busy_poll(&links, 0), Vec::<String>::new());
        // Not even root may ask for a time below zero, which this is as the system reads it.
        let warnings = busy_poll(&links, u32::MAX);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].starts_with("busy_poll_us = 4294967295 is wanted"), "{warnings:?}");
    }
}
