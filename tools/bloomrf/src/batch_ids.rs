//! Batch ids on the command line and in output: `all`, `7`, `1-100`, `3,5,9-12`.

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::query::{Batches, BatchesError};

/// Most batches that one command line may name.
const BATCHES_MAX: usize = 10_000_000;

/// Reads an argument.
pub(crate) fn parse(text: &str) -> Result<Batches, BatchesError> {
    Batches::parse(text, BATCHES_MAX)
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
    fn what_is_written_compactly_reads_back() {
        let ids = vec![1, 2, 3, 7, 9, 10, u64::MAX];
        let text = compact(&ids, 100);
        assert_eq!(text, "1-3,7,9-10,18446744073709551615");
        assert_eq!(parse(&text), Ok(Batches::Ids(ids.clone())));
        assert_eq!(compact(&ids, 2), "1-3,7, ... (3 more)");
        assert_eq!(compact(&[], 2), "none");
    }
}
