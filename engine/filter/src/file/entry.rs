//! An entry of the section table: 128 bytes, the same fields for every kind.

use bloomrf_engine::format::container::{ENTRY_BYTES, NO_COLUMN, Place};
use bloomrf_engine::wire::cursor::{Reader, Short, Writer};

use super::EntryFault;
use super::codes::{self, RuleCode};
use crate::{Encoding, HashRule};

/// An entry. A field that a kind does not use is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) kind: u16,
    pub(super) rule: HashRule,
    pub(super) encoding: Encoding,
    pub(super) k: u8,
    /// Bits of a classic filter, words of others.
    pub(super) count: u64,
    pub(super) place: Place,
    pub(super) counts: Counts,
}

/// What a filter was made for, and what is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    /// Distinct items; 0 where nobody knows.
    pub(super) capacity: u64,
    pub(super) target_fpr: Option<f64>,
    pub(super) inserted: u64,
    /// Set bits of the payload.
    pub(super) ones: u64,
}

impl Entry {
    /// Appends the entry.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut w = Writer::new(out);
        let RuleCode { hash, seed, index } = codes::of_rule(self.rule);
        w.u16(self.kind);
        w.u16(NO_COLUMN);
        w.u16(hash);
        w.u8(codes::of_encoding(self.encoding));
        w.u8(self.k);
        w.u64(seed);
        w.zeros(5);
        w.u8(index);
        w.zeros(18);
        w.u64(self.count);
        w.zeros(8);
        w.u64(self.place.offset);
        w.u64(self.place.bytes);
        w.u64(self.counts.capacity);
        w.u64(self.counts.target_fpr.map_or(0, f64::to_bits));
        w.u64(self.counts.inserted);
        w.u64(self.counts.ones);
        w.zeros(ENTRY_BYTES - w.len());
    }

    /// Reads an entry. Bytes that no field has are compared later, with what it encodes to.
    pub(super) fn read(bytes: &[u8; ENTRY_BYTES]) -> Result<Self, EntryFault> {
        Entry::parse(&mut Reader::new(bytes)).map_err(|Short| EntryFault::Place)?
    }

    fn parse(r: &mut Reader<'_>) -> Result<Result<Self, EntryFault>, Short> {
        let (kind, _, hash) = (r.u16()?, r.u16()?, r.u16()?);
        let (encoding, k, seed) = (r.u8()?, r.u8()?, r.u64()?);
        r.take(5)?;
        let index = r.u8()?;
        r.take(18)?;
        let count = r.u64()?;
        r.take(8)?;
        let place = Place { offset: r.u64()?, bytes: r.u64()? };
        let (capacity, target, inserted, ones) = (r.u64()?, r.u64()?, r.u64()?, r.u64()?);
        let Some(rule) = codes::rule(RuleCode { hash, seed, index }) else {
            return Ok(Err(EntryFault::Hash { found: hash, seed, index }));
        };
        let Some(encoding) = codes::encoding(encoding) else {
            return Ok(Err(EntryFault::Encoding { found: encoding }));
        };
        let target_fpr = (target != 0).then(|| f64::from_bits(target));
        if target_fpr.is_some_and(|fpr| !is_rate(fpr)) {
            return Ok(Err(EntryFault::Parameters));
        }
        let counts = Counts { capacity, target_fpr, inserted, ones };
        Ok(Ok(Entry { kind, rule, encoding, k, count, place, counts }))
    }
}

/// Whether it is more than 0 and less than 1.
pub(super) fn is_rate(fpr: f64) -> bool {
    fpr > 0.0 && fpr < 1.0
}
