//! From whole files to forged ones: bytes, fields, blocks and lengths changed, then resealed.

use bloomrf_engine::format::{PageSize, encode_paged};

use super::reseal::reseal;
use super::world::{Splitmix, batch, origin, schema, stamp};

/// Whole files of every kind of filter, of few and of many keys.
pub(super) fn files() -> Vec<Vec<u8>> {
    let (schema, mut rng) = (schema(), Splitmix::new(6));
    let origin = origin(&schema);
    let sizes = [(0, PageSize::Kib4), (1, PageSize::Kib64), (9, PageSize::Kib4)];
    let sizes = sizes.into_iter().chain([(60, PageSize::Kib4), (2_000, PageSize::Kib4)]);
    let files = sizes.zip(1..).filter_map(|((keys, size), generation)| {
        let batch = batch(generation, keys, &mut rng);
        encode_paged(&batch, &origin, &stamp(generation), size).ok()
    });
    files.collect()
}

/// Chance from the bytes of an input; zeros when they are used up.
pub(super) struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        Script(input)
    }

    fn draw(&mut self, bytes: usize) -> u64 {
        let (head, rest) = self.0.split_at(bytes.min(self.0.len()));
        self.0 = rest;
        head.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }

    /// A number below `bound`, of as many bytes as it takes.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let bytes = if bound <= 256 {
            1
        } else if bound <= 65_536 {
            2
        } else {
            4
        };
        self.draw(bytes) % bound.max(1)
    }

    fn pick<'b, T>(&mut self, from: &'b [T]) -> &'b T {
        &from[self.below(from.len() as u64) as usize]
    }

    fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

/// One of the files with the changes of the script; nine in ten have right checksums.
pub(super) fn forged(files: &[Vec<u8>], script: &mut Script<'_>) -> Vec<u8> {
    let mut bytes = script.pick(files).clone();
    let is_sealed = script.below(10) != 9;
    for _ in 0..*script.pick(&CHANGES) {
        if script.is_over() {
            break;
        }
        change(files, &mut bytes, script);
    }
    if is_sealed {
        reseal(&mut bytes);
    }
    bytes
}

/// Changes of one script: mostly one, since most of two or more are refused for one of them.
const CHANGES: [usize; 8] = [1, 1, 1, 1, 2, 2, 4, 12];

fn change(files: &[Vec<u8>], bytes: &mut Vec<u8>, rng: &mut Script<'_>) {
    if bytes.is_empty() {
        return;
    }
    let at = place(bytes, rng);
    match rng.below(16) {
        0..4 => bytes[at] ^= 1 << rng.below(8),
        4..6 => bytes[at] = rng.below(256) as u8,
        6..10 => {
            let width = *rng.pick(&[1, 2, 4, 8]);
            let at = at - at % width;
            let value = number(rng).to_le_bytes();
            bytes.iter_mut().skip(at).zip(&value[..width]).for_each(|(to, byte)| *to = *byte);
        }
        10 => {
            // A field of one entry or zone map in the place of another's.
            let from = place(bytes, rng);
            let length = *rng.pick(&[8, 16, 48, 128]);
            if from.max(at) + length <= bytes.len() {
                bytes.copy_within(from..from + length, at);
            }
        }
        11 => {
            let blocks = (bytes.len() / 4_096) as u64;
            let (to, from) = (rng.below(blocks.max(1)) as usize, rng.below(blocks.max(1)) as usize);
            let other = rng.pick(files);
            let block = other.get(from * 4_096..(from + 1) * 4_096).unwrap_or_default();
            bytes.iter_mut().skip(to * 4_096).zip(block).for_each(|(to, byte)| *to = *byte);
        }
        12 => {
            let length = 1 + rng.below(4_096) as usize;
            let value = *rng.pick(&[0, 0xff, 0x55]);
            bytes.iter_mut().skip(at).take(length).for_each(|to| *to = value);
        }
        13 => bytes.truncate(at),
        14 => bytes.resize(bytes.len() + 1 + rng.below(8_192) as usize, 0),
        _ => {
            // The length that the header states, right again.
            let length = (bytes.len() as u64).to_le_bytes();
            bytes.iter_mut().skip(32).zip(length).for_each(|(to, byte)| *to = byte);
        }
    }
}

/// Where to change: half of the time in header, tables and zone map, else near the start of a
/// payload, else anywhere.
fn place(bytes: &[u8], rng: &mut Script<'_>) -> usize {
    let length = bytes.len() as u64;
    let at = match rng.below(8) {
        0 => rng.below(256),
        1..4 => 256 + rng.below(48 + 23 * 128),
        4 => 4_096 + rng.below(22 * 48),
        5..7 => rng.below(length.div_ceil(4_096)) * 4_096 + rng.below(96),
        _ => rng.below(length),
    };
    at.min(length - 1) as usize
}

/// A number that is likely to be just past something.
fn number(rng: &mut Script<'_>) -> u64 {
    let near = rng.below(5).wrapping_sub(2);
    match rng.below(4) {
        0 => (1_u64 << rng.below(64)).wrapping_add(near),
        1 => near,
        2 => rng.below(10_000),
        _ => rng.draw(8),
    }
}
