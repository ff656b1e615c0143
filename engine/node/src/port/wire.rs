//! What leaves the port: frames of the UDP path as they are, frames of the slow path with the tag
//! that their receiver uses.
//!
//! Hot path: no allocation, one copy, one call of the link's sender.

use std::sync::Arc;

use bloomrf_netio::{FrameSender, LinkError};
use smoltcp::phy::{
    Checksum, ChecksumCapabilities, Device, DeviceCapabilities, Medium, RxToken, TxToken,
};
use smoltcp::time::Instant;

use super::slot::SLOT_BYTES;
use crate::shared::Shared;

/// The sending half of the port.
pub(super) struct Wire {
    out: Out,
    /// Of neighbours, by a part of their address: which tag they use.
    tags: [(Mac, Option<u16>); TAGS_MAX],
    /// Tag of the last frame on the slow path.
    last_tag: Option<u16>,
    /// A frame in the making.
    frame: [u8; SLOT_BYTES],
}

/// The link's sender, counted.
struct Out {
    sender: Box<dyn FrameSender>,
    shared: Arc<Shared>,
    failures: u64,
}

type Mac = [u8; 6];

impl Out {
    fn send(&mut self, frame: &[u8]) {
        match self.sender.send(frame) {
            Ok(true) => self.shared.metrics.port.sent.inc(),
            Ok(false) => self.shared.metrics.port.unsent.inc(),
            Err(error) => self.on_failure(&error),
        }
    }

    #[cold]
    fn on_failure(&mut self, error: &LinkError) {
        self.shared.metrics.port.unsent.inc();
        self.failures += 1;
        if self.failures.is_power_of_two() {
            tracing::error!(failures = self.failures, %error, "a reply could not be sent");
        }
    }
}

impl Wire {
    pub(super) fn new(sender: Box<dyn FrameSender>, shared: Arc<Shared>) -> Self {
        let out = Out { sender, shared, failures: 0 };
        let tags = [([0; 6], None); TAGS_MAX];
        Wire { out, tags, last_tag: None, frame: [0; SLOT_BYTES] }
    }

    /// Sends one frame. What cannot be sent is counted; askers ask again or read every batch.
    pub(super) fn send(&mut self, frame: &[u8]) {
        self.out.send(frame);
    }

    /// From now on, frames to whoever sent this one bear its tag.
    pub(super) fn note_tag(&mut self, frame: &[u8], vlan: Option<u16>) {
        self.last_tag = vlan;
        if let Some((_, source)) = macs(frame)
            && let Some(place) = self.tags.get_mut(place(source))
        {
            *place = (source, vlan);
        }
    }

    /// Sends the first `length` bytes of `self.frame`, with the tag that their receiver uses.
    fn send_made(&mut self, length: usize) {
        let Some((target, _)) = macs(&self.frame) else { return };
        let vlan = match self.tags.get(place(target)) {
            Some((mac, vlan)) if *mac == target => *vlan,
            _ => self.last_tag,
        };
        // Behind both addresses; the buffer has room for it beside the longest frame.
        let end = match vlan {
            Some(tag) if length + TAG_BYTES <= SLOT_BYTES => {
                self.frame.copy_within(MACS_BYTES..length, MACS_BYTES + TAG_BYTES);
                let [high, low] = tag.to_be_bytes();
                let at = MACS_BYTES..MACS_BYTES + TAG_BYTES;
                self.frame[at].copy_from_slice(&[0x81, 0, high, low]);
                length + TAG_BYTES
            }
            _ => length,
        };
        // Ethernet's least length; what pads is zero.
        let padded = end.max(FRAME_BYTES_MIN);
        self.frame[end..padded].fill(0);
        self.out.send(&self.frame[..padded]);
    }
}

fn macs(frame: &[u8]) -> Option<(Mac, Mac)> {
    let (target, rest) = frame.split_first_chunk::<6>()?;
    Some((*target, *rest.first_chunk::<6>()?))
}

/// Where a neighbour's tag is kept: by the bytes in which neighbours differ.
fn place([.., e, f]: Mac) -> usize {
    (usize::from(e) << 8 | usize::from(f)) % TAGS_MAX
}

/// The stack's view of the port: at most one frame to receive, without tag, and the wire.
pub(super) struct Turn<'a> {
    pub(super) frame: Option<&'a [u8]>,
    pub(super) wire: &'a mut Wire,
    /// Whether sums of what arrives are looked at.
    pub(super) verify: bool,
}

impl Device for Turn<'_> {
    type RxToken<'b>
        = Incoming<'b>
    where
        Self: 'b;
    type TxToken<'b>
        = Outgoing<'b>
    where
        Self: 'b;

    fn receive(&mut self, _: Instant) -> Option<(Incoming<'_>, Outgoing<'_>)> {
        let frame = self.frame.take()?;
        Some((Incoming(frame), Outgoing(self.wire)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Outgoing<'_>> {
        Some(Outgoing(self.wire))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = FRAME_BYTES_MAX;
        let mut checksum = ChecksumCapabilities::default();
        if !self.verify {
            checksum.ipv4 = Checksum::Tx;
            checksum.tcp = Checksum::Tx;
            checksum.icmpv4 = Checksum::Tx;
            checksum.icmpv6 = Checksum::Tx;
        }
        capabilities.checksum = checksum;
        capabilities
    }
}

/// The frame to receive.
pub(super) struct Incoming<'a>(&'a [u8]);

impl RxToken for Incoming<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

/// Room for a frame to send.
pub(super) struct Outgoing<'a>(&'a mut Wire);

impl TxToken for Outgoing<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        // The stack keeps to the longest frame that it was told.
        let made = f(&mut self.0.frame[..length]);
        self.0.send_made(length);
        made
    }
}

const TAGS_MAX: usize = 256;
const MACS_BYTES: usize = 12;
const TAG_BYTES: usize = 4;
/// Least length of a frame, without its check sequence.
const FRAME_BYTES_MIN: usize = 60;
/// Longest one, without tag.
const FRAME_BYTES_MAX: usize = 1_514;
