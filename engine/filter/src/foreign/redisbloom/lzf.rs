//! LZF, in which Redis packs strings of its dumps.

use super::super::Refusal;

/// Unpacks to exactly `length` bytes. Memory grows with what is unpacked.
pub(super) fn unpack(mut packed: &[u8], length: usize) -> Result<Vec<u8>, Refusal> {
    let short = |need: usize, have: usize| Refusal::Short {
        what: "a packed string",
        need: need as u64,
        have: have as u64,
    };
    let mut bytes: Vec<u8> = Vec::new();
    while let Some((&control, rest)) = packed.split_first() {
        let control = usize::from(control);
        let (run, rest) = if control < LITERALS_MAX {
            let (literals, rest) =
                rest.split_at_checked(control + 1).ok_or_else(|| short(control + 1, rest.len()))?;
            bytes.extend(literals);
            (0, rest)
        } else {
            let long = usize::from(control >> 5 == 7);
            let (operands, rest) =
                rest.split_at_checked(long + 1).ok_or_else(|| short(long + 1, rest.len()))?;
            let more = if long == 1 { usize::from(operands[0]) } else { 0 };
            let back = 1 + ((control & 0x1f) << 8 | usize::from(operands[long]));
            let Some(start) = bytes.len().checked_sub(back) else {
                let expected = format!("at most {}", bytes.len());
                return Err(Refusal::field("how far back a packed string refers", back, expected));
            };
            let run = (control >> 5) + more + 2;
            // What it refers to may overlap what it makes.
            (start..start + run).for_each(|from| bytes.push(bytes[from]));
            (run, rest)
        };
        debug_assert!(run <= RUN_MAX);
        if bytes.len() > length {
            return Err(Refusal::field("the length of a packed string", bytes.len(), length));
        }
        packed = rest;
    }
    if bytes.len() < length {
        return Err(short(length, bytes.len()));
    }
    Ok(bytes)
}

/// Packs bytes that are all the same, as an empty filter's are; others stay as they are.
pub(super) fn pack_run(bytes: &[u8]) -> Option<Vec<u8>> {
    let (first, rest) = bytes.split_first()?;
    if bytes.len() <= UNPACKED_BYTES_MAX || rest.iter().any(|byte| byte != first) {
        return None;
    }
    let mut packed = vec![1, *first, *first];
    let mut left = bytes.len() - 2;
    // The last two bytes are always spelt out.
    while left >= 5 {
        let run = (left - 2).min(RUN_MAX);
        match run - 2 {
            short @ ..7 => packed.push((short as u8) << 5),
            long => packed.extend([0xe0, (long - 7) as u8]),
        }
        packed.push(0);
        left -= run;
    }
    packed.push(left as u8 - 1);
    packed.extend(std::iter::repeat_n(*first, left));
    Some(packed)
}

/// Control bytes below this announce bytes as they are.
const LITERALS_MAX: usize = 32;
/// Most bytes that one reference makes.
const RUN_MAX: usize = 264;
/// Redis does not pack strings of so few bytes.
const UNPACKED_BYTES_MAX: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_packed_and_unpacked() {
        for length in 21..2_000 {
            let bytes = vec![7; length];
            let packed = pack_run(&bytes).unwrap();
            assert!(packed.len() < 21 + length / 50, "{length}: {}", packed.len());
            assert_eq!(unpack(&packed, length), Ok(bytes), "{length}");
            assert!(unpack(&packed, length - 1).is_err());
            assert!(unpack(&packed, length + 1).is_err());
        }
        assert_eq!(pack_run(&[0; 144]).unwrap(), [1, 0, 0, 0xe0, 0x83, 0, 1, 0, 0]);
        assert_eq!(pack_run(&[0; 20]), None);
    }

    #[test]
    fn references_before_the_start_and_cut_ones_are_refused() {
        assert!(unpack(&[0x20, 0], 3).is_err());
        assert!(unpack(&[0, 65, 0x20, 1], 4).is_err());
        assert_eq!(unpack(&[0, 65, 0x20, 0], 4), Ok(b"AAAA".to_vec()));
        for cut in [&[3, 1][..], &[0, 65, 0xe0, 1], &[0, 65, 0x20]] {
            assert!(unpack(cut, 100).is_err(), "{cut:?}");
        }
    }
}
