//! Hot path: no allocation; about three operations per word, where counting each word takes
//! twelve on CPUs, or builds, without an instruction for it.
//!
//! Set bits by carry-save adders (Harley and Seal): sixteen words of equal weight become bits of
//! weights 1, 2, 4, 8 and 16, and only the last are counted in turn. Eight columns side by side,
//! so that the compiler's vectors hold them.

/// Columns side by side.
const COLUMNS: usize = 8;

/// Words that are added before the carries of weight 16 are counted.
const ROWS: usize = 16;

/// Bits not counted yet, by weight.
struct Sums {
    ones: [u64; COLUMNS],
    twos: [u64; COLUMNS],
    fours: [u64; COLUMNS],
    eights: [u64; COLUMNS],
}

/// Number of set bits.
pub(super) fn ones_in(words: &[u64]) -> u64 {
    let (rows, rest) = words.as_chunks::<COLUMNS>();
    let (blocks, rows) = rows.as_chunks::<ROWS>();
    let zero = [0; COLUMNS];
    let mut sums = Sums { ones: zero, twos: zero, fours: zero, eights: zero };
    let mut sixteens = 0u64;
    for block in blocks {
        sixteens = sixteens.wrapping_add(each(&sums.add(block)));
    }
    let left = each(rows.as_flattened()).wrapping_add(each(rest));
    let counted = if blocks.is_empty() { 0 } else { sums.count() };
    16 * sixteens + counted + left
}

impl Sums {
    /// Adds sixteen words to each column; the carries of weight 16.
    #[inline]
    fn add(&mut self, rows: &[[u64; COLUMNS]; ROWS]) -> [u64; COLUMNS] {
        let mut carries = [0; COLUMNS];
        for i in 0..COLUMNS {
            let (mut ones, mut twos) = (self.ones[i], self.twos[i]);
            let (mut fours, mut eights) = (self.fours[i], [0; 2]);
            for (half, carry) in eights.iter_mut().enumerate() {
                let mut four = [0; 2];
                for (quarter, carry) in four.iter_mut().enumerate() {
                    let at = 8 * half + 4 * quarter;
                    let (sum, two) = add(ones, rows[at][i], rows[at + 1][i]);
                    let (sum, other) = add(sum, rows[at + 2][i], rows[at + 3][i]);
                    ones = sum;
                    (twos, *carry) = add(twos, two, other);
                }
                (fours, *carry) = add(fours, four[0], four[1]);
            }
            (self.ones[i], self.twos[i], self.fours[i]) = (ones, twos, fours);
            (self.eights[i], carries[i]) = add(self.eights[i], eights[0], eights[1]);
        }
        carries
    }

    fn count(&self) -> u64 {
        each(&self.ones) + 2 * each(&self.twos) + 4 * each(&self.fours) + 8 * each(&self.eights)
    }
}

/// Sum and carry of three bits, 64 times.
#[inline]
fn add(a: u64, b: u64, c: u64) -> (u64, u64) {
    let half = a ^ b;
    (half ^ c, a & b | half & c)
}

fn each(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_lose_no_bit() {
        for len in (0..300).chain([2_047, 2_048, 4_097]) {
            for words in [vec![u64::MAX; len], vec![1 << 63; len], (0..len as u64).collect()] {
                let ones: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
                assert_eq!(ones_in(&words), ones, "{len} words");
            }
            let random: Vec<u64> = (0..len as u64).map(|i| crate::hash::mix(i, 3)).collect();
            assert_eq!(ones_in(&random), each(&random), "{len} random words");
        }
    }
}
