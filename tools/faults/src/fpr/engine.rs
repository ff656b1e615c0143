//! One column of 512 batches, through the real path into a store's groups, asked by the engine's
//! lookups: one leaf, all batches as candidates.

use std::collections::BTreeMap;
use std::sync::Arc;

use bloomrf_engine::filter::{Filter, FilterKind, FilterPolicy};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::lookup::{Evaluator, LookupConfig};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::{ColumnType, KeyClass, Schema};
use bloomrf_engine::store::{Snapshot, Store, StoreConfig};
use bloomrf_engine::wire::lookup::{Candidates, LookupRequest, LookupStatus};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_kernels::params::{Budget, fpr, fpr_blocked, layers_for};
use bloomrf_kernels::{Kernel, SizeClasses, blocked};

use super::Shape;
use super::rate::Rate;
use crate::chance::Chance;
use crate::frozen::Frozen;
use crate::intake::{CLUSTER, Intake};

/// A column of uniform keys.
pub(super) struct ColumnShape {
    /// Its type, as a schema names it.
    pub(super) kind: &'static str,
    /// `FERMIHDI_BLOOMRF_LEVELS`; 1: blocked Bloom.
    pub(super) levels: u32,
    /// Records of a batch.
    pub(super) keys: usize,
    /// Keys of a range; 1: points.
    pub(super) width: u64,
    /// Kept as the keys themselves: no false positive at all.
    pub(super) exact: bool,
    /// Different keys of a batch; 0: as chance has it.
    pub(super) distinct: usize,
}

/// The batches, and how their filters are seeded.
struct Column {
    schema: Arc<Schema>,
    store: Store,
    seed: u64,
    /// Sorted keys of every batch; none of wide kinds.
    keys: Vec<Vec<u64>>,
}

impl Shape for ColumnShape {
    fn name(&self) -> String {
        let ColumnShape { kind, levels, keys, width, exact, distinct } = self;
        let exact = if *exact { ", exact" } else { "" };
        let few = if *distinct > 0 { format!(" of {distinct} keys") } else { String::new() };
        format!("column {kind}, levels {levels}, {keys} records{few}, width {width}{exact}")
    }

    fn measure(&self, negatives: u64, seed: u64) -> Result<Rate, String> {
        let mut chance = Chance::new(seed ^ self.width << 40 ^ self.keys as u64);
        let column = self.build(&mut chance)?;
        let snapshot = column.store.reader().load().clone();
        let mut asked = self.ask(&column, &snapshot, negatives, &mut chance)?;
        asked.rate.expected = self.expected(&column, &snapshot, &asked.negatives)?;
        Ok(asked.rate)
    }
}

/// Answers so far.
struct Asked {
    rate: Rate,
    /// Per batch.
    negatives: Vec<u64>,
}

impl ColumnShape {
    fn build(&self, chance: &mut Chance) -> Result<Column, String> {
        let text = format!(
            "name = \"fpr\"\nversion = 1\n[[columns]]\nname = \"c\"\ntype = \"{}\"\n",
            self.kind
        );
        let schema = Arc::new(Schema::from_toml(&text).map_err(|why| why.to_string())?);
        let kind = schema.columns()[0].kind();
        let policy = FilterPolicy {
            budget: Budget { bits_per_key: 8, levels: self.levels },
            sizes: SizeClasses::new(1_024),
            seed: chance.draw(),
            filtered: vec![true],
            kernel: Kernel::best(),
            exact_keys_max: if self.exact { 1 << 16 } else { 0 },
        };
        let seed = policy.seed;
        let mut intake = Intake::new(&schema, policy, self.keys as u64);
        let bounds = StoreConfig { retain_batches: BATCHES, arena_bytes: 2 << 30 };
        let mut store = Store::new(bounds);
        let mut keys = Vec::new();
        for batch in 1..=BATCHES as BatchId {
            let (mut rows, mut own) = (Vec::new(), Vec::new());
            for record in 0..self.keys {
                match bits_of(kind) {
                    Some(bits) => {
                        let key = match self.distinct {
                            0 => draw(kind, bits, chance),
                            few if record < few => draw(kind, bits, chance),
                            few => own[record % few],
                        };
                        rows.extend(cell(kind, key));
                        own.push(key);
                    }
                    None => rows.extend(wide(kind.width(), chance)),
                }
            }
            own.sort_unstable();
            keys.push(own);
            let sealed = intake.batch(batch, &rows)?;
            store.insert(Arc::new(sealed)).map_err(|why| why.to_string())?;
            store.judge(batch, Verdict::Verified);
        }
        while store.step() {}
        Ok(Column { schema, store, seed, keys })
    }

