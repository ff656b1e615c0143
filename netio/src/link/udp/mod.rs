//! UDP sockets: one per queue on one port (SO_REUSEPORT); multicast and broadcast joins; works
//! unprivileged. Also the sender that a broadcaster uses.
//!
//! Hot path: one system call per datagram, no allocation, at most `BURST_MAX` calls per burst.
//!
//! What the kernel drops because a receive buffer is full is not told to a socket in a way that
//! safe code can read per datagram; [`DropGauge`] reads the kernel's own count, off the poll core.
//! Every such loss also shows as a gap in its batch, which is then never verified.

mod drops;
mod filter;
mod open;
mod sender;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SocketAddrAny};
use socket2::Socket;

pub use drops::{DropGauge, host_losses};
pub use filter::unicast_only;
pub use sender::{SenderStats, UdpSender};

use super::waker::{WakeSource, timespec};
use super::{Link, LinkError, LinkStats, Waker};
use crate::burst::{BUFFER_BYTES, Burst, Received};

/// Most queues of one port.
pub const QUEUES_MAX: usize = 64;

/// Where and how to listen.
#[derive(Clone, Debug)]
pub struct UdpConfig {
    /// Address and port; port 0 picks a free one (shared by all queues). With multicast groups, a
    /// specific IPv4 address names the interface to join on (IPv6: the scope id does), and the
    /// sockets listen on all addresses, without which a group's datagrams do not reach them.
    pub listen: SocketAddr,
    /// Multicast groups to join; of the same family as `listen`.
    pub groups: Vec<IpAddr>,
    /// Wanted receive buffer, bytes; what the system gives is reported by `describe`. 0 leaves
    /// the system's default.
    pub receive_buffer: usize,
    /// Queues, `1..=QUEUES_MAX`: sockets on the same address. The kernel spreads unicast flows over
    /// them by hash; multicast and broadcast datagrams go to queue `source port % queues`.
    pub queues: usize,
}

/// A UDP receive queue.
#[derive(Debug)]
pub struct UdpLink {
    socket: Socket,
    wake: WakeSource,
    local: SocketAddr,
    queue: usize,
    queues: usize,
    buffer_wanted: usize,
    buffer_granted: usize,
    keeps_sources: bool,
    /// A buffer for each datagram of a burst.
    memory: Box<[u8]>,
    stats: LinkStats,
}

impl UdpLink {
    /// Binds all queues. Port in use (also by a process that would share it), no permission, no
    /// such address, no such group: an error that says so.
    pub fn open(config: &UdpConfig) -> Result<Vec<UdpLink>, LinkError> {
        open::open(config)
    }

    /// The address really bound.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Receive buffer, bytes: asked for, and granted.
    #[must_use]
    pub fn receive_buffer(&self) -> (usize, usize) {
        (self.buffer_wanted, self.buffer_granted)
    }

    /// A reader of the kernel's drop count for this socket, for another thread.
    #[must_use]
    pub fn drop_gauge(&self) -> Option<DropGauge> {
        DropGauge::of(&self.socket, self.local.is_ipv6())
    }
}

impl Link for UdpLink {
    fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>) -> Result<(), LinkError> {
        // Bounded by calls, not by datagrams delivered: oversize ones must not hold the core.
        for buffer in self.memory.chunks_exact_mut(BUFFER_BYTES) {
            let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
            let received = match self.keeps_sources {
                false => rustix::net::recv(&self.socket, &mut *buffer, flags).map(|(_, n)| (n, 0)),
                true => rustix::net::recvfrom(&self.socket, &mut *buffer, flags)
                    .map(|(_, n, source)| (n, source.map_or(0, address_bits))),
            };
            match received {
                Ok((length, source)) => match buffer.get(..length) {
                    Some(bytes) => {
                        burst.push(Received::payload(bytes, source));
                        self.stats.received += 1;
                        self.stats.bytes += length as u64;
                    }
                    // With TRUNC the number is the datagram's own length.
                    None => self.stats.oversize += 1,
                },
                Err(Errno::AGAIN) => break,
                // Interrupted, or an ICMP answer to something sent from this port: not ours.
                Err(Errno::INTR | Errno::CONNREFUSED) => {}
                Err(errno) => return Err(LinkError::Receive(errno.into())),
            }
        }
        Ok(())
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError> {
        let timeout = timespec(timeout);
        let mut sources =
            [PollFd::new(&self.socket, PollFlags::IN), PollFd::new(&self.wake, PollFlags::IN)];
        match rustix::event::poll(&mut sources, Some(&timeout)) {
            Ok(_) if sources[1].revents().is_empty() => {}
            Ok(_) => self.wake.drain(),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(LinkError::Receive(errno.into())),
        }
        Ok(())
    }

    fn waker(&self) -> Waker {
        self.wake.waker()
    }

    fn keep_sources(&mut self) -> bool {
        self.keeps_sources = true;
        true
    }

    fn stats(&self) -> LinkStats {
        self.stats
    }

    fn describe(&self) -> String {
        let UdpLink { local, queue, queues, buffer_wanted, buffer_granted, .. } = self;
        format!(
            "udp {local} queue {queue} of {queues}, receive buffer {buffer_granted} bytes \
             ({buffer_wanted} asked for)"
        )
    }
}

/// The source's address as [`Burst::sources`] shows it.
fn address_bits(source: SocketAddrAny) -> u128 {
    match SocketAddr::try_from(source) {
        Ok(SocketAddr::V4(source)) => source.ip().to_ipv6_mapped().to_bits(),
        Ok(SocketAddr::V6(source)) => source.ip().to_bits(),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests;
