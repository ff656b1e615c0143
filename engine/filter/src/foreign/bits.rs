//! Plain dumps of bits: what has no header at all, and all of whose rules the caller knows.

use bloomrf_kernels::hash::Hash128;

use super::bit_array::byte_count;
use super::{BitArray, BitOrder, Foreign, Limits, Refusal, Rule};
use crate::SizeRefusal;

/// What a dump does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bits: the modulus of the probes.
    pub bits: u64,
    /// Probes of an item.
    pub k: u32,
    /// Where each bit lies.
    pub order: BitOrder,
    /// How an item comes to its bits.
    pub rule: Rule,
}

impl Layout {
    fn check(&self) -> Result<(), SizeRefusal> {
        if self.bits == 0 || self.k == 0 {
            return Err(SizeRefusal::NoItems);
        }
        if self.bits > BITS_MAX || self.k > K_MAX {
            let bits = self.bits as f64;
            return Err(SizeRefusal::TooLarge { bits, most: BITS_MAX });
        }
        Ok(())
    }
}

/// Bits with the rules that were given for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    layout: Layout,
    bits: BitArray,
}

impl Dump {
    /// No bit set.
    ///
    /// # Errors
    /// Where there is no such filter, or it is more than the limit.
    pub fn build(layout: Layout, limits: Limits) -> Result<Self, SizeRefusal> {
        layout.check()?;
        if layout.bits.div_ceil(8) > limits.bytes_max {
            let most = limits.bytes_max.saturating_mul(8);
            return Err(SizeRefusal::TooLarge { bits: layout.bits as f64, most });
        }
        Ok(Dump { layout, bits: BitArray::zeros(layout.order, layout.bits) })
    }

    /// Reads a dump: as many bytes as the bits take, or as their whole words take.
    ///
    /// # Errors
    /// Where it has another length, or bits set past the end.
    pub fn parse(bytes: &[u8], layout: Layout, limits: Limits) -> Result<Self, Refusal> {
        layout.check()?;
        limits.admit(bytes.len() as u64)?;
        let lengths = [layout.order, BitOrder::BigEndianWords].map(|o| byte_count(o, layout.bits));
        if !lengths.contains(&bytes.len()) {
            let expected = format!("{} (or {} in words)", lengths[0], lengths[1]);
            return Err(Refusal::field("the length of the dump in bytes", bytes.len(), expected));
        }
        let bits = BitArray::from_bytes(layout.order, layout.bits, bytes);
        if bits.has_stray_bits() {
            let expected = "clear: the number of bits or their order is another one";
            return Err(Refusal::field("a bit past the end of the dump", "set", expected));
        }
        Ok(Dump { layout, bits })
    }

    /// Adds an encoded item; returns whether a bit changed.
    pub fn insert(&mut self, item: &[u8]) -> bool {
        let Layout { k, rule, .. } = self.layout;
        self.bits.insert(rule, k, rule.hash(item))
    }

    /// The bytes.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        self.bits.bytes().to_vec()
    }

    /// The rules that were given.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Its bits.
    #[must_use]
    pub fn bits(&self) -> &BitArray {
        &self.bits
    }
}

impl Foreign for Dump {
    fn hash(&self, item: &[u8]) -> Hash128 {
        self.layout.rule.hash(item)
    }

    fn contains_hash(&self, hash: Hash128) -> bool {
        self.bits.contains(self.layout.rule, self.layout.k, hash)
    }

    fn fpr(&self) -> f64 {
        self.bits.fill().powi(self.layout.k as i32)
    }

    fn estimate(&self) -> f64 {
        let bits = self.layout.bits as f64;
        let clear = (1.0 - self.bits.fill()).max(0.5 / bits);
        -bits / f64::from(self.layout.k) * clear.ln()
    }

    fn bytes(&self) -> u64 {
        self.bits.bytes().len() as u64
    }
}

const BITS_MAX: u64 = 1 << 50;
/// Most probes: a rate of the smallest number there is needs as many.
const K_MAX: u32 = 1_100;
