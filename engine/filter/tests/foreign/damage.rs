//! Damage: every truncation and every flipped bit of a file.

/// Gives every truncation of `file` and `file` with each single bit flipped to `try_one`.
pub(crate) fn each(file: &[u8], mut try_one: impl FnMut(&[u8])) {
    (0..file.len()).for_each(|end| try_one(&file[..end]));
    let mut flipped = file.to_vec();
    for bit in 0..8 * file.len() {
        flipped[bit / 8] ^= 1 << (bit % 8);
        try_one(&flipped);
        flipped[bit / 8] ^= 1 << (bit % 8);
    }
}
