//! The metadata of a batch: its hash.

use super::FileRefusal;
use super::container::{CRITICAL, Items, write_item};
use crate::verify::{BatchHash, Digest, HashAlgorithm};

/// Appends the metadata of a batch.
pub(super) fn write(hash: &BatchHash, out: &mut Vec<u8>) {
    write_item(TAG_BATCH_HASH, &hash.digest, out);
}

/// Bytes that [`write`] appends.
pub(super) const BYTES: usize = 8 + size_of::<Digest>();

/// Reads metadata whose checksum is right.
pub(super) fn read(bytes: &[u8], algorithm: HashAlgorithm) -> Result<BatchHash, FileRefusal> {
    let mut digest = None;
    let mut last = None;
    for item in Items::of(bytes) {
        let (tag, value) = item?;
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

const TAG_BATCH_HASH: u16 = CRITICAL | 1;
