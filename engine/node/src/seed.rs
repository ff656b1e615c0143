//! The hash seed: one per data folder and schema epoch, random at first start, stored.
//!
//! A small text file, named by the schema's fingerprint and closed by its own CRC32C. A damaged
//! one only costs a new seed: stored filters carry the seed that they were made with.

use std::io;

use bloomrf_engine::env::{Disk, Rng};
use bloomrf_engine::identity::Fingerprint;
use bloomrf_engine::persist::publish;

/// The seed of this folder and schema: read, or drawn and stored. A folder that cannot be read or
/// written costs the seed of an earlier time, and no filter: files carry theirs.
pub(crate) fn load_or_draw(disk: &dyn Disk, rng: &mut dyn Rng, fingerprint: Fingerprint) -> u64 {
    let name = format!("seed-{fingerprint}.txt");
    match disk.read(&name, SEED_FILE_BYTES_MAX).map(|bytes| decode(&bytes, fingerprint)) {
        Ok(Some(seed)) => return seed,
        Ok(None) => tracing::warn!(file = name, "hash seed file is damaged: drawing a new seed"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => {
            tracing::warn!(file = name, %error, "hash seed unreadable: drawing a new one")
        }
    }
    let seed = rng.next_u64();
    if let Err(error) = publish(disk, &name, encode(seed, fingerprint).as_bytes()) {
        tracing::warn!(file = name, %error, "hash seed not stored: the next start draws another");
    }
    seed
}

/// Longest seed file looked at, bytes.
const SEED_FILE_BYTES_MAX: u64 = 4_096;

fn encode(seed: u64, fingerprint: Fingerprint) -> String {
    let body = format!("bloomrf seed 1\nschema {fingerprint}\nseed {seed:016x}\n");
    let sum = crc32c::crc32c(body.as_bytes());
    format!("{body}crc32c {sum:08x}\n")
}

fn decode(bytes: &[u8], fingerprint: Fingerprint) -> Option<u64> {
    let text = std::str::from_utf8(bytes).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("seed "))?;
    let seed = u64::from_str_radix(line, 16).ok()?;
    // One way to write it: whatever differs by a byte is damaged.
    (encode(seed, fingerprint) == text).then_some(seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::FolderDisk;
    use crate::env::SystemRng;

    #[test]
    fn seed_survives_a_restart_and_differs_by_schema() {
        let folder = tempfile::tempdir().unwrap();
        let disk = FolderDisk::open(folder.path()).unwrap();
        let mut rng = SystemRng::open().unwrap();
        let first = load_or_draw(&disk, &mut rng, Fingerprint(1));
        assert_eq!(load_or_draw(&disk, &mut rng, Fingerprint(1)), first);
        assert_ne!(load_or_draw(&disk, &mut rng, Fingerprint(2)), first);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let good = encode(0x0123_4567_89ab_cdef, Fingerprint(7)).into_bytes();
        assert_eq!(decode(&good, Fingerprint(7)), Some(0x0123_4567_89ab_cdef));
        assert_eq!(decode(&good, Fingerprint(8)), None);
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&bad, Fingerprint(7)), None, "bit {bit}");
        }
        for length in 0..good.len() {
            assert_eq!(decode(&good[..length], Fingerprint(7)), None, "length {length}");
        }
    }

    #[test]
    fn a_damaged_file_costs_a_new_seed_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let disk = FolderDisk::open(folder.path()).unwrap();
        let mut rng = SystemRng::open().unwrap();
        let name = format!("seed-{}.txt", Fingerprint(3));
        publish(&disk, &name, b"rubbish").unwrap();
        let seed = load_or_draw(&disk, &mut rng, Fingerprint(3));
        assert_eq!(
            decode(&disk.read(&name, SEED_FILE_BYTES_MAX).unwrap(), Fingerprint(3)),
            Some(seed)
        );
    }
}
