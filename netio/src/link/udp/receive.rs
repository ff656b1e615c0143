//! Receiving by `recvmmsg`: a burst of datagrams in one system call.
//!
//! Hot path: one system call per burst, no allocation.
//!
//! The call itself is a small part of a datagram's cost. Receiver's CPU time per datagram on
//! loopback, drained in bulk (Zen 4, one run, quietest quarter): 64 B 482 ns against 453 ns of one
//! `recv` each, and 534 against 545 under a filter of thirty comparisons like those that a
//! sandboxed node runs with; 1,400 B 583 against 575, and 626 against 652. Many records in one
//! datagram are worth more.
//!
//! An island (docs/UNSAFE.md): the system is given addresses of buffers, which no safe interface
//! does for many datagrams at once.
#![allow(unsafe_code)]

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

use libc::{c_int, c_uint, iovec, mmsghdr};
use rustix::io::Errno;
use socket2::Socket;

use super::STRIDE;
use super::source::Name;
use crate::burst::{BUFFER_BYTES, BURST_MAX, Burst, Received};
use crate::link::LinkStats;

/// Buffers of one queue, and what the system is told of them.
#[derive(Debug)]
pub(super) struct Receiver {
    /// A buffer for each datagram of a burst, `STRIDE` bytes apart.
    memory: Box<[u8]>,
    headers: Box<Headers>,
    names: Box<[Name; BURST_MAX]>,
}

#[derive(Debug)]
struct Headers {
    messages: [mmsghdr; BURST_MAX],
    vectors: [iovec; BURST_MAX],
}

// SAFETY: the pointers in it are written before each use, from exclusive references of that very
// call, and never read between calls: whichever thread has the structure may overwrite them.
unsafe impl Send for Headers {}

impl Receiver {
    pub(super) fn new() -> Self {
        let headers = Box::new(MaybeUninit::<Headers>::zeroed());
        Receiver {
            memory: vec![0; BURST_MAX * STRIDE].into_boxed_slice(),
            // SAFETY: integers and raw pointers only, for which all bits zero are a value.
            headers: unsafe { headers.assume_init() },
            names: Box::new([Name::default(); BURST_MAX]),
        }
    }

    /// What has arrived, up to a burst; an ICMP answer to something sent from this port is none of
    /// ours, and each try takes one away.
    pub(super) fn rx_burst<'a>(
        &'a mut self,
        socket: &Socket,
        keeps_sources: bool,
        burst: &mut Burst<'a>,
        stats: &mut LinkStats,
    ) -> Result<(), Errno> {
        let mut count = 0;
        for _ in 0..BURST_MAX {
            match self.receive(socket, keeps_sources) {
                Ok(received) => {
                    count = received;
                    break;
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR | Errno::CONNREFUSED) => {}
                Err(errno) => return Err(errno),
            }
        }
        let buffers = self.memory.chunks_exact(STRIDE);
        let messages = self.headers.messages.iter().take(count);
        for ((message, buffer), name) in messages.zip(buffers).zip(self.names.iter()) {
            let length = message.msg_len as usize;
            match buffer.get(..BUFFER_BYTES).and_then(|buffer| buffer.get(..length)) {
                Some(bytes) => {
                    let source = if keeps_sources { name.address_bits() } else { 0 };
                    burst.push(Received::payload(bytes, source));
                    stats.received += 1;
                    stats.bytes += length as u64;
                }
                // With MSG_TRUNC the number is the datagram's own length.
                None => stats.oversize += 1,
            }
        }
        Ok(())
    }

    /// One call; returns how many datagrams it has received.
    fn receive(&mut self, socket: &Socket, keeps_sources: bool) -> Result<usize, Errno> {
        let Headers { messages, vectors } = &mut *self.headers;
        let buffers = self.memory.chunks_exact_mut(STRIDE);
        let places = messages.iter_mut().zip(vectors).zip(self.names.iter_mut()).zip(buffers);
        for (((message, vector), name), buffer) in places {
            let buffer = &mut buffer[..BUFFER_BYTES];
            *vector = iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
            let header = &mut message.msg_hdr;
            (header.msg_name, header.msg_namelen) = if keeps_sources {
                *name = Name::default();
                (ptr::from_mut(name).cast(), size_of::<Name>() as libc::socklen_t)
            } else {
                (ptr::null_mut(), 0)
            };
            (header.msg_iov, header.msg_iovlen) = (vector, 1);
            (header.msg_control, header.msg_controllen) = (ptr::null_mut(), 0);
        }
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: 1. `messages` are BURST_MAX headers, as many as the call is told of.
        //         2. each leads to one vector and through it to BUFFER_BYTES bytes, and perhaps to
        //            a name of `msg_namelen` bytes; nothing overlaps, all of it is borrowed
        //            exclusively by this function, and the system keeps no address after the call.
        //         3. whatever bytes the system writes there are values of their types.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_fd().as_raw_fd(),
                messages.as_mut_ptr(),
                BURST_MAX as c_uint,
                flags as _,
                ptr::null_mut(),
            )
        };
        count(received)
    }
}

fn count(received: c_int) -> Result<usize, Errno> {
    usize::try_from(received).map_err(|_| {
        // The reason of a system call is always one of the system's numbers.
        Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
    })
}
