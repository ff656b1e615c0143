//! Bytes to a filter, in the order that `docs/FORMAT.md` prescribes. Nothing is believed: see the
//! head of [`super`].

use bloomrf_engine::format::container::Parts;

use super::entry::Counts;
use super::info::Tables;
use super::{Compound, FILTER_FILE_BYTES_MAX, FileRefusal, Info, StoredFilter, payload};
use crate::{AnyFilter, Encoding, HashRule};

/// How a reader is going to ask. What it leaves out, the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The hash that it asks with.
    pub rule: Option<HashRule>,
    /// What the bytes of its items are. An import that does not say is no match for any.
    pub encoding: Option<Encoding>,
    /// Longest file that it takes.
    pub bytes_max: u64,
}

impl Default for Asked {
    fn default() -> Self {
        Asked { rule: None, encoding: None, bytes_max: FILTER_FILE_BYTES_MAX }
    }
}

impl Asked {
    pub(super) fn check_bytes(&self, have: u64) -> Result<(), FileRefusal> {
        let most = self.bytes_max;
        if have > most { Err(FileRefusal::Limit { most, have }) } else { Ok(()) }
    }

    /// Refuses a file whose answers to this reader would be wrong.
    ///
    /// # Errors
    /// Where hash or encoding are others than asked for.
    pub fn check(&self, info: &Info) -> Result<(), FileRefusal> {
        if let Some(asked) = self.rule.filter(|asked| *asked != info.rule) {
            return Err(FileRefusal::Rule { file: info.rule, asked });
        }
        if let Some(asked) = self.encoding.filter(|asked| *asked != info.encoding) {
            return Err(FileRefusal::Encoding { file: info.encoding, asked });
        }
        Ok(())
    }
}

/// Reads a file.
///
/// # Errors
/// Where it is no whole filter file, or not what was asked for.
pub fn decode(bytes: &[u8], asked: &Asked) -> Result<StoredFilter, FileRefusal> {
    let have = bytes.len() as u64;
    asked.check_bytes(have)?;
    let Tables { outline, entries, info } = Tables::read(bytes, have)?;
    asked.check(&info)?;
    let parts = Parts::check(bytes, &outline)?;
    parts.check_gap()?;
    let mut filters = Vec::with_capacity(entries.len());
    for (section, (entry, shape)) in entries.iter().enumerate() {
        let filter = parts
            .payload(entry.place)
            .and_then(|bytes| payload::read(*shape, &entry.counts, bytes))
            .map_err(|reason| FileRefusal::Payload { section, reason })?;
        filters.push((filter, entry.counts));
    }
    let (filter, target_fpr) = join(info.compound, filters)?;
    Ok(StoredFilter {
        filter,
        rule: info.rule,
        encoding: info.encoding,
        target_fpr,
        stamp: info.stamp,
        source: info.source,
        labels: info.labels,
    })
}

/// The filter that sections make, and the rate that it was made for.
fn join(
    compound: Option<Compound>,
    mut filters: Vec<(AnyFilter, Counts)>,
) -> Result<(AnyFilter, Option<f64>), FileRefusal> {
    match compound {
        Some(compound) => compound.join(filters),
        None => match filters.pop() {
            Some((filter, counts)) => Ok((filter, counts.target_fpr)),
            None => Err(FileRefusal::Sections { found: 0, most: 1 }),
        },
    }
}
