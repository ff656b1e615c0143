//! The chunks of `BF.SCANDUMP`, which `BF.LOADCHUNK` takes.
//!
//! They have no checksum. The head is checked field against field, each iterator against the bytes
//! so far, and at the end the set bits of each link against its count; nothing can be asked of a
//! filter before its last chunk is there.

use super::super::cursor::Cursor;
use super::super::{Limits, Refusal};
use super::assembly::{Assembly, HEAD_ITERATOR, Spans, hand_out};
use super::chain::Whole;
use super::{Chain, LinkHead};

/// A chain of which chunks are still to come: nothing can be asked of it.
#[derive(Clone, Debug)]
pub struct Loading {
    limits: Limits,
    whole: Whole,
    is_scaling: bool,
    heads: Vec<LinkHead>,
    assembly: Assembly,
}

impl Loading {
    /// Begins with the first chunk, whose iterator is 1.
    ///
    /// # Errors
    /// Where the head is not one, or announces more than the limit.
    pub fn begin(iterator: u64, head: &[u8], limits: Limits) -> Result<Self, Refusal> {
        if iterator != HEAD_ITERATOR {
            return Err(Refusal::field("the iterator of the head", iterator, HEAD_ITERATOR));
        }
        let mut cursor = Cursor::new("the head of a chain", head);
        let size = cursor.u64_le()?;
        let links = cursor.u32_le()?;
        let whole = Whole { size, options: cursor.u32_le()?, growth: cursor.u32_le()? };
        let is_scaling = whole.check(links.into())?;
        let mut rest = Cursor::new("the links of a head", cursor.rest());
        let links = rest.take(u64::from(links) * LINK_HEAD_BYTES)?;
        rest.end()?;
        let heads = links
            .chunks_exact(LINK_HEAD_BYTES as usize)
            .map(link_head)
            .collect::<Result<Vec<LinkHead>, Refusal>>()?;
        whole.check_links(&heads)?;
        let bytes = heads.iter().fold(0_u64, |sum, head| sum.saturating_add(head.bytes));
        limits.admit(bytes)?;
        let assembly = Assembly::new(Spans::Listed(heads.iter().map(|head| head.bytes).collect()));
        Ok(Loading { limits, whole, is_scaling, heads, assembly })
    }

    /// Takes the next chunk, with the iterator that came back with it.
    ///
    /// # Errors
    /// Where it is not the next one; it may still come then.
    pub fn load(&mut self, iterator: u64, chunk: &[u8]) -> Result<(), Refusal> {
        self.assembly.push(iterator, chunk)
    }

    /// Whether all chunks are there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.assembly.is_complete()
    }

    /// The chain.
    ///
    /// # Errors
    /// Where chunks are missing, or the bits of a link do not fit its count.
    pub fn finish(self) -> Result<Chain, Refusal> {
        let parts = self.assembly.finish()?;
        let links = self.heads.into_iter().zip(parts);
        Chain::assemble(self.limits, self.is_scaling, self.whole.growth, links)
    }
}

impl Chain {
    /// The first chunk, of iterator 1.
    #[must_use]
    pub fn head_chunk(&self) -> Vec<u8> {
        let mut head = Vec::new();
        head.extend(self.card().to_le_bytes());
        head.extend((self.links.len() as u32).to_le_bytes());
        head.extend(self.options().to_le_bytes());
        head.extend(self.growth.to_le_bytes());
        for link in self.links() {
            head.extend(link.bytes.to_le_bytes());
            head.extend(link.bits().to_le_bytes());
            head.extend(link.size.to_le_bytes());
            head.extend(link.error.to_le_bytes());
            head.extend(link.bpe.to_le_bytes());
            head.extend(link.hashes.to_le_bytes());
            head.extend(link.entries.to_le_bytes());
            head.push(0);
        }
        head
    }

    /// The chunks behind the first one, each with the iterator that `LOADCHUNK` wants.
    pub fn chunks(&self) -> impl Iterator<Item = (u64, &[u8])> {
        hand_out(self.links.iter().map(|link| link.bits.bytes()))
    }
}

fn link_head(bytes: &[u8]) -> Result<LinkHead, Refusal> {
    let mut cursor = Cursor::new("a link of a head", bytes);
    let (bytes, bits, size) = (cursor.u64_le()?, cursor.u64_le()?, cursor.u64_le()?);
    let (error, bpe) = (cursor.f64_le()?, cursor.f64_le()?);
    let (hashes, entries) = (cursor.u32_le()?, cursor.u64_le()?);
    let n2 = cursor.u8()?;
    if n2 != 0 {
        return Err(Refusal::field("a link's power of two", n2, "0: no such size is in use"));
    }
    let head = LinkHead { bytes, size, error, bpe, hashes, entries };
    head.check(bits)?;
    Ok(head)
}

/// Bytes of a link in the head.
const LINK_HEAD_BYTES: u64 = 53;
