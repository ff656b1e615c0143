//! The broadcaster: records in, frames of batches out, spread over lanes.
//!
//! Frames fit one unfragmented datagram. Frame i of a batch goes to lane i mod lanes, each lane
//! being a UDP flow of its own. A batch ends with CLOSE frames on every lane, repeated, since a
//! single one may be lost. Cost: one copy and one CRC32C per frame.

use std::net::SocketAddr;
use std::sync::Arc;

use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::limits::{
    DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MAX_IPV6, FRAMES_PER_BATCH_MAX, LANES_MAX,
    RECORDS_PER_BATCH_MAX,
};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_engine::wire::frame::{
    FrameHeader, HEADER_BYTES, LaneTotal, encode_close, encode_data, sign,
};
use bloomrf_engine::wire::mac::{MacKey, SEAL_BYTES};
use bloomrf_netio::LinkError;
use bloomrf_netio::link::udp::SenderStats;

use crate::{Pace, UdpLanes};

/// What a broadcaster sends.
#[derive(Clone, Debug)]
pub struct BroadcastConfig {
    /// Cluster.
    pub cluster: ClusterId,
    /// Schema of the records.
    pub schema: Arc<Schema>,
    /// Elected chain hash.
    pub hash: HashAlgorithm,
    /// Records of a full batch, at least 1.
    pub batch_records: u64,
    /// Lanes, `1..=LANES_MAX`.
    pub lanes: u8,
    /// Id of the first batch; the next ones follow.
    pub first_batch: BatchId,
    /// CLOSE frames per lane, at least 1.
    pub close_repeats: u32,
    /// Longest frame, bytes; `DATAGRAM_BYTES_MAX` unless a target is IPv6.
    pub frame_bytes_max: usize,
    /// Seals every frame, for nodes that ask for keys.
    pub key: Option<MacKey>,
}

impl BroadcastConfig {
    /// One lane, batches of 1,000 from id 1, three CLOSE frames per lane.
    #[must_use]
    pub fn new(cluster: ClusterId, schema: Arc<Schema>) -> Self {
        BroadcastConfig {
            cluster,
            schema,
            hash: HashAlgorithm::default(),
            batch_records: 1_000,
            lanes: 1,
            first_batch: 1,
            close_repeats: 3,
            frame_bytes_max: DATAGRAM_BYTES_MAX,
            key: None,
        }
    }
}

/// Where frames go. Sockets in a cluster, a relay with faults in a test.
pub trait FrameSink: Send {
    /// Sends one frame of `lane`.
    fn send(&mut self, lane: u8, frame: &[u8]) -> Result<(), LinkError>;

    /// Counters of all lanes, where there are sockets.
    fn stats(&self) -> SenderStats {
        SenderStats::default()
    }
}

/// Why broadcasting failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BroadcastError {
    /// A setting out of its bounds.
    #[error("{what} = {value}: expected {expected}")]
    Setting {
        /// Which.
        what: &'static str,
        /// As given.
        value: u64,
        /// Bounds.
        expected: String,
    },
    /// A record of another size than the schema's.
    #[error("record of {have} bytes: the schema's records have {need}")]
    RecordBytes {
        /// Bytes given.
        have: usize,
        /// Bytes of the schema's records.
        need: usize,
    },
    /// The batch before had the last id there is, and none is used twice.
    #[error("no batch id is left after 18446744073709551615: expected a lower first batch")]
    NoBatchId,
    /// The network.
    #[error("broadcast: {0}")]
    Link(#[from] LinkError),
}

/// What was sent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BroadcastTotals {
    /// Records in DATA frames.
    pub records: u64,
    /// Batches closed.
    pub batches: u64,
    /// Frames of both kinds.
    pub frames: u64,
    /// Bytes of frames.
    pub bytes: u64,
}

/// Cuts a stream of records into batches and frames.
pub struct Broadcaster {
    config: BroadcastConfig,
    sink: Box<dyn FrameSink>,
    pace: Pace,
    frame_payload_max: usize,
    payload: Vec<u8>,
    frame: Vec<u8>,
    batch: BatchId,
    /// The last id of all is used up.
    no_batch_id: bool,
    batch_records: u64,
    lane_next: u8,
    lane_totals: Vec<LaneTotal>,
    totals: BroadcastTotals,
}

impl Broadcaster {
    /// A broadcaster over UDP to all `targets`.
    pub fn connect(
        config: BroadcastConfig,
        targets: &[SocketAddr],
        pace: Pace,
    ) -> Result<Self, BroadcastError> {
        check(&config)?;
        let lanes = UdpLanes::connect(config.lanes, targets)?;
        Self::over_lanes(config, lanes, pace)
    }

    /// The same over lanes that are open already; there are as many as they are.
    pub fn over_lanes(
        mut config: BroadcastConfig,
        lanes: UdpLanes,
        pace: Pace,
    ) -> Result<Self, BroadcastError> {
        if lanes.targets().iter().any(SocketAddr::is_ipv6) {
            config.frame_bytes_max = config.frame_bytes_max.min(DATAGRAM_BYTES_MAX_IPV6);
        }
        config.lanes = lanes.count();
        Self::over(config, Box::new(lanes), pace)
    }

    /// A broadcaster over any sink.
    pub fn over(
        config: BroadcastConfig,
        sink: Box<dyn FrameSink>,
        pace: Pace,
    ) -> Result<Self, BroadcastError> {
        check(&config)?;
        Ok(Broadcaster {
            frame_payload_max: records_per_frame(&config) * config.schema.record_bytes(),
            payload: Vec::with_capacity(config.frame_bytes_max),
            frame: Vec::with_capacity(config.frame_bytes_max),
            batch: config.first_batch,
            no_batch_id: false,
            batch_records: 0,
            lane_next: 0,
            lane_totals: vec![LaneTotal::default(); usize::from(config.lanes)],
            totals: BroadcastTotals::default(),
            config,
            sink,
            pace,
        })
    }

