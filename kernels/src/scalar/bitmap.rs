//! Hot path: no allocation, no lock, no syscall; a question reads at most the whole bitmap.
//!
//! Exact bitmaps for 1-byte (4 words) and 2-byte (1,024 words) keys. Never folded, never wrong.

/// Words of the bitmap of a 1-byte column.
pub const WORDS_8: usize = 4;
/// Words of the bitmap of a 2-byte column, and of the exact top 16 bits of a 4-byte one.
pub const WORDS_16: usize = 1024;

/// Sets the bit of `key`; `key < 64 * words.len()`.
#[inline]
pub fn insert(words: &mut [u64], key: u16) {
    words[usize::from(key >> 6)] |= 1 << (key & 63);
}

/// Whether any key of `lo..=hi` is set; an empty range (`lo > hi`) holds none.
///
/// A key past the end of the bitmap cannot be judged and reads as set.
#[must_use]
pub fn any(words: &[u64], lo: u16, hi: u16) -> bool {
    lo <= hi && any_between(words, lo.into(), hi.into())
}

/// [`any`] in a bitmap of any length; `lo <= hi`.
#[inline]
pub(crate) fn any_between(words: &[u64], lo: u64, hi: u64) -> bool {
    let first_mask = u64::MAX << (lo & 63);
    let last_mask = u64::MAX >> (63 - (hi & 63));
    match words.get((lo >> 6) as usize..=(hi >> 6) as usize) {
        Some([only]) => only & first_mask & last_mask != 0,
        Some([first, inner @ .., last]) => {
            first & first_mask != 0 || last & last_mask != 0 || any_word(inner)
        }
        Some([]) | None => true,
    }
}

/// Whether any word is not zero, a few cache lines at a time: one branch for 32 words.
fn any_word(words: &[u64]) -> bool {
    words.chunks(32).any(|chunk| chunk.iter().fold(0, |all, w| all | w) != 0)
}

/// The keys that are set, ascending.
pub fn keys(words: &[u64]) -> impl Iterator<Item = u16> + '_ {
    words.iter().enumerate().flat_map(|(i, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as u16)?;
            left &= left - 1;
            Some((i as u16) << 6 | bit)
        })
    })
}

/// The same question to a sorted list of the keys.
#[must_use]
pub fn list_any(list: &[u16], lo: u16, hi: u16) -> bool {
    let at = list.partition_point(|&key| key < lo);
    list.get(at).is_some_and(|&key| key <= hi)
}
