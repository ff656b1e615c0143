//! An entry of the section table: 128 bytes, the same fields for every kind.

use bloomrf_kernels::Layers;
use bloomrf_kernels::layers::LAYERS_MAX;

use super::EntryFault;
use super::container::{ENTRY_BYTES, NO_COLUMN, Place};
use super::shape::HASH_NATIVE;
use crate::wire::cursor::{Reader, Short, Writer};

/// What a section is. Numbers that other kinds of filters have are kept free for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    None,
    Blocked,
    BloomRf,
    Bitmap,
    Near,
    List,
    EliasFano,
    ZoneMap,
}

/// What the values of an exact set are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ValueForm {
    #[default]
    None,
    Bits16,
    Bits64,
}

/// How the exact top of a bloomRF is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TopForm {
    #[default]
    None,
    Bitmap,
    List,
}

/// An entry. A field that a kind does not use is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// Ordinal, or [`NO_COLUMN`].
    pub(super) column: u16,
    pub(super) hash: u16,
    pub(super) seed: u64,
    pub(super) k: u8,
    pub(super) layer_count: u8,
    pub(super) key_bits: u8,
    pub(super) values: ValueForm,
    pub(super) top: TopForm,
    pub(super) low_bits: u8,
    pub(super) widths: [u8; LAYERS_MAX],
    pub(super) base: u64,
    /// Words, or keys of a list or an Elias-Fano set.
    pub(super) count: u64,
    /// Values of the top's list, or the last bucket of an Elias-Fano set.
    pub(super) second: u64,
    pub(super) place: Place,
}

impl Entry {
    /// An entry without a payload; its kind is to be filled in.
    pub(super) fn new(column: u16) -> Self {
        Entry {
            kind: Kind::None,
            column,
            hash: 0,
            seed: 0,
            k: 0,
            layer_count: 0,
            key_bits: 0,
            values: ValueForm::None,
            top: TopForm::None,
            low_bits: 0,
            widths: [0; LAYERS_MAX],
            base: 0,
            count: 0,
            second: 0,
            place: Place { offset: 0, bytes: 0 },
        }
    }

    /// Writes a bloomRF's layers.
    pub(super) fn layers(&mut self, layers: &Layers) {
        let hashed = layers.hashed();
        (self.hash, self.seed) = (HASH_NATIVE, layers.seed());
        (self.layer_count, self.key_bits) = (hashed.len() as u8, layers.domain_bits());
        self.widths.iter_mut().zip(hashed).for_each(|(width, layer)| *width = layer.width);
    }

    /// The layers of a bloomRF, where the kernels have such.
    pub(super) fn parse_layers(&self) -> Option<Layers> {
        let widths = self.widths.get(..usize::from(self.layer_count))?;
        Layers::new(self.key_bits, widths, self.top != TopForm::None, self.seed).ok()
    }

    /// Appends the entry.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut w = Writer::new(out);
        w.u16(self.kind.code());
        w.u16(self.column);
        w.u16(self.hash);
        w.u8(if self.column == NO_COLUMN { 0 } else { ENCODING_COLUMN_KEY });
        w.u8(self.k);
        w.u64(self.seed);
        w.u8(self.key_bits);
        w.u8(self.layer_count);
        w.u8(self.values.code());
        w.u8(self.top.code());
        w.u8(self.low_bits);
        w.zeros(3);
        w.bytes(&self.widths);
        w.u64(self.base);
        w.u64(self.count);
        w.u64(self.second);
        w.u64(self.place.offset);
        w.u64(self.place.bytes);
        w.zeros(ENTRY_BYTES - w.len());
    }

    /// Reads an entry. Bytes that no field has are compared later, with what it encodes to.
    pub(super) fn read(bytes: &[u8; ENTRY_BYTES]) -> Result<Self, EntryFault> {
        Entry::parse(&mut Reader::new(bytes)).map_err(|Short| EntryFault::Place)?
    }

    fn parse(r: &mut Reader<'_>) -> Result<Result<Self, EntryFault>, Short> {
        let kind = r.u16()?;
        let (column, hash) = (r.u16()?, r.u16()?);
        r.take(1)?;
        let (k, seed, key_bits, layer_count) = (r.u8()?, r.u64()?, r.u8()?, r.u8()?);
        let (values, top, low_bits) = (r.u8()?, r.u8()?, r.u8()?);
        r.take(3)?;
        let widths = r.array()?;
        let (base, count, second) = (r.u64()?, r.u64()?, r.u64()?);
        let place = Place { offset: r.u64()?, bytes: r.u64()? };
        let Some(kind) = Kind::from_code(kind) else {
            return Ok(Err(EntryFault::Kind { found: kind }));
        };
        let (Some(values), Some(top)) = (ValueForm::from_code(values), TopForm::from_code(top))
        else {
            return Ok(Err(EntryFault::Parameters));
        };
        Ok(Ok(Entry {
            kind,
            column,
            hash,
            seed,
            k,
            layer_count,
            key_bits,
            values,
            top,
            low_bits,
            widths,
            base,
            count,
            second,
            place,
        }))
    }
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::None,
        Self::Blocked,
        Self::BloomRf,
        Self::Bitmap,
        Self::Near,
        Self::List,
        Self::EliasFano,
        Self::ZoneMap,
    ];

    fn code(self) -> u16 {
        match self {
            Self::None => 0,
            Self::Blocked => 3,
            Self::BloomRf => 6,
            Self::Bitmap => 7,
            Self::Near => 8,
            Self::List => 9,
            Self::EliasFano => 10,
            Self::ZoneMap => 11,
        }
    }

    fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

impl ValueForm {
    fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Bits16 => 16,
            Self::Bits64 => 64,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        [Self::None, Self::Bits16, Self::Bits64].into_iter().find(|form| form.code() == code)
    }
}

impl TopForm {
    fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Bitmap => 1,
            Self::List => 2,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        [Self::None, Self::Bitmap, Self::List].into_iter().find(|form| form.code() == code)
    }
}

/// Items of a filter are the keys of its column, by the key map that the fingerprint covers.
const ENCODING_COLUMN_KEY: u8 = 9;
