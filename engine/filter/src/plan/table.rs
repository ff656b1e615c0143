//! What a hash table of the items takes, to compare with.

use super::Keys;

/// The formula, for people.
#[must_use]
pub fn formula(keys: &Keys) -> String {
    match keys.item_bytes {
        None => {
            "buckets x (8 + 1) bytes + 16; buckets: the power of 2 from items x 8 / 7 on".into()
        }
        Some(length) => format!(
            "buckets x (24 + 1) bytes + 16 + items x {} bytes of text; buckets: the power of 2 \
             from items x 8 / 7 on",
            allocated(length)
        ),
    }
}

/// Bits of a `HashSet` of so many items: numbers of 8 bytes, or strings.
///
/// Buckets are a power of 2 and at most 7/8 full; each has an entry and a control byte, and a
/// group of 16 control bytes is repeated. A string is 24 bytes and an allocation.
pub(super) fn bits(keys: &Keys, items: u64) -> u64 {
    let buckets = (items as f64 * 8.0 / 7.0).ceil().max(4.0).log2().ceil().exp2();
    let entry = if keys.item_bytes.is_some() { 24.0 } else { 8.0 };
    let text = keys.item_bytes.map_or(0.0, |length| items as f64 * allocated(length) as f64);
    (8.0 * (buckets * (entry + 1.0) + 16.0 + text)) as u64
}

/// Bytes of an allocation: a word beside it, steps of 16, at least 32, as of glibc.
fn allocated(length: u64) -> u64 {
    length.saturating_add(8).max(32).checked_next_multiple_of(16).unwrap_or(u64::MAX)
}
