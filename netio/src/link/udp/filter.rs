//! Classic BPF programs that choose what a UDP socket hears.
//!
//! Hot path: never on it; the kernel runs a program once per datagram and socket, before it is
//! queued. Attached once, when a socket is opened.

use std::io;

use socket2::Socket;

/// Keeps to `socket` what was sent to this host alone: no broadcast, no multicast. Where the
/// system has no such filter, nothing changes: listen on one address of this host then, not on
/// all.
pub fn unicast_only(socket: &Socket) -> io::Result<()> {
    system::unicast_only(socket)
}

/// Keeps to `socket` what was sent to this host alone, and of the rest the datagrams whose source
/// port (one per lane) modulo `queues` is `queue`. The kernel hands those to *every* socket of a
/// port, SO_REUSEPORT or not. Where the system has no such filter, copies that reach several
/// queues are dropped by (lane, sequence) later.
pub(super) fn spread_groups(socket: &Socket, queue: usize, queues: usize) -> io::Result<()> {
    system::spread_groups(socket, queue, queues)
}

/// In both programs the destination address is looked at before the packet type, since the
/// loopback says of all its packets that they were sent to this host; only the packet type knows
/// the broadcast addresses of subnets.
#[cfg(target_os = "linux")]
mod system {
    use std::io;

    use socket2::{SockFilter, Socket};

    const LOAD_BYTE: u16 = 0x30;
    const LOAD_HALF: u16 = 0x28;
    const LOAD_WORD: u16 = 0x20;
    const AND: u16 = 0x54;
    const MODULO: u16 = 0x94;
    const IF_EQUAL: u16 = 0x15;
    const IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    /// Offsets from here on are counted from the IP header; positive ones from the UDP header.
    const IP: u32 = (-0x10_0000_i32).cast_unsigned();
    /// Of the kernel's own fields (from -0x1000 on), the packet type.
    const PACKET_TYPE: u32 = (-0x1000_i32 + 4).cast_unsigned();
    const TO_THIS_HOST: u32 = 0;
    const LOOPBACK_BROADCAST: u32 = 0x7fff_ffff;

    pub(super) fn unicast_only(socket: &Socket) -> io::Result<()> {
        let step = SockFilter::new;
        let program = [
            step(LOAD_BYTE, 0, 0, IP),
            step(AND, 0, 0, 0xf0),
            step(IF_EQUAL, 3, 0, 0x60),
            // IPv4: the destination begins at byte 16; from 224.0.0.0 on, groups and broadcast.
            step(LOAD_WORD, 0, 0, IP + 16),
            step(IF_AT_LEAST, 6, 0, 0xe000_0000),
            step(IF_EQUAL, 5, 2, LOOPBACK_BROADCAST),
            // IPv6: at byte 24; ff is multicast.
            step(LOAD_BYTE, 0, 0, IP + 24),
            step(IF_EQUAL, 3, 0, 0xff),
            step(LOAD_WORD, 0, 0, PACKET_TYPE),
            step(IF_EQUAL, 0, 1, TO_THIS_HOST),
            step(RETURN, 0, 0, u32::MAX),
            step(RETURN, 0, 0, 0),
        ];
        socket.attach_filter(&program)
    }

    pub(super) fn spread_groups(socket: &Socket, queue: usize, queues: usize) -> io::Result<()> {
        let step = SockFilter::new;
        let program = [
            step(LOAD_BYTE, 0, 0, IP),
            step(AND, 0, 0, 0xf0),
            step(IF_EQUAL, 2, 0, 0x60),
            // IPv4: the destination begins at byte 16; 224 and more are groups and broadcast.
            step(LOAD_BYTE, 0, 0, IP + 16),
            step(IF_AT_LEAST, 4, 2, 224),
            // IPv6: at byte 24; ff is multicast.
            step(LOAD_BYTE, 0, 0, IP + 24),
            step(IF_EQUAL, 2, 0, 0xff),
            // Broadcast of a subnet shows only here.
            step(LOAD_WORD, 0, 0, PACKET_TYPE),
            step(IF_EQUAL, 3, 0, TO_THIS_HOST),
            // The source port is the first field of the UDP header.
            step(LOAD_HALF, 0, 0, 0),
            step(MODULO, 0, 0, queues as u32),
            step(IF_EQUAL, 0, 1, queue as u32),
            step(RETURN, 0, 0, u32::MAX),
            step(RETURN, 0, 0, 0),
        ];
        socket.attach_filter(&program)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;

    use socket2::Socket;

    pub(super) fn unicast_only(_: &Socket) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn spread_groups(_: &Socket, _: usize, _: usize) -> io::Result<()> {
        Ok(())
    }
}