    /// Takes one record; sends a frame when one is full, closes the batch when it is full.
    pub fn push(&mut self, record: &[u8]) -> Result<(), BroadcastError> {
        let need = self.config.schema.record_bytes();
        if record.len() != need {
            return Err(BroadcastError::RecordBytes { have: record.len(), need });
        }
        if self.no_batch_id {
            return Err(BroadcastError::NoBatchId);
        }
        self.payload.extend_from_slice(record);
        self.batch_records += 1;
        if self.payload.len() == self.frame_payload_max {
            self.send_data()?;
        }
        if self.batch_records == self.config.batch_records {
            self.close_batch()?;
        }
        Ok(())
    }

    /// Sends what waits for its frame to be full: before a pause, say.
    pub fn flush(&mut self) -> Result<(), BroadcastError> {
        self.send_data()
    }

    /// Ends the open batch, if it has records.
    pub fn close_batch(&mut self) -> Result<(), BroadcastError> {
        if self.batch_records == 0 {
            return Ok(());
        }
        self.send_data()?;
        for repetition in 0..self.config.close_repeats {
            for lane in 0..self.config.lanes {
                self.frame.clear();
                let header = self.header(lane, repetition);
                encode_close(&mut self.frame, &header, &self.lane_totals);
                self.send_frame(lane)?;
            }
        }
        self.totals.batches += 1;
        self.pace.batch_closed(self.totals.batches);
        match self.batch.checked_add(1) {
            Some(next) => self.batch = next,
            None => self.no_batch_id = true,
        }
        self.batch_records = 0;
        self.lane_next = 0;
        self.lane_totals.fill(LaneTotal::default());
        Ok(())
    }

    /// Closes the last batch and says what was sent.
    pub fn finish(mut self) -> Result<BroadcastTotals, BroadcastError> {
        self.close_batch()?;
        Ok(self.totals)
    }

    /// What was sent so far.
    #[must_use]
    pub fn totals(&self) -> BroadcastTotals {
        self.totals
    }

    /// What the sockets of all lanes count.
    #[must_use]
    pub fn sender_stats(&self) -> SenderStats {
        self.sink.stats()
    }

    /// Id of the batch that the next record goes to.
    #[must_use]
    pub fn next_batch(&self) -> BatchId {
        self.batch
    }

    fn header(&self, lane: u8, sequence: u32) -> FrameHeader {
        FrameHeader {
            cluster: self.config.cluster,
            fingerprint: self.config.schema.fingerprint(),
            batch: self.batch,
            hash: self.config.hash,
            lane,
            lanes: self.config.lanes,
            sequence,
        }
    }

    fn send_data(&mut self) -> Result<(), BroadcastError> {
        if self.payload.is_empty() {
            return Ok(());
        }
        let record_bytes = self.config.schema.record_bytes();
        let records = (self.payload.len() / record_bytes) as u64;
        let lane = self.lane_next;
        let header = self.header(lane, self.lane_totals[usize::from(lane)].frames);
        self.frame.clear();
        encode_data(&mut self.frame, &header, record_bytes, &self.payload);
        self.payload.clear();
        self.pace.before_records(records);
        self.send_frame(lane)?;
        let total = &mut self.lane_totals[usize::from(lane)];
        total.frames += 1;
        total.records += records;
        self.totals.records += records;
        self.lane_next = (lane + 1) % self.config.lanes;
        Ok(())
    }

    fn send_frame(&mut self, lane: u8) -> Result<(), BroadcastError> {
        if let Some(key) = &self.config.key {
            sign(&mut self.frame, key);
        }
        self.pace.before_frame(self.totals.frames);
        self.sink.send(lane, &self.frame)?;
        self.totals.frames += 1;
        self.totals.bytes += self.frame.len() as u64;
        Ok(())
    }
}

fn check(config: &BroadcastConfig) -> Result<(), BroadcastError> {
    let setting = |what, value, expected: String| BroadcastError::Setting { what, value, expected };
    if config.batch_records == 0 {
        return Err(setting("records per batch", 0, "at least 1".to_owned()));
    }
    if config.lanes == 0 || usize::from(config.lanes) > LANES_MAX {
        return Err(setting("lanes", u64::from(config.lanes), format!("1 to {LANES_MAX}")));
    }
    if config.close_repeats == 0 {
        return Err(setting("CLOSE frames per lane", 0, "at least 1".to_owned()));
    }
    let need = HEADER_BYTES + config.schema.record_bytes() + seal_bytes(config);
    if config.frame_bytes_max < need {
        let have = config.frame_bytes_max as u64;
        return Err(setting("frame bytes", have, format!("at least {need} (header + one record)")));
    }
    let in_frames = (FRAMES_PER_BATCH_MAX * records_per_frame(config)) as u64;
    let records_max = in_frames.min(RECORDS_PER_BATCH_MAX);
    if config.batch_records > records_max {
        let expected = format!("at most {records_max}, for {FRAMES_PER_BATCH_MAX} frames");
        return Err(setting("records per batch", config.batch_records, expected));
    }
    Ok(())
}

/// Where one record fits.
fn records_per_frame(config: &BroadcastConfig) -> usize {
    let payload_max = config.frame_bytes_max - HEADER_BYTES - seal_bytes(config);
    (payload_max / config.schema.record_bytes()).min(usize::from(u16::MAX))
}

fn seal_bytes(config: &BroadcastConfig) -> usize {
    if config.key.is_some() { SEAL_BYTES } else { 0 }
}
