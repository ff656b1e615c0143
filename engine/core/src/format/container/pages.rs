//! Checksums: of every page of the page area, and of every table.
//!
//! Each begins with the identity of the file (uuid, generation, cluster, batch, schema, ...), so
//! that a page or table of another file fails, and with the page's index, so that one from
//! another place does. CRC32C: finds every error of up to three bits and every burst of up to 32
//! bits in a page; of other damage one in 2^32 passes.

use super::{ContainerRefusal, HEADER_BYTES, IDENTITY, Part, TRAILER_BYTES};

/// Size of the pages that have a checksum each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PageSize {
    /// 4,096 bytes: damage costs the section it hits, no other.
    #[default]
    Kib4,
    /// 65,536 bytes: a sixteenth of the checksums; damage costs every section of the page.
    Kib64,
}

impl PageSize {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Kib4, Self::Kib64];

    /// Bytes of a page.
    #[must_use]
    pub fn bytes(self) -> u64 {
        1 << self.log2()
    }

    /// As the header says it.
    pub(super) fn log2(self) -> u8 {
        match self {
            Self::Kib4 => 12,
            Self::Kib64 => 16,
        }
    }

    pub(super) fn from_log2(log2: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.log2() == log2)
    }
}

/// The checksum of a file's identity, which those of its tables and pages go on from.
#[derive(Clone, Copy, Debug)]
pub struct Identity(u32);

impl Identity {
    /// That of the file with this header.
    #[must_use]
    pub fn of(header: &[u8; HEADER_BYTES]) -> Self {
        Identity(crc32c::crc32c(&header[IDENTITY]))
    }

    fn page(self, index: u64, page: &[u8]) -> u32 {
        crc32c::crc32c_append(crc32c::crc32c_append(self.0, &index.to_le_bytes()), page)
    }

    fn table(self, bytes: &[u8]) -> u32 {
        crc32c::crc32c_append(self.0, bytes)
    }

    /// Ends the table that began at `start` of `out`: its number, then its checksum.
    pub fn end_table(self, part: Part, start: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(&number(part).to_le_bytes());
        let sum = self.table(out.get(start..).unwrap_or_default());
        out.extend_from_slice(&sum.to_le_bytes());
    }

    /// The contents of a table whose end is right.
    ///
    /// # Errors
    /// Where it is not.
    pub fn checked_table(self, part: Part, bytes: &[u8]) -> Result<&[u8], ContainerRefusal> {
        let layout = ContainerRefusal::Layout { part };
        let (summed, sum) = bytes.split_last_chunk::<4>().ok_or(layout)?;
        if self.table(summed).to_le_bytes() != *sum {
            return Err(ContainerRefusal::Checksum { part });
        }
        let (contents, found) = summed.split_last_chunk::<4>().ok_or(layout)?;
        if *found != number(part).to_le_bytes() {
            return Err(ContainerRefusal::Layout { part });
        }
        Ok(contents)
    }

    /// Whether the page at `index` has this checksum.
    #[must_use]
    pub fn is_page(self, index: u64, page: &[u8], sum: [u8; 4]) -> bool {
        self.page(index, page).to_le_bytes() == sum
    }

    /// Appends the checksums of `pages`.
    pub fn write_sums(self, pages: &[u8], size: PageSize, out: &mut Vec<u8>) {
        for (index, page) in (0..).zip(pages.chunks(size.bytes() as usize)) {
            out.extend_from_slice(&self.page(index, page).to_le_bytes());
        }
    }

    /// The pages of `pages` whose checksum in `sums` fails. There is one for each.
    #[must_use]
    pub fn damaged(self, pages: &[u8], size: PageSize, sums: &[u8]) -> Damaged {
        let mut damaged = Vec::new();
        let (sums, _) = sums.as_chunks::<4>();
        for ((index, page), sum) in (0u32..).zip(pages.chunks(size.bytes() as usize)).zip(sums) {
            if !self.is_page(index.into(), page, *sum) {
                damaged.push(index);
            }
        }
        Damaged { pages: damaged, size }
    }
}

/// Pages that cannot be trusted, ascending.
#[derive(Clone, Debug)]
pub struct Damaged {
    pages: Vec<u32>,
    size: PageSize,
}

impl Damaged {
    /// The first damaged page that bytes `from..to` of the page area lie in.
    #[must_use]
    pub fn first_in(&self, from: u64, to: u64) -> Option<u32> {
        let last = to.checked_sub(1).filter(|last| *last >= from)? >> self.size.log2();
        let first = from >> self.size.log2();
        let at = self.pages.partition_point(|&page| u64::from(page) < first);
        self.pages.get(at).copied().filter(|&page| u64::from(page) <= last)
    }
}

/// Number of a table, at its end: one cannot pass for another.
fn number(part: Part) -> u32 {
    match part {
        Part::Header => 0,
        Part::Metadata => 1,
        Part::Sections => 2,
        Part::Pages => 3,
        Part::Sums => 4,
    }
}

const _: () = assert!(TRAILER_BYTES == 8, "number and checksum");
