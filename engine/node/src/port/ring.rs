//! A poll loop's end of its ring to the port's thread.
//!
//! Hot path: no allocation; one copy per frame for the port, and one wake-up per burst that held
//! any, which is a system call only while the thread sleeps.

use std::thread::Thread;

use bloomrf_netio::parse::{FrameRefusal, UdpDatagram};

use super::{Addresses, FrameSlot, passage};

/// The way of one queue's frames to the port's thread.
pub(crate) struct ToPort {
    ring: rtrb::Producer<FrameSlot>,
    thread: Thread,
    own: Addresses,
    lookup_port: u16,
    pushed: bool,
}

impl ToPort {
    /// Into `ring`, whose other end `thread` has.
    pub(crate) fn new(
        ring: rtrb::Producer<FrameSlot>,
        thread: Thread,
        own: Addresses,
        lookup_port: u16,
    ) -> Self {
        ToPort { ring, thread, own, lookup_port, pushed: false }
    }

    /// Whether the port answers such a frame; `parsed` is what [`bloomrf_netio::parse::udp`] says
    /// of it.
    pub(crate) fn wants(
        &self,
        frame: &[u8],
        parsed: &Result<UdpDatagram<'_>, FrameRefusal>,
    ) -> bool {
        match parsed {
            Ok(datagram) => {
                datagram.target_port == self.lookup_port && self.own.owns(datagram.target)
            }
            Err(FrameRefusal::NotUdp | FrameRefusal::NotIp) => {
                passage::judge(frame, &self.own, self.lookup_port).is_ok()
            }
            Err(_) => false,
        }
    }

    /// Copies a frame into the ring; false where there is no room, or it is too long to be
    /// answered. Then [`ToPort::wake`], once for all frames of a burst.
    pub(crate) fn push(&mut self, frame: &[u8]) -> bool {
        // A full ring costs no copy.
        let pushed = !self.ring.is_full()
            && FrameSlot::of(frame).is_some_and(|slot| self.ring.push(slot).is_ok());
        self.pushed |= pushed;
        pushed
    }

    /// Wakes the thread, after the last push of a burst. It sleeps only after it found the rings
    /// empty, by a sleep that a wake-up before it ends at once: nothing is left lying.
    pub(crate) fn wake(&mut self) {
        if std::mem::take(&mut self.pushed) {
            self.thread.unpark();
        }
    }
}

/// Frames of one queue that wait for the thread.
pub(crate) const TO_PORT_MAX: usize = 256;
