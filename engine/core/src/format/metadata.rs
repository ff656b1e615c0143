//! Metadata: tag, length, value. What has no place in the header, and what later versions add.
//!
//! Bit 15 of a tag: critical, a reader that does not know it refuses the file. Others are skipped.

use super::{FileRefusal, Part};
use crate::verify::{BatchHash, Digest, HashAlgorithm};
use crate::wire::cursor::{Reader, Short, Writer};

/// Appends the metadata of a batch.
pub(super) fn write(hash: &BatchHash, out: &mut Vec<u8>) {
    let mut w = Writer::new(out);
    w.u16(TAG_BATCH_HASH);
    w.u16(0);
    w.u32(hash.digest.len() as u32);
    w.bytes(&hash.digest);
}

/// Bytes that [`write`] appends.
pub(super) const BYTES: usize = 8 + size_of::<Digest>();

/// Reads metadata whose checksum is right.
pub(super) fn read(bytes: &[u8], algorithm: HashAlgorithm) -> Result<BatchHash, FileRefusal> {
    let mut digest = None;
    let mut last = None;
    let mut r = Reader::new(bytes);
    while !r.is_empty() {
        let (tag, value) = item(&mut r).map_err(|Short| LAYOUT)??;
        // Ascending, so that nothing is said twice.
        if last.is_some_and(|last| last >= tag) {
            return Err(FileRefusal::Metadata { tag });
        }
        last = Some(tag);
        match tag {
            TAG_BATCH_HASH => {
                let value = Digest::try_from(value).ok();
                let is_whole = |digest: &Digest| {
                    let rest = digest.get(algorithm.digest_bytes()..).unwrap_or_default();
                    rest.iter().all(|&byte| byte == 0)
                };
                let whole = value.filter(is_whole).ok_or(FileRefusal::Metadata { tag })?;
                digest = Some(whole);
            }
            _ if tag & CRITICAL != 0 => return Err(FileRefusal::Metadata { tag }),
            _ => {}
        }
    }
    let digest = digest.ok_or(FileRefusal::Metadata { tag: TAG_BATCH_HASH })?;
    Ok(BatchHash { algorithm, digest })
}

/// The next item; its padding is zero.
fn item<'a>(r: &mut Reader<'a>) -> Result<Result<(u16, &'a [u8]), FileRefusal>, Short> {
    let (tag, zero, bytes) = (r.u16()?, r.u16()?, r.u32()? as usize);
    let value = r.take(bytes)?;
    let padding = r.take(bytes.next_multiple_of(8) - bytes)?;
    let is_clean = zero == 0 && padding.iter().all(|&byte| byte == 0);
    Ok(if is_clean {
        Ok((tag, value))
    } else {
        Err(FileRefusal::Reserved { part: Part::Metadata })
    })
}

const LAYOUT: FileRefusal = FileRefusal::Layout { part: Part::Metadata };
const CRITICAL: u16 = 1 << 15;
const TAG_BATCH_HASH: u16 = CRITICAL | 1;
