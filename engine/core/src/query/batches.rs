//! Batch ids as people write them: `all`, `7`, `1-100`, `3,5,9-12`.
//!
//! Cost: one id of memory per batch named, at most as many as the caller allows.

use crate::identity::BatchId;

/// Batches that a person names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batches {
    /// Every batch that the node holds.
    All,
    /// These, in this order.
    Ids(Vec<BatchId>),
}

/// Why a text names no batches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchesError {
    /// A part that is neither id nor range.
    #[error("{0:?}: expected all, an id such as 7, or a range such as 1-100")]
    Part(String),
    /// More than the caller allows.
    #[error("expected at most {0} batches")]
    TooMany(usize),
}

impl Batches {
    /// Reads `all`, or ids and ranges with commas between; at most `count_max` ids.
    pub fn parse(text: &str, count_max: usize) -> Result<Self, BatchesError> {
        if text.trim() == "all" {
            return Ok(Batches::All);
        }
        let mut ids = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (first, last) = range(part).ok_or_else(|| BatchesError::Part(part.to_owned()))?;
            // Before anything is reserved for it.
            if last - first >= (count_max - ids.len()) as u64 {
                return Err(BatchesError::TooMany(count_max));
            }
            ids.extend(first..=last);
        }
        Ok(Batches::Ids(ids))
    }
}

/// `7` or `1-100`, both ends included.
fn range(part: &str) -> Option<(BatchId, BatchId)> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<BatchId> {
        match Batches::parse(text, 1_024) {
            Ok(Batches::Ids(ids)) => ids,
            other => panic!("{text:?}: {other:?}"),
        }
    }

    #[test]
    fn batches_are_read_in_the_order_given() {
        assert_eq!(Batches::parse(" all ", 0), Ok(Batches::All));
        assert_eq!(ids("3,5"), [3, 5]);
        assert_eq!(ids(" 8 - 10 , 2"), [8, 9, 10, 2]);
        assert_eq!(ids("18446744073709551615"), [u64::MAX]);
        assert_eq!(ids("0-1023").len(), 1_024);
    }

    #[test]
    fn a_part_that_is_no_batch_is_named() {
        for (text, part) in
            [("", ""), ("x", "x"), ("1-", "1-"), ("-1", "-1"), ("7,5-3", "5-3"), ("1,,2", "")]
        {
            let error = BatchesError::Part(part.to_owned());
            assert_eq!(Batches::parse(text, 1_024), Err(error), "{text:?}");
        }
    }

    #[test]
    fn too_many_batches_are_refused_without_being_built() {
        for text in ["0-1024", "0-18446744073709551615", "0-1000,0-1000", "0-1023,7"] {
            assert_eq!(Batches::parse(text, 1_024), Err(BatchesError::TooMany(1_024)), "{text:?}");
        }
    }
}
