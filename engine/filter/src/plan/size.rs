//! From what is wanted to a shape, or why there is none.

use bloomrf_kernels::{SizeError, blocked, classic, params, size, split_block};

use super::shape::{
    BUCKET_SLOTS, CHAIN_SHARE, CUCKOO_LOAD, FINGERPRINT_BITS, FINGERPRINTS, granule_bits, largest,
    table_bits, top_words,
};
use super::{Keys, Shape, Structure, WhyNot};

/// The smallest shape for so many items at such a rate.
pub(super) fn for_rate(
    structure: Structure,
    keys: Keys,
    items: u64,
    fpr: f64,
    k: Option<u32>,
) -> Result<Shape, WhyNot> {
    check_k(structure, keys, k)?;
    let (bits, k) = match structure {
        Structure::Classic => classic_bits(items, fpr, k)?,
        Structure::Scaling => classic_bits(items, fpr * CHAIN_SHARE, k)?,
        Structure::Counting => {
            let (bits, k) = classic_bits(items, fpr, k)?;
            (4 * bits, k)
        }
        Structure::Blocked => {
            let sizes = lanes(k).map(|k| (blocked::blocks_for(k, items, fpr), k));
            let fewest = sizes.clone().filter_map(|(blocks, k)| Some((blocks.ok()?, k))).min();
            let Some((blocks, k)) = fewest else {
                return Err(sizes.filter_map(|s| s.0.err()).next_back().map_or(WhyNot::Rate, why));
            };
            (blocks * granule_bits(structure), k)
        }
        Structure::SplitBlock => {
            (split_block::blocks_for(items, fpr).map_err(why)? * granule_bits(structure), 8)
        }
        Structure::BloomrfPoints | Structure::BloomrfRanges => {
            let layers = params::layers_for(keys.key_bits, 0);
            let words = params::words_for(&layers, items, width(structure, keys), fpr);
            let words = words.map_err(why)? as u64 + top_words(&layers);
            (words * 64, layer_count(keys))
        }
        Structure::Cuckoo => {
            let reach = 2.0 * BUCKET_SLOTS * CUCKOO_LOAD / FINGERPRINTS;
            if fpr < reach {
                return Err(WhyNot::Lowest { fpr: reach });
            }
            let buckets = (items as f64 / (CUCKOO_LOAD * BUCKET_SLOTS)).ceil().max(1.0);
            ((buckets * BUCKET_SLOTS) as u64 * FINGERPRINT_BITS, 0)
        }
        Structure::Bitmap => (bitmap_bits(keys, items)?, 0),
        Structure::HashSet => (table_bits(&keys, items), 0),
    };
    Ok(Shape { structure, bits, k, items, keys })
}

/// The shape of at most so many bits that has the lowest rate with so many items.
pub(super) fn for_bits(
    structure: Structure,
    keys: Keys,
    items: u64,
    bits: u64,
    k: Option<u32>,
) -> Result<Shape, WhyNot> {
    let of = |shape: Shape| Shape { items, ..shape };
    let shapes = within(structure, keys, items, bits, k)?.map(of);
    let rated = shapes.filter_map(|shape| Some((shape.fpr(items)?, shape)));
    let best = rated.min_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, shape)| shape).ok_or(WhyNot::Full)
}

/// The shape of at most so many bits that holds the most items at such a rate.
pub(super) fn for_items(
    structure: Structure,
    keys: Keys,
    fpr: f64,
    bits: u64,
    k: Option<u32>,
) -> Result<Shape, WhyNot> {
    if structure == Structure::HashSet {
        let items = largest(1 << 50, |items| table_bits(&keys, items) <= bits);
        let shape = Shape { structure, bits: table_bits(&keys, items), k: 0, items, keys };
        return if items > 0 { Ok(shape) } else { Err(WhyNot::Full) };
    }
    let share = if structure == Structure::Scaling { CHAIN_SHARE } else { 1.0 };
    let filled = |shape: Shape| {
        let rate = |items| Shape { items, ..shape }.fpr(items);
        let keeps = |items: u64| rate(items).is_some_and(|rate| rate <= share * fpr);
        Shape { items: largest(1 << 50, keeps), ..shape }
    };
    let shapes = within(structure, keys, 1, bits, k)?.map(filled);
    shapes.filter(|shape| shape.items > 0).max_by_key(|shape| shape.items).ok_or(WhyNot::Rate)
}

