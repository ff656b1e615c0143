//! Rows of one open batch that wait, as columns of keys, to be inserted together.
//!
//! Hot path: no allocation after `new`, no lock; a frame costs its digest and one pass over its
//! rows, a full chunk one kernel call after the other for each column.
//!
//! A frame is appended while its digest is computed, before anybody knows whether it is new, and
//! counts only once committed: a refused frame leaves no trace. Whoever lets go of the batch or of
//! its partial calls [`PendingRows::finish`] first; caches and maps know keys of one batch in one
//! partial only, so [`PendingRows::start`] forgets them.

use bloomrf_kernels::Kernel;
use bloomrf_kernels::columns::{Field, Gather, KeyChunk, Map, Order};

use crate::filter::{ChunkKeys, ColumnScratch, Dedupe, FilterPolicy, KeyBuffers, OpenColumn};
use crate::limits::FRAME_BYTES_MAX;
use crate::schema::{ByteOrder, Column, ColumnType, KeyClass, Schema};
use crate::verify::{Digest, HashAlgorithm, frame_digest};

/// Rows of a chunk, unless configured otherwise: 22-record frames fill it to 93 %, and its columns
/// of keys leave most of a core's 1 MiB to the open filter that they go into.
pub const CHUNK_ROWS: usize = 4_096;

/// The chunk of one open batch, and everything else that its inserts need.
#[derive(Debug)]
pub struct PendingRows {
    kernel: Kernel,
    gather: Gather,
    chunk: KeyChunk,
    chunk_rows: usize,
    columns: Vec<ColumnWork>,
    buffers: KeyBuffers,
}

#[derive(Debug)]
struct ColumnWork {
    /// Its number among the narrow columns; `None`: its keys are wide.
    field: Option<usize>,
    is_float: bool,
    scratch: ColumnScratch,
}

impl PendingRows {
    /// Memory for chunks of `chunk_rows` rows of `schema`, or of one frame where that holds more.
    #[must_use]
    pub fn new(schema: &Schema, policy: &FilterPolicy, chunk_rows: usize, dedupe: Dedupe) -> Self {
        let columns = schema.columns();
        let fields: Vec<Field> = columns.iter().filter_map(field).collect();
        let gather = match Gather::new(schema.record_bytes(), &fields) {
            Ok(gather) => gather,
            Err(error) => unreachable!("a checked schema can be gathered: {error}"),
        };
        let rows_max = chunk_rows.max(FRAME_BYTES_MAX / schema.record_bytes()).max(1);
        let mut narrow = 0..;
        let work = columns.iter().enumerate().map(|(ordinal, column)| ColumnWork {
            field: if is_narrow(column) { narrow.next() } else { None },
            is_float: column.kind().is_float(),
            scratch: ColumnScratch::new(policy, ordinal, column, rows_max, dedupe),
        });
        PendingRows {
            kernel: policy.kernel,
            columns: work.collect(),
            chunk: KeyChunk::new(&gather, rows_max),
            chunk_rows,
            gather,
            buffers: KeyBuffers::new(rows_max),
        }
    }

    /// Rows that wait.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.chunk.rows()
    }

    /// Forgets rows, caches and maps: before the first frame of a batch.
    pub fn start(&mut self) {
        self.chunk.clear();
        self.columns.iter_mut().for_each(|work| work.scratch.reset());
    }

    /// Whether `records` more rows are to be preceded by a [`PendingRows::flush`].
    #[must_use]
    pub fn is_full_for(&self, records: usize) -> bool {
        self.rows() > 0 && self.rows() + records > self.chunk_rows
    }

    /// Appends the records of a frame, without counting them, and computes its digest.
    ///
    /// # Panics
    /// Where the chunk is full for them, or `rows` are not whole records.
    pub fn append(&mut self, hash: HashAlgorithm, rows: &[u8]) -> Digest {
        if hash == HashAlgorithm::Xxh3 {
            let mut digest = Digest::default();
            let value = self.gather.append_digest(self.kernel, rows, &mut self.chunk);
            digest[..16].copy_from_slice(&value.to_le_bytes());
            return digest;
        }
        let digest = frame_digest(hash, rows);
        self.gather.append(self.kernel, rows, &mut self.chunk);
        digest
    }

    /// Counts the records appended last: the frame is new.
    pub fn commit(&mut self, schema: &Schema, rows: &[u8], open: &mut [OpenColumn]) {
        let record_bytes = schema.record_bytes();
        self.chunk.commit(rows.len() / record_bytes);
        let columns = schema.columns().iter().zip(open).zip(&mut self.columns);
        for ((column, open), work) in columns.filter(|(_, work)| work.field.is_none()) {
            open.hash_rows(self.kernel, column, rows, record_bytes, &mut work.scratch);
        }
    }

    /// Inserts all rows that wait into the columns of their partial; returns how many.
    pub fn flush(&mut self, open: &mut [OpenColumn]) -> u64 {
        let rows = self.rows() as u64;
        if rows > 0 {
            (0..open.len()).for_each(|ordinal| self.flush_column(ordinal, &mut open[ordinal]));
            self.forget_rows();
        }
        rows
    }

    /// Forgets the rows that wait, once every column of them was flushed.
    pub fn forget_rows(&mut self) {
        self.chunk.clear();
    }

    /// The same as [`PendingRows::flush`] for one column; the rows wait on. (For those who time the
    /// columns one by one.)
    pub fn flush_column(&mut self, ordinal: usize, open: &mut OpenColumn) {
        let ColumnWork { field, is_float, scratch } = &mut self.columns[ordinal];
        let Some(field) = *field else { return open.insert_hashes(self.kernel, scratch) };
        let keys = ChunkKeys {
            keys: self.chunk.column(field),
            nulls: self.chunk.nulls(field),
            is_float: *is_float,
        };
        open.insert_chunk(self.kernel, keys, scratch, &mut self.buffers);
    }

    /// Inserts what waits and joins the maps: nothing of the batch is left here. Returns the rows
    /// inserted.
    pub fn finish(&mut self, open: &mut [OpenColumn]) -> u64 {
        let rows = self.flush(open);
        for (work, open) in self.columns.iter_mut().zip(open) {
            open.join(self.kernel, &mut work.scratch);
        }
        rows
    }
}

fn is_narrow(column: &Column) -> bool {
    matches!(column.kind().key_class(), KeyClass::Narrow { .. })
}

/// How the kernels gather a narrow column.
fn field(column: &Column) -> Option<Field> {
    let kind = column.kind();
    let is_network = matches!(kind, ColumnType::Ipv4 | ColumnType::Mac);
    is_narrow(column).then(|| Field {
        offset: column.offset(),
        width: column.width(),
        order: match column.order() {
            ByteOrder::Little if !is_network => Order::Little,
            _ => Order::Big,
        },
        map: match kind {
            ColumnType::Bool => Map::Bool,
            ColumnType::F32 | ColumnType::F64 => Map::Float,
            ColumnType::I8 | ColumnType::I16 | ColumnType::I32 | ColumnType::I64 => Map::Signed,
            ColumnType::Timestamp(_) => Map::Signed,
            _ => Map::Unsigned,
        },
        null_bit: column.null_bit(),
    })
}
