//! What every BLMF file has, whatever it holds: the frame of its header, metadata, a table of
//! entries, pages with checksums. Batches ([`super::decode`]) and single filters (the crate of the
//! filter family) are read and written through it.
//!
//! Invariant: where a part lies follows from the lengths of those before it, so the header that
//! was read must encode to the bytes it was read from. No length is believed before the file's own
//! was compared with it; nothing here allocates by a number of the file.

mod items;
mod pages;
mod parts;
mod refusal;
mod sequence;
mod write;

pub use items::{CRITICAL, Item, Items, write_item};
pub use pages::{Damaged, Identity, PageSize};
pub use parts::Parts;
pub(super) use refusal::Masks;
pub use refusal::{ContainerRefusal, Part};
pub use sequence::Sequence;
pub use write::{assemble, pad};

use crate::limits::METADATA_BYTES_MAX;
use crate::wire::cursor::{Reader, Short, Writer};

/// What the header says of the file itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Features that a reader must, should or need not know.
    pub features: Features,
    /// Entries of the section table.
    pub sections: u32,
    /// Of this very file.
    pub uuid: u128,
    /// Which writing.
    pub generation: u64,
    /// Bytes 64 to 127 of the header: what the file holds.
    pub about: [u8; ABOUT_BYTES],
    /// Bytes of the metadata, trailer included.
    pub metadata_bytes: u64,
    /// Bytes of the page area.
    pub pages_bytes: u64,
    /// Of the pages with a checksum each.
    pub page_size: PageSize,
}

/// Feature masks. A reader refuses what it does not know of `incompat`, must not change a file with
/// something unknown in `ro_compat`, and ignores what it does not know of `compat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    pub(super) incompat: u32,
    ro_compat: u32,
    compat: u32,
}

/// Where a part lies in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// From the start of the file.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
}

impl Place {
    /// The offset behind it.
    #[must_use]
    pub fn end(self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// Its bytes in `file`; `None` where they are not all there.
    #[must_use]
    pub fn of(self, file: &[u8]) -> Option<&[u8]> {
        file.get(usize::try_from(self.offset).ok()?..usize::try_from(self.end()).ok()?)
    }
}

impl Outline {
    /// Where the metadata lie.
    #[must_use]
    pub fn metadata(&self) -> Place {
        Place { offset: HEADER_BYTES as u64, bytes: self.metadata_bytes }
    }

    /// Where the section table lies.
    #[must_use]
    pub fn section_table(&self) -> Place {
        let bytes = u64::from(self.sections) * ENTRY_BYTES as u64 + TRAILER_BYTES as u64;
        Place { offset: self.metadata().end(), bytes }
    }

    /// Where the page area lies.
    #[must_use]
    pub fn pages(&self) -> Place {
        let offset = self.section_table().end().next_multiple_of(ALIGNMENT);
        Place { offset, bytes: self.pages_bytes }
    }

    /// Where the page checksums lie; the file ends behind them.
    #[must_use]
    pub fn sums(&self) -> Place {
        let pages = self.pages_bytes.div_ceil(self.page_size.bytes());
        Place { offset: self.pages().end(), bytes: pages * 4 + TRAILER_BYTES as u64 }
    }

    /// Appends the header. Its checksum is right.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut w = Writer::new(out);
        w.bytes(MAGIC);
        w.u16(VERSION);
        w.u16(HASH_PER_SECTION);
        w.bytes(TEXT_MODE);
        w.u32(HEADER_BYTES as u32);
        w.u32(self.features.incompat);
        w.u32(self.features.ro_compat);
        w.u32(self.features.compat);
        w.u32(self.sections);
        w.u64(self.sums().end());
        w.u128(self.uuid);
        w.u64(self.generation);
        w.bytes(&self.about);
        // Sequence numbers: nobody is changing this file.
        w.zeros(16);
        for part in [self.metadata(), self.section_table(), self.sums()] {
            w.u64(part.offset);
            w.u64(part.bytes);
        }
        w.u8(self.page_size.log2());
        w.zeros(7);
        w.u64(self.pages().offset);
        w.u64(self.pages().bytes);
        w.zeros(HEADER_BYTES - 4 - w.len());
        let sum = crc32c::crc32c(w.written());
        w.u32(sum);
    }

