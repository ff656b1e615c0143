//! Called once, when fields are compiled: where each field lies among the 8-byte words of a
//! record, and the byte shuffles that bring it out.
//!
//! Vector kernels load 64-byte *windows* of eight records at a time, transpose them to words and
//! take each field out of one word of eight records, or of two neighbouring words where it
//! straddles them. Every field lies in one window whole; windows may overlap.

use super::{Field, Map, Order};

/// Bytes of a window: one 512-bit register.
const WINDOW_BYTES: usize = 64;

/// What is not a byte of either word: a shuffle writes zero.
const NONE: u8 = 0x80;

/// 64 bytes of the record, and the fields taken out of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// First byte within the record. The window may reach past the record's end.
    pub(crate) offset: usize,
    /// Bit `w`: some field needs word `w`.
    pub(crate) words: u8,
    pub(crate) cells: Vec<Cell>,
    pub(crate) nulls: Vec<NullBit>,
}

/// One field within its window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Number of the field.
    pub(crate) field: usize,
    /// The word that holds the field's first byte.
    pub(crate) word: usize,
    /// The field reaches into the next word.
    pub(crate) straddles: bool,
    pub(crate) change: Change,
    /// Shuffles of 16-byte lanes that leave the number in each of the lane's two words: of the
    /// field's word and of the next, to be ORed.
    pub(crate) picks: [[u8; 16]; 2],
}

/// What turns the number into its key, on 64-bit lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// These bits flipped; for unsigned ones none.
    Flip(u64),
    /// 0 or 1.
    Bool,
    /// The float map, with its sign bit and with all bits of the width.
    Float { sign: u64, all: u64 },
}

/// One null bit within its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NullBit {
    /// Number of the field.
    pub(crate) field: usize,
    pub(crate) word: usize,
    /// The bit, as a mask of the word.
    pub(crate) mask: u64,
}

impl Window {
    /// The fewest windows that hold all fields and null bits, found from the front.
    pub(super) fn cover(record_bytes: usize, fields: &[Field]) -> Vec<Window> {
        // (first byte, bytes, field, is its null bit)
        let mut parts: Vec<(usize, usize, usize, bool)> = Vec::new();
        for (i, field) in fields.iter().enumerate() {
            parts.push((field.offset, field.width, i, false));
            parts.extend(field.null_bit.map(|bit| (usize::from(bit / 8), 1, i, true)));
        }
        parts.sort_unstable();
        let mut windows: Vec<Window> = Vec::new();
        for (offset, bytes, i, is_null) in parts {
            if windows.last().is_none_or(|window| offset + bytes > window.offset + WINDOW_BYTES) {
                let start = if record_bytes <= WINDOW_BYTES { 0 } else { offset & !7 };
                windows.push(Window { offset: start, words: 0, cells: vec![], nulls: vec![] });
            }
            let Some(window) = windows.last_mut() else { continue };
            if is_null {
                window.add_null(i, &fields[i]);
            } else {
                window.add_cell(i, &fields[i]);
            }
        }
        windows
    }

    fn add_cell(&mut self, number: usize, field: &Field) {
        let at = field.offset - self.offset;
        let (word, shift) = (at / 8, at % 8);
        let straddles = shift + field.width > 8;
        let mut picks = [[NONE; 16]; 2];
        for i in 0..field.width {
            let from = match field.order {
                Order::Little => shift + i,
                Order::Big => shift + field.width - 1 - i,
            };
            let pick = &mut picks[from / 8];
            pick[i] = (from % 8) as u8;
            pick[8 + i] = (from % 8) as u8 + 8;
        }
        let bits = 8 * field.width as u32;
        let sign = 1 << (bits - 1);
        let change = match field.map {
            Map::Unsigned => Change::Flip(0),
            Map::Signed => Change::Flip(sign),
            Map::Bool => Change::Bool,
            Map::Float => Change::Float { sign, all: u64::MAX >> (64 - bits) },
        };
        self.words |= if straddles { 0b11 } else { 0b1 } << word;
        self.cells.push(Cell { field: number, word, straddles, change, picks });
    }

    fn add_null(&mut self, number: usize, field: &Field) {
        let bit = usize::from(field.null_bit.unwrap_or(0)) - 8 * self.offset;
        self.words |= 1 << (bit / 64);
        self.nulls.push(NullBit { field: number, word: bit / 64, mask: 1 << (bit % 64) });
    }
}

impl Cell {
    /// The word after [`Cell::word`], or the word itself where the field ends within it.
    pub(crate) fn next(&self) -> usize {
        self.word + usize::from(self.straddles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(offset: usize, width: usize, null_bit: Option<u16>) -> Field {
        Field { offset, width, order: Order::Big, map: Map::Unsigned, null_bit }
    }

    #[test]
    fn every_field_lies_in_one_window_whole() {
        let fields = [field(60, 8, Some(3)), field(200, 1, None), field(63, 1, None)];
        let windows = Window::cover(208, &fields);
        let starts: Vec<usize> = windows.iter().map(|window| window.offset).collect();
        assert_eq!(starts, [0, 56, 200]);
        assert_eq!(windows[0].nulls, [NullBit { field: 0, word: 0, mask: 1 << 3 }]);
        assert_eq!(windows[1].cells[0].word, 0);
        assert!(windows[1].cells[0].straddles);
        assert_eq!(windows[1].words, 0b11);
        assert_eq!(windows[1].cells[1].field, 2);
        assert_eq!(windows[2].cells[0].word, 0);
    }

    #[test]
    fn records_of_a_window_have_one_from_their_start() {
        let windows = Window::cover(64, &[field(63, 1, None), field(9, 2, None)]);
        assert_eq!(windows.len(), 1);
        assert_eq!((windows[0].offset, windows[0].words), (0, 0b1000_0010));
    }
}
