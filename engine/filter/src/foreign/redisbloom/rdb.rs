//! How RDB files write numbers, strings and the values of modules.

use super::super::Refusal;
use super::super::cursor::Cursor;
use super::lzf;

/// A number in the length encoding of RDB files.
pub(super) fn length(cursor: &mut Cursor<'_>) -> Result<u64, Refusal> {
    let first = cursor.u8()?;
    match (first >> 6, first) {
        (0, _) => Ok(first.into()),
        (1, _) => Ok(u64::from(first & 0x3f) << 8 | u64::from(cursor.u8()?)),
        (_, LENGTH_32) => Ok(cursor.u32_be()?.into()),
        (_, LENGTH_64) => cursor.u64_be(),
        _ => Err(Refusal::field("the form of a length", format!("{first:#04x}"), "a length")),
    }
}

pub(super) fn unsigned(cursor: &mut Cursor<'_>) -> Result<u64, Refusal> {
    opcode(cursor, UNSIGNED)?;
    length(cursor)
}

pub(super) fn double(cursor: &mut Cursor<'_>) -> Result<f64, Refusal> {
    opcode(cursor, DOUBLE)?;
    cursor.f64_le()
}

/// The string of a value, of exactly `bytes` bytes.
pub(super) fn string(cursor: &mut Cursor<'_>, bytes: u64) -> Result<Vec<u8>, Refusal> {
    opcode(cursor, STRING)?;
    let expect = |said: u64| match said == bytes {
        true => Ok(()),
        false => Err(Refusal::field("the length of a link's bits", said, bytes)),
    };
    plain_string(cursor, expect)
}

/// A string in any form that Redis writes, if `expect` takes its length.
pub(super) fn plain_string(
    cursor: &mut Cursor<'_>,
    expect: impl Fn(u64) -> Result<(), Refusal>,
) -> Result<Vec<u8>, Refusal> {
    let form = cursor.rest().first().copied().unwrap_or(0);
    let digits = match form {
        // Digits of a number, where the bytes happen to spell one.
        INTEGER_8 => i32::from(cursor.take(2)?[1] as i8),
        INTEGER_16 => {
            let bytes = cursor.take(3)?;
            i16::from_le_bytes([bytes[1], bytes[2]]).into()
        }
        INTEGER_32 => {
            cursor.take(1)?;
            cursor.u32_le()? as i32
        }
        PACKED => {
            cursor.take(1)?;
            let (packed, unpacked) = (length(cursor)?, length(cursor)?);
            expect(unpacked)?;
            let packed = cursor.take(packed)?;
            return lzf::unpack(packed, usize::try_from(unpacked).unwrap_or(usize::MAX));
        }
        _ => {
            let said = length(cursor)?;
            expect(said)?;
            return Ok(cursor.take(said)?.to_vec());
        }
    };
    let digits = digits.to_string().into_bytes();
    expect(digits.len() as u64)?;
    Ok(digits)
}

/// Passes over a string in any form, without unpacking it.
pub(super) fn skip_string(cursor: &mut Cursor<'_>) -> Result<(), Refusal> {
    let bytes = match cursor.rest().first().copied().unwrap_or(0) {
        INTEGER_8 => 2,
        INTEGER_16 => 3,
        INTEGER_32 => 5,
        PACKED => {
            cursor.take(1)?;
            let packed = length(cursor)?;
            length(cursor)?;
            packed
        }
        _ => length(cursor)?,
    };
    cursor.take(bytes).map(drop)
}

/// Passes over the value of a module, up to the mark of its end.
pub(super) fn skip_module(cursor: &mut Cursor<'_>) -> Result<(), Refusal> {
    loop {
        match length(cursor)? {
            END => return Ok(()),
            SIGNED | UNSIGNED => drop(length(cursor)?),
            FLOAT => drop(cursor.take(4)?),
            DOUBLE => drop(cursor.take(8)?),
            STRING => skip_string(cursor)?,
            other => return Err(Refusal::field("the mark of a value", other, "from 0 to 5")),
        }
    }
}

fn opcode(cursor: &mut Cursor<'_>, expected: u64) -> Result<(), Refusal> {
    match length(cursor)? {
        said if said == expected => Ok(()),
        said => Err(Refusal::field("the mark of a value", said, expected)),
    }
}

/// Nine characters and ten bits of version.
pub(super) fn type_name(id: u64) -> String {
    let name = (0..9).map(|i| char::from(ALPHABET[(id >> (58 - 6 * i)) as usize & 63]));
    format!("{} in its encoding {}", name.collect::<String>(), id & 0x3ff)
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
// Marks of what follows, in the values of modules.
pub(super) const END: u64 = 0;
const SIGNED: u64 = 1;
pub(super) const UNSIGNED: u64 = 2;
const FLOAT: u64 = 3;
pub(super) const DOUBLE: u64 = 4;
pub(super) const STRING: u64 = 5;
// First bytes of lengths and strings.
pub(super) const LENGTH_32: u8 = 0x80;
pub(super) const LENGTH_64: u8 = 0x81;
const INTEGER_8: u8 = 0xc0;
const INTEGER_16: u8 = 0xc1;
const INTEGER_32: u8 = 0xc2;
pub(super) const PACKED: u8 = 0xc3;
