//! Reads filters out of a Parquet file: the last bytes, the metadata, and the filters that are
//! asked for; pages are never touched. Does I/O, on a reader that the caller opened.

use std::io::{self, Read, Seek, SeekFrom};

use super::super::{Limits, Refusal};
use super::sbbf::Head;
use super::{Footer, Place, Sbbf};

/// Why a file gave no filter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file could not be read.
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    /// What was read is not what it should be.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Reads where the filters of a file are.
///
/// # Errors
/// Where it is not a Parquet file, or its metadata is encrypted or more than the limit.
pub fn footer<R: Read + Seek>(file: &mut R, limits: Limits) -> Result<Footer, FileError> {
    let length = file.seek(SeekFrom::End(0))?;
    if length < HEAD_BYTES + TAIL_BYTES {
        let what = "a Parquet file";
        let need = HEAD_BYTES + TAIL_BYTES;
        return Err(Refusal::Short { what, need, have: length }.into());
    }
    let tail = bytes_at(file, length - TAIL_BYTES, TAIL_BYTES)?;
    let head = bytes_at(file, 0, HEAD_BYTES)?;
    for magic in [&head[..], &tail[4..]] {
        if magic != MAGIC {
            let expected = "PAR1 (PARE: encrypted, and not readable here)";
            let said = format!("{}", magic.escape_ascii());
            return Err(Refusal::field("the magic of a Parquet file", said, expected).into());
        }
    }
    let said = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let most = length - HEAD_BYTES - TAIL_BYTES;
    if said > most {
        let expected = format!("at most {most}, as the file is no longer");
        return Err(Refusal::field("the length of the metadata", said, expected).into());
    }
    limits.admit(said)?;
    Ok(Footer::parse(&bytes_at(file, length - TAIL_BYTES - said, said)?)?)
}

/// Reads the filter at a place.
///
/// # Errors
/// Where there is none, or it is more than the limit.
pub fn filter<R: Read + Seek>(
    file: &mut R,
    place: &Place,
    limits: Limits,
) -> Result<Sbbf, FileError> {
    let length = file.seek(SeekFrom::End(0))?;
    let Some(ahead) = length.checked_sub(place.offset) else {
        let expected = format!("below {length}, the length of the file");
        return Err(Refusal::field("the offset of a filter", place.offset, expected).into());
    };
    let start = bytes_at(file, place.offset, ahead.min(FILTER_HEAD_BYTES_MAX))?;
    let head = Head::parse(&start)?;
    let bytes = head.bytes + head.bitset_bytes;
    if bytes > ahead {
        let what = "a split-block filter";
        return Err(Refusal::Short { what, need: bytes, have: ahead }.into());
    }
    if let Some(said) = place.length.filter(|said| *said != bytes) {
        let expected = format!("{bytes}, as its header says");
        return Err(Refusal::field("the length of a filter", said, expected).into());
    }
    limits.admit(bytes)?;
    Ok(Sbbf::parse(&bytes_at(file, place.offset, bytes)?, limits)?)
}

/// `count` bytes that are there.
fn bytes_at<R: Read + Seek>(file: &mut R, offset: u64, count: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = vec![0; usize::try_from(count).map_err(io::Error::other)?];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

const MAGIC: &[u8] = b"PAR1";
const HEAD_BYTES: u64 = 4;
/// Length of the metadata, and the magic again.
const TAIL_BYTES: u64 = 8;
/// Headers take less by far; more fields may come.
const FILTER_HEAD_BYTES_MAX: u64 = 256;