/// The shapes of a structure that take about `bits`, never more; one for each k.
fn within(
    structure: Structure,
    keys: Keys,
    items: u64,
    bits: u64,
    k: Option<u32>,
) -> Result<impl Iterator<Item = Shape>, WhyNot> {
    check_k(structure, keys, k)?;
    let whole = bits / granule_bits(structure) * granule_bits(structure);
    let (bits, ks) = match structure {
        Structure::Classic | Structure::Scaling | Structure::Counting => {
            let most = classic::BITS_MAX * granule_bits(structure);
            (whole.min(most), k.unwrap_or(1)..=k.unwrap_or(classic::K_MAX))
        }
        Structure::Blocked => {
            let most = blocked::BLOCKS_MAX * granule_bits(structure);
            (whole.min(most), lanes(k))
        }
        Structure::SplitBlock => {
            (whole.min(split_block::BLOCKS_MAX * granule_bits(structure)), 8..=8)
        }
        Structure::BloomrfPoints | Structure::BloomrfRanges => {
            let top = 64 * top_words(&params::layers_for(keys.key_bits, 0));
            let layers = layer_count(keys);
            let least = if whole > top { 0 } else { top + 64 };
            (whole.min(64 * size::WORDS_MAX + top).max(least), layers..=layers)
        }
        Structure::Cuckoo => (whole, 0..=0),
        Structure::Bitmap => (bitmap_bits(keys, items)?, 0..=0),
        Structure::HashSet => (table_bits(&keys, items), 0..=0),
    };
    match bits {
        0 => Err(WhyNot::Memory { bits: granule_bits(structure) }),
        bits if bits > whole => Err(WhyNot::Memory { bits }),
        bits => Ok(ks.map(move |k| Shape { structure, bits, k, items, keys })),
    }
}

/// Bits and k of a classic filter; without a k that is given, the k of the fewest bits.
fn classic_bits(items: u64, fpr: f64, k: Option<u32>) -> Result<(u64, u32), WhyNot> {
    let too_large = |bits| WhyNot::TooLarge { bits, most: classic::BITS_MAX };
    let Some(k) = k else {
        let shape = classic::shape_for(items, fpr).map_err(|why| match why {
            classic::ShapeError::TooLarge { bits } => too_large(bits),
            _ => WhyNot::Rate,
        })?;
        return Ok((shape.bits, shape.k));
    };
    let fill = fpr.powf(1.0 / f64::from(k));
    let bits = (-f64::from(k) * items as f64 / (-fill).ln_1p()).ceil().max(1.0);
    if bits > classic::BITS_MAX as f64 {
        return Err(too_large(bits));
    }
    Ok((bits as u64, k))
}

fn check_k(structure: Structure, keys: Keys, k: Option<u32>) -> Result<(), WhyNot> {
    let Some(k) = k else { return Ok(()) };
    let (least, most) = match structure {
        Structure::Classic | Structure::Counting | Structure::Scaling => (1, classic::K_MAX),
        Structure::Blocked => (blocked::K_MIN, blocked::K_MAX),
        Structure::SplitBlock => (8, 8),
        Structure::BloomrfPoints | Structure::BloomrfRanges => {
            (layer_count(keys), layer_count(keys))
        }
        Structure::Cuckoo | Structure::Bitmap | Structure::HashSet => return Ok(()),
    };
    if (least..=most).contains(&k) { Ok(()) } else { Err(WhyNot::Probes { least, most }) }
}

fn lanes(k: Option<u32>) -> std::ops::RangeInclusive<u32> {
    k.unwrap_or(blocked::K_MIN)..=k.unwrap_or(blocked::K_MAX)
}

fn layer_count(keys: Keys) -> u32 {
    let layers = params::layers_for(keys.key_bits, 0);
    layers.hashed().len() as u32 + u32::from(layers.has_exact_top())
}

fn width(structure: Structure, keys: Keys) -> u64 {
    if structure == Structure::BloomrfRanges { keys.range_width } else { 1 }
}

fn bitmap_bits(keys: Keys, items: u64) -> Result<u64, WhyNot> {
    let bits = 1_u64.checked_shl(u32::from(keys.key_bits)).filter(|_| keys.key_bits < 48);
    let bits = bits.ok_or(WhyNot::Domain { key_bits: keys.key_bits })?;
    if items > bits { Err(WhyNot::Full) } else { Ok(bits) }
}

fn why(error: SizeError) -> WhyNot {
    match error {
        SizeError::TooLarge { blocks, .. } => {
            WhyNot::TooLarge { bits: blocks * 512.0, most: 512 * blocked::BLOCKS_MAX }
        }
        SizeError::Range { width, .. } => WhyNot::Range { width },
        _ => WhyNot::Rate,
    }
}
