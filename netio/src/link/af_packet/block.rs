//! Walking a block of a TPACKET_V3 ring: its frames, each with what the kernel had taken out of it
//! put back. Safe code over ordinary bytes, so that it is tested and fuzzed without a kernel.
//!
//! Hot path: no allocation, no lock, no syscall, no copy of a frame; work bounded by BURST_MAX.
//!
//! A block is a list: each frame says how many bytes further the next one begins. Nothing that it
//! says is believed. Each frame is split off the front of what is left of the block, so no frame
//! overlaps another, none reaches out of the block, and a list that turns back on itself cannot be
//! expressed. At the first frame that contradicts itself the rest of the block is given up and
//! counted.

use super::unfinished;
use crate::burst::{BUFFER_BYTES, Burst, ETHERNET, Received};

/// What a block says of itself, as the kernel wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockHead {
    /// Number of frames.
    pub frames: u32,
    /// Where the first one is, bytes from the block's start.
    pub first: u32,
    /// Bytes in use, head included.
    pub bytes: u32,
}

/// How far the frames of one block have been handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Frames still to come.
    left: u32,
    /// Where the next one is, bytes from the end of the block's head.
    offset: usize,
}

/// What one step of a walk brought, beside the frames in the burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Bytes of the frames.
    pub bytes: u64,
    /// Frames given up, since the block contradicts itself.
    pub damaged: u32,
}

impl Walk {
    /// A walk from a block's first frame.
    #[must_use]
    pub fn new(head: BlockHead) -> Self {
        // A first frame inside the head is found out by the step: no offset is that large.
        let offset = (head.first as usize).checked_sub(HEAD_BYTES).unwrap_or(usize::MAX);
        Walk { left: head.frames, offset }
    }

    /// True where no frame is left.
    #[must_use]
    pub fn is_done(self) -> bool {
        self.left == 0
    }

    /// Adds frames of the block to the burst until it is full or the block is done. `body` is the
    /// block without its head ([`HEAD_BYTES`]), and ends where the head says.
    pub fn step<'a>(&mut self, body: &'a mut [u8], burst: &mut Burst<'a>) -> Step {
        let mut step = Step::default();
        let Some(mut rest) = body.get_mut(self.offset..) else { return self.give_up(step) };
        while self.left > 0 && !burst.is_full() {
            let Some(length) = slot_bytes(rest, self.left == 1) else { return self.give_up(step) };
            let Some((slot, behind)) = rest.split_at_mut_checked(length) else {
                return self.give_up(step);
            };
            rest = behind;
            let Some(frame) = frame(slot) else { return self.give_up(step) };
            step.bytes += frame.bytes.len() as u64;
            burst.push(frame);
            self.left -= 1;
            self.offset += length;
        }
        step
    }

    #[cold]
    fn give_up(&mut self, mut step: Step) -> Step {
        step.damaged = self.left;
        self.left = 0;
        step
    }
}

/// Bytes from this frame's header to the next one's; of the last frame, all that are left.
#[inline]
fn slot_bytes(rest: &[u8], is_last: bool) -> Option<usize> {
    let next = u32::from_ne_bytes(*rest.first_chunk()?) as usize;
    match is_last {
        true => Some(rest.len()),
        false => (next >= FRAME_HEADER_BYTES).then_some(next),
    }
}

/// The frame of one slot.
#[inline]
fn frame(slot: &mut [u8]) -> Option<Received<'_>> {
    let header = FrameHeader::of(slot.first_chunk()?);
    let start = usize::from(header.start);
    if start < FRAME_HEADER_BYTES || header.wire_bytes < header.bytes {
        return None;
    }
    let mut start = start;
    let end = start.checked_add(header.bytes as usize).filter(|&end| end <= slot.len())?;
    let mut wire_bytes = header.wire_bytes;
    if header.status & CHECKSUM_NOT_READY != 0 && header.bytes == header.wire_bytes {
        unfinished::finish(slot.get_mut(start..end)?);
    }
    if header.status & TAG_TAKEN != 0 && put_tag_back(slot, start, end, &header) {
        start -= TAG_BYTES;
        wire_bytes = wire_bytes.saturating_add(TAG_BYTES as u32);
    }
    // Longer ones are seen as cut.
    let end = end.min(start + BUFFER_BYTES);
    let ts_ns = i64::from(header.seconds) * 1_000_000_000 + i64::from(header.nanoseconds);
    let bytes = slot.get(start..end)?;
    Some(Received { bytes, source: 0, ts_ns, wire_bytes, link_type: ETHERNET })
}

/// The kernel takes the outer VLAN tag out of a frame: both addresses move forward, into the room
/// asked for, and the tag is written behind them. False where there is no room, or no addresses.
#[cold]
fn put_tag_back(slot: &mut [u8], start: usize, end: usize, header: &FrameHeader) -> bool {
    let has_room = start >= FRAME_HEADER_BYTES + TAG_BYTES && end - start >= ADDRESSES_BYTES;
    let Some(front) = slot.get_mut(start.saturating_sub(TAG_BYTES)..end).filter(|_| has_room)
    else {
        return false;
    };
    front.copy_within(TAG_BYTES..TAG_BYTES + ADDRESSES_BYTES, 0);
    let kind = if header.status & TAG_KIND_KNOWN != 0 { header.tag_kind } else { DOT1Q };
    let [kind, tag] = [kind, header.tag].map(u16::to_be_bytes);
    front[ADDRESSES_BYTES..ADDRESSES_BYTES + TAG_BYTES]
        .copy_from_slice(&[kind[0], kind[1], tag[0], tag[1]]);
    true
}

/// `tpacket3_hdr`, as far as it is used.
struct FrameHeader {
    seconds: u32,
    nanoseconds: u32,
    bytes: u32,
    wire_bytes: u32,
    status: u32,
    start: u16,
    tag: u16,
    tag_kind: u16,
}

impl FrameHeader {
    #[inline]
    fn of(bytes: &[u8; 48]) -> Self {
        let word = |at: usize| {
            u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let half = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        FrameHeader {
            seconds: word(4),
            nanoseconds: word(8),
            bytes: word(12),
            wire_bytes: word(16),
            status: word(20),
            start: half(24),
            // Sixteen bits in a field of 32.
            tag: word(32) as u16,
            tag_kind: half(36),
        }
    }
}

/// Bytes of a block's own head (`tpacket_block_desc`).
pub const HEAD_BYTES: usize = 48;
/// A frame's header (`tpacket3_hdr`) and the address behind it (`sockaddr_ll`).
const FRAME_HEADER_BYTES: usize = 48 + 20;
/// Target and source.
const ADDRESSES_BYTES: usize = 12;
/// Kind and tag.
pub(super) const TAG_BYTES: usize = 4;
const DOT1Q: u16 = 0x8100;
/// Of a frame's status: its sender on this host left the checksum to the interface.
const CHECKSUM_NOT_READY: u32 = 1 << 3;
/// A tag was taken out.
const TAG_TAKEN: u32 = 1 << 4;
/// The tag's kind is told, too.
const TAG_KIND_KNOWN: u32 = 1 << 6;

#[cfg(test)]
mod tests;
