//! Hot path: no allocation, no lock, no syscall; each word of filter and of row is touched once.
//!
//! Filters to rows and back: a 64 x 64 bit transpose for each word.
//!
//! Works on *tiles*: the same 32 words (four cache lines) of all 64 filters. A filter shorter than
//! the group by a whole ratio is *unfolded*, each of its words repeated: the inverse of the fold,
//! and it answers exactly as it did.

use std::ops::Range;

use super::SLOTS;
use super::transpose::transpose;
use crate::Kernel;
#[cfg(target_arch = "x86_64")]
use crate::{avx2::sliced as avx2, avx512::sliced_rows as avx512};

/// Transposes 64 filters into `rows`: `W * 64` of them, W the words of the longest filter.
///
/// An empty filter leaves zeros in its slot. A filter of `W / r` words is unfolded by r.
///
/// # Panics
/// Where `rows` are not whole words, or W is no multiple of the words of a filter.
pub fn build(kernel: Kernel, rows: &mut [u64], filters: &[&[u64]; SLOTS]) {
    let words = rows.len() / SLOTS;
    build_words(kernel, rows, filters, 0..words);
}

/// A slice of the work of [`build`]: only the rows of `words` are written. 1,024 words take about
/// 0.1 ms with AVX-512, 0.5 ms with portable code.
///
/// # Panics
/// As [`build`], and where `words` leave the group.
pub fn build_words(
    kernel: Kernel,
    rows: &mut [u64],
    filters: &[&[u64]; SLOTS],
    words: Range<usize>,
) {
    let group = whole_words(rows.len());
    let sources = filters.map(|filter| Source::new(filter, group));
    let rows = &mut rows[words.start * SLOTS..words.end * SLOTS];
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::build(token, rows, &sources, words.start),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::build(token, rows, &sources, words.start),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => avx512::build_vbmi(token, rows, &sources, words.start),
        _ => build_portable(rows, &sources, words.start),
    }
}

/// Transposes `rows` back into plain filters; an empty filter is not wanted. The inverse of
/// [`build`]: a filter of `W / r` words gets the OR of each r words (equal ones, if unfolded).
///
/// # Panics
/// Where `rows` are not whole words, or W is no multiple of the words of a filter.
pub fn unbuild(kernel: Kernel, rows: &[u64], filters: &mut [&mut [u64]; SLOTS]) {
    let words = rows.len() / SLOTS;
    unbuild_words(kernel, rows, filters, 0..words);
}

/// A slice of the work of [`unbuild`]: reads the rows of `words` only. Slices go upwards: the first
/// of the words that fold into one overwrites it, the others are ORed.
///
/// # Panics
/// As [`unbuild`], and where `words` leave the group.
pub fn unbuild_words(
    kernel: Kernel,
    rows: &[u64],
    filters: &mut [&mut [u64]; SLOTS],
    words: Range<usize>,
) {
    let group = whole_words(rows.len());
    let ratios = std::array::from_fn(|slot| ratio(filters[slot].len(), group));
    let (rows, first) = (&rows[words.start * SLOTS..words.end * SLOTS], words.start);
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::unbuild(token, rows, filters, &ratios, first),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::unbuild(token, rows, filters, &ratios, first),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => avx512::unbuild_vbmi(token, rows, filters, &ratios, first),
        _ => unbuild_portable(rows, filters, &ratios, first),
    }
}

/// One filter out of a group, bit by bit: about 20 ns a word. [`unbuild`] makes all 64 in less.
///
/// # Panics
/// As [`unbuild`]; where `slot` is not below 64.
pub fn extract(rows: &[u64], slot: usize, words: &mut [u64]) {
    assert!(slot < SLOTS, "slot {slot} of {SLOTS}");
    let ratio = ratio(words.len(), whole_words(rows.len()));
    if words.is_empty() {
        return;
    }
    for (word, rows) in words.iter_mut().zip(rows.chunks_exact(SLOTS * ratio)) {
        let bits = (0u32..).zip(rows).map(|(row, bits)| (bits >> slot & 1) << (row % 64));
        *word = bits.fold(0, |word, bit| word | bit);
    }
}

/// A plain filter and how often each of its words stands in the group; 0 where it has none.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) words: &'a [u64],
    pub(crate) ratio: usize,
}

impl<'a> Source<'a> {
    fn new(words: &'a [u64], group: usize) -> Self {
        Source { words, ratio: ratio(words.len(), group) }
    }

