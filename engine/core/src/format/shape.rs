//! What a section holds, as numbers: checked, so that reading its payload needs no more questions.

use bloomrf_kernels::Layers;
use bloomrf_kernels::blocked::{BLOCK_WORDS, K_DEFAULT};
use bloomrf_kernels::exact::{EliasFanoParts, Exact, LIST_MAX};
use bloomrf_kernels::scalar::bitmap::{WORDS_8, WORDS_16};
use bloomrf_kernels::size::WORDS_MAX;

use super::EntryFault;
use super::section::{Entry, Kind, TopForm, ValueForm};
use crate::filter::{ColumnZone, Filter, SealedColumn, Top16};
use crate::schema::KeyClass;

/// A section's kind with its parameters, all within their limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    None,
    Bitmap8,
    Bitmap16,
    List16 { keys: u64 },
    Near16 { base: u64, top: Top },
    List { keys: u64 },
    Near { base: u64, words: u64 },
    EliasFano(EliasFanoParts<()>),
    BloomRf { layers: Layers, words: u64, top: Top },
    Blocked { seed: u64, words: u64, wide: bool },
    ZoneMap { columns: u64 },
}

/// An exact set of 16-bit values within a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Top {
    None,
    Bitmap,
    List { values: u64 },
}

impl Top {
    fn of(top: &Top16) -> Option<Self> {
        match top {
            Top16::None => Some(Top::None),
            Top16::Bitmap(words) => (words.len() == WORDS_16).then_some(Top::Bitmap),
            Top16::List(list) => Some(Top::List { values: list.len() as u64 }),
        }
    }

    /// Bytes of its part of the payload.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Top::None => 0,
            Top::Bitmap => WORDS_16 as u64 * 8,
            Top::List { values } => values * 2,
        }
    }

    fn form(self) -> (TopForm, u64) {
        match self {
            Top::None => (TopForm::None, 0),
            Top::Bitmap => (TopForm::Bitmap, 0),
            Top::List { values } => (TopForm::List, values),
        }
    }

    fn parse(form: TopForm, values: u64) -> Result<Self, EntryFault> {
        match form {
            TopForm::None => Ok(Top::None),
            TopForm::Bitmap => Ok(Top::Bitmap),
            TopForm::List => Ok(Top::List { values: at_most(values, VALUES_16_MAX)? }),
        }
    }
}

impl Shape {
    /// The shape of a column's filter; `None` where its parts do not fit each other, or lie in
    /// a group.
    pub(super) fn of(column: &SealedColumn) -> Option<Self> {
        let shape = match &column.filter {
            Filter::None => Shape::None,
            Filter::Bitmap8(_) => Shape::Bitmap8,
            Filter::Bitmap16(words) if words.len() == WORDS_16 => Shape::Bitmap16,
            Filter::List16(list) => Shape::List16 { keys: list.len() as u64 },
            Filter::Near16 { base, offsets } => match Top::of(offsets)? {
                Top::None => return None,
                top => Shape::Near16 { base: *base, top },
            },
            Filter::Exact(Exact::List(keys)) => Shape::List { keys: keys.len() as u64 },
            Filter::Exact(Exact::Near(near)) => {
                Shape::Near { base: near.base(), words: near.words().len() as u64 }
            }
            Filter::Exact(Exact::EliasFano(keys)) => {
                let EliasFanoParts { base, bucket_max, len, low_bits, .. } = keys.parts();
                let parts = EliasFanoParts { base, bucket_max, len, low_bits, lows: (), highs: () };
                parts.words().is_some().then_some(Shape::EliasFano(parts))?
            }
            Filter::BloomRf { layers, hashed, top } => {
                let top = Top::of(top)?;
                let is_whole = (top != Top::None) == layers.has_exact_top();
                let words = hashed_words(hashed.len() as u64, 1).ok()?;
                is_whole.then_some(Shape::BloomRf { layers: *layers, words, top })?
            }
            Filter::Blocked { seed, blocks } => {
                let words = hashed_words(blocks.len() as u64, BLOCK_WORDS as u64).ok()?;
                let wide = matches!(column.zone, ColumnZone::Wide(_));
                Shape::Blocked { seed: *seed, words, wide }
            }
            Filter::Bitmap16(_) | Filter::Sliced(_) => return None,
        };
        Some(shape)
    }

