//! A schema epoch: a random schema, the values that its columns draw from, and how the oracle
//! reads its records.

use std::fmt::Write as _;
use std::sync::Arc;

use bloomrf_engine::schema::{ByteOrder, ColumnType, Schema};
use bloomrf_oracle::{Field, Value, decode_row};

use crate::shared::Splitmix;
use crate::shared::domain::{TYPES, has_order, last, nan};
use crate::shared::trees::{Cell, Pool, ordinals, random_cell};
use crate::shared::truth;

/// One schema, as long as it lasts.
#[derive(Clone, Debug)]
pub(crate) struct Epoch {
    pub(crate) schema: Arc<Schema>,
    /// Values of each column.
    pub(crate) pools: Vec<Pool>,
    /// The columns as the oracle reads them.
    fields: Vec<Field>,
    /// Per column: it has a filter.
    pub(crate) filtered: Vec<bool>,
    /// Hash seed of filters.
    pub(crate) seed: u64,
    /// Batches lie in other ranges the later they come, as times and counters do.
    is_drifting: bool,
}

impl Epoch {
    /// A random epoch; `version` tells it from all others.
    pub(crate) fn draw(version: u32, rng: &mut Splitmix) -> Self {
        let columns = draw_columns(rng);
        let text = schema_text(version, &columns, rng);
        let schema = match Schema::from_json(&text) {
            Ok(schema) => schema,
            Err(error) => panic!("the simulation made a schema that is none: {error}: {text}"),
        };
        let pools = columns.iter().map(|c| Pool {
            kind: c.kind,
            nullable: c.nullable,
            ordinals: ordinals(c.kind, rng),
        });
        Epoch {
            pools: pools.collect(),
            fields: truth::fields(&schema),
            filtered: columns.iter().map(|_| !rng.one_in(10)).collect(),
            seed: rng.next(),
            is_drifting: rng.one_in(2),
            schema: Arc::new(schema),
        }
    }

    /// Records of one batch, as bytes: of few values each, so that most questions can exclude it.
    pub(crate) fn records(&self, count: u64, batch: u64, rng: &mut Splitmix) -> Vec<Vec<u8>> {
        let parts: Vec<Vec<u128>> =
            self.pools.iter().map(|pool| self.part(pool, count, batch, rng)).collect();
        let (all_null, all_nan) = (rng.one_in(12), rng.one_in(12));
        let cell = |pool: &Pool, part: &[u128], rng: &mut Splitmix| match pool {
            Pool { nullable: true, .. } if all_null => None,
            Pool { kind, .. } if all_nan && kind.is_float() => Some(nan(*kind, rng)),
            _ => random_cell(pool, part, rng),
        };
        (0..count)
            .map(|_| {
                let cells: Vec<Cell> = self
                    .pools
                    .iter()
                    .zip(&parts)
                    .map(|(pool, part)| cell(pool, part, rng))
                    .collect();
                self.record(&cells)
            })
            .collect()
    }

    /// A record as the oracle reads it.
    pub(crate) fn row(&self, record: &[u8]) -> Vec<Value> {
        decode_row(&self.fields, record)
    }

    /// Values that one column of one batch draws from.
    fn part(&self, pool: &Pool, count: u64, batch: u64, rng: &mut Splitmix) -> Vec<u128> {
        let end = last(pool.kind);
        let mut part: Vec<u128> =
            (0..1 + rng.below(3)).map(|_| *rng.pick(&pool.ordinals)).collect();
        if self.is_drifting && rng.one_in(3) {
            part.push((pool.ordinals[0].saturating_add(u128::from(batch % 10_000) * 37)).min(end));
        }
        if rng.one_in(6) {
            let (base, shift) = (*rng.pick(&part), rng.below(40));
            let run = (0..count.min(3_000)).map(|i| {
                let step = u128::from(i * (1 + rng.below(3)));
                base.saturating_add(step << if self.is_drifting { 0 } else { shift }).min(end)
            });
            part.extend(run);
        }
        if rng.one_in(8) {
            let any = |_| if end == u128::MAX { rng.wide() } else { rng.wide() % (end + 1) };
            part.extend((0..count).map(any));
        }
        part
    }

    fn record(&self, cells: &[Cell]) -> Vec<u8> {
        let mut record = vec![0; self.schema.record_bytes()];
        let mut null_bit = 0;
        for (column, cell) in self.schema.columns().iter().zip(cells) {
            if let Some(bytes) = cell {
                let target = &mut record[column.offset()..column.offset() + column.width()];
                target.copy_from_slice(bytes);
                if column.order() == ByteOrder::Big && has_order(column.kind()) {
                    target.reverse();
                }
            } else {
                record[null_bit / 8] |= 1 << (null_bit % 8);
            }
            null_bit += usize::from(column.is_nullable());
        }
        record
    }
}

struct DrawnColumn {
    name: &'static str,
    kind: ColumnType,
    nullable: bool,
    is_big: bool,
}

/// Few columns mostly: what a seed can do in its time is batches, not columns.
fn draw_columns(rng: &mut Splitmix) -> Vec<DrawnColumn> {
    let count = *rng.pick(&[1, 1, 2, 2, 2, 3, 3, 4, 6]);
    let column = |rng: &mut Splitmix| {
        let (name, kind) = *rng.pick(&TYPES);
        DrawnColumn { name, kind, nullable: rng.one_in(2), is_big: rng.one_in(2) }
    };
    (0..count).map(|_| column(rng)).collect()
}

/// Columns behind each other or with gaps; a record that ends with them, or later.
fn schema_text(version: u32, columns: &[DrawnColumn], rng: &mut Splitmix) -> String {
    let mut at = columns.iter().filter(|c| c.nullable).count().div_ceil(8);
    let mut parts = Vec::new();
    for (ordinal, column) in columns.iter().enumerate() {
        at += if rng.one_in(4) { rng.below(9) as usize } else { 0 };
        let mut text = format!(
            r#"{{"name": "c{ordinal}", "type": "{}", "offset": {at}, "nullable": {}"#,
            column.name, column.nullable
        );
        if column.is_big && has_order(column.kind) && column.kind.width() > 1 {
            text.push_str(r#", "order": "big""#);
        }
        text.push('}');
        parts.push(text);
        at += column.kind.width();
    }
    // 64-byte records have a way of their own through ingest.
    let end = if at <= 64 && rng.one_in(3) { 64 } else { at + rng.below(4) as usize };
    let mut text = String::new();
    let _ = write!(text, r#"{{"name": "sim", "version": {version}, "record_bytes": {end}, "#);
    let _ = write!(text, r#""columns": [{}]}}"#, parts.join(", "));
    text
}
