//! A bounds-checked cursor: the only way bytes are read and written here.
//!
//! Hot path: no allocation in the reader, no lock, no syscall. Every read checks what is left and
//! answers [`Short`] instead of panicking; numbers are little-endian. The writer appends to a
//! caller's buffer, so a warm buffer is written without allocating.

/// Fewer bytes are left than a field needs. The only thing that can go wrong in reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short;

/// Reads forward through borrowed bytes.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// The next `n` bytes.
    #[inline]
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Short> {
        let (head, rest) = self.rest.split_at_checked(n).ok_or(Short)?;
        self.rest = rest;
        Ok(head)
    }

    /// The next `N` bytes by value.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(Short)?;
        self.rest = rest;
        Ok(*head)
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Short> {
        Ok(self.array::<1>()?[0])
    }

    /// Two bytes.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, Short> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Four bytes.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Short> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Eight bytes.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, Short> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Sixteen bytes.
    #[inline]
    pub fn u128(&mut self) -> Result<u128, Short> {
        Ok(u128::from_le_bytes(self.array()?))
    }

    /// What has not been read.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Bytes that have not been read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// True at the end.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

/// Appends to a buffer.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Writer<'a> {
    /// A writer at the end of `out`.
    #[must_use]
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        Writer { out, start }
    }

    /// Raw bytes.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// `n` zero bytes.
    pub fn zeros(&mut self, n: usize) {
        self.out.resize(self.out.len() + n, 0);
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self, value: u8) {
        self.out.push(value);
    }

    /// Two bytes.
    #[inline]
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    /// Four bytes.
    #[inline]
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Eight bytes.
    #[inline]
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// Sixteen bytes.
    #[inline]
    pub fn u128(&mut self, value: u128) {
        self.bytes(&value.to_le_bytes());
    }

    /// Bytes written since this writer was made.
    #[must_use]
    pub fn len(&self) -> usize {
        self.out.len() - self.start
    }

    /// True where nothing has been written yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What has been written since this writer was made.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        &self.out[self.start..]
    }

    /// Overwrites four bytes that lie `at` bytes after this writer's start.
    pub fn patch_u32(&mut self, at: usize, value: u32) {
        let at = self.start + at;
        self.out[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
}

/// Length of something for a count field, saturating: a saturated count is above every limit, so
/// the reader refuses the message instead of reading another meaning out of it.
pub(super) fn saturated_u16(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

/// The same for four bytes.
pub(super) fn saturated_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_past_the_end_is_short_and_moves_nothing() {
        let mut r = Reader::new(&[1, 2, 3]);
        assert_eq!(r.u16(), Ok(0x0201));
        assert_eq!(r.u16(), Err(Short));
        assert_eq!(r.take(usize::MAX), Err(Short));
        assert_eq!(r.rest(), &[3]);
        assert_eq!(r.u8(), Ok(3));
        assert!(r.is_empty());
        assert_eq!(r.u8(), Err(Short));
    }

    #[test]
    fn what_the_writer_appends_the_reader_returns() {
        let mut out = vec![9];
        let mut w = Writer::new(&mut out);
        assert!(w.is_empty());
        w.u32(0);
        w.u8(1);
        w.u16(2);
        w.u64(3);
        w.u128(4);
        w.zeros(2);
        w.patch_u32(0, 0xa1b2_c3d4);
        assert_eq!(w.len(), w.written().len());
        let mut r = Reader::new(&out[1..]);
        assert_eq!(r.u32(), Ok(0xa1b2_c3d4));
        assert_eq!(r.u8(), Ok(1));
        assert_eq!(r.u16(), Ok(2));
        assert_eq!(r.u64(), Ok(3));
        assert_eq!(r.u128(), Ok(4));
        assert_eq!(r.take(2), Ok(&[0u8, 0][..]));
        assert_eq!(r.len(), 0);
    }
}
