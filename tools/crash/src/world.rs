//! Batches by seed: the child makes them to store them, the parent makes them again to judge what
//! it finds. The same seed, the same batch, bit for bit.

use std::sync::Arc;

use bloomrf_engine::env::Rng;
use bloomrf_engine::filter::{FilterPolicy, OpenColumn};
use bloomrf_engine::format::Origin;
use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::persist::PersistConfig;
use bloomrf_engine::query::parse_where;
use bloomrf_engine::schema::{Column, Schema};
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_kernels::params::Budget;
use bloomrf_kernels::{Kernel, SizeClasses};

/// A splitmix64 sequence.
#[derive(Debug)]
pub(crate) struct Splitmix(pub(crate) u64);

impl Splitmix {
    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound
    }
}

impl Rng for Splitmix {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Where a batch's hash says which variant it is: its last byte.
pub(crate) const VARIANT_AT: usize = 15;

/// The cluster of all batches.
pub(crate) const CLUSTER: ClusterId = ClusterId(0xC4A5);

/// Bytes of filters that a store may hold: more than there are.
pub(crate) const ARENA_BYTES: usize = 64 << 20;

/// All files are looked at within an hour of the child's own time.
const SCRUB_NS: u64 = 3_600_000_000_000;

/// Columns of every width: each kind of filter that a file may hold.
const COLUMNS: &str = r#"{"name": "crash", "version": 1, "columns": [
    {"name": "proto", "type": "u8", "nullable": true},
    {"name": "port", "type": "u16"},
    {"name": "ip", "type": "ipv4"},
    {"name": "flow", "type": "u64"},
    {"name": "ip6", "type": "ipv6"}]}"#;

/// Everything that a seed stands for.
#[derive(Debug)]
pub(crate) struct World {
    seed: u64,
    pub(crate) schema: Arc<Schema>,
    policy: FilterPolicy,
}

impl World {
    /// The world of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let schema = Arc::new(Schema::from_json(COLUMNS).expect("the schema is right"));
        let policy = FilterPolicy {
            budget: Budget { bits_per_key: 8, levels: 4 },
            sizes: SizeClasses::new(16),
            seed: seed ^ 0xB10,
            filtered: vec![true; schema.columns().len()],
            kernel: Kernel::Scalar,
            exact_keys_max: if seed.is_multiple_of(2) { 1_000 } else { 0 },
        };
        World { seed, schema, policy }
    }

    /// What its folder is held to.
    pub(crate) fn persist(&self, retain_batches: usize) -> PersistConfig {
        let origin = self.origin(CLUSTER);
        let schema = Arc::clone(&self.schema);
        let mut config =
            PersistConfig::new(origin, schema, retain_batches, ARENA_BYTES, self.policy.seed);
        config.scrub_ns = SCRUB_NS;
        config
    }

    /// Files of this schema and some cluster.
    pub(crate) fn origin(&self, cluster: ClusterId) -> Origin {
        let schema_version = self.schema.version();
        Origin { cluster, fingerprint: self.schema.fingerprint(), schema_version }
    }

    /// Hash seed of its filters.
    pub(crate) fn filter_seed(&self) -> u64 {
        self.policy.seed
    }

    /// The batch of an id, in one of its variants: always the same.
    pub(crate) fn batch(&self, id: BatchId, variant: u8) -> SealedBatch {
        let rows = self.rows(id, variant);
        let record_bytes = self.schema.record_bytes();
        let records = (rows.len() / record_bytes) as u64;
        let shapes = self.policy.open_shapes(&self.schema, 300);
        let columns = self.schema.columns().iter().zip(shapes).map(|(column, shape)| {
            let mut open = OpenColumn::reserve(column, shape, &self.policy, None);
            open.insert_rows(column, &rows, record_bytes);
            Arc::new(OpenColumn::seal_shares(&mut [&mut open], &self.policy, records))
        });
        let columns = columns.collect();
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&id.to_le_bytes());
        digest[8..12].copy_from_slice(&(self.seed as u32).to_le_bytes());
        digest[VARIANT_AT] = variant;
        let hash = BatchHash { algorithm: HashAlgorithm::Xxh3, digest };
        SealedBatch { batch: id, records, hash, columns }
    }

    fn rows(&self, id: BatchId, variant: u8) -> Vec<u8> {
        let own = id << 8 | u64::from(variant);
        let mut chance = Splitmix(self.seed.wrapping_mul(0x1_0000_0001).wrapping_add(own));
        let count = chance.below(200) as usize + 1;
        let record_bytes = self.schema.record_bytes();
        let mut rows = vec![0; count * record_bytes];
        // Flows near each other or far apart: exact forms, and filters.
        let far = chance.below(2) == 0;
        for record in rows.chunks_exact_mut(record_bytes) {
            record[0] = u8::from(chance.below(8) == 0);
            for column in self.schema.columns() {
                let cell = &mut record[column.offset()..][..column.width()];
                let value = if far { chance.next_u64() } else { chance.below(1_000) };
                let bytes = u128::from(value).to_be_bytes();
                cell.copy_from_slice(&bytes[16 - cell.len()..]);
            }
        }
        rows
    }

    /// WHERE texts that records of the batch match: one for each column of some records.
    pub(crate) fn questions(&self, id: BatchId, variant: u8) -> Vec<String> {
        let rows = self.rows(id, variant);
        let records: Vec<&[u8]> = rows.chunks_exact(self.schema.record_bytes()).collect();
        let mut chance = Splitmix(id);
        let mut texts = Vec::new();
        for column in self.schema.columns() {
            let record = records[chance.below(records.len() as u64) as usize];
            let is_null = column.is_nullable() && record[0] & 1 == 1;
            let text =
                if is_null { format!("{} IS NULL", column.name()) } else { equals(column, record) };
            assert!(parse_where(&self.schema, &text).is_ok(), "{text}");
            texts.push(text);
        }
        texts
    }
}

/// `column = its value in the record`.
fn equals(column: &Column, record: &[u8]) -> String {
    let cell = &record[column.offset()..][..column.width()];
    let name = column.name();
    match <[u8; 16]>::try_from(cell) {
        Ok(octets) => format!("{name} = '{}'", std::net::Ipv6Addr::from(octets)),
        Err(_) if name == "ip" => {
            let octets = <[u8; 4]>::try_from(cell).unwrap_or_default();
            format!("{name} = '{}'", std::net::Ipv4Addr::from(octets))
        }
        Err(_) => {
            // Numbers are little-endian.
            let value = cell.iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
            format!("{name} = {value}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_an_id_are_one_batch() {
        for seed in 1..5 {
            let (one, other) = (World::new(seed), World::new(seed));
            assert_eq!(one.batch(3, 0), other.batch(3, 0));
            assert_ne!(one.batch(3, 0), one.batch(4, 0));
            assert_ne!(one.batch(3, 0), one.batch(3, 1));
        }
    }
}