    /// Words `first..first + 8` of the unfolded filter; zeros past its end. `room` is for those
    /// that do not lie so in memory.
    #[inline(always)]
    pub(crate) fn line<'b>(
        &'b self,
        first: usize,
        room: &'b mut [u64; TILE_WORDS],
    ) -> &'b [u64; TILE_WORDS] {
        match self.words.get(first..).and_then(|words| words.first_chunk()) {
            Some(line) if self.ratio == 1 => line,
            _ => self.unfolded(first, room),
        }
    }

    #[inline(never)]
    fn unfolded<'b>(&self, first: usize, room: &'b mut [u64; TILE_WORDS]) -> &'b [u64; TILE_WORDS] {
        // An empty filter has no word, whatever it is divided by.
        let ratio = self.ratio.max(1);
        for (i, word) in room.iter_mut().enumerate() {
            *word = self.words.get((first + i) / ratio).map_or(0, |word| *word);
        }
        room
    }
}

/// Words that a group of `rows` rows has.
fn whole_words(rows: usize) -> usize {
    assert!(rows.is_multiple_of(SLOTS), "{rows} rows are not {SLOTS} for each word");
    rows / SLOTS
}

/// How many words of the group one of `words` words stands for; 0 where there are none.
fn ratio(words: usize, group: usize) -> usize {
    if words == 0 {
        return 0;
    }
    assert!(
        group >= words && group.is_multiple_of(words),
        "a filter of {words} words does not unfold to the group's {group}"
    );
    group / words
}

/// `rows` begin with those of word `first`.
#[inline(always)]
pub(crate) fn build_portable(rows: &mut [u64], sources: &[Source<'_>; SLOTS], first: usize) {
    let mut tile = [[0; SLOTS]; TILE];
    let mut room = [0; TILE_WORDS];
    let tiles = (first..).step_by(TILE);
    for (first, rows) in tiles.zip(rows.chunks_mut(TILE * SLOTS)) {
        for (slot, source) in sources.iter().enumerate() {
            let lines = (first..).step_by(TILE_WORDS);
            for (first, matrices) in lines.zip(tile.as_chunks_mut::<TILE_WORDS>().0) {
                for (matrix, &word) in matrices.iter_mut().zip(source.line(first, &mut room)) {
                    matrix[slot] = word;
                }
            }
        }
        for (matrix, rows) in tile.iter_mut().zip(rows.as_chunks_mut::<SLOTS>().0) {
            transpose(matrix);
            *rows = *matrix;
        }
    }
}

/// `rows` begin with those of word `first`.
#[inline(always)]
pub(crate) fn unbuild_portable(
    rows: &[u64],
    filters: &mut [&mut [u64]; SLOTS],
    ratios: &[usize; SLOTS],
    first: usize,
) {
    let mut tile = [[0; SLOTS]; TILE];
    let tiles = (first..).step_by(TILE);
    for (first, rows) in tiles.zip(rows.chunks(TILE * SLOTS)) {
        for (matrix, rows) in tile.iter_mut().zip(rows.as_chunks::<SLOTS>().0) {
            *matrix = *rows;
            transpose(matrix);
        }
        let words = rows.len() / SLOTS;
        for (slot, filter) in filters.iter_mut().enumerate() {
            for from in (0..words).step_by(TILE_WORDS) {
                let line = std::array::from_fn(|i| tile[from + i][slot]);
                let words = TILE_WORDS.min(words - from);
                store_line(filter, ratios[slot], first + from, &line, words);
            }
        }
    }
}

/// Writes the first `words` of `line`, words `first..` of the group, into a plain filter.
#[inline(always)]
pub(crate) fn store_line(
    filter: &mut [u64],
    ratio: usize,
    first: usize,
    line: &[u64; TILE_WORDS],
    words: usize,
) {
    match ratio {
        0 => {}
        1 => filter[first..first + words].copy_from_slice(&line[..words]),
        _ => {
            for (index, &word) in (first..).zip(&line[..words]) {
                let kept = if index.is_multiple_of(ratio) { 0 } else { filter[index / ratio] };
                filter[index / ratio] = kept | word;
            }
        }
    }
}

/// Words of a cache line.
pub(crate) const TILE_WORDS: usize = 8;

/// Words of a tile: four lines of a filter, 16 KiB in all, since filters often lie a power of two
/// apart: read line by line, all 64 would fight for the same cache sets.
pub(crate) const TILE: usize = 4 * TILE_WORDS;
