//! Raw frames from a network interface, over rings that the kernel and this process share: one
//! TPACKET_V3 ring per queue, queues joined by PACKET_FANOUT. Needs CAP_NET_RAW, nothing else: no
//! driver of its own, no huge pages, no library.
//!
//! Hot path: no allocation, no lock, no copy; no system call while there are frames. A burst
//! borrows from one block of the ring, which goes back when all its frames were handed out and
//! the next call comes.
//!
//! At its best on an interface without addresses: otherwise the system's own stack handles every
//! frame a second time; `host_stack=0` keeps it away altogether. The price is latency: a block that
//! is not full waits for its timeout, a millisecond or more.
//!
//! Frames are as they were on the wire, but for the check sequence: an outer VLAN tag, which the
//! kernel takes out, is put back; checksums that a sender on this host left to an interface that
//! does not exist are finished. Frames that the host itself sends are not received. What GRO has
//! joined is seen as one frame, cut at 9,216 bytes: turn it off (`ethtool -K eth1 gro off lro
//! off`) where frames are counted.

mod block;
mod counts;
mod error;
mod open;
mod options;
mod ring;
mod sender;
mod sys;
mod unfinished;

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt;

pub use block::{BlockHead, HEAD_BYTES, Step, Walk};
pub use error::AfPacketError;
pub use open::QUEUES_MAX;
pub use options::{AfPacketOptions, RING_BYTES_MAX};
pub use sender::AfPacketSender;

use self::counts::{Port, ROOM_BYTES};
use self::ring::Ring;
use super::Port as OpenPort;
use super::waker::WakeSource;
use super::{Drops, FrameSender, Framing, Link, LinkError, LinkStats, PortOptions, Waker};
use crate::burst::Burst;

/// A receive queue of an interface.
#[derive(Debug)]
pub struct AfPacketLink {
    ring: Ring,
    /// How far the block taken has been handed out.
    walk: Walk,
    socket: OwnedFd,
    wake: WakeSource,
    port: Arc<Port>,
    queue: usize,
    place: String,
    received: u64,
    bytes: u64,
    /// Frames of blocks that contradicted themselves.
    damaged: u64,
    /// Frames that found no room in the ring: the kernel tells each once.
    ring_drops: Cell<u64>,
    /// The interface was removed: nothing will come any more.
    is_gone: Cell<bool>,
    room: RefCell<Box<[u8]>>,
}

impl AfPacketLink {
    /// Opens all queues of a port.
    ///
    /// # Errors
    /// No such interface, down, not Ethernet, no right to, no memory: with what to do.
    pub fn open(options: &AfPacketOptions, queues: usize) -> Result<Vec<Self>, AfPacketError> {
        open::open(options, queues)
    }

    fn new(
        socket: OwnedFd,
        ring: Ring,
        port: Arc<Port>,
        queue: usize,
        place: String,
    ) -> Result<Self, AfPacketError> {
        let wake = WakeSource::new()
            .map_err(|source| AfPacketError::System { what: "socket pair", source })?;
        // What was counted while queues joined is not of this port.
        sys::take_counts(&socket).map_err(AfPacketError::system("counters"))?;
        Ok(AfPacketLink {
            ring,
            walk: Walk::default(),
            socket,
            wake,
            port,
            queue,
            place,
            received: 0,
            bytes: 0,
            damaged: 0,
            ring_drops: Cell::new(0),
            is_gone: Cell::new(false),
            room: RefCell::new(vec![0; ROOM_BYTES].into()),
        })
    }

    /// Takes the error that the kernel leaves at the socket when its interface goes.
    fn look_at_error(&self) {
        if matches!(sockopt::socket_error(&self.socket), Ok(Ok(()))) {
            return;
        }
        self.port.add_losses(1);
        // A socket whose interface was removed is bound to none.
        let kind = sys::identity(&self.socket).map_or(0, |identity| identity.kind);
        self.is_gone.set(kind == 0);
    }

    fn check_gone(&self) -> Result<(), LinkError> {
        match self.is_gone.get() {
            false => Ok(()),
            true => Err(LinkError::Receive(io::Error::other(format!(
                "interface `{}` was removed: bring it back and start again",
                self.port.interface
            )))),
        }
    }
}

