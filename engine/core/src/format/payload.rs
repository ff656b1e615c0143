//! The payload of a filter: its words and values, little-endian, one array behind the other.

use bloomrf_kernels::exact::{EliasFano, EliasFanoParts, Exact, Near, PartsError};
use bloomrf_kernels::scalar::bitmap::{self, WORDS_8};

use super::SectionRefusal;
use super::shape::{Shape, Top};
use crate::filter::{Filter, Top16};
use crate::wire::cursor::{Reader, Short, Writer};

/// Appends the payload of a filter. Of one that lies in a group: nothing.
pub(super) fn write(filter: &Filter, out: &mut Vec<u8>) {
    match filter {
        Filter::None | Filter::Sliced(_) => {}
        Filter::Bitmap8(words) => write_words(words, out),
        Filter::Bitmap16(words) => write_words(words, out),
        Filter::List16(list) => write_values(list, out),
        Filter::Near16 { offsets, .. } => write_top(offsets, out),
        Filter::Exact(Exact::List(keys)) => write_words(keys, out),
        Filter::Exact(Exact::Near(near)) => write_words(near.words(), out),
        Filter::Exact(Exact::EliasFano(keys)) => {
            write_words(keys.parts().lows, out);
            write_words(keys.parts().highs, out);
        }
        Filter::BloomRf { hashed, top, .. } => {
            write_words(hashed, out);
            write_top(top, out);
        }
        Filter::Blocked { blocks, .. } => write_words(blocks, out),
    }
}

/// Reads the payload of a filter of this shape; `key_max` is the largest key that its column can
/// have. `bytes` are as many as the shape says.
pub(super) fn read(shape: &Shape, bytes: &[u8], key_max: u64) -> Result<Filter, SectionRefusal> {
    let mut r = Reader::new(bytes);
    let filter = parse(shape, &mut r).map_err(|Short| SectionRefusal::Bits)??;
    if !r.is_empty() {
        return Err(SectionRefusal::Bits);
    }
    if largest(&filter).is_some_and(|key| key > key_max) {
        return Err(SectionRefusal::Domain);
    }
    Ok(filter)
}

fn parse(shape: &Shape, r: &mut Reader<'_>) -> Result<Result<Filter, SectionRefusal>, Short> {
    Ok(Ok(match *shape {
        Shape::None => Filter::None,
        Shape::Bitmap8 => {
            let mut words = [0; WORDS_8];
            for word in &mut words {
                *word = r.u64()?;
            }
            Filter::Bitmap8(words)
        }
        Shape::Bitmap16 => Filter::Bitmap16(read_words(r, bitmap::WORDS_16 as u64)?),
        Shape::List16 { keys } => match sorted_values(r, keys)? {
            Ok(list) => Filter::List16(list),
            Err(refusal) => return Ok(Err(refusal)),
        },
        Shape::Near16 { base, top } => match read_top(r, top)? {
            Ok(offsets) => Filter::Near16 { base, offsets },
            Err(refusal) => return Ok(Err(refusal)),
        },
        Shape::List { keys } => return Ok(exact(Exact::list(read_words(r, keys)?))),
        Shape::Near { base, words } => {
            return Ok(exact(Near::from_parts(base, read_words(r, words)?).map(Exact::Near)));
        }
        Shape::EliasFano(parts) => {
            let (lows, highs) = parts.words().ok_or(Short)?;
            let parts = EliasFanoParts {
                base: parts.base,
                bucket_max: parts.bucket_max,
                len: parts.len,
                low_bits: parts.low_bits,
                lows: read_words(r, lows as u64)?,
                highs: read_words(r, highs as u64)?,
            };
            return Ok(exact(EliasFano::from_parts(parts).map(Exact::EliasFano)));
        }
        Shape::BloomRf { layers, words, top } => {
            let hashed = read_words(r, words)?;
            match read_top(r, top)? {
                Ok(top) => Filter::BloomRf { layers, hashed, top },
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        Shape::Blocked { seed, words, .. } => {
            Filter::Blocked { seed, blocks: read_words(r, words)? }
        }
        // No filter.
        Shape::ZoneMap { .. } => return Ok(Err(SectionRefusal::Bits)),
    }))
}

fn exact(set: Result<Exact, PartsError>) -> Result<Filter, SectionRefusal> {
    set.map(Filter::Exact).map_err(|error| match error {
        PartsError::Order => SectionRefusal::Order,
        PartsError::Overflow => SectionRefusal::Domain,
        _ => SectionRefusal::Bits,
    })
}

/// The largest key of a set whose keys may be past those of the column.
fn largest(filter: &Filter) -> Option<u64> {
    match filter {
        Filter::Exact(keys) => keys.bounds().map(|(_, last)| last),
        Filter::Near16 { base, offsets } => {
            let last = match offsets {
                Top16::None => None,
                Top16::Bitmap(words) => last_bit(words),
                Top16::List(list) => list.last().copied(),
            };
            // Past 64 bits is past every column.
            Some(base.saturating_add(last.unwrap_or(0).into()))
        }
        _ => None,
    }
}

fn last_bit(words: &[u64]) -> Option<u16> {
    let at = words.iter().rposition(|&word| word != 0)?;
    let word = words.get(at)?;
    u16::try_from(at * 64 + 63 - word.leading_zeros() as usize).ok()
}

fn write_top(top: &Top16, out: &mut Vec<u8>) {
    match top {
        Top16::None => {}
        Top16::Bitmap(words) => write_words(words, out),
        Top16::List(list) => write_values(list, out),
    }
}

fn read_top(r: &mut Reader<'_>, top: Top) -> Result<Result<Top16, SectionRefusal>, Short> {
    Ok(match top {
        Top::None => Ok(Top16::None),
        Top::Bitmap => Ok(Top16::Bitmap(read_words(r, bitmap::WORDS_16 as u64)?)),
        Top::List { values } => sorted_values(r, values)?.map(Top16::List),
    })
}

fn write_words(words: &[u64], out: &mut Vec<u8>) {
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

fn write_values(values: &[u16], out: &mut Vec<u8>) {
    let mut w = Writer::new(out);
    values.iter().for_each(|&value| w.u16(value));
}

/// Memory is taken for bytes that are there, never for a count.
fn read_words(r: &mut Reader<'_>, count: u64) -> Result<Box<[u64]>, Short> {
    let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(8)).ok_or(Short)?;
    let (words, _) = r.take(bytes)?.as_chunks::<8>();
    Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

fn sorted_values(
    r: &mut Reader<'_>,
    count: u64,
) -> Result<Result<Box<[u16]>, SectionRefusal>, Short> {
    let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(2)).ok_or(Short)?;
    let (values, _) = r.take(bytes)?.as_chunks::<2>();
    let list: Box<[u16]> = values.iter().map(|value| u16::from_le_bytes(*value)).collect();
    let is_sorted = list.is_sorted_by(|a, b| a < b);
    Ok(if is_sorted { Ok(list) } else { Err(SectionRefusal::Order) })
}
