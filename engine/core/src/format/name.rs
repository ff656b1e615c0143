//! Names of stored files: which batch, and which writing of it.

use std::fmt;
use std::str::FromStr;

use crate::identity::BatchId;

/// The name `batch-<16 hex digits>-<16 hex digits>.blmf`: batch and generation. The header of the
/// file must say the same.
///
/// ```
/// use bloomrf_engine::format::FileName;
///
/// let name = FileName { batch: 42, generation: 1 };
/// assert_eq!(name.to_string(), "batch-000000000000002a-0000000000000001.blmf");
/// assert_eq!(name.to_string().parse(), Ok(name));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileName {
    /// Batch.
    pub batch: BatchId,
    /// Generation.
    pub generation: u64,
}

/// A name that no stored file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a name like batch-000000000000002a-0000000000000001.blmf (batch and generation, \
     16 lower-case hex digits each)"
)]
pub struct FileNameError;

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "batch-{:016x}-{:016x}.blmf", self.batch, self.generation)
    }
}

impl FromStr for FileName {
    type Err = FileNameError;

    /// Strict: one spelling for each name.
    fn from_str(text: &str) -> Result<Self, FileNameError> {
        let digits = text.strip_prefix("batch-").and_then(|rest| rest.strip_suffix(".blmf"));
        let (batch, generation) = digits.and_then(|d| d.split_once('-')).ok_or(FileNameError)?;
        let number = |digits: &str| {
            let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
            let is_number = digits.len() == 16 && digits.bytes().all(is_hex);
            let number = if is_number { u64::from_str_radix(digits, 16).ok() } else { None };
            number.ok_or(FileNameError)
        };
        Ok(FileName { batch: number(batch)?, generation: number(generation)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_as_shown_and_has_one_spelling() {
        for (batch, generation) in [(0, 0), (42, 1), (u64::MAX, u64::MAX), (1 << 63, 0xabc)] {
            let name = FileName { batch, generation };
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        for wrong in [
            "",
            "batch-.blmf",
            "batch--.blmf",
            "batch-000000000000002a.blmf",
            "batch-2a-1.blmf",
            "batch-000000000000002A-0000000000000001.blmf",
            "batch-+00000000000002a-0000000000000001.blmf",
            "batch-000000000000002a-0000000000000001-.blmf",
            "batch-000000000000002a-0000000000000001.blmf~",
            "tmp-batch-000000000000002a-0000000000000001.blmf",
            "batch-000000000000002a-00000000000000\u{e9}.blmf",
        ] {
            assert_eq!(wrong.parse::<FileName>(), Err(FileNameError), "{wrong}");
        }
    }
}
