//! Records through the real path, in one process and thread: frames of two lanes, two ingest
//! queues, the sealer, a sealed batch.

use std::sync::Arc;

use bloomrf_engine::filter::FilterPolicy;
use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::ingest::{IngestConfig, OpenBoard, Queue, Tuning};
use bloomrf_engine::limits::DATAGRAM_BYTES_MAX;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::seal::{SealAction, SealedBatch, Sealer, SealerConfig};
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_engine::wire::frame::{
    FrameHeader, LaneTotal, encode_close, encode_data, records_per_frame,
};

/// The cluster of all batches.
pub(crate) const CLUSTER: ClusterId = ClusterId(0xFA_0175);

/// Two queues and a sealer.
pub(crate) struct Intake {
    config: IngestConfig,
    queues: [Queue; 2],
    sealer: Sealer,
    now_ns: u64,
}

impl Intake {
    /// An intake whose filters open for `expected` records at first, then for what came before.
    pub(crate) fn new(schema: &Arc<Schema>, policy: FilterPolicy, expected: u64) -> Self {
        let config = IngestConfig {
            cluster: CLUSTER,
            schema: Arc::clone(schema),
            policy: Arc::new(policy),
            board: Arc::new(OpenBoard::new(expected)),
            idle_ns: u64::MAX / 2,
            frames_max: 1 << 16,
            tuning: Tuning::default(),
        };
        let sealer = Sealer::new(SealerConfig {
            ingest: config.clone(),
            queues: 2,
            grace_ns: 1_000_000,
            retry_ns: 1_000,
            repair_ns: 0,
        });
        let queues = [Queue::new(config.clone()), Queue::new(config.clone())];
        Intake { config, queues, sealer, now_ns: 0 }
    }

    /// Sends `rows`, whole records one after the other, as batch `batch`; what was sealed of it.
    pub(crate) fn batch(&mut self, batch: BatchId, rows: &[u8]) -> Result<SealedBatch, String> {
        let record_bytes = self.config.schema.record_bytes();
        let frame_bytes = records_per_frame(record_bytes, DATAGRAM_BYTES_MAX) * record_bytes;
        let mut totals = [LaneTotal::default(); 2];
        let mut frame = Vec::with_capacity(DATAGRAM_BYTES_MAX);
        for (index, payload) in rows.chunks(frame_bytes).enumerate() {
            let lane = index % 2;
            frame.clear();
            let header = self.header(batch, lane, totals[lane].frames);
            encode_data(&mut frame, &header, record_bytes, payload);
            totals[lane].frames += 1;
            totals[lane].records += (payload.len() / record_bytes) as u64;
            // Lanes and queues are not the same: any lane may arrive on any queue.
            self.queues[index / 3 % 2].on_datagram(&frame, self.now_ns);
        }
        frame.clear();
        encode_close(&mut frame, &self.header(batch, 0, 0), &totals);
        self.queues[0].on_datagram(&frame, self.now_ns);
        self.seal(batch)
    }

    fn header(&self, batch: BatchId, lane: usize, sequence: u32) -> FrameHeader {
        FrameHeader {
            cluster: CLUSTER,
            fingerprint: self.config.schema.fingerprint(),
            batch,
            hash: HashAlgorithm::Xxh3,
            lane: lane as u8,
            lanes: 2,
            sequence,
        }
    }

    fn seal(&mut self, batch: BatchId) -> Result<SealedBatch, String> {
        let mut sealed = None;
        for _ in 0..STEPS_MAX {
            self.now_ns += 1_000;
            for (index, queue) in self.queues.iter_mut().enumerate() {
                while let Some(event) = queue.next_event() {
                    self.sealer.on_event(index, event, self.now_ns);
                }
            }
            self.sealer.on_tick(self.now_ns);
            let mut is_quiet = true;
            while let Some(action) = self.sealer.next_action() {
                is_quiet = false;
                match action {
                    SealAction::Queue(index, command) => {
                        self.queues[index].on_command(command, self.now_ns);
                    }
                    SealAction::Sealed(batch) => sealed = Some(*batch),
                    other => return Err(format!("batch {batch} was not sealed: {other:?}")),
                }
            }
            if is_quiet && let Some(sealed) = sealed {
                return Ok(sealed);
            }
        }
        Err(format!("batch {batch} was not sealed in {STEPS_MAX} steps"))
    }
}

const STEPS_MAX: usize = 100;
