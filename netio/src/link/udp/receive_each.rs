//! Receiving one datagram per system call: where there is no `recvmmsg`.
//!
//! Hot path: at most `BURST_MAX` system calls per burst, no allocation.

use rustix::io::Errno;
use rustix::net::RecvFlags;
use socket2::Socket;

use super::STRIDE;
use super::source::address_bits;
use crate::burst::{BUFFER_BYTES, BURST_MAX, Burst, Received};
use crate::link::LinkStats;

/// Buffers of one queue.
#[derive(Debug)]
pub(super) struct Receiver {
    /// A buffer for each datagram of a burst, `STRIDE` bytes apart.
    memory: Box<[u8]>,
}

impl Receiver {
    pub(super) fn new() -> Self {
        Receiver { memory: vec![0; BURST_MAX * STRIDE].into_boxed_slice() }
    }

    /// What has arrived, up to a burst. Bounded by calls, not by datagrams delivered: oversize ones
    /// must not hold the core.
    pub(super) fn rx_burst<'a>(
        &'a mut self,
        socket: &Socket,
        keeps_sources: bool,
        burst: &mut Burst<'a>,
        stats: &mut LinkStats,
    ) -> Result<(), Errno> {
        for buffer in self.memory.chunks_exact_mut(STRIDE) {
            let buffer = &mut buffer[..BUFFER_BYTES];
            let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
            let received = match keeps_sources {
                false => rustix::net::recv(socket, &mut *buffer, flags).map(|(_, n)| (n, 0)),
                true => rustix::net::recvfrom(socket, &mut *buffer, flags)
                    .map(|(_, n, source)| (n, source.map_or(0, address_bits))),
            };
            match received {
                Ok((length, source)) => match buffer.get(..length) {
                    Some(bytes) => {
                        burst.push(Received::payload(bytes, source));
                        stats.received += 1;
                        stats.bytes += length as u64;
                    }
                    // With TRUNC the number is the datagram's own length.
                    None => stats.oversize += 1,
                },
                Err(Errno::AGAIN) => break,
                // Interrupted, or an ICMP answer to something sent from this port: not ours.
                Err(Errno::INTR | Errno::CONNREFUSED) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }
}
