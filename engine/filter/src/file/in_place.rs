//! The one filter of a file, asked where it lies instead of in a copy.
//!
//! [`InPlace::check`] reads the file once, a piece at a time, and checks what [`super::decode`]
//! checks. [`InPlace::contains`] then loads the words of an item from wherever the file lies.
//! Cost of a question: that of the portable kernel.

use std::io;

use bloomrf_engine::format::SectionRefusal;
use bloomrf_engine::format::container::{
    ContainerRefusal, HEADER_BYTES, Identity, Outline, Part, Place,
};
use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::mapped::MappedWords;
use bloomrf_kernels::{Kernel, blocked, classic, counting, cuckoo, split_block, words};

use super::info::Tables;
use super::shape::Shape;
use super::{Asked, FileRefusal, Info};

/// Where a file's one filter lies, and what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InPlace {
    shape: Shape,
    payload: Place,
    /// Set bits of the payload.
    ones: u64,
}

/// Why a file was not found whole.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is damaged.
    #[error(transparent)]
    Refused(#[from] FileRefusal),
}

/// Bytes of a piece: a multiple of every page size.
const PIECE_BYTES: usize = 1 << 20;

impl InPlace {
    /// What a file says that begins with `head`; `None` where it holds a chain or shards.
    ///
    /// # Errors
    /// Where header or tables are none of a whole filter file, or not what was asked for.
    pub(crate) fn read(
        head: &[u8],
        file_bytes: u64,
        asked: &Asked,
    ) -> Result<(Info, Option<Self>), FileRefusal> {
        asked.check_bytes(file_bytes)?;
        let Tables { entries, info, .. } = Tables::read(head, file_bytes)?;
        asked.check(&info)?;
        let one = match (info.compound, &entries[..]) {
            (None, [(entry, shape)]) => {
                let (payload, ones) = (entry.place, entry.counts.ones);
                Some(InPlace { shape: *shape, payload, ones })
            }
            _ => None,
        };
        Ok((info, one))
    }