    /// Reads the header at the start of `file`; no file may be longer than `bytes_max`. Whether
    /// this one is as long as it says: [`Outline::check_length`].
    ///
    /// # Errors
    /// Where it is none that [`Outline::write`] writes.
    pub fn read(file: &[u8], bytes_max: u64) -> Result<Self, ContainerRefusal> {
        let have = file.len() as u64;
        let Some(bytes) = file.first_chunk::<HEADER_BYTES>() else {
            return Err(ContainerRefusal::TooShort { need: HEADER_BYTES as u64, have });
        };
        if !bytes.starts_with(MAGIC) {
            return Err(ContainerRefusal::Magic);
        }
        if bytes[8..12] != *TEXT_MODE {
            return Err(ContainerRefusal::TextMode);
        }
        let found = u16::from_le_bytes([bytes[4], bytes[5]]);
        if found != VERSION {
            return Err(ContainerRefusal::Version { found });
        }
        let (fields, sum) = bytes.split_at(HEADER_BYTES - 4);
        if crc32c::crc32c(fields).to_le_bytes() != *sum {
            return Err(ContainerRefusal::Checksum { part: Part::Header });
        }
        if let Some(Sequence { writing, whole }) = Sequence::of(bytes) {
            return Err(ContainerRefusal::BeingWritten { writing, whole });
        }
        let short = |Short| ContainerRefusal::Reserved { part: Part::Header };
        let outline = Outline::parse(&mut Reader::new(fields)).map_err(short)??;
        outline.check(bytes_max)?;
        let mut again = Vec::with_capacity(HEADER_BYTES);
        outline.write(&mut again);
        if again != bytes {
            return Err(difference(&again, bytes));
        }
        Ok(outline)
    }

    /// The fields, in order; the outer error is unreachable with a whole header.
    fn parse(r: &mut Reader<'_>) -> Result<Result<Self, ContainerRefusal>, Short> {
        r.take(16)?;
        let features = Features { incompat: r.u32()?, ro_compat: r.u32()?, compat: r.u32()? };
        let sections = r.u32()?;
        r.take(8)?;
        let (uuid, generation, about) = (r.u128()?, r.u64()?, r.array()?);
        r.take(16 + 8)?;
        let metadata_bytes = r.u64()?;
        r.take(32)?;
        let page_log2 = r.u8()?;
        r.take(7 + 8)?;
        let pages_bytes = r.u64()?;
        if features.incompat != 0 {
            return Ok(Err(ContainerRefusal::Feature { unknown: features.incompat }));
        }
        let Some(page_size) = PageSize::from_log2(page_log2) else {
            return Ok(Err(ContainerRefusal::Layout { part: Part::Pages }));
        };
        Ok(Ok(Outline {
            features,
            sections,
            uuid,
            generation,
            about,
            metadata_bytes,
            pages_bytes,
            page_size,
        }))
    }

    /// Holds lengths to their limits: no sum of them can overflow after that.
    fn check(&self, bytes_max: u64) -> Result<(), ContainerRefusal> {
        let metadata =
            (TRAILER_BYTES as u64..=METADATA_BYTES_MAX as u64).contains(&self.metadata_bytes);
        if !metadata || !self.metadata_bytes.is_multiple_of(8) {
            return Err(ContainerRefusal::Layout { part: Part::Metadata });
        }
        let most = bytes_max.min(BYTES_MAX);
        if self.pages_bytes > most || !self.pages_bytes.is_multiple_of(ALIGNMENT) {
            return Err(ContainerRefusal::Layout { part: Part::Pages });
        }
        Ok(())
    }

    /// Checks that the file is as long as its header says: no byte less or more.
    ///
    /// # Errors
    /// Where `have` bytes are not that.
    pub fn check_length(&self, have: u64) -> Result<(), ContainerRefusal> {
        let need = self.sums().end();
        match have {
            _ if have < need => Err(ContainerRefusal::TooShort { need, have }),
            _ if have > need => Err(ContainerRefusal::TooLong { most: need, have }),
            _ => Ok(()),
        }
    }
}

/// What a header says that no writer writes: a part in another place, or a byte too many.
fn difference(again: &[u8], bytes: &[u8; HEADER_BYTES]) -> ContainerRefusal {
    let differs = |from: usize, to: usize| again.get(from..to) != bytes.get(from..to);
    let part = match () {
        () if differs(144, 160) => Part::Metadata,
        () if differs(160, 176) => Part::Sections,
        () if differs(176, 192) || differs(32, 40) => Part::Sums,
        () if differs(200, 216) => Part::Pages,
        () => return ContainerRefusal::Reserved { part: Part::Header },
    };
    ContainerRefusal::Layout { part }
}

/// Bytes of the header.
pub const HEADER_BYTES: usize = 256;
/// Bytes of the header that say what the file holds: 64 to 127.
pub const ABOUT_BYTES: usize = 64;
/// Bytes of an entry of the section table.
pub const ENTRY_BYTES: usize = 128;
/// Bytes at the end of every table: its number and its checksum.
pub const TRAILER_BYTES: usize = 8;
/// The page area, and every payload in it, starts at a multiple of this.
pub const ALIGNMENT: u64 = 4_096;
/// In place of a column: the section is of no column.
pub const NO_COLUMN: u16 = 0xffff;
/// Bytes of the header that every other checksum begins with: who the file is.
pub(super) const IDENTITY: std::ops::Range<usize> = 40..128;
/// The one format version that is written and read.
pub const VERSION: u16 = 2;
/// Longest page area whose pages are numbered by 32 bits.
const BYTES_MAX: u64 = 1 << 40;

const MAGIC: &[u8; 4] = b"BLMF";
const TEXT_MODE: &[u8; 4] = b"\x0d\x0a\x1a\x0a";
const HASH_PER_SECTION: u16 = 0xffff;
