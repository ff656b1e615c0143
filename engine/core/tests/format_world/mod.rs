//! Batches to be stored, with every kind of filter and zone map, made by hand from random keys.
//! Test-only: include it by its path.
#![allow(dead_code, reason = "each user needs its own part")]
#![allow(clippy::unwrap_used, reason = "test support")]

#[path = "../seeded/mod.rs"]
pub(crate) mod seeded;

use std::sync::Arc;

use bloomrf_engine::filter::{
    ColumnFlags, ColumnZone, Filter, SealedColumn, Top16, narrow_hash, wide_zone_key,
};
use bloomrf_engine::format::{FileName, Origin, Stamp};
use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::schema::{Column, KeyClass, Schema};
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_kernels::exact::Exact;
use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::{Kernel, Zone, blocked, bloomrf, hash};

pub(crate) use seeded::Splitmix;

/// What the filter of a column is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// None: the zone map only.
    None,
    /// The exact bitmap of a 1- or 2-byte column.
    Bitmap,
    /// The sorted list of a 2-byte column, or of offsets from the smallest key of a 4-byte one.
    List16,
    /// Offsets from the smallest key, as a bitmap.
    Near16,
    /// A list of up to eight keys.
    List,
    /// A bitmap over all keys.
    Near,
    /// Elias-Fano.
    EliasFano,
    /// bloomRF of so many words.
    BloomRf(usize),
    /// Blocked Bloom of so many words.
    Blocked(usize),
}

/// The columns of [`schema`]: name, type, nullable, and the kind that [`batch`] gives it.
pub(crate) const COLUMNS: [(&str, &str, bool, Kind); 22] = [
    ("a8", "u8", true, Kind::Bitmap),
    ("b8", "i8", false, Kind::None),
    ("flag", "bool", true, Kind::Bitmap),
    ("a16", "u16", false, Kind::Bitmap),
    ("b16", "i16", true, Kind::List16),
    ("top_bitmap", "u32", false, Kind::BloomRf(120)),
    ("top_list", "ipv4", true, Kind::BloomRf(15)),
    ("near_bitmap", "i32", false, Kind::Near16),
    ("near_list", "ipv4", true, Kind::List16),
    ("few", "u32", false, Kind::List),
    ("f32", "f32", true, Kind::Near),
    ("points", "u32", false, Kind::Blocked(64)),
    ("u64", "u64", true, Kind::BloomRf(240)),
    ("i64", "i64", false, Kind::EliasFano),
    ("f64", "f64", true, Kind::BloomRf(1)),
    ("ts", "timestamp(us)", false, Kind::Near),
    ("mac", "mac", true, Kind::BloomRf(30)),
    ("mac_few", "mac", false, Kind::List),
    ("ip6", "ipv6", true, Kind::Blocked(120)),
    ("id", "uuid", false, Kind::Blocked(8)),
    ("text", "bytes(5)", false, Kind::None),
    ("long", "bytes(40)", true, Kind::Blocked(16)),
];

/// A schema with a column for every kind of filter and class of key.
pub(crate) fn schema() -> Schema {
    let columns = COLUMNS.map(|(name, kind, nullable, _)| {
        format!("[[columns]]\nname = {name:?}\ntype = {kind:?}\nnullable = {nullable}\n")
    });
    Schema::from_toml(&format!("name = \"all\"\nversion = 7\n{}", columns.concat())).unwrap()
}

/// The schema of one column.
pub(crate) fn schema_of(kind: &str) -> Schema {
    let column = format!("[[columns]]\nname = \"only\"\ntype = {kind:?}\n");
    Schema::from_toml(&format!("name = \"one\"\nversion = 7\n{column}")).unwrap()
}

/// Whose files the tests' are.
pub(crate) fn origin(schema: &Schema) -> Origin {
    Origin {
        cluster: ClusterId(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100),
        fingerprint: schema.fingerprint(),
        schema_version: schema.version(),
    }
}

/// A stamp of this generation.
pub(crate) fn stamp(generation: u64) -> Stamp {
    let uuid = 0xf0f1_f2f3_f4f5_f6f7_f8f9_fafb_fcfd_feff ^ u128::from(generation) << 64;
    Stamp { uuid, generation, built_at_us: -5, seed: SEED }
}

/// The name that the file of this batch and stamp has.
pub(crate) fn name(batch: &SealedBatch, stamp: &Stamp) -> FileName {
    FileName { batch: batch.batch, generation: stamp.generation }
}

/// The batch `id` with a column for each of [`COLUMNS`] and about `keys` keys in each.
pub(crate) fn batch(id: u64, keys: usize, rng: &mut Splitmix) -> SealedBatch {
    let schema = schema();
    let columns = schema.columns().iter().zip(COLUMNS);
    let columns = columns.map(|(column, (.., kind))| Arc::new(sealed(column, kind, keys, rng)));
    sealed_batch(id, keys as u64, columns.collect())
}

/// A batch of one column.
pub(crate) fn batch_of(
    id: u64,
    schema: &Schema,
    kind: Kind,
    keys: usize,
    rng: &mut Splitmix,
) -> SealedBatch {
    let column = sealed(&schema.columns()[0], kind, keys, rng);
    sealed_batch(id, keys as u64, vec![Arc::new(column)])
}

