//! Frames of recent batches as they were broadcast, for filter nodes that missed some of them.
//!
//! Bounded by bytes: the batch that was begun first leaves first, whole. A copy per frame, shared
//! by all that ask.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::wire::frame::Frame;
use bloomrf_engine::wire::stream::Missing;

/// The frames kept.
#[derive(Debug)]
pub struct KeptFrames {
    bytes_max: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    bytes: usize,
    /// In the order in which they were begun.
    order: VecDeque<BatchId>,
    batches: HashMap<BatchId, Batch>,
}

#[derive(Debug, Default)]
struct Batch {
    bytes: usize,
    close: Option<Arc<[u8]>>,
    data: BTreeMap<(u8, u32), Arc<[u8]>>,
}

/// What is there of what was asked for.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Frames, DATA first.
    pub frames: Vec<Arc<[u8]>>,
    /// Whether these are all.
    pub is_all: bool,
}

impl Default for KeptFrames {
    fn default() -> Self {
        Self::new(BYTES_DEFAULT)
    }
}

impl KeptFrames {
    /// Keeps at most `bytes_max` bytes of frames; 0: none.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        KeptFrames { bytes_max, inner: Mutex::default() }
    }

    /// Whether anything is ever kept.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.bytes_max > 0
    }

    /// Keeps a frame; `bytes` are what it was parsed from.
    pub fn keep(&self, frame: &Frame<'_>, bytes: &[u8]) {
        match frame {
            Frame::Data { header, .. } => {
                self.keep_data(header.batch, header.lane, header.sequence, bytes);
            }
            Frame::Close { header, .. } => self.keep_close(header.batch, bytes),
        }
    }

    /// Keeps a DATA frame.
    pub fn keep_data(&self, batch: BatchId, lane: u8, sequence: u32, bytes: &[u8]) {
        self.put(batch, bytes, |kept, frame| kept.data.insert((lane, sequence), frame));
    }

    /// Keeps a CLOSE frame; one per batch.
    pub fn keep_close(&self, batch: BatchId, bytes: &[u8]) {
        self.put(batch, bytes, |kept, frame| kept.close.replace(frame));
    }

    /// Looks up what a node misses.
    #[must_use]
    pub fn find(&self, missing: &Missing) -> Found {
        let inner = self.lock();
        let Some(batch) = inner.batches.get(&missing.batch) else { return Found::default() };
        let mut frames = Vec::new();
        for range in &missing.ranges {
            let (first, end) = (range.first, range.first.saturating_add(range.count));
            let kept = batch.data.range((range.lane, first)..(range.lane, end));
            frames.extend(kept.map(|(_, frame)| frame.clone()));
        }
        let wanted = missing.frames() + u64::from(missing.close);
        frames.extend(batch.close.iter().filter(|_| missing.close).cloned());
        Found { is_all: frames.len() as u64 == wanted, frames }
    }

    /// Drops the frames of batches that are gone.
    pub fn forget(&self, batches: &[BatchId]) {
        let mut inner = self.lock();
        batches.iter().for_each(|batch| inner.drop_batch(*batch));
    }

    fn put(
        &self,
        batch: BatchId,
        bytes: &[u8],
        into: impl FnOnce(&mut Batch, Arc<[u8]>) -> Option<Arc<[u8]>>,
    ) {
        if bytes.len() > self.bytes_max {
            return;
        }
        let mut inner = self.lock();
        let inner = &mut *inner;
        let kept = inner.batches.entry(batch).or_insert_with(|| {
            inner.order.push_back(batch);
            Batch::default()
        });
        let replaced = into(kept, bytes.into()).map_or(0, |before| before.len());
        kept.bytes = kept.bytes + bytes.len() - replaced;
        inner.bytes = inner.bytes + bytes.len() - replaced;
        while inner.bytes > self.bytes_max
            && let Some(&oldest) = inner.order.front()
        {
            inner.drop_batch(oldest);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn drop_batch(&mut self, batch: BatchId) {
        if let Some(gone) = self.batches.remove(&batch) {
            self.bytes -= gone.bytes;
            self.order.retain(|other| *other != batch);
        }
    }
}

/// Enough for the grace time of some nodes and a few batches.
const BYTES_DEFAULT: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use bloomrf_engine::wire::stream::FrameRange;

    use super::*;

    fn missing(batch: BatchId, close: bool, first: u32, count: u32) -> Missing {
        Missing { batch, close, ranges: vec![FrameRange { lane: 1, first, count }] }
    }

    #[test]
    fn what_is_kept_is_found_and_what_lacks_is_said() {
        let kept = KeptFrames::new(1_000);
        for sequence in 0..4 {
            kept.keep_data(7, 1, sequence, &[sequence as u8; 10]);
        }
        kept.keep_data(7, 0, 2, &[9; 10]);
        let found = kept.find(&missing(7, false, 1, 2));
        assert!(found.is_all);
        assert_eq!(found.frames.concat(), [[1; 10], [2; 10]].concat());
        let found = kept.find(&missing(7, true, 3, 2));
        assert_eq!((found.frames.len(), found.is_all), (1, false));
        kept.keep_close(7, &[5; 10]);
        let found = kept.find(&missing(7, true, 3, 1));
        assert_eq!((found.frames.len(), found.is_all), (2, true));
        assert!(!kept.find(&missing(8, false, 0, 1)).is_all);
        kept.forget(&[7, 8]);
        assert!(!kept.find(&missing(7, false, 1, 1)).is_all);
        let inner = kept.lock();
        assert_eq!((inner.bytes, inner.order.len()), (0, 0));
    }

    #[test]
    fn the_oldest_batch_leaves_when_the_bytes_are_used_up() {
        let kept = KeptFrames::new(100);
        for batch in 0..5 {
            for sequence in 0..4 {
                kept.keep_data(batch, 1, sequence, &[0; 10]);
                kept.keep_data(batch, 1, sequence, &[1; 10]);
            }
            assert!(kept.lock().bytes <= 100);
        }
        let has = |batch| kept.find(&missing(batch, false, 0, 4)).is_all;
        assert_eq!([0, 1, 2, 3, 4].map(has), [false, false, false, true, true]);
        kept.keep_close(9, &[0; 101]);
        assert!(has(3) && has(4), "what is larger than all is not kept");
        let off = KeptFrames::new(0);
        off.keep_close(1, &[1]);
        assert!(!off.is_on() && off.lock().order.is_empty());
    }
}
