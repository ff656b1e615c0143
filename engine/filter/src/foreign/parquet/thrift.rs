//! The compact protocol of Thrift, as far as it is needed to find fields and to pass over the
//! rest. Every value takes a byte at least, so work is bounded by the bytes; depth is limited.

use super::super::Refusal;
use super::super::cursor::Cursor;

/// Reads values one after another.
#[derive(Clone, Debug)]
pub(super) struct Compact<'a> {
    cursor: Cursor<'a>,
}

/// A field's number and the type of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) id: i16,
    pub(super) kind: u8,
}

impl<'a> Compact<'a> {
    /// At the start of `bytes`, which are to be `what`.
    pub(super) fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Compact { cursor: Cursor::new(what, bytes) }
    }

    /// Where it is.
    pub(super) fn at(&self) -> usize {
        self.cursor.at()
    }

    /// The next field of a struct; `None` at its end. `last` is the number of the field before.
    pub(super) fn field(&mut self, last: &mut i16) -> Result<Option<Field>, Refusal> {
        let head = self.cursor.u8()?;
        if head == STOP {
            return Ok(None);
        }
        let id = match head >> 4 {
            0 => i16::try_from(self.signed()?).ok(),
            step => last.checked_add(step.into()),
        };
        let Some(id) = id else {
            return Err(Refusal::field("a field's number", "beyond 16 bits", "of 16 bits"));
        };
        *last = id;
        Ok(Some(Field { id, kind: head & 0x0f }))
    }

    /// A whole number of 16, 32 or 64 bits.
    pub(super) fn signed(&mut self) -> Result<i64, Refusal> {
        let number = self.varint()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// A string of bytes.
    pub(super) fn binary(&mut self) -> Result<&'a [u8], Refusal> {
        let length = self.varint()?;
        self.cursor.take(length)
    }

    /// How many elements a list says that it has, and their type. Each takes a byte at least.
    pub(super) fn list(&mut self) -> Result<(u64, u8), Refusal> {
        let head = self.cursor.u8()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            short => short.into(),
        };
        Ok((count, head & 0x0f))
    }

    /// Passes over a value of a field.
    pub(super) fn skip(&mut self, kind: u8) -> Result<(), Refusal> {
        self.skip_nested(kind, 0)
    }

    fn skip_nested(&mut self, kind: u8, depth: u8) -> Result<(), Refusal> {
        if depth == DEPTH_MAX {
            let expected = format!("at most {DEPTH_MAX}");
            return Err(Refusal::field("the depth of the metadata", "more", expected));
        }
        match kind {
            TRUE | FALSE => {}
            BYTE => drop(self.cursor.u8()?),
            I16 | I32 | I64 => drop(self.varint()?),
            DOUBLE => drop(self.cursor.take(8)?),
            BINARY => drop(self.binary()?),
            LIST | SET => {
                let (count, kind) = self.list()?;
                for _ in 0..count {
                    self.skip_element(kind, depth)?;
                }
            }
            MAP => self.skip_map(depth)?,
            STRUCT => {
                let mut last = 0;
                while let Some(field) = self.field(&mut last)? {
                    self.skip_nested(field.kind, depth + 1)?;
                }
            }
            other => return Err(Refusal::field("a type of the metadata", other, "from 1 to 12")),
        }
        Ok(())
    }

    fn skip_map(&mut self, depth: u8) -> Result<(), Refusal> {
        let count = self.varint()?;
        if count == 0 {
            return Ok(());
        }
        let kinds = self.cursor.u8()?;
        for _ in 0..count {
            self.skip_element(kinds >> 4, depth)?;
            self.skip_element(kinds & 0x0f, depth)?;
        }
        Ok(())
    }

    /// Truth takes no byte in a field and one in a list.
    fn skip_element(&mut self, kind: u8, depth: u8) -> Result<(), Refusal> {
        let kind = if kind == TRUE || kind == FALSE { BYTE } else { kind };
        self.skip_nested(kind, depth + 1)
    }

    fn varint(&mut self) -> Result<u64, Refusal> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.cursor.u8()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Refusal::field("a number of the metadata", "beyond 64 bits", "of 64 bits"))
    }
}

/// A number as the protocol writes it, behind its sign.
pub(super) fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
pub(super) const I32: u8 = 5;
pub(super) const I64: u8 = 6;
const DOUBLE: u8 = 7;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub(super) const STRUCT: u8 = 12;
const DEPTH_MAX: u8 = 32;
