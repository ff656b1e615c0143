//! A stored batch as a file: a small self-describing header, then the records as they came.
//!
//! Little-endian. Both parts carry a CRC32C. Written to a temporary file, synced, renamed, and
//! the folder synced: after a crash a batch is whole or absent.
//!
//! | offset | bytes | field |
//! | --- | --- | --- |
//! | 0 | 4 | magic `BRBF` |
//! | 4 | 2 | version, 1 |
//! | 6 | 1 | chain hash: 1 xxh3, 2 blake3, 3 sha-256 |
//! | 7 | 1 | lanes |
//! | 8 | 16 | cluster |
//! | 24 | 8 | schema fingerprint |
//! | 32 | 8 | batch |
//! | 40 | 8 | records |
//! | 48 | 4 | bytes of a record |
//! | 52 | 4 | CRC32C of the records |
//! | 56 | 32 | batch hash |
//! | 88 | 4 | CRC32C of bytes 0..88 |
//! | 92 | records x bytes | records, in (lane, sequence) order |

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bloomrf_engine::identity::{BatchId, ClusterId, Fingerprint};
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};

/// Bytes before the records.
pub const HEADER_BYTES: usize = 92;
const MAGIC: [u8; 4] = *b"BRBF";
const VERSION: u16 = 1;
const SUFFIX: &str = ".batch";

/// A batch read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBatch {
    /// Cluster.
    pub cluster: ClusterId,
    /// Schema of the records.
    pub fingerprint: Fingerprint,
    /// Batch.
    pub batch: BatchId,
    /// Lanes it came over.
    pub lanes: u8,
    /// Batch hash, computed by the storage node.
    pub hash: BatchHash,
    /// Bytes of a record.
    pub record_bytes: usize,
    /// Records, one after the other.
    pub records: Vec<u8>,
}

impl StoredBatch {
    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len() / self.record_bytes
    }

    /// True where it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The records in stored order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> + '_ {
        self.records.chunks_exact(self.record_bytes)
    }
}

/// Why a batch file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file system's reason.
    #[error("{path}: {source}")]
    Io {
        /// File or folder.
        path: String,
        /// Reason.
        source: io::Error,
    },
    /// Not a whole, unchanged batch file.
    #[error("{path}: not a usable batch file: {what}")]
    Damaged {
        /// File.
        path: String,
        /// What was wrong.
        what: &'static str,
    },
}

/// Where batch `batch` lies in `folder`.
#[must_use]
pub fn batch_path(folder: &Path, batch: BatchId) -> PathBuf {
    folder.join(format!("{batch:020}{SUFFIX}"))
}

/// Writes a batch so that after a crash it is whole or absent.
pub fn write_batch(folder: &Path, stored: &StoredBatch) -> Result<(), FileError> {
    let path = batch_path(folder, stored.batch);
    let temporary = path.with_extension("tmp");
    let write = || -> io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(&encode_header(stored))?;
        file.write_all(&stored.records)?;
        file.sync_all()?;
        fs::rename(&temporary, &path)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(|source| FileError::Io { path: path.display().to_string(), source })
}

/// Reads and checks a batch.
pub fn read_batch(folder: &Path, batch: BatchId) -> Result<StoredBatch, FileError> {
    let path = batch_path(folder, batch);
    let bytes = fs::read(&path)
        .map_err(|source| FileError::Io { path: path.display().to_string(), source })?;
    let stored = decode(bytes)
        .map_err(|what| FileError::Damaged { path: path.display().to_string(), what })?;
    if stored.batch != batch {
        let path = path.display().to_string();
        return Err(FileError::Damaged { path, what: "name and header name different batches" });
    }
    Ok(stored)
}

/// Ids of all batches in `folder`, ascending.
pub fn list_batches(folder: &Path) -> Result<Vec<BatchId>, FileError> {
    let io = |source| FileError::Io { path: folder.display().to_string(), source };
    let mut batches = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        let id: Option<BatchId> =
            name.to_str().and_then(|n| n.strip_suffix(SUFFIX)).and_then(|n| n.parse().ok());
        batches.extend(id);
    }
    batches.sort_unstable();
    Ok(batches)
}

