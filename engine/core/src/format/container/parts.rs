//! The parts of a file whose tables are whole, and the payloads in its pages.

use super::{ALIGNMENT, ContainerRefusal, Damaged, HEADER_BYTES, Identity, Outline, Part, Place};
use crate::format::SectionRefusal;

/// The parts of a file whose tables are whole. Pages may be damaged.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// Metadata, without their trailer.
    pub metadata: &'a [u8],
    /// Entries of sections, without their trailer.
    pub table: &'a [u8],
    /// Between the section table and the page area.
    gap: &'a [u8],
    /// Where the page area lies, and its bytes.
    start: u64,
    pages: &'a [u8],
    damaged: Damaged,
}

impl<'a> Parts<'a> {
    /// Checks the checksums of every table, then of every page. The header was checked, and the
    /// length of the file against it.
    ///
    /// # Errors
    /// Where a table is not whole.
    pub fn check(bytes: &'a [u8], outline: &Outline) -> Result<Self, ContainerRefusal> {
        let part =
            |place: Place, part: Part| place.of(bytes).ok_or(ContainerRefusal::Layout { part });
        let start = bytes.first_chunk::<HEADER_BYTES>();
        let identity = start.map(Identity::of).ok_or(ContainerRefusal::Magic)?;
        let table = |place: Place, of: Part| identity.checked_table(of, part(place, of)?);
        let metadata = table(outline.metadata(), Part::Metadata)?;
        let sections = table(outline.section_table(), Part::Sections)?;
        let sums = table(outline.sums(), Part::Sums)?;
        let (from, to) = (outline.section_table().end(), outline.pages().offset);
        let gap = part(Place { offset: from, bytes: to.saturating_sub(from) }, Part::Pages)?;
        let pages = part(outline.pages(), Part::Pages)?;
        let damaged = identity.damaged(pages, outline.page_size, sums);
        Ok(Parts { metadata, table: sections, gap, start: to, pages, damaged })
    }

    /// No checksum covers the gap: it is zero.
    ///
    /// # Errors
    /// Where it is not.
    pub fn check_gap(&self) -> Result<(), ContainerRefusal> {
        let is_zero = self.gap.iter().all(|&byte| byte == 0);
        if is_zero { Ok(()) } else { Err(ContainerRefusal::Reserved { part: Part::Sections }) }
    }

    /// The payload of a section.
    ///
    /// # Errors
    /// Where a page of it is damaged, or what stands behind its end is not zero.
    pub fn payload(&self, place: Place) -> Result<&'a [u8], SectionRefusal> {
        let Place { offset, bytes } = place;
        if bytes == 0 {
            return Ok(&[]);
        }
        let from = offset.checked_sub(self.start).ok_or(SectionRefusal::Bits)?;
        let padded = bytes.checked_next_multiple_of(ALIGNMENT).ok_or(SectionRefusal::Bits)?;
        if let Some(page) = self.damaged.first_in(from, from.saturating_add(padded)) {
            return Err(SectionRefusal::Page { page });
        }
        let place = Place { offset: from, bytes: padded };
        let padded = place.of(self.pages).ok_or(SectionRefusal::Bits)?;
        let (payload, padding) =
            padded.split_at_checked(bytes as usize).ok_or(SectionRefusal::Bits)?;
        let is_zero = padding.iter().all(|&byte| byte == 0);
        if is_zero { Ok(payload) } else { Err(SectionRefusal::Padding) }
    }
}
