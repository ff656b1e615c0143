//! One queue's share of one open batch: columns and the frames they came from.

use super::FrameTable;
use crate::filter::OpenColumn;
use crate::identity::BatchId;
use crate::verify::HashAlgorithm;

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
