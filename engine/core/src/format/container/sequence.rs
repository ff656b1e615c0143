//! Sequence numbers of a file that is changed in place: which writing it is in the midst of.
//!
//! At rest both are 0. A writer sets them before it touches anything else and takes them back when
//! all is written, so that whoever looks meanwhile, or after the writer died, knows that the file
//! is no writing's, and which two it lies between.

use super::HEADER_BYTES;

/// The two numbers of a file that is being changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The generation that is being written; more than 0.
    pub writing: u64,
    /// The last generation that was whole.
    pub whole: u64,
}

impl Sequence {
    /// Offset in the header of the word that is 0 at rest: the generation that is being written.
    pub const WRITING: usize = 128;
    /// Offset in the header of the last whole generation.
    pub const WHOLE: usize = 136;

    /// What a header says; `None` at rest.
    #[must_use]
    pub fn of(header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let number = |at: usize| {
            let bytes = header.get(at..at + 8).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let (writing, whole) = (number(Self::WRITING), number(Self::WHOLE));
        (writing != 0 || whole != 0).then_some(Sequence { writing, whole })
    }

    /// Puts the numbers into a header at rest, and its checksum right.
    pub fn mark(self, header: &mut [u8; HEADER_BYTES]) {
        header[Self::WRITING..Self::WHOLE].copy_from_slice(&self.writing.to_le_bytes());
        header[Self::WHOLE..Self::WHOLE + 8].copy_from_slice(&self.whole.to_le_bytes());
        let (fields, sum) = header.split_at_mut(HEADER_BYTES - 4);
        sum.copy_from_slice(&crc32c::crc32c(fields).to_le_bytes());
    }
}
