//! Batches of the 64-byte bench schema as frames of Ethernet: in memory one behind the other, as a
//! device would have put them there, and as a capture.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bloomrf_bench::flows::{self, FRAME_RECORDS, RECORD_BYTES};
use bloomrf_engine::schema::Schema;
use bloomrf_netio::link::mem;
use bloomrf_netio::{BURST_MAX, Burst, Framing, Link, LinkError, LinkStats, Received, Waker};

use crate::frames::wrap;
use crate::scale;

/// Records of a batch.
pub(crate) const BATCH_RECORDS: usize = 65_536;

/// Frames of a batch: its records, and one that closes it.
pub(crate) const BATCH_FRAMES: u64 = BATCH_RECORDS.div_ceil(FRAME_RECORDS) as u64 + 1;

/// Frames with where each ends.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Frames {
    /// So many batches, numbered from 1.
    pub(crate) fn make(schema: &Schema, batches: u64) -> Self {
        let mut frames = Frames::default();
        let rows = flows::busy_records(1, BATCH_RECORDS * batches as usize);
        for (batch, rows) in (1..).zip(rows.chunks_exact(BATCH_RECORDS * RECORD_BYTES)) {
            for payload in flows::batch(schema, batch, rows) {
                // One lane, so one flow.
                frames.bytes.extend(wrap(0, &payload));
                frames.ends.push(frames.bytes.len());
            }
        }
        assert_eq!(frames.count(), (batches * BATCH_FRAMES), "one lane, no repairs");
        frames
    }

    /// Number of frames.
    pub(crate) fn count(&self) -> u64 {
        self.ends.len() as u64
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.bytes[begin..end])
    }

    /// Writes them as a capture.
    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        scale::write(path, self.iter())
    }
}

/// Delivers frames from where they lie, once; then nothing.
pub(crate) struct InPlace {
    frames: Arc<Frames>,
    next: usize,
    stats: LinkStats,
    waker: Waker,
}

impl InPlace {
    pub(crate) fn new(frames: &Arc<Frames>) -> Self {
        let (_, other) = mem::pair(1);
        InPlace {
            frames: Arc::clone(frames),
            next: 0,
            stats: LinkStats::default(),
            waker: other.waker(),
        }
    }
}

impl Link for InPlace {
    fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>) -> Result<(), LinkError> {
        let InPlace { frames, next, stats, .. } = self;
        let mut begin = next.checked_sub(1).map_or(0, |last| frames.ends[last]);
        for &end in frames.ends[*next..].iter().take(BURST_MAX) {
            burst.push(Received::ethernet(&frames.bytes[begin..end], 0));
            stats.bytes += (end - begin) as u64;
            begin = end;
        }
        *next += burst.len();
        stats.received += burst.len() as u64;
        Ok(())
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError> {
        std::thread::sleep(timeout.min(Duration::from_millis(1)));
        Ok(())
    }

    fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn framing(&self) -> Framing {
        Framing::Frames
    }

    fn keep_sources(&mut self) -> bool {
        true
    }

    fn stats(&self) -> LinkStats {
        self.stats
    }

    fn describe(&self) -> String {
        format!("{} frames in memory", self.frames.count())
    }
}
