//! Ways to damage a message.

use super::random::Random;

/// Calls `try_one` with every truncation, shortest first.
pub(crate) fn truncations(message: &[u8], mut try_one: impl FnMut(&[u8])) {
    (0..message.len()).for_each(|n| try_one(&message[..n]));
}

/// Calls `try_one` with every message that differs in one bit.
pub(crate) fn bit_flips(message: &[u8], mut try_one: impl FnMut(&[u8])) {
    let mut bytes = message.to_vec();
    for bit in 0..message.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        try_one(&bytes);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Calls `try_one` with every message in which one number, of any width at any place, is hostile.
fn hostile_numbers(message: &[u8], mut try_one: impl FnMut(&[u8])) {
    let values: [u64; 12] = [
        0,
        1,
        2,
        0x7f,
        0xff,
        0x7fff,
        0xffff,
        (1 << 17) + 1,
        0x7fff_ffff,
        0xffff_ffff,
        i64::MAX as u64,
        u64::MAX,
    ];
    let mut bytes = message.to_vec();
    for width in [1, 2, 4, 8] {
        for at in 0..(message.len() + 1).saturating_sub(width) {
            for value in values {
                bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                try_one(&bytes);
            }
            bytes[at..at + width].copy_from_slice(&message[at..at + width]);
        }
    }
}

/// Calls `try_one` with every kind of damage: all truncations, all flipped bits, hostile numbers
/// everywhere, and `wounds` times a few random wounds.
pub(crate) fn damaged(
    random: &mut Random,
    message: &[u8],
    wounds: usize,
    mut try_one: impl FnMut(&[u8]),
) {
    truncations(message, &mut try_one);
    bit_flips(message, &mut try_one);
    hostile_numbers(message, &mut try_one);
    for _ in 0..wounds {
        try_one(&wounded(random, message));
    }
}

/// A message with a few random wounds: bytes changed, cut out, doubled or added.
fn wounded(random: &mut Random, message: &[u8]) -> Vec<u8> {
    let mut bytes = message.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len().max(1)).min(bytes.len());
        let end = (at + random.below(9)).min(bytes.len());
        match random.below(4) {
            0 => bytes[at..end].iter_mut().for_each(|b| *b = random.next() as u8),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let doubled = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, doubled));
            }
            _ => {
                let n = random.below(9);
                drop(bytes.splice(at..at, random.bytes(n)));
            }
        }
    }
    bytes
}

/// Makes the last four bytes the CRC32C of the rest.
pub(crate) fn resealed_at_end(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(at) = bytes.len().checked_sub(4) {
        let crc = crc32c::crc32c(&bytes[..at]);
        bytes[at..].copy_from_slice(&crc.to_le_bytes());
    }
    bytes
}
