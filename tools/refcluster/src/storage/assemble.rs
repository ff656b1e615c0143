//! From frames in any order to whole batches in (lane, sequence) order. Without I/O.
//!
//! Invariant: a batch comes out only when the CLOSE totals are known and every frame up to them
//! is there. A batch with a gap never comes out; it is given up and counted.

use std::collections::{BTreeMap, VecDeque};

use bloomrf_engine::identity::{BatchId, ClusterId, Fingerprint};
use bloomrf_engine::verify::{ChainHasher, HashAlgorithm, frame_digest};
use bloomrf_engine::wire::frame::{Frame, FrameHeader, LaneTotal};

use super::file::StoredBatch;

/// Batches that are assembled at the same time; one more gives up the oldest.
const OPEN_MAX: usize = 8;
/// Finished batches remembered, so that their late frames do not open them again.
const DONE_MAX: usize = 4_096;

/// What became of a frame or a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssembleStats {
    /// Datagrams offered.
    pub frames: u64,
    /// Frames that could not be parsed, or are of another cluster or schema.
    pub refused: u64,
    /// Second copies, and frames of finished batches.
    pub duplicate: u64,
    /// Batches given up, and therefore not stored.
    pub gaps: u64,
}

/// Whom the frames must come from.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// Cluster.
    pub cluster: ClusterId,
    /// Schema.
    pub fingerprint: Fingerprint,
    /// Bytes of a record.
    pub record_bytes: usize,
}

/// A batch that ended.
#[derive(Debug)]
pub enum Ended {
    /// Whole.
    Whole(StoredBatch),
    /// Given up: frames or CLOSE are missing, or frames contradict each other.
    Gap(BatchId),
}

/// The assembler of one storage node.
#[derive(Debug)]
pub struct Assembler {
    origin: Origin,
    open: VecDeque<OpenBatch>,
    done: VecDeque<BatchId>,
    stats: AssembleStats,
}

#[derive(Debug)]
struct OpenBatch {
    batch: BatchId,
    hash: HashAlgorithm,
    lanes: u8,
    frames: BTreeMap<(u8, u32), Vec<u8>>,
    totals: Option<Vec<LaneTotal>>,
    touched_ns: u64,
}

impl Assembler {
    /// Nothing open.
    #[must_use]
    pub fn new(origin: Origin) -> Self {
        let (open, done) = (VecDeque::new(), VecDeque::new());
        Assembler { origin, open, done, stats: AssembleStats::default() }
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> AssembleStats {
        self.stats
    }

    /// Takes one datagram; pushes what it ended. Returns it where it is new: a DATA frame, or a
    /// CLOSE, of a batch that is not finished without it.
    pub fn on_datagram<'a>(
        &mut self,
        bytes: &'a [u8],
        now_ns: u64,
        ended: &mut Vec<Ended>,
    ) -> Option<Frame<'a>> {
        self.stats.frames += 1;
        let Ok(frame) = Frame::parse(bytes, self.origin.record_bytes) else {
            self.stats.refused += 1;
            return None;
        };
        let header = match &frame {
            Frame::Data { header, .. } | Frame::Close { header, .. } => *header,
        };
        let ours =
            header.cluster == self.origin.cluster && header.fingerprint == self.origin.fingerprint;
        if !ours {
            self.stats.refused += 1;
            return None;
        }
        let is_open = self.open.iter().any(|o| o.batch == header.batch);
        if !is_open && self.done.contains(&header.batch) {
            self.stats.duplicate += u64::from(matches!(frame, Frame::Data { .. }));
            return None;
        }
        let index = self.open_batch(&header, now_ns, ended);
        let open = &mut self.open[index];
        open.touched_ns = now_ns;
        let agrees = open.hash == header.hash && open.lanes == header.lanes;
        match if agrees { open.take(&frame) } else { Taken::Conflict } {
            Taken::New => {
                self.finish(index, ended);
                return Some(frame);
            }
            Taken::Duplicate => self.stats.duplicate += 1,
            Taken::Conflict => self.give_up(index, ended),
        }
        None
    }

    /// Gives up what has had no frame for `idle_ns`.
    pub fn on_tick(&mut self, now_ns: u64, idle_ns: u64, ended: &mut Vec<Ended>) {
        while let Some(index) =
            self.open.iter().position(|o| now_ns.saturating_sub(o.touched_ns) > idle_ns)
        {
            self.give_up(index, ended);
        }
    }

    fn open_batch(&mut self, header: &FrameHeader, now_ns: u64, ended: &mut Vec<Ended>) -> usize {
        if let Some(index) = self.open.iter().position(|o| o.batch == header.batch) {
            return index;
        }
        if self.open.len() == OPEN_MAX {
            self.give_up(0, ended);
        }
        self.open.push_back(OpenBatch {
            batch: header.batch,
            hash: header.hash,
            lanes: header.lanes,
            frames: BTreeMap::new(),
            totals: None,
            touched_ns: now_ns,
        });
        self.open.len() - 1
    }

    fn give_up(&mut self, index: usize, ended: &mut Vec<Ended>) {
        if let Some(open) = self.open.remove(index) {
            self.stats.gaps += 1;
            self.remember(open.batch);
            ended.push(Ended::Gap(open.batch));
        }
    }

    fn finish(&mut self, index: usize, ended: &mut Vec<Ended>) {
        if !self.open[index].is_whole(self.origin.record_bytes) {
            return;
        }
        if let Some(open) = self.open.remove(index) {
            self.remember(open.batch);
            ended.push(Ended::Whole(open.into_stored(self.origin)));
        }
    }

    fn remember(&mut self, batch: BatchId) {
        if self.done.len() == DONE_MAX {
            self.done.pop_front();
        }
        self.done.push_back(batch);
    }
}

