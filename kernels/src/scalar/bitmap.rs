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

/// Whether any key of `lo..=hi` is set (`lo <= hi`).
#[must_use]
pub fn any(words: &[u64], lo: u16, hi: u16) -> bool {
    let _ = (words, lo, hi);
    todo!("kernels")
}

/// The keys that are set, ascending.
pub fn keys(words: &[u64]) -> impl Iterator<Item = u16> + '_ {
    words.iter().enumerate().flat_map(|(i, &w)| {
        (0..64u16).filter(move |b| w >> b & 1 == 1).map(move |b| (i as u16) << 6 | b)
    })
}

/// The same question to a sorted list of the keys.
#[must_use]
pub fn list_any(list: &[u16], lo: u16, hi: u16) -> bool {
    let at = list.partition_point(|&key| key < lo);
    list.get(at).is_some_and(|&key| key <= hi)
}
