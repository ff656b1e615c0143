//! Called when a batch closes, off the ingest core.
//!
//! Sorting of keys by digits: 65,536 keys that span 32 bits take three passes, a third of the time
//! of a comparison sort. Keys that come in order, as timestamps do, cost one look at each.

/// Sorts keys and keeps each once. Needs as much memory again.
pub fn sort_distinct(keys: &mut Vec<u64>) {
    if !keys.is_sorted() {
        sort(keys);
    }
    keys.dedup();
}

fn sort(keys: &mut Vec<u64>) {
    let (min, max) =
        keys.iter().fold((u64::MAX, 0), |(min, max), &key| (key.min(min), key.max(max)));
    let bits = u64::BITS - max.saturating_sub(min).leading_zeros();
    let passes = bits.div_ceil(DIGIT_BITS);
    if keys.len() < DIGITS || u32::try_from(keys.len()).is_err() || passes > PASSES_MAX {
        return keys.sort_unstable();
    }
    // Of equal width, so that no pass is for a bit or two.
    let width = bits.div_ceil(passes.max(1));
    let mut other = vec![0; keys.len()];
    for pass in 0..passes {
        let digit = |key: u64| ((key - min) >> (pass * width)) as usize & ((1 << width) - 1);
        let mut places = [0u32; DIGITS];
        keys.iter().for_each(|&key| places[digit(key)] += 1);
        let mut first = 0;
        for place in &mut places {
            (*place, first) = (first, first + *place);
        }
        for &key in &*keys {
            let place = &mut places[digit(key)];
            other[*place as usize] = key;
            *place += 1;
        }
        std::mem::swap(keys, &mut other);
    }
}

/// Bits of a digit: 8 KiB of places, which an L1 holds beside the lines being written.
const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Passes past which comparing is as fast. (Keys spread that far are no exact kind anyway.)
const PASSES_MAX: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_out_sorted_and_once_whatever_they_span() {
        for count in [0u64, 1, 2, 100, 2_047, 2_048, 5_000, 70_000] {
            for shift in [0, 8, 20, 31, 32, 42, 53, 58] {
                for base in [0, 1 << 40] {
                    let key =
                        |i: u64| base + (crate::hash::mix(i % (1 + count / 2), 9) >> 1 >> shift);
                    let mut keys: Vec<u64> = (0..count).map(key).collect();
                    let mut expected = keys.clone();
                    expected.sort_unstable();
                    expected.dedup();
                    sort_distinct(&mut keys);
                    assert!(keys == expected, "{count} keys of {} bits from {base}", 63 - shift);
                }
            }
        }
        let mut ends: Vec<u64> =
            (0..3_000).map(|i| if i % 2 == 0 { u64::MAX } else { i }).collect();
        sort_distinct(&mut ends);
        assert!(ends.is_sorted_by(|a, b| a < b) && ends.len() == 1_501);
    }
}
