//! The payload of `DUMP`, of which `RESTORE` makes a key: the value as an RDB file holds it, the
//! version of that format, and a CRC64 over both.

use crc::{CRC_64_REDIS, Crc};

use super::super::cursor::Cursor;
use super::super::{Limits, Refusal};
use super::chain::Whole;
use super::rdb::{
    DOUBLE, END, LENGTH_32, LENGTH_64, PACKED, STRING, UNSIGNED, double, length, string, type_name,
    unsigned,
};
use super::{Chain, LinkHead, lzf};

impl Chain {
    /// Reads the payload of `DUMP` of a `BF.*` key.
    ///
    /// # Errors
    /// Where its checksum is wrong, it is of another type, or a field cannot be right.
    pub fn parse_dump(payload: &[u8], limits: Limits) -> Result<Self, Refusal> {
        let short = || Refusal::Short {
            what: "a dump",
            need: TRAILER_BYTES as u64 + 1,
            have: payload.len() as u64,
        };
        let (summed, said) = payload.split_last_chunk::<8>().ok_or_else(short)?;
        let (said, computed) = (u64::from_le_bytes(*said), CRC64.checksum(summed));
        if said != computed {
            return Err(Refusal::Checksum { said, computed });
        }
        let (value, version) = summed.split_last_chunk::<2>().ok_or_else(short)?;
        let version = u16::from_le_bytes(*version);
        if !(1..=RDB_VERSION_MAX).contains(&version) {
            let expected = format!("from 1 to {RDB_VERSION_MAX}");
            return Err(Refusal::field("the RDB version", version, expected));
        }
        let mut cursor = Cursor::new("a dump", value);
        let chain = parse_value(&mut cursor, limits)?;
        cursor.end()?;
        Ok(chain)
    }

    /// The payload that `DUMP` gives, for `RESTORE`. Only an empty filter's bits are packed.
    #[must_use]
    pub fn write_dump(&self) -> Vec<u8> {
        let mut dump = vec![TYPE_MODULE_2];
        put_length(&mut dump, MODULE_ID);
        put_unsigned(&mut dump, self.card());
        put_unsigned(&mut dump, self.links.len() as u64);
        put_unsigned(&mut dump, self.options().into());
        put_unsigned(&mut dump, self.growth.into());
        for link in &self.links {
            let head = &link.head;
            put_unsigned(&mut dump, head.entries);
            put_double(&mut dump, head.error);
            put_unsigned(&mut dump, head.hashes.into());
            put_double(&mut dump, head.bpe);
            put_unsigned(&mut dump, head.bits());
            put_unsigned(&mut dump, 0);
            put_string(&mut dump, link.bits.bytes());
            put_unsigned(&mut dump, head.size);
        }
        put_length(&mut dump, END);
        dump.extend(RDB_VERSION.to_le_bytes());
        let sum = CRC64.checksum(&dump);
        dump.extend(sum.to_le_bytes());
        dump
    }
}

fn parse_value(cursor: &mut Cursor<'_>, limits: Limits) -> Result<Chain, Refusal> {
    let kind = cursor.u8()?;
    if kind != TYPE_MODULE_2 {
        let expected = format!("{TYPE_MODULE_2}: a value of a module");
        return Err(Refusal::field("the type of a dump", kind, expected));
    }
    let id = length(cursor)?;
    if id != MODULE_ID {
        let expected = "MBbloom-- in its encoding 4";
        return Err(Refusal::field("the module's type", type_name(id), expected));
    }
    parse_module(cursor, limits)
}

/// The value of the module, behind its type.
pub(super) fn parse_module(cursor: &mut Cursor<'_>, limits: Limits) -> Result<Chain, Refusal> {
    let size = unsigned(cursor)?;
    let links = unsigned(cursor)?;
    let (options, growth) = (narrow(unsigned(cursor)?)?, narrow(unsigned(cursor)?)?);
    let whole = Whole { size, options, growth };
    let is_scaling = whole.check(links)?;
    let (mut heads, mut parts, mut taken) = (Vec::new(), Vec::new(), 0_u64);
    // Each link takes bytes of the payload, so no number of them outruns it.
    for _ in 0..links {
        let (head, part) = parse_link(cursor, limits, &mut taken)?;
        heads.push(head);
        parts.push(part);
    }
    let end = length(cursor)?;
    if end != END {
        return Err(Refusal::field("the mark of the end", end, END));
    }
    whole.check_links(&heads)?;
    Chain::assemble(limits, is_scaling, growth, heads.into_iter().zip(parts))
}

fn parse_link(
    cursor: &mut Cursor<'_>,
    limits: Limits,
    taken: &mut u64,
) -> Result<(LinkHead, Vec<u8>), Refusal> {
    let entries = unsigned(cursor)?;
    let error = double(cursor)?;
    let hashes = narrow(unsigned(cursor)?)?;
    let bpe = double(cursor)?;
    let bits = unsigned(cursor)?;
    let n2 = unsigned(cursor)?;
    if n2 != 0 {
        return Err(Refusal::field("a link's power of two", n2, "0: no such size is in use"));
    }
    let mut head = LinkHead { bytes: bits / 8, size: 0, error, bpe, hashes, entries };
    head.check(bits)?;
    *taken = taken.saturating_add(head.bytes);
    limits.admit(*taken)?;
    let part = string(cursor, head.bytes)?;
    head.size = unsigned(cursor)?;
    Ok((head, part))
}

fn narrow(number: u64) -> Result<u32, Refusal> {
    let wide = |_| Refusal::field("a number of a dump", number, "of 32 bits");
    u32::try_from(number).map_err(wide)
}

fn put_length(dump: &mut Vec<u8>, length: u64) {
    match length {
        0..64 => dump.push(length as u8),
        64..16_384 => dump.extend((0x4000 | length as u16).to_be_bytes()),
        16_384..=0xffff_ffff => {
            dump.push(LENGTH_32);
            dump.extend((length as u32).to_be_bytes());
        }
        _ => {
            dump.push(LENGTH_64);
            dump.extend(length.to_be_bytes());
        }
    }
}

fn put_unsigned(dump: &mut Vec<u8>, number: u64) {
    put_length(dump, UNSIGNED);
    put_length(dump, number);
}

fn put_double(dump: &mut Vec<u8>, number: f64) {
    put_length(dump, DOUBLE);
    dump.extend(number.to_le_bytes());
}

fn put_string(dump: &mut Vec<u8>, bytes: &[u8]) {
    put_length(dump, STRING);
    if let Some(packed) = lzf::pack_run(bytes) {
        dump.push(PACKED);
        put_length(dump, packed.len() as u64);
        put_length(dump, bytes.len() as u64);
        dump.extend(packed);
        return;
    }
    put_length(dump, bytes.len() as u64);
    dump.extend(bytes);
}

pub(super) const CRC64: Crc<u64> = Crc::<u64>::new(&CRC_64_REDIS);
/// Version and checksum.
const TRAILER_BYTES: usize = 10;
/// The version that Redis 7.0 writes, and the newest one that is known.
const RDB_VERSION: u16 = 10;
pub(super) const RDB_VERSION_MAX: u16 = 12;
pub(super) const TYPE_MODULE_2: u8 = 7;
/// `MBbloom--` of encoding 4.
pub(super) const MODULE_ID: u64 = 0x3016_e5a2_89be_f804;
