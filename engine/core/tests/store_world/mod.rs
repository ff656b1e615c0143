//! Batches made by hand, and two ways to ask them: one plain filter at a time, and a chunk's
//! groups. Test-only: include it with `mod store_world;`.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "test support")]

pub(crate) mod ask;
#[path = "../seeded/mod.rs"]
pub(crate) mod seeded;

use std::sync::Arc;

use bloomrf_engine::filter::{ColumnFlags, ColumnZone, Filter, SealedColumn, Top16};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_kernels::exact::Exact;
use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::{Kernel, Zone, blocked, bloomrf};

pub(crate) use seeded::Splitmix;

/// What a column of a batch is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// bloomRF of 8-byte keys, of so many words, under this seed.
    Wide { words: usize, seed: u64 },
    /// bloomRF of 4-byte keys with its exact top, of so many words.
    Top { words: usize },
    /// Exact: 1-byte keys.
    Bitmap8,
    /// Exact: 2-byte keys, as a list or a bitmap.
    Exact16,
    /// Exact: 4-byte keys near each other.
    Near,
    /// Exact: the keys themselves.
    Keys,
    /// Blocked Bloom of so many words.
    Blocked { words: usize },
    /// No filter.
    None,
}

/// The batch `id` with columns of these kinds, `keys` keys each. The same seed, the same batch.
pub(crate) fn batch(id: BatchId, kinds: &[Kind], keys: usize, rng: &mut Splitmix) -> SealedBatch {
    let columns = kinds.iter().map(|kind| Arc::new(column(*kind, keys, rng))).collect();
    let mut digest = [0; 32];
    digest[..8].copy_from_slice(&id.to_le_bytes());
    let hash = BatchHash { algorithm: HashAlgorithm::Xxh3, digest };
    SealedBatch { batch: id, records: keys as u64, hash, columns }
}

/// A copy that shares no memory with it.
pub(crate) fn copy(batch: &SealedBatch) -> SealedBatch {
    let columns = batch.columns.iter().map(|column| Arc::new(SealedColumn::clone(column)));
    SealedBatch { columns: columns.collect(), ..batch.clone() }
}

fn column(kind: Kind, count: usize, rng: &mut Splitmix) -> SealedColumn {
    let kernel = Kernel::Scalar;
    // Few enough values that questions meet keys, and that the batches differ.
    let keys: Vec<u64> = (0..count).map(|_| key(kind, rng)).collect();
    let filter = match kind {
        Kind::Wide { words, seed } => {
            let layers = layers_for(64, seed);
            let mut hashed = vec![0; words];
            bloomrf::insert_many(kernel, &layers, &mut hashed, &mut [], &keys);
            Filter::BloomRf { layers, hashed: hashed.into(), top: Top16::None }
        }
        Kind::Top { words } => {
            let layers = layers_for(32, SEED);
            let (mut hashed, mut top) = (vec![0; words], vec![0; bitmap::WORDS_16]);
            bloomrf::insert_many(kernel, &layers, &mut hashed, &mut top, &keys);
            Filter::BloomRf { layers, hashed: hashed.into(), top: exact(top) }
        }
        Kind::Bitmap8 => {
            let mut words = [0; bitmap::WORDS_8];
            keys.iter().for_each(|&key| bitmap::insert(&mut words, key as u16));
            Filter::Bitmap8(words)
        }
        Kind::Exact16 => match exact(bitmap_of(&keys, 0)) {
            Top16::List(list) => Filter::List16(list),
            Top16::Bitmap(words) => Filter::Bitmap16(words),
            Top16::None => unreachable!("an exact set"),
        },
        Kind::Near => Filter::Near16 { base: NEAR, offsets: exact(bitmap_of(&keys, NEAR)) },
        Kind::Keys => {
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            sorted.dedup();
            Filter::Exact(Exact::smallest(&sorted, usize::MAX).unwrap())
        }
        Kind::Blocked { words } => {
            let mut blocks = vec![0; words];
            blocked::insert_many(kernel, blocked::K_DEFAULT, &mut blocks, SEED, &keys);
            Filter::Blocked { seed: SEED, blocks: blocks.into() }
        }
        Kind::None => Filter::None,
    };
    let mut zone = Zone::default();
    keys.iter().for_each(|&key| zone.insert(key));
    let flags = ColumnFlags { has_value: !keys.is_empty(), has_null: false, has_nan: false };
    SealedColumn { flags, zone: ColumnZone::Narrow(zone), filter }
}

/// A random key of a column of this kind; also what questions ask for.
pub(crate) fn key(kind: Kind, rng: &mut Splitmix) -> u64 {
    match kind {
        Kind::Wide { .. } | Kind::Blocked { .. } | Kind::Keys | Kind::None => {
            let clustered = rng.below(1 << 12);
            if rng.one_in(3) { rng.next() } else { clustered << 20 | 7 }
        }
        Kind::Top { .. } if rng.one_in(2) => rng.below(1 << 32),
        Kind::Top { .. } => 0x0A00_0000 | rng.below(1 << 14),
        Kind::Bitmap8 => rng.below(256),
        Kind::Exact16 => rng.below(1 << 16),
        Kind::Near => NEAR + rng.below(1 << 16),
    }
}

fn bitmap_of(keys: &[u64], base: u64) -> Vec<u64> {
    let mut words = vec![0; bitmap::WORDS_16];
    keys.iter().for_each(|&key| bitmap::insert(&mut words, (key - base) as u16));
    words
}

/// In the form that takes fewer bytes.
fn exact(words: Vec<u64>) -> Top16 {
    let keys: Vec<u16> = bitmap::keys(&words).collect();
    if keys.len() * 2 < words.len() * 8 {
        Top16::List(keys.into())
    } else {
        Top16::Bitmap(words.into())
    }
}

/// Hash seed of all columns that do not name another.
pub(crate) const SEED: u64 = 42;
/// The smallest key of a column of kind `Near`.
pub(crate) const NEAR: u64 = 0x0B00_0000;
