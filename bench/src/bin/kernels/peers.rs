//! The peers: crates that offer a filter of their own, each used as its documentation says.
//!
//! Memory of `sbbf-rs` is ours (it brings none); the others allocate.

use std::collections::hash_map::DefaultHasher;

use xorf::Filter as _;

use crate::arms::{Entrant, Filter, Shape};
use crate::keys::murmur;
use crate::raw::{Foreign, Library, RawSplitBlock};

/// Above this the slow builders are left out: they would take most of the run.
const SLOW_BYTES_MAX: usize = 32 << 20;

/// `parquet` makes no larger filter, whatever is asked for.
const PARQUET_BYTES_MAX: usize = 128 << 20;

pub(crate) fn entrants() -> Result<Vec<Entrant>, String> {
    let mut all = vec![
        Entrant::new("fastbloom", |shape| Some(Box::new(Fast(fastbloom(shape))))),
        Entrant::new("fastbloom ready hash", |shape| Some(Box::new(FastHash(fastbloom(shape))))),
        Entrant::new("sbbf-rs", |shape| {
            Some(Box::new(RawSplitBlock::new(shape.arena.words(shape.bytes / 8)?)?))
        }),
        Entrant::new("parquet", |shape| {
            (shape.bytes <= PARQUET_BYTES_MAX && shape.bytes.is_power_of_two()).then(|| {
                let filter = parquet::bloom_filter::Sbbf::new_with_num_of_bytes(shape.bytes);
                Box::new(Parquet(filter)) as Box<dyn Filter>
            })
        }),
        Entrant::new("xorf BinaryFuse8 (static)", |shape| {
            (shape.bytes <= SLOW_BYTES_MAX)
                .then(|| Box::new(Fuse { keys: Vec::new(), filter: None }) as Box<dyn Filter>)
        }),
        Entrant::new("cuckoofilter", |shape| {
            (shape.bytes <= SLOW_BYTES_MAX).then(|| {
                let filter = cuckoofilter::CuckooFilter::with_capacity(shape.keys as usize);
                Box::new(Cuckoo(filter)) as Box<dyn Filter>
            })
        }),
    ];
    if let Some(path) = std::env::var_os("PEER_LIB") {
        let library = Library::load(&path)?;
        for (peer, name) in library.names().iter().enumerate() {
            let library = library.clone();
            all.push(Entrant::new(name.clone(), move |shape: &Shape<'_>| {
                let filter = Foreign::new(&library, peer, shape.bytes, shape.keys)?;
                Some(Box::new(filter))
            }));
        }
    }
    Ok(all)
}

fn fastbloom(shape: &Shape<'_>) -> fastbloom::BloomFilter {
    fastbloom::BloomFilter::with_num_bits(8 * shape.bytes).expected_items(shape.keys as usize)
}

/// Its default hasher, SipHash.
struct Fast(fastbloom::BloomFilter);

impl Filter for Fast {
    fn ways(&self) -> Vec<String> {
        vec!["fastbloom (SipHash)".to_owned()]
    }

    fn insert_many(&mut self, _: usize, keys: &[u64]) -> usize {
        for key in keys {
            self.0.insert(key);
        }
        keys.len()
    }

    fn count_found(&self, _: usize, keys: &[u64]) -> u64 {
        keys.iter().filter(|key| self.0.contains(*key)).count() as u64
    }

    fn bytes(&self) -> usize {
        self.0.num_bits() / 8
    }
}

/// Given a ready hash.
struct FastHash(fastbloom::BloomFilter);

impl Filter for FastHash {
    fn ways(&self) -> Vec<String> {
        vec!["fastbloom (ready hash)".to_owned()]
    }

    fn insert_many(&mut self, _: usize, keys: &[u64]) -> usize {
        for &key in keys {
            self.0.insert_hash(murmur(key));
        }
        keys.len()
    }

    fn count_found(&self, _: usize, keys: &[u64]) -> u64 {
        keys.iter().filter(|key| self.0.contains_hash(murmur(**key))).count() as u64
    }

    fn bytes(&self) -> usize {
        self.0.num_bits() / 8
    }
}

/// arrow-rs, hashing by xxHash64 as its format asks.
struct Parquet(parquet::bloom_filter::Sbbf);

impl Filter for Parquet {
    fn ways(&self) -> Vec<String> {
        vec!["parquet Sbbf".to_owned()]
    }

    fn insert_many(&mut self, _: usize, keys: &[u64]) -> usize {
        keys.iter().for_each(|key| self.0.insert(key));
        keys.len()
    }

    fn count_found(&self, _: usize, keys: &[u64]) -> u64 {
        keys.iter().filter(|key| self.0.check(*key)).count() as u64
    }

    fn bytes(&self) -> usize {
        32 * self.0.num_blocks()
    }
}

/// A static filter: built once from all keys, its insert time is that of the build.
struct Fuse {
    keys: Vec<u64>,
    filter: Option<xorf::BinaryFuse8>,
}

impl Filter for Fuse {
    fn ways(&self) -> Vec<String> {
        vec!["xorf BinaryFuse8 (static)".to_owned()]
    }

    fn insert_many(&mut self, _: usize, keys: &[u64]) -> usize {
        self.keys.extend_from_slice(keys);
        keys.len()
    }

    fn finish(&mut self) {
        self.filter = xorf::BinaryFuse8::try_from(std::mem::take(&mut self.keys)).ok();
    }

    fn count_found(&self, _: usize, keys: &[u64]) -> u64 {
        // Not built: everything may be in it.
        let found = |key: &&u64| self.filter.as_ref().is_none_or(|filter| filter.contains(key));
        keys.iter().filter(found).count() as u64
    }

    fn bytes(&self) -> usize {
        self.filter.as_ref().map_or(0, |filter| filter.fingerprints.len())
    }

    fn is_static(&self) -> bool {
        true
    }
}

/// One-byte fingerprints. It drops keys once it refuses one.
struct Cuckoo(cuckoofilter::CuckooFilter<DefaultHasher>);

impl Filter for Cuckoo {
    fn ways(&self) -> Vec<String> {
        vec!["cuckoofilter".to_owned()]
    }

    fn insert_many(&mut self, _: usize, keys: &[u64]) -> usize {
        keys.iter().filter(|key| self.0.add(*key).is_ok()).count()
    }

    fn count_found(&self, _: usize, keys: &[u64]) -> u64 {
        keys.iter().filter(|key| self.0.contains(*key)).count() as u64
    }

    fn bytes(&self) -> usize {
        self.0.memory_usage()
    }

    fn may_lose(&self) -> bool {
        true
    }
}
