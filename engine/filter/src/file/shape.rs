//! The shape of a filter: what its entry says, and how long its payload is. Limits are the kinds'.

use bloomrf_kernels::{blocked, classic, split_block};

use super::EntryFault;
use super::entry::Entry;
use crate::foreign::Rule;
use crate::{HashRule, Kind, imported};

/// Kind and sizes of a stored filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Classic { k: u8, bits: u64 },
    SplitBlock { words: u64 },
    Blocked { k: u8, words: u64 },
    Counting { k: u8, words: u64 },
    Cuckoo { words: u64 },
    Imported { rule: Rule, k: u8, bits: u64 },
}

impl Shape {
    pub(super) fn kind(self) -> Kind {
        match self {
            Shape::Classic { .. } => Kind::Classic,
            Shape::SplitBlock { .. } => Kind::SplitBlock,
            Shape::Blocked { .. } => Kind::Blocked,
            Shape::Counting { .. } => Kind::Counting,
            Shape::Cuckoo { .. } => Kind::Cuckoo,
            Shape::Imported { .. } => Kind::Imported,
        }
    }

    /// Bytes of the payload.
    pub(super) fn bytes(self) -> u64 {
        8 * match self {
            Shape::Classic { bits, .. } | Shape::Imported { bits, .. } => bits.div_ceil(64),
            Shape::SplitBlock { words }
            | Shape::Blocked { words, .. }
            | Shape::Counting { words, .. }
            | Shape::Cuckoo { words } => words,
        }
    }

    /// Probes of an item.
    pub(super) fn k(self) -> u32 {
        match self {
            Shape::Classic { k, .. }
            | Shape::Blocked { k, .. }
            | Shape::Counting { k, .. }
            | Shape::Imported { k, .. } => k.into(),
            Shape::SplitBlock { .. } => 8,
            Shape::Cuckoo { .. } => 2,
        }
    }

    /// Bits of the filter.
    pub(super) fn bits(self) -> u64 {
        match self {
            Shape::Classic { bits, .. } | Shape::Imported { bits, .. } => bits,
            Shape::SplitBlock { words }
            | Shape::Blocked { words, .. }
            | Shape::Counting { words, .. }
            | Shape::Cuckoo { words } => 64 * words,
        }
    }

    /// Whether items of such a filter are hashed so.
    pub(super) fn is_of(self, hashed: HashRule) -> bool {
        match (self, hashed) {
            (Shape::Imported { rule, .. }, HashRule::Foreign(hashed)) => rule == hashed,
            (Shape::Imported { .. }, _) | (_, HashRule::Foreign(_)) => false,
            _ => true,
        }
    }

    /// Writes the fields of this kind.
    pub(super) fn fill(self, entry: &mut Entry) {
        match self {
            Shape::Classic { k, bits } => {
                (entry.kind, entry.k, entry.count) = (KIND_CLASSIC, k, bits);
            }
            Shape::SplitBlock { words } => (entry.kind, entry.count) = (KIND_SPLIT_BLOCK, words),
            Shape::Blocked { k, words } => {
                (entry.kind, entry.k, entry.count) = (KIND_BLOCKED, k, words);
            }
            Shape::Counting { k, words } => {
                (entry.kind, entry.k, entry.count) = (KIND_COUNTING, k, words);
            }
            Shape::Cuckoo { words } => (entry.kind, entry.count) = (KIND_CUCKOO, words),
            Shape::Imported { k, bits, .. } => {
                (entry.kind, entry.k, entry.count) = (KIND_IMPORTED, k, bits);
            }
        }
    }

    /// The shape that an entry tells, held to its limits. Fields that the kind does not use are
    /// not looked at.
    pub(super) fn parse(entry: &Entry) -> Result<Self, EntryFault> {
        let (k, count) = (entry.k, entry.count);
        let (shape, is_possible) = match entry.kind {
            KIND_CLASSIC => (
                Shape::Classic { k, bits: count },
                (1..=classic::K_MAX).contains(&k.into())
                    && (1..=classic::BITS_MAX).contains(&count),
            ),
            KIND_SPLIT_BLOCK => (
                Shape::SplitBlock { words: count },
                are_blocks(count, split_block::BLOCK_WORDS, split_block::BLOCKS_MAX),
            ),
            KIND_BLOCKED => (
                Shape::Blocked { k, words: count },
                (blocked::K_MIN..=blocked::K_MAX).contains(&k.into())
                    && are_blocks(count, blocked::BLOCK_WORDS, blocked::BLOCKS_MAX),
            ),
            KIND_COUNTING => (
                Shape::Counting { k, words: count },
                (blocked::K_MIN..=blocked::K_MAX).contains(&k.into())
                    && are_blocks(count, blocked::BLOCK_WORDS, blocked::BLOCKS_MAX),
            ),
            KIND_CUCKOO => (Shape::Cuckoo { words: count }, (1..=WORDS_MAX).contains(&count)),
            KIND_IMPORTED => match entry.rule {
                HashRule::Foreign(rule) => (
                    Shape::Imported { rule, k, bits: count },
                    k > 0 && (1..=imported::BITS_MAX).contains(&count),
                ),
                _ => return Err(EntryFault::Parameters),
            },
            found => return Err(EntryFault::Kind { found }),
        };
        if is_possible && shape.is_of(entry.rule) { Ok(shape) } else { Err(EntryFault::Parameters) }
    }
}

/// Whether as many words are whole blocks, at least one and at most `most`.
fn are_blocks(words: u64, of: usize, most: u64) -> bool {
    words.is_multiple_of(of as u64) && (1..=most).contains(&(words / of as u64))
}

const KIND_CLASSIC: u16 = 1;
const KIND_SPLIT_BLOCK: u16 = 2;
const KIND_BLOCKED: u16 = 3;
const KIND_COUNTING: u16 = 4;
const KIND_CUCKOO: u16 = 5;
const KIND_IMPORTED: u16 = 12;
/// Words of a cuckoo filter: one for each bucket.
const WORDS_MAX: u64 = bloomrf_kernels::cuckoo::BUCKETS_MAX;
