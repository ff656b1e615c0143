//! Hot path: nothing is allocated after `new`; rows past the limit are refused by a panic.
//!
//! A chunk of rows as columns of keys. Rows are appended by a [`Gather`] and count only once
//! committed, so that a frame refused after its digest leaves no trace.

use super::{Field, Gather};

/// Bytes past the last row of every array: kernels store whole registers.
const SLACK_BYTES: usize = 64;
/// Columns start this many cache lines apart within a page, modulo its 64 lines: arrays at the
/// same place of their pages would share a few sets of the first-level cache.
const STAGGER_LINES: usize = 5;
const LINE_BYTES: usize = 64;
const PAGE_BYTES: usize = 4_096;

/// Keys of one column of a chunk, as wide as the field (6-byte fields as `u64`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeysRef<'a> {
    /// A field of one byte.
    U8(&'a [u8]),
    /// A field of two bytes.
    U16(&'a [u16]),
    /// A field of four bytes.
    U32(&'a [u32]),
    /// A field of six or eight bytes.
    U64(&'a [u64]),
}

/// Keys of one column, with room for whole registers past the last row.
#[derive(Clone, Debug)]
pub(crate) enum KeyArray {
    U8(Staggered<u8>),
    U16(Staggered<u16>),
    U32(Staggered<u32>),
    U64(Staggered<u64>),
}

/// An array that starts at a chosen place of its page.
#[derive(Debug)]
pub(crate) struct Staggered<T> {
    keys: Vec<T>,
    start: usize,
    column: usize,
}

/// Columns of keys of up to `rows_max` rows.
#[derive(Clone, Debug)]
pub struct KeyChunk {
    columns: Columns,
    words: Box<RowWords>,
    rows: usize,
    appended: usize,
    rows_max: usize,
}

/// What a kernel writes to.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) keys: Vec<KeyArray>,
    /// One bit per row, for columns that may be null.
    nulls: Vec<Option<Vec<u64>>>,
}

/// Words of a window of up to [`RowWords::ROWS`] rows, between transpose and shuffle: group `g`
/// of word `w` holds that word of rows `8 * g ..`.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct RowWords(pub(crate) [[[u64; 8]; 8]; 8]);

impl RowWords {
    /// Rows that are transposed before their fields are taken out.
    pub(crate) const ROWS: usize = 64;
}

impl KeyChunk {
    /// An empty chunk for the fields of `gather`, with room for `rows_max` rows. About
    /// `rows_max` times the width of the keys, and a page per column.
    #[must_use]
    pub fn new(gather: &Gather, rows_max: usize) -> Self {
        let fields = gather.fields().iter().enumerate();
        let keys = fields.map(|(i, field)| match field.width {
            1 => KeyArray::U8(Staggered::new(i, rows_max)),
            2 => KeyArray::U16(Staggered::new(i, rows_max)),
            4 => KeyArray::U32(Staggered::new(i, rows_max)),
            _ => KeyArray::U64(Staggered::new(i, rows_max)),
        });
        let null_words = rows_max / 64 + 2;
        let nulls = gather.fields().iter().map(|f| f.null_bit.map(|_| vec![0; null_words]));
        let columns = Columns { keys: keys.collect(), nulls: nulls.collect() };
        let words = Box::new(RowWords([[[0; 8]; 8]; 8]));
        Self { columns, words, rows: 0, appended: 0, rows_max }
    }

    /// Rows committed.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Rows that still fit.
    #[must_use]
    pub fn room(&self) -> usize {
        self.rows_max - self.rows
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows = 0;
        self.appended = 0;
    }

    /// Counts the first `rows` of the rows appended last; the others vanish.
    ///
    /// # Panics
    /// If fewer were appended since the last commit or clear.
    pub fn commit(&mut self, rows: usize) {
        assert!(rows <= self.appended, "{rows} rows to commit of {}", self.appended);
        self.rows += rows;
        self.appended = 0;
    }

    /// Keys of the committed rows of field `field`, null cells and NaNs included.
    ///
    /// # Panics
    /// If there is no such field.
    #[must_use]
    pub fn column(&self, field: usize) -> KeysRef<'_> {
        match &self.columns.keys[field] {
            KeyArray::U8(keys) => KeysRef::U8(keys.first(self.rows)),
            KeyArray::U16(keys) => KeysRef::U16(keys.first(self.rows)),
            KeyArray::U32(keys) => KeysRef::U32(keys.first(self.rows)),
            KeyArray::U64(keys) => KeysRef::U64(keys.first(self.rows)),
        }
    }

    /// Null bits of the committed rows of field `field`: bit `i % 64` of word `i / 64` is set
    /// where row `i` is null; bits past the last row mean nothing. `None`: never null.
    ///
    /// # Panics
    /// If there is no such field.
    #[must_use]
    pub fn nulls(&self, field: usize) -> Option<&[u64]> {
        self.columns.nulls[field].as_ref().map(|words| &words[..self.rows.div_ceil(64)])
    }

    /// Makes ready for `rows` more rows of `fields` fields, which start at the row returned.
    pub(super) fn reserve(&mut self, fields: &[Field], rows: usize) -> usize {
        assert!(self.columns.hold(fields), "a chunk made for other fields");
        assert!(rows <= self.room(), "{rows} rows for a chunk with room for {}", self.room());
        self.appended = rows;
        self.rows
    }

    /// Rows reserved and not committed.
    pub(crate) fn appended(&self) -> usize {
        self.appended
    }

    /// The columns, and room for the kernel's work in between.
    pub(crate) fn parts_mut(&mut self) -> (&mut Columns, &mut RowWords) {
        (&mut self.columns, &mut self.words)
    }
}

impl Columns {
    /// Whether there is a column for each field, as wide as it, and null bits where it needs them.
    fn hold(&self, fields: &[Field]) -> bool {
        let is_one = |((field, keys), nulls): ((&Field, &KeyArray), &Option<Vec<u64>>)| {
            let width = match keys {
                KeyArray::U8(_) => 1,
                KeyArray::U16(_) => 2,
                KeyArray::U32(_) => 4,
                KeyArray::U64(_) => field.width.max(5),
            };
            field.width == width && field.null_bit.is_some() == nulls.is_some()
        };
        fields.len() == self.keys.len()
            && fields.iter().zip(&self.keys).zip(&self.nulls).all(is_one)
    }

    /// Sets the null bits of `count <= 64` rows from row `at` on, and clears those behind them.
    #[inline]
    pub(crate) fn put_nulls(&mut self, field: usize, at: usize, bits: u64, count: usize) {
        let Some(words) = &mut self.nulls[field] else { return };
        let (word, shift) = (at / 64, at % 64);
        words[word] = words[word] & !(u64::MAX << shift) | bits << shift;
        if shift + count > 64 {
            words[word + 1] = bits >> (64 - shift);
        }
    }
}

impl<T: Copy + Default> Staggered<T> {
    fn new(column: usize, rows_max: usize) -> Self {
        let size = size_of::<T>();
        let keys = vec![T::default(); rows_max + (SLACK_BYTES + PAGE_BYTES) / size];
        Self::place(keys, column)
    }

    fn place(keys: Vec<T>, column: usize) -> Self {
        let wanted = column * STAGGER_LINES * LINE_BYTES;
        let start = wanted.wrapping_sub(keys.as_ptr() as usize) % PAGE_BYTES / size_of::<T>();
        Self { keys, start, column }
    }

    fn first(&self, rows: usize) -> &[T] {
        &self.keys[self.start..][..rows]
    }

    /// The keys from row `at` on, slack included.
    #[inline]
    pub(crate) fn tail_mut(&mut self, at: usize) -> &mut [T] {
        &mut self.keys[self.start + at..]
    }

    /// The keys from row `at` on in eights; the last row lies in the last eight at the latest.
    #[inline]
    pub(crate) fn groups_mut(&mut self, at: usize) -> &mut [[T; 8]] {
        self.tail_mut(at).as_chunks_mut().0
    }
}

impl<T: Copy + Default> Clone for Staggered<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::place(vec![T::default(); self.keys.len()], self.column);
        let rows = self.keys.len() - PAGE_BYTES / size_of::<T>();
        copy.tail_mut(0)[..rows].copy_from_slice(self.first(rows));
        copy
    }
}