    fn ask(
        &self,
        column: &Column,
        snapshot: &Snapshot,
        negatives: u64,
        chance: &mut Chance,
    ) -> Result<Asked, String> {
        let kind = column.schema.columns()[0].kind();
        let mut evaluator = Evaluator::new(LookupConfig {
            cluster: CLUSTER,
            schema: Arc::clone(&column.schema),
            probes_max: 256,
            budget_us: 10_000,
            kernel: Kernel::best(),
        });
        let mut request = LookupRequest {
            query_id: 13,
            cluster: CLUSTER,
            fingerprint: column.schema.fingerprint(),
            budget_us: 0,
            float_order: FloatOrder::Unstated,
            candidates: Candidates::Range { first: 1, count: BATCHES as u32 },
            predicate: Predicate::Unknown,
        };
        let mut asked = Asked { rate: Rate::default(), negatives: vec![0; BATCHES] };
        let mut questions = 0;
        while asked.rate.negatives < negatives {
            let (predicate, lo, hi) = self.question(kind, chance)?;
            request.predicate = predicate;
            let reply = evaluator.answer(&request, snapshot, &Frozen);
            if reply.status != LookupStatus::Ok || reply.no_filter != 0 {
                return Err(format!("{:?}, {} without a filter", reply.status, reply.no_filter));
            }
            for (batch, keys) in column.keys.iter().enumerate() {
                let next = keys.partition_point(|&key| key < lo);
                let is_held = keys.get(next).is_some_and(|&key| key <= hi);
                match (is_held, reply.is_excluded(batch)) {
                    (true, true) => return Err(format!("a key in {lo}..={hi} was lost")),
                    (true, false) => {}
                    (false, excluded) => {
                        asked.negatives[batch] += 1;
                        asked.rate.negatives += 1;
                        asked.rate.found += u64::from(!excluded);
                    }
                }
            }
            questions += 1;
            if questions > negatives {
                return Err("hardly a question is a negative".to_owned());
            }
        }
        Ok(asked)
    }

    /// A random question, and the keys that it asks for.
    fn question(
        &self,
        kind: ColumnType,
        chance: &mut Chance,
    ) -> Result<(Predicate, u64, u64), String> {
        let equal = |literal| Predicate::Compare { column: 0, op: CompareOp::Eq, literal };
        let Some(bits) = bits_of(kind) else {
            let bytes = wide(kind.width(), chance);
            let literal = match (kind, bytes.first_chunk()) {
                (ColumnType::Ipv6, Some(bytes)) => Literal::Ipv6(*bytes),
                (ColumnType::Uuid, Some(bytes)) => Literal::Uuid(*bytes),
                _ => Literal::Bytes(bytes),
            };
            return Ok((equal(literal), 0, u64::MAX));
        };
        if self.width == 1 {
            let key = draw(kind, bits, chance);
            return Ok((equal(literal(kind, key)), key, key));
        }
        if kind.is_float() {
            return Err("ranges of floats have no width in keys".to_owned());
        }
        let last = u64::MAX >> (64 - bits);
        let lo = chance.draw() >> (64 - bits);
        let lo = lo.min(last - (self.width - 1));
        let hi = lo + (self.width - 1);
        let (low, high) = (literal(kind, lo), literal(kind, hi));
        Ok((Predicate::Between { column: 0, low, high }, lo, hi))
    }

