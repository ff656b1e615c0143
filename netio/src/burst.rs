//! What one receive call moves: a fixed array of datagram buffers, allocated once.
//!
//! Hot path: no allocation; at most `BURST_MAX` datagrams.

/// Datagrams of one burst.
pub const BURST_MAX: usize = 64;
/// Bytes of one buffer: a jumbo frame.
pub const BUFFER_BYTES: usize = 9_216;

/// A burst. Reused for ever by its poll loop.
#[derive(Debug)]
pub struct Burst {
    memory: Box<[u8]>,
    lengths: [usize; BURST_MAX],
    sources: [u128; BURST_MAX],
    count: usize,
}

impl Default for Burst {
    fn default() -> Self {
        Self::new()
    }
}

impl Burst {
    /// An empty burst.
    #[must_use]
    pub fn new() -> Self {
        Burst {
            memory: vec![0; BURST_MAX * BUFFER_BYTES].into_boxed_slice(),
            lengths: [0; BURST_MAX],
            sources: [0; BURST_MAX],
            count: 0,
        }
    }

    /// The datagrams received, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> + '_ {
        self.memory
            .chunks_exact(BUFFER_BYTES)
            .zip(&self.lengths)
            .take(self.count)
            .map(|(buffer, &length)| &buffer[..length])
    }

    /// Where each of them came from, as an IPv6 address (of IPv4 the mapped one); 0 where the
    /// link does not tell: see [`crate::Link::keep_sources`].
    #[must_use]
    pub fn sources(&self) -> &[u128] {
        &self.sources[..self.count]
    }

    /// Number of datagrams.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// True where nothing was received.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The next free buffer, if there is one; call [`Burst::commit`] with what was written.
    pub fn next_buffer(&mut self) -> Option<&mut [u8]> {
        self.memory.chunks_exact_mut(BUFFER_BYTES).nth(self.count)
    }

    /// Takes `length` bytes of the buffer last handed out as a datagram.
    ///
    /// # Panics
    /// Where no buffer was free, or is shorter.
    pub fn commit(&mut self, length: usize) {
        self.commit_from(length, 0);
    }

    /// The same for a datagram whose source is known.
    ///
    /// # Panics
    /// As [`Burst::commit`].
    pub fn commit_from(&mut self, length: usize, source: u128) {
        assert!(self.count < BURST_MAX && length <= BUFFER_BYTES);
        self.lengths[self.count] = length;
        self.sources[self.count] = source;
        self.count += 1;
    }
}