    /// Bytes of the payload.
    pub(super) fn bytes(&self) -> u64 {
        match *self {
            Shape::None => 0,
            Shape::Bitmap8 => WORDS_8 as u64 * 8,
            Shape::Bitmap16 => WORDS_16 as u64 * 8,
            Shape::List16 { keys } => keys * 2,
            Shape::Near16 { top, .. } => top.bytes(),
            Shape::List { keys } => keys * 8,
            Shape::Near { words, .. } | Shape::Blocked { words, .. } => words * 8,
            Shape::EliasFano(parts) => {
                parts.words().map_or(0, |(lows, highs)| (lows as u64 + highs as u64) * 8)
            }
            Shape::BloomRf { words, top, .. } => words * 8 + top.bytes(),
            Shape::ZoneMap { columns } => columns * super::zones::ZONE_BYTES as u64,
        }
    }

    /// Writes the parameters into an entry.
    pub(super) fn fill(&self, entry: &mut Entry) {
        entry.kind = match *self {
            Shape::None => Kind::None,
            Shape::Bitmap8 | Shape::Bitmap16 => Kind::Bitmap,
            Shape::List16 { .. } | Shape::List { .. } => Kind::List,
            Shape::Near16 { top: Top::List { .. }, .. } => Kind::List,
            Shape::Near16 { .. } | Shape::Near { .. } => Kind::Near,
            Shape::EliasFano(_) => Kind::EliasFano,
            Shape::BloomRf { .. } => Kind::BloomRf,
            Shape::Blocked { .. } => Kind::Blocked,
            Shape::ZoneMap { .. } => Kind::ZoneMap,
        };
        match *self {
            Shape::None => {}
            Shape::Bitmap8 => (entry.key_bits, entry.count) = (8, WORDS_8 as u64),
            Shape::Bitmap16 => (entry.key_bits, entry.count) = (16, WORDS_16 as u64),
            Shape::List16 { keys } => {
                (entry.key_bits, entry.values, entry.count) = (16, ValueForm::Bits16, keys);
            }
            Shape::Near16 { base, top } => {
                (entry.base, entry.values) = (base, ValueForm::Bits16);
                entry.count = match top {
                    Top::List { values } => values,
                    _ => WORDS_16 as u64,
                };
            }
            Shape::List { keys } => (entry.values, entry.count) = (ValueForm::Bits64, keys),
            Shape::Near { base, words } => {
                (entry.base, entry.values, entry.count) = (base, ValueForm::Bits64, words);
            }
            Shape::EliasFano(parts) => {
                (entry.base, entry.count, entry.second) = (parts.base, parts.len, parts.bucket_max);
                entry.low_bits = parts.low_bits as u8;
            }
            Shape::BloomRf { layers, words, top } => {
                entry.layers(&layers);
                (entry.top, entry.second) = top.form();
                entry.count = words;
            }
            Shape::Blocked { seed, words, wide } => {
                (entry.seed, entry.k, entry.count) = (seed, K_DEFAULT as u8, words);
                entry.hash = if wide { HASH_XXH3 } else { HASH_NATIVE };
            }
            Shape::ZoneMap { columns } => entry.count = columns,
        }
    }

