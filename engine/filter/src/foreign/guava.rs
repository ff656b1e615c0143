//! Guava's `BloomFilter`, as `writeTo` writes it and `readFrom` reads it.
//!
//! One byte of strategy, one of k, four of the number of words, big-endian words. No magic, no
//! checksum, no funnel: any bytes of the right length look like one, so the caller must say that
//! it is one, and how items were encoded.

use bloomrf_kernels::hash::Hash128;

use super::cursor::Cursor;
use super::{BitArray, BitOrder, Foreign, Limits, MergeRefusal, Refusal, Rule};
use crate::{SizeRefusal, Spec};

/// How Guava spreads an item over the bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// `MURMUR128_MITZ_32`, ordinal 0.
    Mitz32,
    /// `MURMUR128_MITZ_64`, ordinal 1, the default.
    #[default]
    Mitz64,
}

impl Strategy {
    fn rule(self) -> Rule {
        match self {
            Strategy::Mitz32 => Rule::GuavaMitz32,
            Strategy::Mitz64 => Rule::GuavaMitz64,
        }
    }
}

/// How Guava chooses k; the file says k, so readers need not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KRule {
    /// From the bits for each item: 31.1 and older.
    FromBits,
    /// From the rate alone: since google/guava#7346.
    FromRate,
}

/// The head of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// How items are spread.
    pub strategy: Strategy,
    /// Bits for each item.
    pub k: u8,
    /// Words of 64 bits.
    pub words: u32,
}

impl Head {
    /// Reads the first [`HEAD_BYTES`].
    ///
    /// # Errors
    /// Where a field cannot be right.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut cursor = Cursor::new("the head of a Guava filter", bytes);
        let strategy = match cursor.u8()? {
            0 => Strategy::Mitz32,
            1 => Strategy::Mitz64,
            other => {
                let expected = "0 (MURMUR128_MITZ_32) or 1 (MURMUR128_MITZ_64)";
                return Err(Refusal::field("the strategy, byte 0,", other as i8, expected));
            }
        };
        let k = cursor.u8()?;
        if k == 0 {
            return Err(Refusal::field("k, byte 1,", k, "at least 1"));
        }
        let words = match cursor.i32_be()? {
            words @ 1.. => words as u32,
            other => {
                let field = "the number of words, bytes 2 to 5,";
                return Err(Refusal::field(field, other, "at least 1"));
            }
        };
        Ok(Head { strategy, k, words })
    }

    /// What a user of such a file should be told.
    #[must_use]
    pub fn warning(&self) -> Option<Warning> {
        let unreached = u64::from(self.words) * 64 > MITZ32_REACH;
        (self.strategy == Strategy::Mitz32 && unreached).then_some(Warning::Unreached)
    }

    /// Bytes of the whole file.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        HEAD_BYTES + 8 * u64::from(self.words)
    }
}

/// What is odd about a filter, though it can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Bits that no item ever sets.
    #[error(
        "MURMUR128_MITZ_32 never sets bits from 2^31 on: the false-positive rate is several \
         times what the size promises"
    )]
    Unreached,
}

/// What a new filter is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Items and rate. Guava takes 0 items as 1.
    pub spec: Spec,
    /// How items are spread.
    pub strategy: Strategy,
    /// How k is chosen.
    pub k_rule: KRule,
}

impl Params {
    /// Bits that are asked for; the words round them up.
    ///
    /// # Errors
    /// Where the rate is not one.
    pub fn bits(&self) -> Result<u64, SizeRefusal> {
        let Spec { items, fpr } = self.spec;
        if !(fpr > 0.0 && fpr < 1.0) {
            return Err(SizeRefusal::Rate(fpr));
        }
        let ln_2 = std::f64::consts::LN_2;
        Ok((-(items.max(1) as f64) * fpr.ln() / (ln_2 * ln_2)) as u64)
    }

