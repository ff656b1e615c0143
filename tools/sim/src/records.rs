//! What was sent: a plain set of records by batch. With the oracle, the whole truth.

use std::collections::BTreeMap;
use std::sync::Arc;

use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::predicate::{FloatOrder, Predicate};
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_engine::wire::frame::{FrameHeader, LaneTotal, encode_close, encode_data};
use bloomrf_oracle::{Expr, Value, matches_row};

use crate::epoch::Epoch;
use crate::shared::trees::settled;
use crate::shared::{Splitmix, truth};

/// The simulated cluster.
pub(crate) const CLUSTER: ClusterId = ClusterId(0x5111);

/// A frame as its sender made it.
#[derive(Clone, Debug)]
pub(crate) struct SentFrame {
    pub(crate) lane: u8,
    pub(crate) sequence: u32,
    pub(crate) bytes: Arc<[u8]>,
}

/// A batch as its sender knows it.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// Index of its epoch.
    pub(crate) epoch: usize,
    /// Its batch hash, by this crate's own computation.
    pub(crate) hash: BatchHash,
    pub(crate) rows: Vec<Vec<Value>>,
    pub(crate) frames: Vec<SentFrame>,
    pub(crate) close: Arc<[u8]>,
    /// A frame with other content and a right checksum was delivered under its id.
    pub(crate) is_forged: bool,
}

/// Everything that was sent.
pub(crate) type Records = BTreeMap<BatchId, Sent>;

/// How batches are made.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Usual numbers of records.
    pub(crate) records: &'static [u64],
    /// Most records of a frame.
    pub(crate) frame_records_max: u64,
    pub(crate) lanes_max: u64,
}

impl Sent {
    /// A random batch.
    pub(crate) fn draw(
        id: BatchId,
        (index, epoch): (usize, &Epoch),
        shape: &Shape,
        rng: &mut Splitmix,
    ) -> Self {
        let is_large = rng.one_in(400);
        let count = if is_large { 1_000 + rng.below(4_000) } else { *rng.pick(shape.records) };
        let records = epoch.records(count, id, rng);
        let algorithm = HashAlgorithm::ALL[rng.below(3) as usize];
        let lanes = 1 + rng.below(shape.lanes_max) as usize;
        let record_bytes = epoch.schema.record_bytes();
        let fits = (8_900 / record_bytes) as u64;
        let records_max = if is_large { fits } else { shape.frame_records_max.min(fits) };
        let header = |lane: usize, sequence: u32| FrameHeader {
            cluster: CLUSTER,
            fingerprint: epoch.schema.fingerprint(),
            batch: id,
            hash: algorithm,
            lane: lane as u8,
            lanes: lanes as u8,
            sequence,
        };
        let mut totals = vec![LaneTotal::default(); lanes];
        let mut payloads: Vec<Vec<Vec<u8>>> = vec![Vec::new(); lanes];
        let mut frames = Vec::new();
        let mut at = 0;
        while at < records.len() {
            let n = (1 + rng.below(records_max)).min((records.len() - at) as u64) as usize;
            let lane = rng.below(lanes as u64) as usize;
            let payload = records[at..at + n].concat();
            let sequence = totals[lane].frames;
            let mut bytes = Vec::new();
            encode_data(&mut bytes, &header(lane, sequence), record_bytes, &payload);
            frames.push(SentFrame { lane: lane as u8, sequence, bytes: bytes.into() });
            payloads[lane].push(payload);
            totals[lane].frames += 1;
            totals[lane].records += n as u64;
            at += n;
        }
        let mut close = Vec::new();
        encode_close(&mut close, &header(0, 0), &totals);
        let digest = reference_hash(algorithm, epoch, id, &payloads, count);
        Sent {
            epoch: index,
            hash: BatchHash { algorithm, digest },
            rows: records.iter().map(|record| epoch.row(record)).collect(),
            frames,
            close: close.into(),
            is_forged: false,
        }
    }
}

/// The batch hash, straight from its definition in docs/WIRE.md.
fn reference_hash(
    algorithm: HashAlgorithm,
    epoch: &Epoch,
    batch: BatchId,
    lanes: &[Vec<Vec<u8>>],
    records: u64,
) -> [u8; 32] {
    let h = |bytes: &[u8]| -> [u8; 32] {
        use sha2::Digest as _;
        match algorithm {
            HashAlgorithm::Xxh3 => {
                let mut out = [0; 32];
                out[..16].copy_from_slice(&xxhash_rust::xxh3::xxh3_128(bytes).to_le_bytes());
                out
            }
            HashAlgorithm::Blake3 => blake3::hash(bytes).into(),
            HashAlgorithm::Sha256 => sha2::Sha256::digest(bytes).into(),
        }
    };
    let mut all = Vec::new();
    for (lane, payloads) in lanes.iter().enumerate() {
        let mut start = CLUSTER.0.to_le_bytes().to_vec();
        start.extend(epoch.schema.fingerprint().0.to_le_bytes());
        start.extend(batch.to_le_bytes());
        start.push(lane as u8);
        let chain = payloads.iter().fold(h(&start), |chain, p| h(&[chain, h(p)].concat()));
        all.extend(chain);
    }
    all.extend(records.to_le_bytes());
    h(&all)
}

/// A predicate as the oracle reads it: under every reading of what nobody can decide, and of NaN.
#[derive(Debug)]
pub(crate) struct Meaning {
    readings: Vec<Expr>,
    order: FloatOrder,
}

impl Meaning {
    /// What `predicate` may mean when its asker states `order`.
    pub(crate) fn of(predicate: &Predicate, order: FloatOrder) -> Self {
        let readings = match truth::expr(predicate) {
            Some(expr) => vec![expr],
            // Something in it is of no known kind: it may be true, it may be false.
            None => {
                let both = [true, false].map(|value| truth::expr(&settled(predicate, value)));
                both.into_iter().flatten().collect()
            }
        };
        assert!(!readings.is_empty(), "a settled predicate has a meaning");
        Meaning { readings, order }
    }

    /// Whether a row matches under some reading.
    pub(crate) fn may_match(&self, rows: &[Vec<Value>]) -> bool {
        let rules = truth::float_rules(self.order);
        rows.iter().any(|row| {
            self.readings
                .iter()
                .any(|expr| rules.iter().any(|&rule| matches_row(expr, row, rule) == Some(true)))
        })
    }
}
