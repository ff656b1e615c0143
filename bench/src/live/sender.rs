//! The sender: whole batches of made-up records, each frame built and sent in turn, never further
//! ahead of the node than its socket can hold. One lane, one thread, no allocation per frame.

use std::time::{Duration, Instant};

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::verify::{BatchHash, ChainHasher, HashAlgorithm, frame_digest};
use bloomrf_engine::wire::frame::{FrameHeader, LaneTotal, encode_close, encode_data};
use bloomrf_netio::link::udp::UdpSender;

use super::Cluster;
use super::traffic::{CLUSTER, Cells, FRAME_RECORDS, RECORD_BYTES};

/// What was sent, by what the node should count it as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// All frames.
    pub frames: u64,
    /// First copies of DATA frames.
    pub data: u64,
    /// First CLOSE frames.
    pub close: u64,
    /// Second copies, of either.
    pub duplicate: u64,
    /// Frames that are none.
    pub malformed: u64,
    /// Records in DATA frames.
    pub records: u64,
    /// Batches.
    pub batches: u64,
}

/// What else is sent: one in so many DATA frames; 0: none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Odd {
    /// Sent twice.
    pub duplicate_every: u64,
    /// Sent with a wrong checksum first.
    pub malformed_every: u64,
}

/// How far and how fast the sender may go.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Frames ahead of what the node has counted.
    pub frames: u64,
    /// Batches that were closed and are not sealed yet.
    pub batches: u64,
    /// Records per second; 0: as fast as the window allows.
    pub rate: u64,
}

/// A sender to one node.
pub struct Sender<'c> {
    cluster: &'c Cluster,
    link: UdpSender,
    window: Window,
    odd: Odd,
    next: BatchId,
    sent: Sent,
    /// Frames that the node is known to have had, or lost.
    seen: u64,
    /// Batches that it is known to be done with.
    done: u64,
    payload: Vec<u8>,
    frame: Vec<u8>,
    started: Option<(Instant, u64)>,
}

impl<'c> Sender<'c> {
    /// A sender whose first batch is number 1.
    pub fn new(cluster: &'c Cluster, window: Window, odd: Odd) -> Result<Self, String> {
        let link = UdpSender::connect(&[cluster.ingest()]).map_err(|why| why.to_string())?;
        Ok(Sender {
            cluster,
            link,
            window,
            odd,
            next: 1,
            sent: Sent::default(),
            seen: 0,
            done: 0,
            payload: vec![0; FRAME_RECORDS * RECORD_BYTES],
            frame: Vec::with_capacity(2_048),
            started: None,
        })
    }

    /// Another speed from now on.
    pub fn set_rate(&mut self, records_per_second: u64) {
        self.window.rate = records_per_second;
        self.started = None;
    }

    /// What was sent so far.
    #[must_use]
    pub fn sent(&self) -> Sent {
        self.sent
    }

    /// The batch that is sent next.
    #[must_use]
    pub fn next_batch(&self) -> BatchId {
        self.next
    }

    /// Sends one batch of `records` records, and tells the controller of it.
    pub fn batch(&mut self, records: u64) -> Result<(), String> {
        let batch = self.next;
        let schema = self.cluster.schema().fingerprint();
        let mut chain = ChainHasher::new(HashAlgorithm::Xxh3, CLUSTER, schema, batch, 1);
        let mut total = LaneTotal::default();
        let mut row = 0;
        while row < records {
            let rows = (records - row).min(FRAME_RECORDS as u64);
            self.fill(batch, row, rows as usize);
            let payload = &self.payload[..rows as usize * RECORD_BYTES];
            chain.frame(0, &frame_digest(HashAlgorithm::Xxh3, payload));
            self.frame.clear();
            let header = self.header(batch, total.frames);
            encode_data(&mut self.frame, &header, RECORD_BYTES, payload);
            self.data()?;
            total.frames += 1;
            total.records += rows;
            self.sent.records += rows;
            row += rows;
        }
        // Known before the node can ask.
        let hash: BatchHash = chain.finish(records);
        self.cluster.know(batch, records, hash);
        self.frame.clear();
        let header = self.header(batch, 0);
        encode_close(&mut self.frame, &header, &[total]);
        self.send()?;
        self.sent.close += 1;
        self.sent.batches += 1;
        self.next += 1;
        self.wait_for_batches()
    }

    fn fill(&mut self, batch: BatchId, first: u64, rows: usize) {
        let records = self.payload.as_chunks_mut::<RECORD_BYTES>().0;
        for (row, record) in (first..).zip(&mut records[..rows]) {
            Cells::of(batch, row).encode(record);
        }
    }

    fn header(&self, batch: BatchId, sequence: u32) -> FrameHeader {
        FrameHeader {
            cluster: CLUSTER,
            fingerprint: self.cluster.schema().fingerprint(),
            batch,
            hash: HashAlgorithm::Xxh3,
            lane: 0,
            lanes: 1,
            sequence,
        }
    }

    /// A DATA frame, with what comes beside it.
    fn data(&mut self) -> Result<(), String> {
        let is_due = |every: u64, count: u64| every > 0 && count.is_multiple_of(every);
        self.sent.data += 1;
        if is_due(self.odd.malformed_every, self.sent.data) {
            let last = self.frame.len() - 1;
            self.frame[last] ^= 1;
            self.send()?;
            self.frame[last] ^= 1;
            self.sent.malformed += 1;
        }
        self.send()?;
        if is_due(self.odd.duplicate_every, self.sent.data) {
            self.send()?;
            self.sent.duplicate += 1;
        }
        self.keep_rate();
        Ok(())
    }

    fn send(&mut self) -> Result<(), String> {
        self.wait_for_frames()?;
        self.link.send(&self.frame).map_err(|why| why.to_string())?;
        self.sent.frames += 1;
        Ok(())
    }

    fn wait_for_frames(&mut self) -> Result<(), String> {
        let is_near = |sent: u64, seen: u64, ahead: u64| sent.saturating_sub(seen) < ahead;
        let end = Instant::now() + STALL;
        while !is_near(self.sent.frames, self.seen, self.window.frames) {
            let status = self.cluster.status();
            self.seen = status.ingest.frames_in + status.dropped;
            if is_near(self.sent.frames, self.seen, self.window.frames) {
                break;
            }
            if Instant::now() > end {
                return Err(format!("the node takes no frames: {status:?}, {:?}", self.sent));
            }
            std::thread::sleep(NAP);
        }
        Ok(())
    }

    fn wait_for_batches(&mut self) -> Result<(), String> {
        let end = Instant::now() + STALL;
        while self.sent.batches.saturating_sub(self.done) > self.window.batches {
            self.done = self.cluster.batches_done();
            if self.sent.batches.saturating_sub(self.done) <= self.window.batches {
                break;
            }
            if Instant::now() > end {
                let status = self.cluster.status();
                return Err(format!("the node seals no batches: {status:?}, {:?}", self.sent));
            }
            std::thread::sleep(NAP);
        }
        Ok(())
    }

    /// Sleeps where it is ahead of its rate.
    fn keep_rate(&mut self) {
        if self.window.rate == 0 {
            return;
        }
        let (started, before) = *self.started.get_or_insert((Instant::now(), self.sent.records));
        let due_s = (self.sent.records - before) as f64 / self.window.rate as f64;
        let early = Duration::from_secs_f64(due_s).saturating_sub(started.elapsed());
        if early > NAP {
            std::thread::sleep(early);
        }
    }
}

/// Shortest sleep worth a system call.
const NAP: Duration = Duration::from_micros(50);
/// A node that stands still for so long will not go on.
const STALL: Duration = Duration::from_secs(20);