fn sealed_batch(batch: u64, records: u64, columns: Vec<Arc<SealedColumn>>) -> SealedBatch {
    let algorithm = HashAlgorithm::ALL[(batch % 3) as usize];
    let mut digest = [0; 32];
    let filled = algorithm.digest_bytes();
    digest[..filled].iter_mut().zip(batch.to_le_bytes().into_iter().cycle()).for_each(|(to, b)| {
        *to = b ^ 0xa5;
    });
    SealedBatch { batch, records, hash: BatchHash { algorithm, digest }, columns }
}

/// A column of `count` random keys.
pub(crate) fn sealed(
    column: &Column,
    kind: Kind,
    count: usize,
    rng: &mut Splitmix,
) -> SealedColumn {
    let flags = ColumnFlags {
        has_value: count > 0,
        has_null: column.is_nullable() && rng.one_in(2),
        has_nan: column.kind().is_float() && rng.one_in(2),
    };
    match column.kind().key_class() {
        KeyClass::Narrow { .. } => {
            let keys = narrow_keys(column, kind, count, rng);
            let mut zone = Zone::default();
            keys.iter().for_each(|&key| zone.insert(key));
            let filter = narrow_filter(column, kind, &keys);
            SealedColumn { flags, zone: ColumnZone::Narrow(zone), filter }
        }
        KeyClass::Wide { bytes } => {
            let values: Vec<Vec<u8>> = (0..count).map(|_| rng.bytes(usize::from(bytes))).collect();
            let mut zone = Zone::default();
            values.iter().for_each(|value| zone.insert(wide_zone_key(value)));
            let filter = match kind {
                Kind::Blocked(words) => {
                    let mut blocks = vec![0; words];
                    for value in &values {
                        let hash = hash::bytes(value, SEED);
                        blocked::insert(blocked::K_DEFAULT, &mut blocks, hash);
                    }
                    Filter::Blocked { seed: SEED, blocks: blocks.into() }
                }
                _ => Filter::None,
            };
            SealedColumn { flags, zone: ColumnZone::Wide(zone), filter }
        }
    }
}

/// Sorted, distinct keys that the column may hold, of the character that the kind needs.
fn narrow_keys(column: &Column, kind: Kind, count: usize, rng: &mut Splitmix) -> Vec<u64> {
    let (low, high) = column.kind().key_bounds().unwrap();
    let span = high - low;
    let (span, count) = match kind {
        Kind::List16 if span > 65_535 => (60_000, count.min(500)),
        Kind::List16 => (span, count.min(500)),
        Kind::Near16 if count > 0 => (65_535, count.max(5_000)),
        // Every other key: a bit for each is less than three for some.
        Kind::Near => (2 * count as u64, count),
        Kind::List => (span, count.min(8)),
        // A top of few values is a list, one of many a bitmap.
        Kind::BloomRf(15) => (1 << 20, count),
        Kind::BloomRf(120) if count > 0 => (span, count.max(6_000)),
        Kind::EliasFano => (1 << 40, count),
        _ => (span, count),
    };
    let start = low + (high - low - span) / 3;
    let mut keys: Vec<u64> = (0..count)
        .map(|_| start + if span == u64::MAX { rng.next() } else { rng.below(span + 1) })
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn narrow_filter(column: &Column, kind: Kind, keys: &[u64]) -> Filter {
    let KeyClass::Narrow { bits } = column.kind().key_class() else { unreachable!() };
    let base = keys.first().copied().unwrap_or(0);
    let offsets = || {
        let mut words = vec![0; bitmap::WORDS_16];
        keys.iter().for_each(|&key| bitmap::insert(&mut words, (key - base) as u16));
        words
    };
    match kind {
        Kind::None => Filter::None,
        Kind::Bitmap if bits == 8 => {
            let mut words = [0; bitmap::WORDS_8];
            keys.iter().for_each(|&key| bitmap::insert(&mut words, key as u16));
            Filter::Bitmap8(words)
        }
        Kind::Bitmap => {
            let mut words = vec![0; bitmap::WORDS_16];
            keys.iter().for_each(|&key| bitmap::insert(&mut words, key as u16));
            Filter::Bitmap16(words.into())
        }
        Kind::List16 if bits == 16 => Filter::List16(keys.iter().map(|&key| key as u16).collect()),
        Kind::List16 => {
            Filter::Near16 { base, offsets: Top16::List(bitmap::keys(&offsets()).collect()) }
        }
        Kind::Near16 => Filter::Near16 { base, offsets: Top16::Bitmap(offsets().into()) },
        Kind::List | Kind::Near | Kind::EliasFano => {
            Filter::Exact(Exact::smallest(keys, usize::MAX).unwrap())
        }
        Kind::BloomRf(words) => {
            let layers = layers_for(bits, SEED);
            let top_words = if layers.has_exact_top() { bitmap::WORDS_16 } else { 0 };
            let (mut hashed, mut top) = (vec![0; words], vec![0; top_words]);
            bloomrf::insert_many(Kernel::Scalar, &layers, &mut hashed, &mut top, keys);
            let list: Box<[u16]> = bitmap::keys(&top).collect();
            let top = match list.len() {
                _ if top.is_empty() => Top16::None,
                few if few * 2 < top_words * 8 => Top16::List(list),
                _ => Top16::Bitmap(top.into()),
            };
            Filter::BloomRf { layers, hashed: hashed.into(), top }
        }
        Kind::Blocked(words) => {
            let mut blocks = vec![0; words];
            for &key in keys {
                blocked::insert(blocked::K_DEFAULT, &mut blocks, narrow_hash(key, SEED));
            }
            Filter::Blocked { seed: SEED, blocks: blocks.into() }
        }
    }
}

/// Hash seed of all filters.
pub(crate) const SEED: u64 = 42;
