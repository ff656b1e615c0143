//! 64-byte flow records in frames, as a cluster would broadcast them: one time-ordered column, one
//! uniform one, addresses and ports with a few hot values.

use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_engine::wire::frame::{FrameHeader, LaneTotal, encode_close, encode_data};

use crate::{Splitmix, addresses, timestamps, uniform};

/// The cluster of the benches.
pub const CLUSTER: ClusterId = ClusterId(0xB100);

/// Bytes of a record.
pub const RECORD_BYTES: usize = 64;

/// Records of a frame: what fits one datagram.
pub const FRAME_RECORDS: usize = 22;

/// Eight columns in 64 bytes: ts and counter (8 bytes), two addresses and a length (4), two
/// ports (2), one protocol.
#[must_use]
pub fn schema() -> Schema {
    let text = r#"{"name": "flow", "version": 1, "record_bytes": 64, "columns": [
        {"name": "ts", "type": "timestamp(ns)"},
        {"name": "counter", "type": "u64"},
        {"name": "src_ip", "type": "ipv4"},
        {"name": "dst_ip", "type": "ipv4"},
        {"name": "length", "type": "u32"},
        {"name": "src_port", "type": "u16"},
        {"name": "dst_port", "type": "u16"},
        {"name": "proto", "type": "u8"}]}"#;
    Schema::from_json(text).expect("the bench schema is valid")
}

/// `count` records, one after the other.
#[must_use]
pub fn records(seed: u64, count: usize) -> Vec<u8> {
    let (ts, counter) = (timestamps(seed, count), uniform(seed ^ 2, 64, count));
    let (source, target) = (addresses(seed ^ 3, count), addresses(seed ^ 4, count));
    let (small, port) = (uniform(seed ^ 5, 64, count), uniform(seed ^ 6, 16, count));
    let mut rows = Vec::with_capacity(count * RECORD_BYTES);
    for i in 0..count {
        rows.extend_from_slice(&ts[i].to_le_bytes());
        rows.extend_from_slice(&counter[i].to_le_bytes());
        rows.extend_from_slice(&(source[i] as u32).to_be_bytes());
        rows.extend_from_slice(&(target[i] as u32).to_be_bytes());
        rows.extend_from_slice(&(64 + small[i] as u32 % 1_437).to_le_bytes());
        rows.extend_from_slice(&(port[i] as u16).to_le_bytes());
        rows.extend_from_slice(&[53u16, 80, 443, 445][small[i] as usize >> 9 & 3].to_le_bytes());
        rows.push([6, 17, 1, 58][small[i] as usize >> 12 & 3]);
        rows.resize((i + 1) * RECORD_BYTES, 0);
    }
    rows
}

/// `count` records of a busy link, one after the other: 67 ns apart on average, addresses and
/// destination ports by Zipf's law (10,000 sources, 100,000 targets, 20,000 ports), lengths and
/// source ports uniform, four protocols.
#[must_use]
pub fn busy_records(seed: u64, count: usize) -> Vec<u8> {
    let mut random = Splitmix::new(seed);
    let ranks = [10_000, 100_000, 20_000].map(Zipf::new);
    let near = (0..10_000).map(|_| 0x0A00_0000 | (random.draw() as u32 & 0xF_FFFF));
    let near: Vec<u32> = near.collect();
    let far: Vec<u32> = (0..100_000).map(|_| random.draw() as u32).collect();
    let mut ts = 1_790_000_000_000_000_000u64;
    let mut rows = Vec::with_capacity(count * RECORD_BYTES);
    for i in 0..count {
        ts += random.draw() % 135;
        let target_port = (ranks[2].draw(&mut random) * 7_919 % 65_536) as u16;
        rows.extend_from_slice(&ts.to_le_bytes());
        rows.extend_from_slice(&random.draw().to_le_bytes());
        rows.extend_from_slice(&near[ranks[0].draw(&mut random)].to_be_bytes());
        rows.extend_from_slice(&far[ranks[1].draw(&mut random)].to_be_bytes());
        rows.extend_from_slice(&(64 + (random.draw() % 1_437) as u32).to_le_bytes());
        rows.extend_from_slice(&(1_024 + (random.draw() % 64_512) as u16).to_le_bytes());
        rows.extend_from_slice(&target_port.to_le_bytes());
        rows.push([6, 17, 1, 6, 6, 17, 6, 47][random.draw() as usize & 7]);
        rows.resize((i + 1) * RECORD_BYTES, 0x55);
    }
    rows
}

/// Ranks by Zipf's law with exponent 1.
struct Zipf(Vec<f64>);

impl Zipf {
    fn new(ranks: usize) -> Self {
        let mut sum = 0.0;
        let upto = (1..=ranks).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        Zipf(upto.collect())
    }

    /// A rank, counted from 0.
    fn draw(&self, random: &mut Splitmix) -> usize {
        let all = self.0.last().copied().unwrap_or(0.0);
        let at = (random.draw() >> 11) as f64 / (1u64 << 53) as f64 * all;
        self.0.partition_point(|&upto| upto < at).min(self.0.len() - 1)
    }
}

/// The datagrams of one batch on one lane: its DATA frames, then one CLOSE.
#[must_use]
pub fn batch(schema: &Schema, id: u64, rows: &[u8]) -> Vec<Vec<u8>> {
    let header = |sequence| FrameHeader {
        cluster: CLUSTER,
        fingerprint: schema.fingerprint(),
        batch: id,
        hash: HashAlgorithm::Xxh3,
        lane: 0,
        lanes: 1,
        sequence,
    };
    let mut frames = Vec::new();
    for (sequence, payload) in (0u32..).zip(rows.chunks(FRAME_RECORDS * RECORD_BYTES)) {
        let mut frame = Vec::new();
        encode_data(&mut frame, &header(sequence), RECORD_BYTES, payload);
        frames.push(frame);
    }
    let records = (rows.len() / RECORD_BYTES) as u64;
    let total = LaneTotal { frames: frames.len() as u32, records };
    let mut close = Vec::new();
    encode_close(&mut close, &header(0), &[total]);
    frames.push(close);
    frames
}
