//! One filter: header and bitset, as they lie in a file.

use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::split_block::{self, BLOCK_WORDS};
use bloomrf_kernels::{Kernel, hash};

use super::super::{Foreign, Limits, Refusal};
use super::thrift::{Compact, Field, I32, STRUCT, put_signed};
use crate::{SizeRefusal, Spec};

/// A split-block filter: blocks of eight lanes of 32 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sbbf {
    words: Vec<u64>,
}

/// What a header says: bytes of the bitset, and of the header itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) bitset_bytes: u64,
    pub(super) bytes: u64,
}

impl Sbbf {
    /// An empty filter of so many blocks of 32 bytes.
    ///
    /// # Errors
    /// Where there are none, or more than a file or the limit holds.
    pub fn build(blocks: u64, limits: Limits) -> Result<Self, SizeRefusal> {
        if blocks == 0 {
            return Err(SizeRefusal::NoItems);
        }
        let most = limits.bytes_max.min(BITSET_BYTES_MAX);
        if blocks > most / BLOCK_BYTES {
            return Err(SizeRefusal::TooLarge { bits: blocks as f64 * 256.0, most: most * 8 });
        }
        Ok(Sbbf { words: vec![0; blocks as usize * BLOCK_WORDS] })
    }

    /// Blocks as pyarrow and DuckDB choose them: the usual formula, rounded up to a power of two.
    /// The formula gives too little for rates below 1 %: measure, or take the next power.
    ///
    /// # Errors
    /// Where the rate is not one, or the size more than a file holds.
    pub fn blocks_for(spec: &Spec) -> Result<u64, SizeRefusal> {
        let Spec { items, fpr } = *spec;
        if !(fpr > 0.0 && fpr < 1.0) {
            return Err(SizeRefusal::Rate(fpr));
        }
        let bits = -8.0 * items as f64 / (1.0 - fpr.powf(1.0 / 8.0)).ln();
        if bits > BITSET_BYTES_MAX as f64 * 4.0 {
            return Err(SizeRefusal::TooLarge { bits, most: BITSET_BYTES_MAX * 4 });
        }
        Ok((bits as u64).div_ceil(8).next_power_of_two().max(BLOCK_BYTES) / BLOCK_BYTES)
    }

    /// Reads a header and its bitset, and nothing else.
    ///
    /// # Errors
    /// Where the header is not one of such a filter, or the length is not what it says.
    pub fn parse(bytes: &[u8], limits: Limits) -> Result<Self, Refusal> {
        let head = Head::parse(bytes)?;
        let (need, have) = (head.bytes + head.bitset_bytes, bytes.len() as u64);
        if have < need {
            return Err(Refusal::Short { what: "a split-block filter", need, have });
        }
        if have > need {
            let what = "a split-block filter";
            return Err(Refusal::Trailing { what, end: need, extra: have - need });
        }
        limits.admit(head.bitset_bytes)?;
        let bitset = bytes.get(head.bytes as usize..).unwrap_or_default();
        let words = bitset.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        Ok(Sbbf { words })
    }

    /// Header and bitset.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = vec![0x10 | I32];
        put_signed(&mut bytes, (self.words.len() * 8) as i64);
        // Three unions, each with the empty struct of its first member.
        for _ in ["split block", "xxHash", "not compressed"] {
            bytes.extend([0x10 | STRUCT, 0x10 | STRUCT, 0, 0]);
        }
        bytes.push(0);
        bytes.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    /// Adds a value by its [plain](super::plain) bytes.
    pub fn insert(&mut self, value: &[u8]) {
        split_block::insert(&mut self.words, hash::parquet(value));
    }

    /// Asks for many values by their hashes: bit `i % 64` of `found[i / 64]` answers for
    /// `hashes[i]`.
    ///
    /// # Panics
    /// Unless `found` has a bit for every hash.
    pub fn contains_hashes_many(&self, hashes: &[u64], found: &mut [u64]) {
        split_block::contains_hashes_many(Kernel::best(), &self.words, hashes, found);
    }

    /// Blocks of 32 bytes.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        (self.words.len() / BLOCK_WORDS) as u64
    }

    /// Its words, four to a block; their little-endian bytes are the bitset.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The share of set bits of each lane, block by block.
    fn lane_fills(&self) -> impl Iterator<Item = [f64; 8]> {
        self.words.as_chunks::<BLOCK_WORDS>().0.iter().map(|block| {
            std::array::from_fn(|lane| {
                let lane_bits = (block[lane / 2] >> (32 * (lane % 2))) as u32;
                f64::from(lane_bits.count_ones()) / 32.0
            })
        })
    }
}

impl Foreign for Sbbf {
    fn hash(&self, item: &[u8]) -> Hash128 {
        Hash128 { lo: hash::parquet(item), hi: 0 }
    }

    fn contains_hash(&self, hash: Hash128) -> bool {
        split_block::contains(&self.words, hash.lo)
    }

    fn fpr(&self) -> f64 {
        let rates = self.lane_fills().map(|fills| fills.iter().product::<f64>());
        rates.sum::<f64>() / self.blocks() as f64
    }

    /// By the fill of its lanes: writers have no such figure.
    fn estimate(&self) -> f64 {
        let items = self.lane_fills().map(|fills| {
            let clear = 1.0 - fills.iter().sum::<f64>() / 8.0;
            clear.max(1.0 / 512.0).ln() / (1.0 - 1.0 / 32.0_f64).ln()
        });
        items.sum()
    }

    fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }
}

impl Head {
    /// Reads a header at the start of `bytes`, which may go on behind it.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut compact = Compact::new("the header of a split-block filter", bytes);
        let (mut bitset, mut last) = (None, 0);
        let mut algorithms = [false; 3];
        while let Some(field) = compact.field(&mut last)? {
            match field {
                Field { id: 1, kind: I32 } => bitset = Some(compact.signed()?),
                Field { id: id @ 2..=4, kind: STRUCT } => {
                    algorithms[id as usize - 2] = is_first_member(&mut compact)?;
                }
                other => compact.skip(other.kind)?,
            }
        }
        for (is_known, (field, expected)) in algorithms.into_iter().zip(ALGORITHMS) {
            if !is_known {
                return Err(Refusal::field(field, "absent or another one", expected));
            }
        }
        let said = bitset.unwrap_or(0);
        match u64::try_from(said) {
            Ok(bitset_bytes @ BLOCK_BYTES..=BITSET_BYTES_MAX)
                if bitset_bytes.is_multiple_of(BLOCK_BYTES) =>
            {
                Ok(Head { bitset_bytes, bytes: compact.at() as u64 })
            }
            _ => {
                let expected = "a multiple of 32, from 32 to 2,147,483,616";
                Err(Refusal::field("the bytes of a bitset", said, expected))
            }
        }
    }
}

/// Whether a union holds its first member, which has no fields that are known.
fn is_first_member(compact: &mut Compact<'_>) -> Result<bool, Refusal> {
    let (mut is_first, mut last) = (false, 0);
    while let Some(field) = compact.field(&mut last)? {
        is_first |= field == Field { id: 1, kind: STRUCT };
        compact.skip(field.kind)?;
    }
    Ok(is_first)
}

const ALGORITHMS: [(&str, &str); 3] = [
    ("the algorithm of a filter", "split block"),
    ("the hash of a filter", "xxHash"),
    ("the compression of a filter", "none"),
];
const BLOCK_BYTES: u64 = 32;
const BITSET_BYTES_MAX: u64 = (1 << 31) - 32;
