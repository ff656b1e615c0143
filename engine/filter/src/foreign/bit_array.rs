//! Bits in the bytes of a file, in the order of that file: writing them is handing them out.

use bloomrf_kernels::hash::Hash128;

use super::Rule;

/// Where bit `i` lies among bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BitOrder {
    /// Byte `i / 8`, the least significant bit first (also: little-endian words).
    LsbFirst,
    /// Byte `i / 8`, the most significant bit first (the strings of Redis).
    MsbFirst,
    /// Big-endian words of 64 bits, the least significant bit of each first (Java streams).
    BigEndianWords,
}

/// `bits` bits in bytes of some order. Bytes that are not there hold zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitArray {
    order: BitOrder,
    bits: u64,
    bytes: Vec<u8>,
}

impl BitArray {
    /// No bit set; all bytes there.
    pub(super) fn zeros(order: BitOrder, bits: u64) -> Self {
        BitArray { order, bits, bytes: vec![0; byte_count(order, bits)] }
    }

    /// The bytes of a file; at most as many as the words of the bits take.
    pub(super) fn from_bytes(order: BitOrder, bits: u64, bytes: &[u8]) -> Self {
        debug_assert!(bytes.len() as u64 <= bits.div_ceil(64) * 8);
        BitArray { order, bits, bytes: bytes.to_vec() }
    }

    /// How many bits.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Their order.
    #[must_use]
    pub fn order(&self) -> BitOrder {
        self.order
    }

    /// The bytes as the file has them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether bit `bit` is set.
    #[must_use]
    pub fn test(&self, bit: u64) -> bool {
        let (byte, mask) = self.place(bit);
        self.bytes.get(byte).is_some_and(|byte| byte & mask != 0)
    }

    /// Sets bit `bit`; returns whether it was not set before.
    ///
    /// # Panics
    /// Where there is no such bit.
    pub fn set(&mut self, bit: u64) -> bool {
        assert!(bit < self.bits, "bit {bit} of {}", self.bits);
        let (byte, mask) = self.place(bit);
        if byte >= self.bytes.len() {
            self.bytes.resize(byte + 1, 0);
        }
        let is_new = self.bytes[byte] & mask == 0;
        self.bytes[byte] |= mask;
        is_new
    }

    /// Set bits.
    #[must_use]
    pub fn ones(&self) -> u64 {
        let (words, tail) = self.bytes.as_chunks();
        let whole: u64 =
            words.iter().map(|word| u64::from(u64::from_ne_bytes(*word).count_ones())).sum();
        whole + tail.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
    }

    /// The share of set bits, 0 to 1.
    #[must_use]
    pub fn fill(&self) -> f64 {
        self.ones() as f64 / self.bits as f64
    }

    /// The bits as words, least significant first; those past the last are 0.
    #[must_use]
    pub fn to_words(&self) -> Vec<u64> {
        let mut words = vec![0; self.bits.div_ceil(64) as usize];
        let bytes = self.bytes.chunks(8);
        for (word, bytes) in words.iter_mut().zip(bytes) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = match self.order {
                BitOrder::LsbFirst => u64::from_le_bytes(whole),
                BitOrder::MsbFirst => u64::from_le_bytes(whole.map(u8::reverse_bits)),
                BitOrder::BigEndianWords => u64::from_be_bytes(whole),
            };
        }
        words
    }

    /// Whether all bits of an item are set.
    pub(super) fn contains(&self, rule: Rule, k: u32, hash: Hash128) -> bool {
        rule.probes(k, self.bits, hash).all(|bit| self.test(bit))
    }

    /// Sets all bits of an item; returns whether one was not set before.
    pub(super) fn insert(&mut self, rule: Rule, k: u32, hash: Hash128) -> bool {
        rule.probes(k, self.bits, hash).fold(false, |is_new, bit| self.set(bit) | is_new)
    }

    /// Sets what is set in another array of the same size and order.
    pub(super) fn merge(&mut self, other: &BitArray) {
        debug_assert_eq!((self.order, self.bits), (other.order, other.bits));
        if self.bytes.len() < other.bytes.len() {
            self.bytes.resize(other.bytes.len(), 0);
        }
        self.bytes.iter_mut().zip(&other.bytes).for_each(|(ours, theirs)| *ours |= theirs);
    }

    /// Whether a bit of the last byte lies past the end and is set.
    pub(super) fn has_stray_bits(&self) -> bool {
        (self.bits..self.bits.next_multiple_of(64)).any(|bit| self.test(bit))
    }

    fn place(&self, bit: u64) -> (usize, u8) {
        let byte = usize::try_from(bit / 8).unwrap_or(usize::MAX);
        match self.order {
            BitOrder::LsbFirst => (byte, 1 << (bit % 8)),
            BitOrder::MsbFirst => (byte, 0x80 >> (bit % 8)),
            BitOrder::BigEndianWords => (byte ^ 7, 1 << (bit % 8)),
        }
    }
}

/// Bytes that so many bits take.
pub(super) fn byte_count(order: BitOrder, bits: u64) -> usize {
    let bytes = match order {
        BitOrder::LsbFirst | BitOrder::MsbFirst => bits.div_ceil(8),
        BitOrder::BigEndianWords => bits.div_ceil(64) * 8,
    };
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_where_each_order_says_and_words_are_the_same_in_all() {
        let expected: [(BitOrder, [u8; 16]); 3] = [
            (BitOrder::LsbFirst, [1, 2, 0, 0, 0, 0, 0, 0x80, 4, 0, 0, 0, 0, 0, 0, 0]),
            (BitOrder::MsbFirst, [0x80, 0x40, 0, 0, 0, 0, 0, 1, 0x20, 0, 0, 0, 0, 0, 0, 0]),
            (BitOrder::BigEndianWords, [0x80, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 4]),
        ];
        for (order, bytes) in expected {
            let mut bits = BitArray::zeros(order, 128);
            for bit in [0, 9, 63, 66] {
                assert!(bits.set(bit) && !bits.set(bit) && bits.test(bit));
            }
            assert_eq!((bits.bytes(), bits.ones()), (&bytes[..], 4));
            assert_eq!(bits.to_words(), [1 | 1 << 9 | 1 << 63, 4]);
        }
    }
}