    /// The head of the new filter.
    ///
    /// # Errors
    /// Where Guava could not make one.
    pub fn head(&self) -> Result<Head, SizeRefusal> {
        let bits = self.bits()?;
        let words = bits.div_ceil(64);
        if words == 0 {
            return Err(SizeRefusal::NoItems);
        }
        let ln_2 = std::f64::consts::LN_2;
        let k = match self.k_rule {
            KRule::FromBits => bits as f64 / self.spec.items.max(1) as f64 * ln_2,
            KRule::FromRate => -self.spec.fpr.ln() / ln_2,
        };
        let k = (k + 0.5).floor().max(1.0);
        if words > i32::MAX as u64 || k > 255.0 {
            return Err(SizeRefusal::TooLarge { bits: bits as f64, most: i32::MAX as u64 * 64 });
        }
        Ok(Head { strategy: self.strategy, k: k as u8, words: words as u32 })
    }
}

/// A filter of Guava.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guava {
    head: Head,
    bits: BitArray,
}

impl Guava {
    /// An empty filter, sized as Guava does.
    ///
    /// # Errors
    /// Where Guava could not make one, or it is more than the limit.
    pub fn build(params: &Params, limits: Limits) -> Result<Self, SizeRefusal> {
        let head = params.head()?;
        let bits = u64::from(head.words) * 64;
        if bits / 8 > limits.bytes_max {
            return Err(SizeRefusal::TooLarge { bits: bits as f64, most: limits.bytes_max * 8 });
        }
        Ok(Guava { head, bits: BitArray::zeros(BitOrder::BigEndianWords, bits) })
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// Where it is not exactly as long as its head says, or a field cannot be right.
    pub fn parse(file: &[u8], limits: Limits) -> Result<Self, Refusal> {
        let mut cursor = Cursor::new("a Guava filter", file);
        let head = Head::parse(cursor.take(HEAD_BYTES)?)?;
        let words = cursor.take(8 * u64::from(head.words))?;
        cursor.end()?;
        limits.admit(words.len() as u64)?;
        let bits = u64::from(head.words) * 64;
        Ok(Guava { head, bits: BitArray::from_bytes(BitOrder::BigEndianWords, bits, words) })
    }

    /// The whole file, as `writeTo` writes it.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let Head { strategy, k, words } = self.head;
        let mut file = vec![strategy as u8, k];
        file.extend((words as i32).to_be_bytes());
        file.extend(self.bits.bytes());
        file
    }

    /// Adds an encoded item; returns whether a bit changed, as `put` does.
    pub fn insert(&mut self, item: &[u8]) -> bool {
        let rule = self.head.strategy.rule();
        self.bits.insert(rule, self.head.k.into(), rule.hash(item))
    }

    /// Adds what the other one holds, as `putAll` does.
    ///
    /// # Errors
    /// Where strategy, k or size differ. That the encodings are the same is the caller's word.
    pub fn merge(&mut self, other: &Guava) -> Result<(), MergeRefusal> {
        MergeRefusal::unless_same("the strategy", self.head.strategy, other.head.strategy)?;
        MergeRefusal::unless_same("k", self.head.k, other.head.k)?;
        MergeRefusal::unless_same("the number of words", self.head.words, other.head.words)?;
        self.bits.merge(&other.bits);
        Ok(())
    }

    /// Its head.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }

    /// Its bits.
    #[must_use]
    pub fn bits(&self) -> &BitArray {
        &self.bits
    }
}

impl Foreign for Guava {
    fn hash(&self, item: &[u8]) -> Hash128 {
        self.head.strategy.rule().hash(item)
    }

    fn contains_hash(&self, hash: Hash128) -> bool {
        self.bits.contains(self.head.strategy.rule(), self.head.k.into(), hash)
    }

    /// `expectedFpp`.
    fn fpr(&self) -> f64 {
        self.bits.fill().powi(self.head.k.into())
    }

    /// `approximateElementCount`.
    fn estimate(&self) -> f64 {
        let items = -(-self.bits.fill()).ln_1p() * self.bits.bits() as f64;
        (items / f64::from(self.head.k) + 0.5).floor()
    }

    fn bytes(&self) -> u64 {
        self.bits.bytes().len() as u64
    }
}

/// Bytes before the words.
pub const HEAD_BYTES: u64 = 6;
/// Bits that `MURMUR128_MITZ_32` can reach.
const MITZ32_REACH: u64 = 1 << 31;
