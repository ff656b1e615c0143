//! UDP sockets: one per queue on one port (SO_REUSEPORT); multicast and broadcast joins; works
//! unprivileged. Also the sender that a broadcaster uses.
//!
//! Hot path: one system call per burst (where the system has `recvmmsg`), no allocation.
//!
//! What the kernel drops because a receive buffer is full it would tell with each datagram
//! (SO_RXQ_OVFL), at a price for each; [`DropGauge`] reads the same count off the poll core. Every
//! such loss also shows as a gap in its batch, which is then never verified.

mod drops;
mod filter;
mod open;
#[cfg(target_os = "linux")]
mod receive;
#[cfg(any(test, not(target_os = "linux")))]
mod receive_each;
mod sender;
mod source;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use socket2::Socket;

pub use drops::{DropGauge, host_losses};
pub use filter::unicast_only;
pub use sender::{SenderStats, UdpSender, source_towards};

use super::waker::{WakeSource, timespec};
use super::{Link, LinkError, LinkStats, Waker};
use crate::burst::{BUFFER_BYTES, Burst};
#[cfg(target_os = "linux")]
use receive::Receiver;
#[cfg(not(target_os = "linux"))]
use receive_each::Receiver;

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
    receiver: Receiver,
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

    /// Lets each receive call poll the device for up to `microseconds`, where nothing has come.
    ///
    /// # Errors
    /// The system's reason: some have no such thing, and a time above `net.core.busy_read` needs a
    /// privilege (CAP_NET_ADMIN).
    pub fn set_busy_poll(&self, microseconds: u32) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        return self.socket.set_busy_poll(microseconds);
        #[cfg(not(target_os = "linux"))]
        return Err(io::Error::new(io::ErrorKind::Unsupported, format!("{microseconds} us")));
    }

    /// A reader of the kernel's drop count for this socket, for another thread.
    #[must_use]
    pub fn drop_gauge(&self) -> Option<DropGauge> {
        DropGauge::of(&self.socket, self.local.is_ipv6())
    }
}

impl Link for UdpLink {
    fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>) -> Result<(), LinkError> {
        let UdpLink { receiver, socket, keeps_sources, stats, .. } = self;
        receiver
            .rx_burst(socket, *keeps_sources, burst, stats)
            .map_err(|errno| LinkError::Receive(errno.into()))
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

/// From one buffer of a burst to the next, bytes: a cache line more than a buffer, so that the
/// first lines of all of them do not compete for the same few places of the cache.
const STRIDE: usize = BUFFER_BYTES + 64;

#[cfg(test)]
mod tests;