    /// The shape that an entry tells, held to its limits. Fields that the kind does not use are
    /// not looked at.
    pub(super) fn parse(entry: &Entry) -> Result<Self, EntryFault> {
        let bad = EntryFault::Parameters;
        Ok(match (entry.kind, entry.values) {
            (Kind::None, _) => Shape::None,
            (Kind::Bitmap, _) if entry.key_bits == 8 => Shape::Bitmap8,
            (Kind::Bitmap, _) if entry.key_bits == 16 => Shape::Bitmap16,
            (Kind::Bitmap, _) => return Err(bad),
            (Kind::List, ValueForm::Bits16) => {
                let values = at_most(entry.count, VALUES_16_MAX)?;
                match entry.key_bits {
                    16 => Shape::List16 { keys: values },
                    0 => Shape::Near16 { base: entry.base, top: Top::List { values } },
                    _ => return Err(bad),
                }
            }
            (Kind::List, ValueForm::Bits64) => {
                Shape::List { keys: at_most(entry.count, LIST_MAX as u64)? }
            }
            (Kind::Near, ValueForm::Bits16) => Shape::Near16 { base: entry.base, top: Top::Bitmap },
            (Kind::Near, ValueForm::Bits64) => {
                let words = at_most(entry.count, WORDS_MAX)?;
                Shape::Near { base: entry.base, words }
            }
            (Kind::List | Kind::Near, ValueForm::None) => return Err(bad),
            (Kind::EliasFano, _) => {
                let parts = EliasFanoParts {
                    base: entry.base,
                    bucket_max: entry.second,
                    len: entry.count,
                    low_bits: entry.low_bits.into(),
                    lows: (),
                    highs: (),
                };
                parts.words().ok_or(bad)?;
                Shape::EliasFano(parts)
            }
            (Kind::BloomRf, _) => {
                let layers = entry.parse_layers().ok_or(bad)?;
                let top = Top::parse(entry.top, entry.second)?;
                if (top != Top::None) != layers.has_exact_top() {
                    return Err(bad);
                }
                Shape::BloomRf { layers, words: hashed_words(entry.count, 1)?, top }
            }
            (Kind::Blocked, _) => {
                let wide = match entry.hash {
                    HASH_XXH3 => true,
                    HASH_NATIVE => false,
                    _ => return Err(bad),
                };
                let words = hashed_words(entry.count, BLOCK_WORDS as u64)?;
                Shape::Blocked { seed: entry.seed, words, wide }
            }
            (Kind::ZoneMap, _) => {
                let columns = at_most(entry.count, crate::limits::COLUMNS_MAX as u64)?;
                Shape::ZoneMap { columns }
            }
        })
    }

    /// Whether a column with keys of this class may have such a filter.
    pub(super) fn is_of(&self, class: KeyClass) -> bool {
        match (self, class) {
            (Shape::None, _) => true,
            (Shape::Bitmap8, KeyClass::Narrow { bits }) => bits == 8,
            (Shape::Bitmap16 | Shape::List16 { .. }, KeyClass::Narrow { bits }) => bits == 16,
            (Shape::BloomRf { layers, .. }, KeyClass::Narrow { bits }) => {
                bits > 16 && bits == layers.domain_bits()
            }
            (Shape::Blocked { wide, .. }, KeyClass::Narrow { bits }) => bits > 16 && !wide,
            (Shape::Blocked { wide, .. }, KeyClass::Wide { .. }) => *wide,
            (Shape::ZoneMap { .. }, _) => false,
            (_, KeyClass::Narrow { bits }) => bits > 16 && self.is_key_set(),
            (_, KeyClass::Wide { .. }) => false,
        }
    }

    fn is_key_set(&self) -> bool {
        let near = matches!(self, Shape::Near16 { .. } | Shape::Near { .. });
        near || matches!(self, Shape::List { .. } | Shape::EliasFano(_))
    }
}

fn at_most(count: u64, most: u64) -> Result<u64, EntryFault> {
    if count <= most { Ok(count) } else { Err(EntryFault::Parameters) }
}

/// Words of a hashed filter: at least one granule, whole granules, bit addresses of 32 bits.
fn hashed_words(words: u64, granule: u64) -> Result<u64, EntryFault> {
    let is_whole = words > 0 && words <= WORDS_MAX && words.is_multiple_of(granule);
    if is_whole { Ok(words) } else { Err(EntryFault::Parameters) }
}

/// Values of a list of 16-bit values, all distinct.
const VALUES_16_MAX: u64 = 1 << 16;
pub(super) const HASH_XXH3: u16 = 5;
pub(super) const HASH_NATIVE: u16 = 7;
