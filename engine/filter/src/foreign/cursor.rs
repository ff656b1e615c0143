//! A place in bytes: every read says what it was for and how much was missing.

use super::Refusal;

/// Reads forward through bytes.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    what: &'static str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the start of `bytes`, which are to be `what`.
    pub(super) fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Cursor { what, bytes, at: 0 }
    }

    /// Where it is.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// What is ahead.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: u64) -> Result<&'a [u8], Refusal> {
        let rest = self.rest();
        let part = usize::try_from(count).ok().and_then(|count| rest.get(..count));
        let Some(part) = part else {
            let need = (self.at as u64).saturating_add(count);
            return Err(Refusal::Short { what: self.what, need, have: self.bytes.len() as u64 });
        };
        self.at += part.len();
        Ok(part)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    /// One byte.
    pub(super) fn u8(&mut self) -> Result<u8, Refusal> {
        Ok(self.array::<1>()?[0])
    }

    /// Two bytes, little-endian.
    pub(super) fn u16_le(&mut self) -> Result<u16, Refusal> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Four bytes, little-endian.
    pub(super) fn u32_le(&mut self) -> Result<u32, Refusal> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Eight bytes, little-endian.
    pub(super) fn u64_le(&mut self) -> Result<u64, Refusal> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A double, little-endian.
    pub(super) fn f64_le(&mut self) -> Result<f64, Refusal> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    /// Four bytes, big-endian, with a sign.
    pub(super) fn i32_be(&mut self) -> Result<i32, Refusal> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// Four bytes, big-endian.
    pub(super) fn u32_be(&mut self) -> Result<u32, Refusal> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// Eight bytes, big-endian.
    pub(super) fn u64_be(&mut self) -> Result<u64, Refusal> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// Nothing may follow.
    pub(super) fn end(&self) -> Result<(), Refusal> {
        match self.rest().len() as u64 {
            0 => Ok(()),
            extra => Err(Refusal::Trailing { what: self.what, end: self.at as u64, extra }),
        }
    }
}