    /// Whether the file that says `other` is asked in the same way, whatever its bits.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (self.shape, self.payload) == (other.shape, other.payload)
    }

    /// Bytes of the file before the payload: header and tables.
    pub(crate) fn head_bytes(&self) -> usize {
        self.payload.offset as usize
    }

    /// Checks every byte of the file that begins with `head`; `read` reads at an offset.
    ///
    /// # Errors
    /// Where it is damaged, or `read` fails.
    pub(crate) fn check(
        self,
        head: &[u8],
        mut read: impl FnMut(&mut [u8], u64) -> io::Result<()>,
    ) -> Result<(), CheckError> {
        let refused = |why: ContainerRefusal| CheckError::Refused(why.into());
        let outline = Outline::read(head, super::FILTER_FILE_BYTES_MAX).map_err(refused)?;
        let header = head.first_chunk::<HEADER_BYTES>();
        let identity = header.map(Identity::of).ok_or_else(|| refused(ContainerRefusal::Magic))?;
        let (from, to) = (outline.section_table().end(), outline.pages().offset);
        let gap = Place { offset: from, bytes: to.saturating_sub(from) };
        if gap.of(head).is_none_or(|gap| gap.iter().any(|&byte| byte != 0)) {
            return Err(refused(ContainerRefusal::Reserved { part: Part::Sections }));
        }
        // As many as the page area has, whose length was compared with the file's.
        let mut sums = vec![0; outline.sums().bytes as usize];
        read(&mut sums, outline.sums().offset)?;
        let sums = identity.checked_table(Part::Sums, &sums).map_err(refused)?;
        let (sums, _) = sums.as_chunks();
        let check = Pages { page_bytes: outline.page_size.bytes(), identity, sums };
        self.check_payload(&check, outline.pages(), read)
    }

    /// Every page by its checksum; set bits and padding as the entry says.
    fn check_payload(
        self,
        sums: &Pages<'_>,
        pages: Place,
        mut read: impl FnMut(&mut [u8], u64) -> io::Result<()>,
    ) -> Result<(), CheckError> {
        let refused = |reason| FileRefusal::Payload { section: 0, reason };
        let (mut piece, mut ones, mut last) = (vec![0; PIECE_BYTES], 0, 0);
        for from in (0..pages.bytes).step_by(PIECE_BYTES) {
            let length = (pages.bytes - from).min(PIECE_BYTES as u64) as usize;
            let piece = &mut piece[..length];
            read(piece, pages.offset + from)?;
            if let Some(page) = sums.first_damaged(from, piece) {
                return Err(refused(SectionRefusal::Page { page }).into());
            }
            let here = self.payload.bytes.saturating_sub(from).min(length as u64) as usize;
            let (payload, padding) = piece.split_at(here);
            if padding.iter().any(|&byte| byte != 0) {
                return Err(refused(SectionRefusal::Padding).into());
            }
            let (chunks, _) = payload.as_chunks::<8>();
            let of_piece: Vec<u64> =
                chunks.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
            ones += words::ones(Kernel::best(), &of_piece);
            last = of_piece.last().copied().unwrap_or(last);
        }
        let past = match self.shape {
            Shape::Classic { bits, .. } | Shape::Imported { bits, .. } => {
                last >> 1 >> (bits.wrapping_sub(1) % 64)
            }
            _ => 0,
        };
        let is_whole = ones == self.ones && past == 0;
        if is_whole { Ok(()) } else { Err(refused(SectionRefusal::Bits).into()) }
    }

    /// Whether an item may be there; `words` are those of the whole file. A word that is not there
    /// is no proof of absence.
    #[inline]
    pub(crate) fn contains(&self, words: MappedWords<'_>, item: Hash128) -> bool {
        let Place { offset, bytes } = self.payload;
        let Some(words) = words.part((offset / 8) as usize, (bytes / 8) as usize) else {
            return true;
        };
        let is_set = |at: u64| {
            let word = words.load((at / 64) as usize);
            word.is_none_or(|word| word >> (at % 64) & 1 == 1)
        };
        match self.shape {
            Shape::Classic { k, bits } => classic::probes(k.into(), bits, item).all(is_set),
            Shape::Imported { rule, k, bits } => rule.probes(k.into(), bits, item).all(is_set),
            Shape::SplitBlock { .. } => {
                let block = block::<{ split_block::BLOCK_WORDS }>(words, item);
                block.is_none_or(|block| split_block::contains(&block, item.lo))
            }
            Shape::Blocked { k, .. } => {
                let block = block::<{ blocked::BLOCK_WORDS }>(words, item);
                block.is_none_or(|block| blocked::contains(k.into(), &block, item.lo))
            }
            Shape::Counting { k, .. } => {
                let block = block::<{ blocked::BLOCK_WORDS }>(words, item);
                block.is_none_or(|block| counting::contains(k.into(), &block, item))
            }
            Shape::Cuckoo { .. } => {
                cuckoo::contains_by(words.len(), item, |bucket| words.load(bucket))
            }
        }
    }
}

/// The one block of an item, which alone is a filter of one block with the same answer.
#[inline]
fn block<const N: usize>(words: MappedWords<'_>, item: Hash128) -> Option<[u64; N]> {
    let blocks = (words.len() / N) as u64;
    let index = ((item.lo >> 32) * blocks) >> 32;
    words.load_many(index as usize * N)
}

/// What pages are held to.
struct Pages<'a> {
    page_bytes: u64,
    identity: Identity,
    sums: &'a [[u8; 4]],
}

impl Pages<'_> {
    /// The first page of `piece`, which begins at `from` of the page area, whose checksum fails.
    fn first_damaged(&self, from: u64, piece: &[u8]) -> Option<u32> {
        let pages = piece.chunks(self.page_bytes as usize).zip(from / self.page_bytes..);
        let is_damaged = |page: &[u8], index: u64| {
            let sum = self.sums.get(index as usize);
            !sum.is_some_and(|sum| self.identity.is_page(index, page, *sum))
        };
        let mut damaged = pages.filter(|(page, index)| is_damaged(page, *index));
        damaged.next().map(|(_, index)| index as u32)
    }
}
