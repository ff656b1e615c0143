//! The Internet checksum (RFC 1071): a ones' complement sum of 16-bit words.
//!
//! Hot path: no allocation, no lock, no syscall; work bounded by the frame.
//!
//! The sum is the same in whatever byte order its words are read, as long as the result goes back
//! in the same order, and the same over wider words that are folded at the end. So words are
//! read as the machine reads them, eight bytes at a time, and their halves added without carries.

/// Sum of `bytes` as words in the machine's byte order, not folded yet; an odd last byte counts as
/// followed by a zero. Sums of parts of even length can be added; a sum of all bytes of a frame
/// takes less than 48 bits.
#[inline]
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    let (words, tail) = bytes.as_chunks::<8>();
    let (mut low, mut high) = (0_u64, 0_u64);
    for word in words {
        let word = u64::from_ne_bytes(*word);
        low = low.wrapping_add(word & 0xffff_ffff);
        high = high.wrapping_add(word >> 32);
    }
    let mut padded = [0; 8];
    for (place, byte) in padded.iter_mut().zip(tail) {
        *place = *byte;
    }
    let last = u64::from_ne_bytes(padded);
    low.wrapping_add(high).wrapping_add(last & 0xffff_ffff).wrapping_add(last >> 32)
}

/// Folds a sum to 16 bits, still in the machine's byte order. 0xffff where the bytes that were
/// summed hold their own right checksum.
#[inline]
pub(crate) fn fold(sum: u64) -> u16 {
    let mut sum = (sum & 0xffff_ffff) + (sum >> 32);
    for _ in 0..3 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// What a UDP checksum covers before the UDP header: addresses, protocol and length.
#[inline]
pub(crate) fn pseudo_header(addresses: &[u8], udp_bytes: u16) -> u64 {
    let [high, low] = udp_bytes.to_be_bytes();
    let protocol_and_length = u32::from_ne_bytes([0, super::UDP, high, low]);
    sum(addresses).wrapping_add(protocol_and_length.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded::Seeded;

    /// As the standard says it: big-endian words of 16 bits, each carry added at once.
    fn naive(bytes: &[u8]) -> u16 {
        bytes.chunks(2).fold(0_u16, |sum, word| {
            let word = u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]);
            let (sum, carry) = sum.overflowing_add(word);
            sum + u16::from(carry)
        })
    }

    #[test]
    fn wide_words_fold_to_what_words_of_16_bits_sum_to() {
        let mut seeded = Seeded::new("wide_words_fold_to_what_words_of_16_bits_sum_to");
        for length in (0..300).chain([1_472, 1_473, 9_000, 65_535]) {
            for bytes in [vec![0; length], vec![0xff; length], seeded.bytes(length)] {
                let folded = fold(sum(&bytes));
                assert_eq!(u16::from_be_bytes(folded.to_ne_bytes()), naive(&bytes), "{length}");
            }
        }
    }

    #[test]
    fn sums_of_even_parts_add_up() {
        let mut seeded = Seeded::new("sums_of_even_parts_add_up");
        let bytes = seeded.bytes(200);
        for cut in (0..=200).step_by(2) {
            let (a, b) = bytes.split_at(cut);
            assert_eq!(fold(sum(a) + sum(b)), fold(sum(&bytes)), "{cut}");
        }
    }
}
