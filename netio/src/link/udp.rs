//! UDP sockets: one SO_REUSEPORT socket per queue; multicast and broadcast joins; works
//! unprivileged. Also the sender that a broadcaster uses.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::{Link, LinkError, LinkStats, Waker};
use crate::Burst;

/// Where and how to listen.
#[derive(Clone, Debug)]
pub struct UdpConfig {
    /// Address and port; port 0 picks a free one (shared by all queues).
    pub listen: SocketAddr,
    /// Multicast groups to join.
    pub groups: Vec<IpAddr>,
    /// Wanted receive buffer, bytes; what the system gives is reported by `describe`.
    pub receive_buffer: usize,
    /// Queues: sockets on the same address; the kernel spreads flows over them.
    pub queues: usize,
}

/// A UDP receive queue.
#[derive(Debug)]
pub struct UdpLink {
    _private: (),
}

impl UdpLink {
    /// Binds all queues. Port in use, no permission, no such address: an error that says so.
    pub fn open(config: &UdpConfig) -> Result<Vec<UdpLink>, LinkError> {
        let _ = config;
        todo!("netio")
    }

    /// The address really bound.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        todo!("netio")
    }
}

impl Link for UdpLink {
    fn rx_burst(&mut self, burst: &mut Burst) -> Result<(), LinkError> {
        let _ = burst;
        todo!("netio")
    }
    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError> {
        let _ = timeout;
        todo!("netio")
    }
    fn waker(&self) -> Waker {
        todo!("netio")
    }
    fn stats(&self) -> LinkStats {
        todo!("netio")
    }
    fn describe(&self) -> String {
        todo!("netio")
    }
}

/// Sends datagrams to one or more targets; one socket (own source port) per lane.
#[derive(Debug)]
pub struct UdpSender {
    _private: (),
}

impl UdpSender {
    /// A sender to all `targets` (unicast, multicast or broadcast).
    pub fn connect(targets: &[SocketAddr]) -> Result<Self, LinkError> {
        let _ = targets;
        todo!("netio")
    }

    /// Sends one datagram to every target.
    pub fn send(&mut self, datagram: &[u8]) -> Result<(), LinkError> {
        let _ = datagram;
        todo!("netio")
    }
}
