//! The part of CBOR (RFC 8949) that metadata use: maps, texts, byte strings and unsigned numbers,
//! in the deterministic encoding of its section 4.2.1.
//!
//! The reader takes what a caller asks for and nothing else, so that nothing recurses and no
//! length is believed; whether heads are short and keys ascend shows when what was read is
//! encoded again.

use std::collections::BTreeMap;

/// Not the CBOR that was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotThat;

/// Reads forward.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// The number of pairs of a map. They follow.
    pub(super) fn map(&mut self) -> Result<u64, NotThat> {
        self.head(MAP)
    }

    pub(super) fn number(&mut self) -> Result<u64, NotThat> {
        self.head(NUMBER)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, NotThat> {
        let bytes = self.head(TEXT)?;
        std::str::from_utf8(self.take(bytes)?).map_err(|_| NotThat)
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], NotThat> {
        let bytes = self.head(BYTES)?;
        self.take(bytes)
    }

    /// A key of a map that must be this one.
    pub(super) fn key(&mut self, expected: &str) -> Result<(), NotThat> {
        if self.text()? == expected { Ok(()) } else { Err(NotThat) }
    }

    pub(super) fn end(&self) -> Result<(), NotThat> {
        if self.rest.is_empty() { Ok(()) } else { Err(NotThat) }
    }

    fn head(&mut self, major: u8) -> Result<u64, NotThat> {
        let first = *self.take(1)?.first().ok_or(NotThat)?;
        if first >> 5 != major {
            return Err(NotThat);
        }
        let wide = match first & 31 {
            short @ 0..24 => return Ok(short.into()),
            length @ 24..28 => 1 << (length - 24),
            _ => return Err(NotThat),
        };
        Ok(self.take(wide)?.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)))
    }

    fn take(&mut self, bytes: u64) -> Result<&'a [u8], NotThat> {
        let bytes = usize::try_from(bytes).map_err(|_| NotThat)?;
        let (head, rest) = self.rest.split_at_checked(bytes).ok_or(NotThat)?;
        self.rest = rest;
        Ok(head)
    }
}

pub(super) fn put_map(pairs: usize, out: &mut Vec<u8>) {
    put_head(MAP, pairs as u64, out);
}

pub(super) fn put_number(number: u64, out: &mut Vec<u8>) {
    put_head(NUMBER, number, out);
}

pub(super) fn put_text(text: &str, out: &mut Vec<u8>) {
    put_head(TEXT, text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_head(BYTES, bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// The pairs of a map in the order in which they are written: shorter keys first, then by bytes.
pub(super) fn in_order<T>(map: &BTreeMap<String, T>) -> Vec<(&String, &T)> {
    let mut pairs: Vec<_> = map.iter().collect();
    pairs.sort_by_key(|(key, _)| (key.len(), *key));
    pairs
}

/// A head, as short as it can be.
fn put_head(major: u8, number: u64, out: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    let (code, wide) = match number {
        0..24 => {
            out.push(major << 5 | number as u8);
            return;
        }
        24..0x100 => (24, 1),
        0x100..0x1_0000 => (25, 2),
        0x1_0000..0x1_0000_0000 => (26, 4),
        _ => (27, 8),
    };
    out.push(major << 5 | code);
    out.extend_from_slice(&bytes[8 - wide..]);
}

const NUMBER: u8 = 0;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const MAP: u8 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_the_rfc_shows_them() {
        // RFC 8949, appendix A.
        let cases: [(u64, &[u8]); 9] = [
            (0, &[0x00]),
            (23, &[0x17]),
            (24, &[0x18, 0x18]),
            (100, &[0x18, 0x64]),
            (1_000, &[0x19, 0x03, 0xe8]),
            (1_000_000, &[0x1a, 0x00, 0x0f, 0x42, 0x40]),
            (1_000_000_000_000, &[0x1b, 0x00, 0x00, 0x00, 0xe8, 0xd4, 0xa5, 0x10, 0x00]),
            (u64::from(u32::MAX), &[0x1a, 0xff, 0xff, 0xff, 0xff]),
            (u64::MAX, &[0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ];
        for (number, bytes) in cases {
            let mut out = Vec::new();
            put_number(number, &mut out);
            assert_eq!(out, bytes);
            let mut r = Reader::new(bytes);
            assert_eq!((r.number(), r.end()), (Ok(number), Ok(())));
            for cut in 0..bytes.len() {
                assert_eq!(Reader::new(&bytes[..cut]).number(), Err(NotThat));
            }
        }
        let mut out = Vec::new();
        put_text("\u{fc}", &mut out);
        put_bytes(&[1, 2, 3, 4], &mut out);
        assert_eq!(out, [0x62, 0xc3, 0xbc, 0x44, 1, 2, 3, 4]);
    }

    #[test]
    fn what_is_not_asked_for_or_not_there_is_refused() {
        assert_eq!(Reader::new(&[0x62, 0xc3]).text(), Err(NotThat));
        assert_eq!(Reader::new(&[0x61, 0xff]).text(), Err(NotThat), "no UTF-8");
        assert_eq!(Reader::new(&[0x41, 0x61]).text(), Err(NotThat), "bytes");
        assert_eq!(Reader::new(&[0xbf, 0xff]).map(), Err(NotThat), "no definite length");
        assert_eq!(
            Reader::new(&[0x7b, 255, 255, 255, 255, 255, 255, 255, 255]).text(),
            Err(NotThat)
        );
        assert_eq!(Reader::new(&[]).map(), Err(NotThat));
    }
}
