//! The redo log: the blocks that one flush changes, whole or not at all.
//!
//! | offset | bytes | field |
//! | --- | --- | --- |
//! | 0 | 8 | ASCII `BLMFLOG1` |
//! | 8 | 16 | uuid of the filter file |
//! | 24 | 8 | generation that the file has afterwards |
//! | 32 | 8 | length that the file has afterwards |
//! | 40 | 8 | number of blocks |
//! | 48 | 8 + b each | its number, its bytes (4,096; of the last one of the file fewer) |
//! | end | 4 | CRC32C of all before |
//!
//! Little-endian. A log that is cut short, or whose checksum is wrong, was never committed: the
//! file was not touched for it. What lies behind the checksum is left from a longer log before.

use std::ops::Range;

/// What one flush changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Log<'a> {
    /// Of the file that it belongs to.
    pub(super) uuid: [u8; 16],
    /// Of the file after it.
    pub(super) generation: u64,
    /// Length of the file after it.
    pub(super) file_bytes: u64,
    /// Offset and bytes of each block.
    pub(super) blocks: Vec<(u64, &'a [u8])>,
}

impl<'a> Log<'a> {
    /// What turns `old` into `new`.
    pub(super) fn between(old: &[u8], new: &'a [u8], uuid: [u8; 16], generation: u64) -> Self {
        let old_blocks = old.chunks(BLOCK_BYTES).map(Some).chain(std::iter::repeat(None));
        let blocks = new.chunks(BLOCK_BYTES).zip(old_blocks).enumerate();
        let changed = blocks
            .filter(|(_, (new, old))| *old != Some(*new))
            .map(|(index, (new, _))| ((index * BLOCK_BYTES) as u64, new));
        Log { uuid, generation, file_bytes: new.len() as u64, blocks: changed.collect() }
    }

    /// The bytes of the log.
    pub(super) fn encode(&self) -> Vec<u8> {
        let payload: usize = self.blocks.iter().map(|(_, bytes)| 8 + bytes.len()).sum();
        let mut out = Vec::with_capacity(HEAD_BYTES + payload + 4);
        out.extend(MAGIC);
        out.extend(self.uuid);
        for number in [self.generation, self.file_bytes, self.blocks.len() as u64] {
            out.extend(number.to_le_bytes());
        }
        for (offset, bytes) in &self.blocks {
            out.extend((offset / BLOCK_BYTES as u64).to_le_bytes());
            out.extend(*bytes);
        }
        out.extend(crc32c::crc32c(&out).to_le_bytes());
        out
    }

    /// Reads a log; `None` where it was never committed. Memory: an entry for each block that is
    /// there.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let number = |at: Range<usize>| Some(u64::from_le_bytes(bytes.get(at)?.try_into().ok()?));
        if bytes.get(..8)? != MAGIC {
            return None;
        }
        let uuid = bytes.get(8..24)?.try_into().ok()?;
        let (generation, file_bytes) = (number(24..32)?, number(32..40)?);
        let count = number(40..HEAD_BYTES)?;
        if count > (bytes.len() / 8) as u64 {
            return None;
        }
        let mut blocks = Vec::with_capacity(usize::try_from(count).ok()?);
        let mut at = HEAD_BYTES;
        for _ in 0..count {
            let offset = number(at..at.checked_add(8)?)?.checked_mul(BLOCK_BYTES as u64)?;
            let left = file_bytes.checked_sub(offset).filter(|left| *left > 0)?;
            let length = left.min(BLOCK_BYTES as u64) as usize;
            let block = bytes.get(at + 8..(at + 8).checked_add(length)?)?;
            blocks.push((offset, block));
            at += 8 + length;
        }
        let sum = bytes.get(at..at.checked_add(4)?)?;
        (crc32c::crc32c(bytes.get(..at)?).to_le_bytes() == sum).then_some(Log {
            uuid,
            generation,
            file_bytes,
            blocks,
        })
    }

    /// Does in memory what it is to do on the disk.
    pub(super) fn apply(&self, file: &mut Vec<u8>) {
        // The blocks that are there bound it: a length beyond them is left to the reader of the
        // file to refuse.
        let end = self.blocks.iter().map(|(offset, bytes)| offset + bytes.len() as u64).max();
        let end = end.unwrap_or(0).max((file.len() as u64).min(self.file_bytes));
        file.resize(usize::try_from(end).unwrap_or(usize::MAX), 0);
        for (offset, bytes) in &self.blocks {
            let start = *offset as usize;
            if let Some(target) = file.get_mut(start..start + bytes.len()) {
                target.copy_from_slice(bytes);
            }
        }
    }
}

/// Bytes of a block.
pub(super) const BLOCK_BYTES: usize = 4_096;
const MAGIC: &[u8; 8] = b"BLMFLOG1";
const HEAD_BYTES: usize = 48;

#[cfg(test)]
mod tests {
    use super::*;

    fn file(seed: u8, length: usize) -> Vec<u8> {
        (0..length).map(|i| (i / 7) as u8 ^ seed).collect()
    }

    #[test]
    fn a_log_turns_the_old_file_into_the_new_one_whatever_their_lengths() {
        for (old, new) in [(9_000, 9_000), (9_000, 20_000), (20_000, 9_000), (0, 5), (4_096, 4_096)]
        {
            let old = file(1, old);
            let mut new = file(1, new);
            new[2] = 77;
            let log = Log::between(&old, &new, [9; 16], 3);
            let bytes = log.encode();
            let read = Log::parse(&bytes).unwrap();
            assert_eq!(read, log);
            let mut file = old.clone();
            read.apply(&mut file);
            assert_eq!(file, new);
        }
        let same = file(1, 9_000);
        assert!(Log::between(&same, &same, [9; 16], 3).blocks.is_empty());
    }

    #[test]
    fn a_log_with_any_bit_flipped_or_any_end_cut_off_was_never_committed() {
        let (old, mut new) = (file(1, 5_000), file(1, 5_000));
        (new[0], new[4_999]) = (200, 201);
        let bytes = Log::between(&old, &new, [9; 16], 3).encode();
        for cut in 0..bytes.len() {
            assert_eq!(Log::parse(&bytes[..cut]), None, "cut at {cut}");
        }
        let mut flipped = bytes.clone();
        for bit in 0..bytes.len() * 8 {
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Log::parse(&flipped), None, "bit {bit}");
            flipped[bit / 8] ^= 1 << (bit % 8);
        }
        // What is left from a longer log does no harm.
        let longer = [bytes.clone(), vec![5; 300]].concat();
        assert_eq!(Log::parse(&longer), Log::parse(&bytes));
    }

    #[test]
    fn a_log_that_claims_much_takes_little_memory() {
        let mut bytes = Log::between(&[], &file(1, 10), [9; 16], 3).encode();
        bytes[40..48].fill(0xff);
        assert_eq!(Log::parse(&bytes), None);
        bytes[32..40].fill(0xff);
        bytes[40..48].copy_from_slice(&0u64.to_le_bytes());
        bytes.truncate(48);
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        let mut file = vec![0; 10];
        Log::parse(&bytes).unwrap().apply(&mut file);
        assert_eq!(file.len(), 10);
    }
}
