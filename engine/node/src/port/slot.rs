//! Room for one frame on its way from a poll loop to the thread that answers.
//!
//! Hot path: one copy of the frame, no allocation.

/// A frame, copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameSlot {
    length: u16,
    bytes: [u8; SLOT_BYTES],
}

impl FrameSlot {
    /// A copy of `frame`; `None` where it is too long: nothing that the port answers is.
    pub(crate) fn of(frame: &[u8]) -> Option<Self> {
        let mut slot =
            FrameSlot { length: u16::try_from(frame.len()).ok()?, bytes: [0; SLOT_BYTES] };
        slot.bytes.get_mut(..frame.len())?.copy_from_slice(frame);
        Some(slot)
    }

    /// A copy of two parts, one behind the other.
    pub(crate) fn of_parts(first: &[u8], second: &[u8]) -> Option<Self> {
        let mut slot = Self::of(first)?;
        let end = first.len() + second.len();
        slot.bytes.get_mut(first.len()..end)?.copy_from_slice(second);
        slot.length = u16::try_from(end).ok()?;
        Some(slot)
    }

    /// The frame.
    pub(crate) fn frame(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }
}

/// Longest frame that is handed over: what Ethernet carries without jumbo frames, with tags.
pub(crate) const SLOT_BYTES: usize = 1_600;
