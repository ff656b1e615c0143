//! Damage by chance to a stored file, and what a reader may make of it. Test-only: include it by
//! its path, beside `world`.
#![allow(dead_code, reason = "each user needs its own part")]
#![allow(clippy::unwrap_used, reason = "test support")]

use bloomrf_engine::filter::Filter;
use bloomrf_engine::format::{
    FileName, FileRefusal, LostSection, Origin, PageSize, Stored, decode, encode_paged,
};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::seal::SealedBatch;

use super::world;

/// A whole file, and what it says.
pub(crate) struct Whole {
    pub(crate) schema: Schema,
    pub(crate) origin: Origin,
    pub(crate) name: FileName,
    pub(crate) stored: Stored,
    pub(crate) bytes: Vec<u8>,
}

/// What became of a damaged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Refused whole.
    Refused(FileRefusal),
    /// These filters were lost, everything else is as it was.
    Lost(Vec<LostSection>),
}

impl Whole {
    /// The file of this batch.
    pub(crate) fn new(schema: Schema, batch: SealedBatch, generation: u64, size: PageSize) -> Self {
        let (origin, stamp) = (world::origin(&schema), world::stamp(generation));
        let name = world::name(&batch, &stamp);
        let bytes = encode_paged(&batch, &origin, &stamp, size).unwrap();
        let stored = decode(&bytes, &name, &origin, &schema).unwrap();
        assert_eq!(stored, Stored { batch, stamp, lost: vec![] });
        Whole { schema, origin, name, stored, bytes }
    }

    /// Reads bytes that are not those of the file.
    ///
    /// # Errors
    /// What is wrong, where they were read as something that was never written.
    pub(crate) fn judge(&self, damaged: &[u8]) -> Result<Outcome, String> {
        match decode(damaged, &self.name, &self.origin, &self.schema) {
            Err(refusal) => Ok(Outcome::Refused(refusal)),
            Ok(read) => self.compare(read).map(Outcome::Lost),
        }
    }

    fn compare(&self, read: Stored) -> Result<Vec<LostSection>, String> {
        let (ours, theirs) = (&self.stored.batch, &read.batch);
        let is_same = (ours.batch, ours.records, ours.hash, self.stored.stamp)
            == (theirs.batch, theirs.records, theirs.hash, read.stamp);
        if !is_same || ours.columns.len() != theirs.columns.len() {
            return Err("it was read as another batch".to_owned());
        }
        for (ordinal, (ours, theirs)) in ours.columns.iter().zip(&theirs.columns).enumerate() {
            let is_lost = read.lost.iter().any(|lost| lost.ordinal == ordinal);
            let filter = if is_lost { &Filter::None } else { &ours.filter };
            if (ours.flags, ours.zone) != (theirs.flags, theirs.zone) || *filter != theirs.filter {
                return Err(format!("column {ordinal} was read as something else"));
            }
        }
        if read.lost.is_empty() {
            return Err("nobody noticed".to_owned());
        }
        Ok(read.lost)
    }
}

/// Turns one bit over.
pub(crate) fn flip(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] ^= 1 << (bit % 8);
}

/// The file with blocks `first` and `second` of 4,096 bytes in each other's place; `None` where
/// that changes nothing, or the last block is not whole.
pub(crate) fn swapped(bytes: &[u8], first: usize, second: usize) -> Option<Vec<u8>> {
    let blocks = [first, second].map(|at| bytes.get(at * BLOCK..(at + 1) * BLOCK));
    let [Some(a), Some(b)] = blocks else { return None };
    let mut swapped = bytes.to_vec();
    swapped[first * BLOCK..][..BLOCK].copy_from_slice(b);
    swapped[second * BLOCK..][..BLOCK].copy_from_slice(a);
    (swapped != bytes).then_some(swapped)
}

/// The file with block `at` taken from `other`; `None` where that changes nothing.
pub(crate) fn transplanted(bytes: &[u8], other: &[u8], at: usize) -> Option<Vec<u8>> {
    let end = bytes.len().min(other.len()).min((at + 1) * BLOCK);
    let block = other.get(at * BLOCK..end)?;
    let mut mixed = bytes.to_vec();
    mixed[at * BLOCK..end].copy_from_slice(block);
    (mixed != bytes).then_some(mixed)
}

/// Bytes of a block: what disks and file systems lose or mistake as one.
pub(crate) const BLOCK: usize = 4_096;
