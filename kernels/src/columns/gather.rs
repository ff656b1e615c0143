//! Hot path: no allocation, no lock, no syscall; one pass over the rows.
//!
//! Rows to columns of keys: compiled once per schema, called once per frame.

use super::shape::Window;
use super::{Field, GatherError, KeyChunk};
use crate::digest;
use crate::kernel::Kernel;
use crate::scalar;
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};

/// A compiled list of fields of one record shape.
#[derive(Clone, Debug)]
pub struct Gather {
    record_bytes: usize,
    fields: Vec<Field>,
    windows: Vec<Window>,
}

impl Gather {
    /// Longest record, in bytes.
    pub const RECORD_BYTES_MAX: usize = 64 << 10;

    /// Compiles the gathering of `fields` out of records of `record_bytes` bytes each.
    ///
    /// # Errors
    /// A record or a field that cannot be: see [`GatherError`].
    pub fn new(record_bytes: usize, fields: &[Field]) -> Result<Self, GatherError> {
        if record_bytes == 0 || record_bytes > Self::RECORD_BYTES_MAX {
            return Err(GatherError::RecordBytes { bytes: record_bytes });
        }
        if fields.len() > usize::from(u16::MAX) {
            return Err(GatherError::TooManyFields { count: fields.len() });
        }
        for (i, field) in fields.iter().enumerate() {
            field.check(i, record_bytes)?;
        }
        let windows = Window::cover(record_bytes, fields);
        Ok(Self { record_bytes, fields: fields.to_vec(), windows })
    }

    /// Bytes of a record.
    #[must_use]
    pub fn record_bytes(&self) -> usize {
        self.record_bytes
    }

    /// The fields, in the order of the chunk's columns.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Writes the keys and null bits of `rows`, whole records, behind the committed rows of
    /// `chunk`. They count once [`KeyChunk::commit`] says so; the next append overwrites them
    /// otherwise. Returns the number of rows.
    ///
    /// # Panics
    /// If `rows` is not a whole number of records, or more of them than `chunk` has room for, or
    /// if `chunk` was made for other fields.
    pub fn append(&self, kernel: Kernel, rows: &[u8], chunk: &mut KeyChunk) -> usize {
        let (at, count) = self.reserve(rows, chunk);
        match kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(token) => avx2::gather::append(token, self, rows, chunk, at),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(token) => avx512::gather::append(token, self, rows, chunk, at),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Vbmi(token) => {
                avx512::gather::append(token.avx512(), self, rows, chunk, at);
            }
            _ => scalar::gather::append(self, rows, chunk, at),
        }
        count
    }

    /// As [`append`](Self::append), and the digest xxh3-128 of `rows`, in one pass where records
    /// are 64 bytes long.
    ///
    /// # Panics
    /// As [`append`](Self::append).
    pub fn append_digest(&self, kernel: Kernel, rows: &[u8], chunk: &mut KeyChunk) -> u128 {
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = kernel.avx512()
            && let (records, []) = rows.as_chunks::<64>()
            && self.record_bytes == 64
            && rows.len() > digest::SHORT_BYTES_MAX
        {
            let (at, _) = self.reserve(rows, chunk);
            return avx512::gather::append_digest(token, self, records, chunk, at);
        }
        let digest = digest::xxh3_128(kernel, rows);
        self.append(kernel, rows, chunk);
        digest
    }

    /// Parts of the record that vector kernels load, with the fields in each.
    pub(crate) fn windows(&self) -> &[Window] {
        &self.windows
    }

    fn reserve(&self, rows: &[u8], chunk: &mut KeyChunk) -> (usize, usize) {
        let count = rows.len() / self.record_bytes;
        assert!(
            count * self.record_bytes == rows.len(),
            "{} bytes are not whole records of {}",
            rows.len(),
            self.record_bytes
        );
        (chunk.reserve(&self.fields, count), count)
    }
}
