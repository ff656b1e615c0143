//! One queue's share of one open batch: columns and the frames they came from.
//!
//! Hot path: no allocation after `reserve`, no lock. Opening costs nothing where the sealer gave
//! the partial back cleared; else it clears at most W0 words a column.

use bloomrf_kernels::arena::Arena;

use super::{FrameTable, IngestConfig};
use crate::filter::OpenColumn;
use crate::identity::BatchId;
use crate::limits::RECORDS_PER_BATCH_MAX;
use crate::verify::HashAlgorithm;
use crate::wire::frame::FrameHeader;

/// A partial. Handed to the sealer whole, and back for reuse.
#[derive(Clone, Debug)]
pub struct Partial {
    /// Batch.
    pub batch: BatchId,
    /// Elected hash, as the batch's frames state it.
    pub hash: HashAlgorithm,
    /// Lanes, as the batch's frames state it.
    pub lanes: u8,
    /// Columns, in schema order.
    pub columns: Vec<OpenColumn>,
    /// Frames seen.
    pub frames: FrameTable,
    /// Rows inserted into the columns.
    pub rows: u64,
    /// Two copies of a frame differed, frames disagreed about the batch, or the table was full:
    /// the batch must not be verified.
    pub refused: bool,
}

impl Partial {
    /// An unused partial with memory for the largest batch, from `arena` while it lasts. Heap
    /// pages are touched only when a batch needs them.
    #[must_use]
    pub fn reserve(config: &IngestConfig, arena: Option<&Arena>) -> Self {
        let shapes = config.policy.open_shapes(&config.schema, RECORDS_PER_BATCH_MAX);
        let columns = config.schema.columns().iter().zip(shapes);
        Partial {
            batch: 0,
            hash: HashAlgorithm::default(),
            lanes: 0,
            columns: columns
                .map(|(c, shape)| OpenColumn::reserve(c, shape, &config.policy, arena))
                .collect(),
            frames: FrameTable::new(config.frames_max, config.policy.seed),
            rows: 0,
            refused: false,
        }
    }

    /// Empties it for the batch of `header`, sized as the board says.
    pub(super) fn open(&mut self, config: &IngestConfig, header: &FrameHeader) {
        let records = config.board.agree(header.batch);
        for (ordinal, column) in self.columns.iter_mut().enumerate() {
            let shape =
                config.policy.open_shape(ordinal, &config.schema.columns()[ordinal], records);
            column.reset(shape);
        }
        self.batch = header.batch;
        self.hash = header.hash;
        self.lanes = header.lanes;
        self.frames.clear();
        self.rows = 0;
        self.refused = false;
    }

    /// Clears the bits of all columns, where there are any: the sealer's work, so that the queue
    /// has none when it opens the next batch.
    pub(crate) fn zero(&mut self) {
        self.columns.iter_mut().for_each(OpenColumn::zero);
    }

    /// Whether a frame says the same of the batch as the ones before it.
    pub(super) fn agrees(&self, hash: HashAlgorithm, lanes: u8) -> bool {
        self.hash == hash && self.lanes == lanes
    }
}