fn encode_header(stored: &StoredBatch) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[0..4].copy_from_slice(&MAGIC);
    header[4..6].copy_from_slice(&VERSION.to_le_bytes());
    header[6] = stored.hash.algorithm.code();
    header[7] = stored.lanes;
    header[8..24].copy_from_slice(&stored.cluster.0.to_le_bytes());
    header[24..32].copy_from_slice(&stored.fingerprint.0.to_le_bytes());
    header[32..40].copy_from_slice(&stored.batch.to_le_bytes());
    header[40..48].copy_from_slice(&(stored.len() as u64).to_le_bytes());
    header[48..52].copy_from_slice(&(stored.record_bytes as u32).to_le_bytes());
    header[52..56].copy_from_slice(&crc32c::crc32c(&stored.records).to_le_bytes());
    header[56..88].copy_from_slice(&stored.hash.digest);
    let checksum = crc32c::crc32c(&header[..88]);
    header[88..92].copy_from_slice(&checksum.to_le_bytes());
    header
}

fn decode(mut bytes: Vec<u8>) -> Result<StoredBatch, &'static str> {
    let header: [u8; HEADER_BYTES] =
        bytes.get(..HEADER_BYTES).and_then(|h| h.try_into().ok()).ok_or("shorter than a header")?;
    if header[0..4] != MAGIC {
        return Err("another magic");
    }
    if header[4..6] != VERSION.to_le_bytes() {
        return Err("a version that this build does not read");
    }
    if u32_at(&header, 88) != crc32c::crc32c(&header[..88]) {
        return Err("CRC32C of the header does not match");
    }
    let algorithm = HashAlgorithm::from_code(header[6]).ok_or("unknown chain hash")?;
    let record_bytes = u32_at(&header, 48) as usize;
    let records = u64_at(&header, 40);
    bytes.drain(..HEADER_BYTES);
    if record_bytes == 0 || records.checked_mul(record_bytes as u64) != Some(bytes.len() as u64) {
        return Err("length does not match the record count");
    }
    if u32_at(&header, 52) != crc32c::crc32c(&bytes) {
        return Err("CRC32C of the records does not match");
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(&header[56..88]);
    let mut cluster = [0; 16];
    cluster.copy_from_slice(&header[8..24]);
    Ok(StoredBatch {
        cluster: ClusterId(u128::from_le_bytes(cluster)),
        fingerprint: Fingerprint(u64_at(&header, 24)),
        batch: u64_at(&header, 32),
        lanes: header[7],
        hash: BatchHash { algorithm, digest },
        record_bytes,
        records: bytes,
    })
}

fn u32_at(header: &[u8; HEADER_BYTES], at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&header[at..at + 4]);
    u32::from_le_bytes(bytes)
}

fn u64_at(header: &[u8; HEADER_BYTES], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&header[at..at + 8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> StoredBatch {
        StoredBatch {
            cluster: ClusterId(0x1234),
            fingerprint: Fingerprint(7),
            batch: 42,
            lanes: 2,
            hash: BatchHash { algorithm: HashAlgorithm::Blake3, digest: [9; 32] },
            record_bytes: 5,
            records: (0..50).collect(),
        }
    }

    #[test]
    fn a_written_batch_reads_back_equal() {
        let folder = tempfile::tempdir().unwrap();
        write_batch(folder.path(), &example()).unwrap();
        assert_eq!(read_batch(folder.path(), 42).unwrap(), example());
        assert_eq!(list_batches(folder.path()).unwrap(), vec![42]);
        assert!(matches!(read_batch(folder.path(), 43), Err(FileError::Io { .. })));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let mut bytes = encode_header(&example()).to_vec();
        bytes.extend_from_slice(&example().records);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(damaged).is_err(), "bit {bit}");
        }
        for cut in 0..bytes.len() {
            assert!(decode(bytes[..cut].to_vec()).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn a_file_under_another_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        write_batch(folder.path(), &example()).unwrap();
        fs::rename(batch_path(folder.path(), 42), batch_path(folder.path(), 43)).unwrap();
        assert!(matches!(read_batch(folder.path(), 43), Err(FileError::Damaged { .. })));
    }
}