enum Taken {
    New,
    Duplicate,
    Conflict,
}

impl OpenBatch {
    fn take(&mut self, frame: &Frame<'_>) -> Taken {
        match frame {
            Frame::Data { header, payload, .. } => {
                match self.frames.get(&(header.lane, header.sequence)) {
                    None => {
                        self.frames.insert((header.lane, header.sequence), payload.to_vec());
                        Taken::New
                    }
                    Some(first) if first == payload => Taken::Duplicate,
                    Some(_) => Taken::Conflict,
                }
            }
            Frame::Close { totals, .. } => {
                let totals: Vec<LaneTotal> = totals.iter().collect();
                match &self.totals {
                    Some(first) if *first != totals => Taken::Conflict,
                    _ => {
                        self.totals = Some(totals);
                        Taken::New
                    }
                }
            }
        }
    }

    fn is_whole(&self, record_bytes: usize) -> bool {
        let Some(totals) = &self.totals else { return false };
        let expected: u64 = totals.iter().map(|t| u64::from(t.frames)).sum();
        expected == self.frames.len() as u64
            && totals.iter().enumerate().all(|(lane, total)| {
                let lane = lane as u8;
                let frames = self.frames.range((lane, 0)..=(lane, u32::MAX));
                let mut bytes = 0;
                let mut next = 0;
                for (&(_, sequence), payload) in frames {
                    if sequence != next {
                        return false;
                    }
                    next += 1;
                    bytes += payload.len();
                }
                next == total.frames && (bytes / record_bytes) as u64 == total.records
            })
    }

    fn into_stored(self, origin: Origin) -> StoredBatch {
        let Origin { cluster, fingerprint, record_bytes } = origin;
        let mut chain = ChainHasher::new(self.hash, cluster, fingerprint, self.batch, self.lanes);
        let mut records = Vec::with_capacity(self.frames.values().map(Vec::len).sum());
        for (&(lane, _), payload) in &self.frames {
            chain.frame(lane, &frame_digest(self.hash, payload));
            records.extend_from_slice(payload);
        }
        StoredBatch {
            cluster,
            fingerprint,
            batch: self.batch,
            lanes: self.lanes,
            hash: chain.finish((records.len() / record_bytes) as u64),
            record_bytes,
            records,
        }
    }
}

#[cfg(test)]
mod tests;