/// Opens the port that an argument names, with its sender where one is wanted.
pub(super) fn open_port(argument: &str, options: &PortOptions) -> Result<OpenPort, LinkError> {
    let named = argument.split(',').next().unwrap_or_default();
    let asked = AfPacketOptions::parse(argument).map_err(wrap(named))?;
    let links = AfPacketLink::open(&asked, options.queues).map_err(wrap(named))?;
    let sender = match options.sends {
        true => Some(AfPacketSender::open(&asked.interface).map_err(wrap(named))?),
        false => None,
    };
    Ok(OpenPort {
        links: links.into_iter().map(|link| Box::new(link) as Box<dyn Link>).collect(),
        sender: sender.map(|sender| Box::new(sender) as Box<dyn FrameSender>),
        gauges: Vec::new(),
        local: options.listen,
        warnings: Vec::new(),
    })
}

impl Link for AfPacketLink {
    fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>) -> Result<(), LinkError> {
        self.check_gone()?;
        if self.walk.is_done() {
            self.ring.release();
            let Some(head) = self.ring.take() else { return Ok(()) };
            self.walk = Walk::new(head);
        }
        let step = self.walk.step(self.ring.body(), burst);
        self.received += burst.len() as u64;
        self.bytes += step.bytes;
        if step.damaged > 0 {
            self.damaged += u64::from(step.damaged);
            self.port.add_losses(step.damaged.into());
        }
        Ok(())
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError> {
        self.check_gone()?;
        if !self.walk.is_done() {
            return Ok(());
        }
        // While a block is held the socket counts as readable.
        self.ring.release();
        if self.ring.is_ready() {
            return Ok(());
        }
        let timeout = timespec(timeout);
        let mut sources =
            [PollFd::new(&self.socket, PollFlags::IN), PollFd::new(&self.wake, PollFlags::IN)];
        match rustix::event::poll(&mut sources, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(LinkError::Receive(errno.into())),
        }
        let [failed, woken] = [
            sources[0].revents().intersects(PollFlags::ERR | PollFlags::HUP),
            !sources[1].revents().is_empty(),
        ];
        if woken {
            self.wake.drain();
        }
        if failed {
            self.look_at_error();
        }
        self.check_gone()
    }

    fn waker(&self) -> Waker {
        self.wake.waker()
    }

    fn framing(&self) -> Framing {
        Framing::Frames
    }

    fn keep_sources(&mut self) -> bool {
        true
    }

    fn stats(&self) -> LinkStats {
        self.look_at_error();
        // Only a socket that is none fails here.
        let new = sys::take_counts(&self.socket).unwrap_or_default().drops;
        self.ring_drops.set(self.ring_drops.get() + new);
        self.port.add_losses(new);
        let at_port = self.port.counts(&mut self.room.borrow_mut());
        if at_port.is_none() {
            // Nobody knows what is lost.
            self.port.add_losses(1);
        }
        let at_port = at_port.unwrap_or_default();
        let counted = if self.queue == 0 { at_port } else { Default::default() };
        LinkStats {
            received: self.received,
            bytes: self.bytes,
            dropped: Drops {
                port: counted.drops,
                no_buffer: 0,
                ring: self.ring_drops.get(),
                errors: counted.errors + self.damaged,
            },
            oversize: 0,
            loss_mark: self.port.losses() + at_port.drops + at_port.errors,
        }
    }

    fn describe(&self) -> String {
        self.place.clone()
    }
}

/// Names the port in an error.
fn wrap(interface: &str) -> impl FnOnce(AfPacketError) -> LinkError {
    let interface = interface.to_owned();
    move |source| LinkError::AfPacket { interface, source }
}

/// A year is as good as for ever, and fits every system's field.
fn timespec(timeout: Duration) -> Timespec {
    let timeout = timeout.min(Duration::from_secs(365 * 86_400));
    Timespec { tv_sec: timeout.as_secs().cast_signed(), tv_nsec: timeout.subsec_nanos().into() }
}
