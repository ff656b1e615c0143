//! The chains of an RDB file: what Redis saved, without a Redis to ask.
//!
//! Other keys are passed over as far as their values have lengths; those of streams do not, and
//! such a file is refused: `DUMP` the keys then. The whole file is summed first.

use super::super::cursor::Cursor;
use super::super::{Limits, Refusal};
use super::dump::{CRC64, MODULE_ID, RDB_VERSION_MAX, TYPE_MODULE_2, parse_module};
use super::rdb::{length, plain_string, skip_module, skip_string};
use super::{Chain, rdb};

/// A chain, and where it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Number of the database.
    pub database: u64,
    /// Its key.
    pub key: Vec<u8>,
    /// The chain.
    pub chain: Chain,
}

/// What an RDB file holds for us.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// All chains, in the order of the file.
    pub chains: Vec<Stored>,
    /// Keys of other types.
    pub others: u64,
}

impl Snapshot {
    /// Reads a whole file. The limit holds for all chains together.
    ///
    /// # Errors
    /// Where the checksum is wrong, a chain cannot be right, or a value has no length to pass over.
    pub fn parse(file: &[u8], limits: Limits) -> Result<Self, Refusal> {
        check_sum(file)?;
        let mut cursor = Cursor::new("an RDB file", file);
        check_head(cursor.take(HEAD_BYTES)?)?;
        let (mut snapshot, mut database, mut left) = (Snapshot::default(), 0, limits);
        loop {
            match cursor.u8()? {
                AUX => {
                    skip_string(&mut cursor)?;
                    skip_string(&mut cursor)?;
                }
                FUNCTION => skip_string(&mut cursor)?,
                MODULE_AUX => {
                    length(&mut cursor)?;
                    skip_module(&mut cursor)?;
                }
                RESIZE => {
                    length(&mut cursor)?;
                    length(&mut cursor)?;
                }
                EXPIRES_MS => drop(cursor.take(8)?),
                EXPIRES_S => drop(cursor.take(4)?),
                IDLE => drop(length(&mut cursor)?),
                FREQUENCY => drop(cursor.take(1)?),
                DATABASE => database = length(&mut cursor)?,
                END => break,
                kind => {
                    let key = plain_string(&mut cursor, |_| Ok(()))?;
                    match value(&mut cursor, kind, left)? {
                        None => snapshot.others += 1,
                        Some(mut chain) => {
                            let taken = chain.links().map(|head| head.bytes).sum();
                            left.bytes_max = left.bytes_max.saturating_sub(taken);
                            chain.limits = limits;
                            snapshot.chains.push(Stored { database, key, chain });
                        }
                    }
                }
            }
        }
        cursor.take(SUM_BYTES)?;
        cursor.end()?;
        Ok(snapshot)
    }
}

/// A chain, or `None` where the value is something else.
fn value(cursor: &mut Cursor<'_>, kind: u8, limits: Limits) -> Result<Option<Chain>, Refusal> {
    match kind {
        TYPE_MODULE_2 if length(cursor)? == MODULE_ID => {
            return parse_module(cursor, limits).map(Some);
        }
        TYPE_MODULE_2 => skip_module(cursor)?,
        // A string, and what is packed into one.
        0 | 9..=13 | 16 | 17 | 20 => skip_string(cursor)?,
        // Lists, sets and hashes of strings.
        1 | 2 | 14 => skip_each(cursor, skip_string)?,
        4 => skip_each(cursor, |cursor| {
            skip_string(cursor)?;
            skip_string(cursor)
        })?,
        // Sorted sets, with their scores as numbers.
        5 => skip_each(cursor, |cursor| {
            skip_string(cursor)?;
            cursor.take(8).map(drop)
        })?,
        // Lists of packed and of plain nodes.
        18 => skip_each(cursor, |cursor| {
            length(cursor)?;
            skip_string(cursor)
        })?,
        other => {
            let expected = "one whose values have a length: DUMP the keys of the filters instead";
            return Err(Refusal::field("the type of a key", other, expected));
        }
    }
    Ok(None)
}

/// Passes over elements, each of which takes a byte at least.
fn skip_each(
    cursor: &mut Cursor<'_>,
    skip: impl Fn(&mut Cursor<'_>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    for _ in 0..rdb::length(cursor)? {
        skip(cursor)?;
    }
    Ok(())
}

fn check_head(head: &[u8]) -> Result<(), Refusal> {
    let (magic, version) = head.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(Refusal::field("the magic of an RDB file", magic.escape_ascii(), "REDIS"));
    }
    let digits = str::from_utf8(version).ok().and_then(|digits| digits.parse::<u16>().ok());
    match digits {
        Some(version) if (VERSION_MIN..=RDB_VERSION_MAX).contains(&version) => Ok(()),
        _ => {
            let expected = format!("from {VERSION_MIN} to {RDB_VERSION_MAX}, in four digits");
            Err(Refusal::field("the version of an RDB file", version.escape_ascii(), expected))
        }
    }
}

/// The last eight bytes sum up the others; zeros where Redis was told not to.
fn check_sum(file: &[u8]) -> Result<(), Refusal> {
    let need = HEAD_BYTES + 1 + SUM_BYTES;
    let have = file.len() as u64;
    let short = Refusal::Short { what: "an RDB file", need, have };
    let (summed, said) = file.split_last_chunk::<8>().ok_or(short)?;
    let (said, computed) = (u64::from_le_bytes(*said), CRC64.checksum(summed));
    if said != computed && said != 0 {
        return Err(Refusal::Checksum { said, computed });
    }
    Ok(())
}

const MAGIC: &[u8] = b"REDIS";
/// Magic and version.
const HEAD_BYTES: u64 = 9;
const SUM_BYTES: u64 = 8;
/// The first version with a checksum.
const VERSION_MIN: u16 = 5;
// What is not a key.
const FUNCTION: u8 = 0xf5;
const MODULE_AUX: u8 = 0xf7;
const IDLE: u8 = 0xf8;
const FREQUENCY: u8 = 0xf9;
const AUX: u8 = 0xfa;
const RESIZE: u8 = 0xfb;
const EXPIRES_MS: u8 = 0xfc;
const EXPIRES_S: u8 = 0xfd;
const DATABASE: u8 = 0xfe;
const END: u8 = 0xff;
