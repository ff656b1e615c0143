//! Poll-mode ports of DPDK: frames in mbufs, where the device put them, until the next call.
//!
//! Hot path: one call into DPDK per burst; no allocation, no copy, no system call.
//!
//! The argument is what DPDK calls devargs: a PCI address (`dpdk:0000:03:00.0`; the device is bound
//! to vfio-pci beforehand), or a virtual device with its options
//! (`dpdk:net_pcap0,rx_pcap=day.pcap`). A thread is registered with DPDK by its first burst. Frames
//! that no single mbuf holds are counted as oversize and never delivered.
//!
//! The environment starts with the first port of a process, and once only: [`shutdown`] ends it.

mod open;
mod settings;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bloomrf_dpdk::{PortHandle, RxQueue, TxQueue};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

pub use bloomrf_dpdk::version;
pub(super) use open::open;
pub use open::shutdown;

use super::waker::WakeSource;
use super::{Drops, FrameSender, Framing, Link, LinkError, LinkStats, Waker};
use crate::burst::{Burst, Received};

/// A nap while nothing arrives begins so short, nanoseconds, and doubles up to the second number. A
/// queue of 1,024 descriptors holds what 10 Gb/s of 300-byte frames bring in 250 us.
const NAP_NS: (u32, u32) = (25_000, 250_000);
/// A capture that is played by net_pcap is at its end when so many bursts in a row were empty.
const ENDED_POLLS: u32 = 2;

/// A receive queue of a port.
#[derive(Debug)]
pub struct DpdkLink {
    queue: RxQueue,
    shared: Arc<Shared>,
    wake: WakeSource,
    registered: bool,
    /// Empty bursts in a row, at most as many as anything here counts.
    empty: u32,
    nap_ns: u32,
    received: u64,
    bytes: u64,
    oversize: u64,
}

/// What the queues of a port share.
#[derive(Debug)]
struct Shared {
    handle: PortHandle,
    queues: usize,
    /// Files of net_pcap, played once.
    finite: bool,
    /// Of all queues.
    oversize: AtomicU64,
    /// Times that the port did not tell its counters: what was lost then is not known.
    unread: AtomicU64,
}

impl Link for DpdkLink {
    fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>) -> Result<(), LinkError> {
        if !self.registered {
            // Where DPDK has no place left for this thread, it polls at half the rate.
            self.registered = true;
            drop(self.queue.register());
        }
        let frames = self.queue.burst();
        if frames.is_empty() {
            self.empty = self.empty.saturating_add(1);
            return Ok(());
        }
        self.empty = 0;
        self.nap_ns = NAP_NS.0;
        let (mut bytes, mut segmented) = (0, 0);
        for frame in frames {
            if frame.is_segmented() {
                segmented += 1;
                continue;
            }
            let received = Received::ethernet(frame.bytes(), 0);
            bytes += u64::from(received.wire_bytes);
            burst.push(received);
        }
        self.received += frames.len() as u64 - segmented;
        self.bytes += bytes;
        if segmented > 0 {
            self.oversize += segmented;
            self.shared.oversize.fetch_add(segmented, Ordering::Relaxed);
        }
        Ok(())
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError> {
        let most = u32::try_from(timeout.as_nanos()).unwrap_or(u32::MAX);
        let nap = Timespec { tv_sec: 0, tv_nsec: self.nap_ns.min(most).into() };
        self.nap_ns = self.nap_ns.saturating_mul(2).min(NAP_NS.1);
        match rustix::event::poll(&mut [PollFd::new(&self.wake, PollFlags::IN)], Some(&nap)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => self.wake.drain(),
            Err(errno) => return Err(LinkError::Receive(errno.into())),
        }
        Ok(())
    }

    fn waker(&self) -> Waker {
        self.wake.waker()
    }

    fn framing(&self) -> Framing {
        Framing::Frames
    }

    fn stats(&self) -> LinkStats {
        let shared = &*self.shared;
        let port = shared.handle.stats().unwrap_or_else(|_| {
            shared.unread.fetch_add(1, Ordering::Relaxed);
            Default::default()
        });
        let dropped =
            Drops { port: port.missed, no_buffer: port.no_mbuf, ring: 0, errors: port.errors };
        let others =
            shared.oversize.load(Ordering::Relaxed) + shared.unread.load(Ordering::Relaxed);
        LinkStats {
            received: self.received,
            bytes: self.bytes,
            dropped: if self.queue.queue() == 0 { dropped } else { Drops::default() },
            oversize: self.oversize,
            loss_mark: dropped.sum() + others,
        }
    }

    fn describe(&self) -> String {
        let (port, queue) = (self.shared.handle.describe(), self.queue.queue());
        format!("dpdk {port} queue {queue} of {}", self.shared.queues)
    }

    fn is_exhausted(&self) -> bool {
        // Without mbufs bursts are empty, too; but they are back after the first of them.
        self.shared.finite && self.empty >= ENDED_POLLS
    }
}

/// The sending half of a port.
#[derive(Debug)]
pub struct DpdkSender {
    queue: TxQueue,
    mac: [u8; 6],
    registered: bool,
}

impl FrameSender for DpdkSender {
    fn send(&mut self, frame: &[u8]) -> Result<bool, LinkError> {
        if !self.registered {
            self.registered = true;
            drop(self.queue.register());
        }
        Ok(self.queue.send(frame)?)
    }

    fn mac(&self) -> [u8; 6] {
        self.mac
    }
}
