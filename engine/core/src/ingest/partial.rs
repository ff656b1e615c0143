//! One queue's share of one open batch: columns and the frames they came from.
//!
//! Hot path: no allocation after `reserve`, no lock; work bounded by the frame, except that the
//! first one of a batch zeroes the filters that it opens (at most W0 words a column).

use super::{FrameTable, IngestConfig};
use crate::filter::OpenColumn;
use crate::identity::BatchId;
use crate::limits::RECORDS_PER_BATCH_MAX;
use crate::schema::Schema;
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
    /// An unused partial with memory for the largest batch. Zeroed pages are touched only when a
    /// batch needs them.
    #[must_use]
    pub fn reserve(config: &IngestConfig) -> Self {
        let shapes = config.policy.open_shapes(&config.schema, RECORDS_PER_BATCH_MAX);
        let columns =
            config.schema.columns().iter().zip(shapes).map(|(c, s)| OpenColumn::new(c, s));
        Partial {
            batch: 0,
            hash: HashAlgorithm::default(),
            lanes: 0,
            columns: columns.collect(),
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

    /// Whether a frame says the same of the batch as the ones before it.
    pub(super) fn agrees(&self, hash: HashAlgorithm, lanes: u8) -> bool {
        self.hash == hash && self.lanes == lanes
    }

    /// Inserts the records of one frame, column by column.
    pub(super) fn insert_rows(&mut self, schema: &Schema, rows: &[u8]) {
        let record_bytes = schema.record_bytes();
        for (open, column) in self.columns.iter_mut().zip(schema.columns()) {
            open.insert_rows(column, rows, record_bytes);
        }
        self.rows += (rows.len() / record_bytes) as u64;
    }
}
