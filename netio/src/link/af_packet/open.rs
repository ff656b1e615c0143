//! Opening a port: a socket with a ring for each queue, joined to one fan-out group.
//!
//! Hot path: not on it; runs once at start.
//!
//! Until all queues have joined, a filter lets nothing into any of them: a frame that arrived
//! meanwhile would reach some twice, and others never.

use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with, sockopt};
use socket2::{SockFilter, SockRef};

use super::block::TAG_BYTES;
use super::counts::{Port, interfaces};
use super::error::AfPacketError;
use super::options::{AfPacketOptions, RING_BYTES_MAX};
use super::ring::Ring;
use super::{AfPacketLink, sys};

/// Most queues of one port.
pub const QUEUES_MAX: usize = 64;

/// Opens all queues of a port.
pub(super) fn open(
    options: &AfPacketOptions,
    queues: usize,
) -> Result<Vec<AfPacketLink>, AfPacketError> {
    check_sizes(options, queues)?;
    let mut opened = Vec::with_capacity(queues);
    let mut group = None;
    let (mut index, mut port) = (0, None);
    for queue in 0..queues {
        let socket = packet_socket()?;
        if queue == 0 {
            index = index_of(&socket, &options.interface)?;
            let mut shared = Port::open(&options.interface).map_err(|source| {
                AfPacketError::System { what: "counters of interfaces", source }
            })?;
            if !options.host_stack {
                let cut = sys::cut_stack_off(index)
                    .map_err(|errno| AfPacketError::HostStack { source: errno.into() })?;
                shared.cut = Some(cut);
            }
            port = Some(Arc::new(shared));
        }
        keep(&socket, 0)?;
        let ring = make_ring(&socket, options)?;
        sys::bind(&socket, index, true).map_err(AfPacketError::system("bind"))?;
        check_interface(&socket, &options.interface)?;
        if queues > 1 {
            let joined = sys::join_fan_out(&socket, group)
                .map_err(|errno| AfPacketError::FanOut { source: errno.into() })?;
            group = Some(joined);
        }
        opened.push((socket, ring));
    }
    if let Some((socket, _)) = opened.first().filter(|_| options.promiscuous) {
        sys::be_promiscuous(socket, index).map_err(AfPacketError::system("promiscuous mode"))?;
    }
    let Some(port) = port else { return Ok(Vec::new()) };
    let mut links = Vec::with_capacity(queues);
    for (queue, (socket, ring)) in opened.into_iter().enumerate() {
        keep(&socket, options.snap_bytes)?;
        let place = format!(
            "af_packet {} queue {queue} of {queues}, ring of {} blocks of {} KiB",
            options.interface, options.blocks, options.block_kib
        );
        links.push(AfPacketLink::new(socket, ring, Arc::clone(&port), queue, place)?);
    }
    Ok(links)
}

fn check_sizes(options: &AfPacketOptions, queues: usize) -> Result<(), AfPacketError> {
    if !(1..=QUEUES_MAX).contains(&queues) {
        return Err(AfPacketError::Queues { queues, most: QUEUES_MAX });
    }
    if options.ring_bytes().saturating_mul(queues) > RING_BYTES_MAX {
        let AfPacketOptions { blocks, block_kib, .. } = *options;
        let most_mib = RING_BYTES_MAX >> 20;
        return Err(AfPacketError::TooLarge { queues, blocks, block_kib, most_mib });
    }
    Ok(())
}

/// One that receives nothing yet.
pub(super) fn packet_socket() -> Result<OwnedFd, AfPacketError> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)
        .map_err(AfPacketError::system("packet socket"))
}

/// The interface's number in this namespace.
pub(super) fn index_of(socket: &OwnedFd, interface: &str) -> Result<u32, AfPacketError> {
    netdevice::name_to_index(socket, interface).map_err(|errno| match errno {
        Errno::NODEV => {
            AfPacketError::Missing { interface: interface.to_owned(), present: interfaces() }
        }
        errno => AfPacketError::system("interface")(errno),
    })
}

/// Keeps so many bytes of each frame; of 0 bytes, nothing is even counted.
fn keep(socket: &OwnedFd, bytes: u32) -> Result<(), AfPacketError> {
    const RETURN: u16 = 0x06;
    let program = [SockFilter::new(RETURN, 0, 0, bytes)];
    SockRef::from(socket)
        .attach_filter(&program)
        .map_err(|source| AfPacketError::System { what: "filter", source })
}

fn make_ring(socket: &OwnedFd, options: &AfPacketOptions) -> Result<Ring, AfPacketError> {
    let memory = |errno: Errno| match errno {
        Errno::NOMEM | Errno::AGAIN | Errno::NOBUFS => {
            AfPacketError::Memory { mib: options.ring_bytes() >> 20, source: errno.into() }
        }
        errno => AfPacketError::system("ring")(errno),
    };
    let block_bytes = options.block_kib * 1_024;
    sys::ask_for_blocks(socket, TAG_BYTES).map_err(AfPacketError::system("TPACKET_V3"))?;
    sys::ignore_outgoing(socket).map_err(AfPacketError::system("PACKET_IGNORE_OUTGOING"))?;
    sys::make_ring(socket, block_bytes, options.blocks, options.timeout_ms).map_err(memory)?;
    Ring::map(socket, block_bytes, options.blocks).map_err(memory)
}

/// Ethernet, and up.
pub(super) fn check_interface(
    socket: &OwnedFd,
    interface: &str,
) -> Result<sys::Identity, AfPacketError> {
    let identity = sys::identity(socket).map_err(AfPacketError::system("kind of interface"))?;
    if !matches!(identity.kind, ETHERNET | LOOPBACK) {
        let interface = interface.to_owned();
        return Err(AfPacketError::NotEthernet { interface, kind: identity.kind });
    }
    match sockopt::socket_error(socket) {
        Ok(Err(Errno::NETDOWN)) => Err(AfPacketError::Down { interface: interface.to_owned() }),
        Ok(Err(errno)) | Err(errno) => Err(AfPacketError::system("interface")(errno)),
        Ok(Ok(())) => Ok(identity),
    }
}

/// ARPHRD_ETHER.
const ETHERNET: u16 = 1;
/// ARPHRD_LOOPBACK: Ethernet frames with addresses of zeros.
const LOOPBACK: u16 = 772;