    /// What the model expects of the filters as they lie in the store.
    fn expected(
        &self,
        column: &Column,
        snapshot: &Snapshot,
        negatives: &[u64],
    ) -> Result<f64, String> {
        let bits = bits_of(column.schema.columns()[0].kind()).unwrap_or(64);
        let layers = layers_for(bits, column.seed);
        let mut rates: BTreeMap<(u8, usize), f64> = BTreeMap::new();
        let mut expected = 0.0;
        for (index, &negatives) in negatives.iter().enumerate() {
            let place = snapshot.place(index as BatchId + 1).ok_or("a batch is gone")?;
            let chunk = &snapshot.chunks()[place.chunk as usize];
            let batch = chunk.slot(place.slot as usize).ok_or("a batch is gone")?;
            let (kind, words) = match &batch.columns[0].filter {
                Filter::Sliced(sliced) => (sliced.kind, sliced.words as usize),
                Filter::BloomRf { hashed, .. } => (FilterKind::BloomRf, hashed.len()),
                Filter::Blocked { blocks, .. } => (FilterKind::Blocked, blocks.len()),
                other => (other.kind(), 0),
            };
            let is_exact = !matches!(kind, FilterKind::BloomRf | FilterKind::Blocked);
            if is_exact != self.exact {
                return Err(format!("batch {index} is stored as {kind:?}"));
            }
            let (keys, width) = (self.keys as u64, self.width);
            let rate =
                rates.entry((u8::from(kind == FilterKind::Blocked), words)).or_insert_with(|| {
                    match kind {
                        FilterKind::BloomRf => fpr(&layers, words, keys, width),
                        FilterKind::Blocked => fpr_blocked(blocked::K_DEFAULT, words, keys),
                        _ => 0.0,
                    }
                });
            expected += *rate * negatives as f64;
        }
        Ok(expected)
    }
}

fn bits_of(kind: ColumnType) -> Option<u8> {
    match kind.key_class() {
        KeyClass::Narrow { bits } => Some(bits),
        KeyClass::Wide { .. } => None,
    }
}

/// A uniform key of the domain; of floats those that are numbers.
fn draw(kind: ColumnType, bits: u8, chance: &mut Chance) -> u64 {
    loop {
        let key = chance.draw() >> (64 - bits);
        if !kind.is_float() || float(key).is_finite() {
            return key;
        }
    }
}

fn wide(bytes: usize, chance: &mut Chance) -> Vec<u8> {
    (0..bytes).map(|_| chance.draw() as u8 | 1).collect()
}

/// The binary32 that has this key: the order of keys is that of numbers.
fn float(key: u64) -> f32 {
    let key = key as u32;
    f32::from_bits(if key >> 31 == 1 { key ^ 1 << 31 } else { !key })
}

/// The number that has this key.
fn number(kind: ColumnType, key: u64) -> i128 {
    let low = kind.integer_bounds().map_or(0, |bounds| bounds.0);
    i128::from(key) + low
}

/// The cell that has this key.
fn cell(kind: ColumnType, key: u64) -> Vec<u8> {
    match kind {
        ColumnType::F32 => float(key).to_le_bytes().to_vec(),
        ColumnType::Ipv4 | ColumnType::Mac => key.to_be_bytes()[8 - kind.width()..].to_vec(),
        _ => number(kind, key).to_le_bytes()[..kind.width()].to_vec(),
    }
}

/// The literal that has this key.
fn literal(kind: ColumnType, key: u64) -> Literal {
    let [_, _, a, b, c, d, e, f] = key.to_be_bytes();
    match kind {
        ColumnType::F32 => Literal::Float(float(key).into()),
        ColumnType::Ipv4 => Literal::Ipv4([c, d, e, f]),
        ColumnType::Mac => Literal::Mac([a, b, c, d, e, f]),
        ColumnType::Timestamp(unit) => Literal::Timestamp(number(kind, key) as i64, unit),
        _ => match u64::try_from(number(kind, key)) {
            Ok(value) => Literal::Unsigned(value),
            Err(_) => Literal::Signed(number(kind, key) as i64),
        },
    }
}

/// Batches of the store: eight full chunks.
const BATCHES: usize = 512;
