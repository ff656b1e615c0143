//! Batch ids on the command line and in output: `all`, `7`, `1-100`, `3,5,9-12`.

use std::str::FromStr;

use bloomrf_engine::identity::BatchId;

/// Batches that a person names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BatchIds {
    /// Every batch that the node holds.
    All,
    /// These, in this order.
    Ids(Vec<BatchId>),
}

/// Most ids that one command line may name.
const IDS_MAX: u64 = 10_000_000;

impl FromStr for BatchIds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "all" {
            return Ok(BatchIds::All);
        }
        let wrong = |part: &str| {
            format!("{part:?}: expected all, an id such as 7, or a range such as 1-100")
        };
        let mut ids = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: BatchId = first.trim().parse().map_err(|_| wrong(part))?;
            let last: BatchId = last.trim().parse().map_err(|_| wrong(part))?;
            if first > last {
                return Err(wrong(part));
            }
            if last - first >= IDS_MAX - ids.len() as u64 {
                return Err(format!("at most {IDS_MAX} batches at once"));
            }
            ids.extend(first..=last);
        }
        Ok(BatchIds::Ids(ids))
    }
}

/// Writes ids compactly, runs as ranges; at most `parts_max` parts, then how many are left out.
pub(crate) fn compact(ids: &[BatchId], parts_max: usize) -> String {
    if ids.is_empty() {
        return "none".to_owned();
    }
    let mut text = String::new();
    let (mut at, mut parts) = (0, 0);
    while at < ids.len() {
        if parts == parts_max {
            text.push_str(&format!(", ... ({} more)", ids.len() - at));
            break;
        }
        let first = ids[at];
        let mut last = first;
        at += 1;
        while at < ids.len() && last.checked_add(1) == Some(ids[at]) {
            last = ids[at];
            at += 1;
        }
        let comma = if parts == 0 { "" } else { "," };
        text.push_str(&match last - first {
            0 => format!("{comma}{first}"),
            _ => format!("{comma}{first}-{last}"),
        });
        parts += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_in_the_order_given() {
        assert_eq!("all".parse(), Ok(BatchIds::All));
        assert_eq!("3, 1-2".parse(), Ok(BatchIds::Ids(vec![3, 1, 2])));
        for wrong in ["", "x", "2-1", "1-", "0-18446744073709551615", "1,,2"] {
            assert!(wrong.parse::<BatchIds>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_written_compactly_reads_back() {
        let ids = vec![1, 2, 3, 7, 9, 10, u64::MAX];
        let text = compact(&ids, 100);
        assert_eq!(text, "1-3,7,9-10,18446744073709551615");
        assert_eq!(text.parse(), Ok(BatchIds::Ids(ids.clone())));
        assert_eq!(compact(&ids, 2), "1-3,7, ... (3 more)");
        assert_eq!(compact(&[], 2), "none");
    }
}
