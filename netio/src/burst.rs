//! What one receive call moves: a fixed number of frames or datagrams, in the link's own memory.
//!
//! Hot path: no allocation and no copy; at most `BURST_MAX` of them.

use arrayvec::ArrayVec;

/// Frames or datagrams of one burst.
pub const BURST_MAX: usize = 64;
/// Longest frame or datagram that a link delivers, bytes: a jumbo frame.
pub const BUFFER_BYTES: usize = 9_216;

/// One frame or datagram, where the link holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received<'a> {
    /// Payload of a UDP datagram, or a frame from its link-layer header on:
    /// [`crate::Link::framing`] says which.
    pub bytes: &'a [u8],
    /// Of payloads: the sender's address as IPv6 (of IPv4 the mapped one); 0: not told, see
    /// [`crate::Link::keep_sources`].
    pub source: u128,
    /// Of frames: when it was received, nanoseconds since 1970; 0: not told.
    pub ts_ns: i64,
    /// Of frames: bytes on the wire; more than there are where the frame was cut.
    pub wire_bytes: u32,
    /// Of frames: number of the first header's kind (LINKTYPE_*); 1 is Ethernet.
    pub link_type: u16,
}

impl<'a> Received<'a> {
    /// The payload of a datagram from `source`.
    #[must_use]
    pub fn payload(bytes: &'a [u8], source: u128) -> Self {
        Received { bytes, source, ..Self::default() }
    }

    /// A whole Ethernet frame, received at `ts_ns`.
    #[must_use]
    pub fn ethernet(bytes: &'a [u8], ts_ns: i64) -> Self {
        // No frame that fits a buffer is longer than 32 bits say.
        let wire_bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        Received { bytes, ts_ns, wire_bytes, link_type: ETHERNET, ..Self::default() }
    }
}

/// LINKTYPE_ETHERNET.
pub const ETHERNET: u16 = 1;

/// A burst. Its frames stay where they are until the link's next call.
#[derive(Debug, Default)]
pub struct Burst<'a> {
    received: ArrayVec<Received<'a>, BURST_MAX>,
}

impl<'a> Burst<'a> {
    /// An empty burst. Costs nothing: it holds no buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was received, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Received<'a>> + '_ {
        self.received.iter()
    }

    /// Number of frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.received.len()
    }

    /// True where nothing was received.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.received.is_empty()
    }

    /// True where no more fits.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.received.is_full()
    }

    /// Adds one.
    ///
    /// # Panics
    /// Where the burst is full.
    pub fn push(&mut self, received: Received<'a>) {
        self.received.push(received);
    }
}
