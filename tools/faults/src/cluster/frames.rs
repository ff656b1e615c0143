//! Batches of packets as datagrams, with the hash that the controller expects.

use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::schema::{PacketFields, Schema};
use bloomrf_engine::verify::{BatchHash, ChainHasher, HashAlgorithm, frame_digest};
use bloomrf_engine::wire::frame::{
    FrameHeader, LaneTotal, encode_close, encode_data, records_per_frame,
};

/// The cluster of all nodes here.
pub(crate) const CLUSTER: ClusterId = ClusterId(0xFA_C1);
/// Lanes of a batch.
const LANES: u8 = 2;
/// Longest frame.
const FRAME_BYTES: usize = 600;

/// A batch as datagrams.
pub(crate) struct Frames {
    /// DATA frames in order, then a CLOSE frame of every lane.
    pub(crate) datagrams: Vec<Vec<u8>>,
    /// Records in all.
    pub(crate) records: u64,
    /// What a node must see.
    pub(crate) hash: BatchHash,
}

/// The destination port that only this batch's packets have.
pub(crate) fn port_of(batch: BatchId) -> u16 {
    1_000 + (batch % 60_000) as u16
}

impl Frames {
    /// `packets` packets of a batch, which differ from those of every other.
    pub(crate) fn of(schema: &Schema, batch: BatchId, packets: u64) -> Self {
        let hash = HashAlgorithm::Xxh3;
        let size = schema.record_bytes();
        let header = |lane, sequence| FrameHeader {
            cluster: CLUSTER,
            fingerprint: schema.fingerprint(),
            batch,
            hash,
            lane,
            lanes: LANES,
            sequence,
        };
        let mut chain = ChainHasher::new(hash, CLUSTER, schema.fingerprint(), batch, LANES);
        let mut totals = [LaneTotal::default(); LANES as usize];
        let mut datagrams = Vec::new();
        let all: Vec<u64> = (0..packets).collect();
        for (i, some) in all.chunks(records_per_frame(size, FRAME_BYTES)).enumerate() {
            let lane = (i % usize::from(LANES)) as u8;
            let mut payload = vec![0; some.len() * size];
            for (&number, record) in some.iter().zip(payload.chunks_exact_mut(size)) {
                packet(batch, number).encode(record);
            }
            let total = &mut totals[usize::from(lane)];
            let mut frame = Vec::new();
            encode_data(&mut frame, &header(lane, total.frames), size, &payload);
            chain.frame(lane, &frame_digest(hash, &payload));
            total.frames += 1;
            total.records += some.len() as u64;
            datagrams.push(frame);
        }
        for lane in 0..LANES {
            let mut frame = Vec::new();
            encode_close(&mut frame, &header(lane, 0), &totals);
            datagrams.push(frame);
        }
        Frames { datagrams, records: packets, hash: chain.finish(packets) }
    }
}

fn packet(batch: BatchId, number: u64) -> PacketFields {
    PacketFields {
        ts_ns: 1_700_000_000_000_000_000 + number as i64,
        src_ip4: Some([10, batch as u8, (number % 7) as u8, (number % 251) as u8]),
        dst_ip4: Some([192, 168, 1, (number % 13) as u8]),
        proto: Some(6),
        src_port: Some(40_000 + (number % 1_000) as u16),
        dst_port: Some(port_of(batch)),
        length: 60 + (number % 1_400) as u32,
        ..PacketFields::default()
    }
}
