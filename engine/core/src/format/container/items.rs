//! Metadata: tag, length, value. What has no place in the header, and what later versions add.
//!
//! Bit 15 of a tag: critical, a reader that does not know it refuses the file. Others are skipped.

use super::{ContainerRefusal, Part};
use crate::wire::cursor::{Reader, Short, Writer};

/// Tag and value.
pub type Item<'a> = (u16, &'a [u8]);

/// Bit of a tag: who does not know it refuses the file.
pub const CRITICAL: u16 = 1 << 15;

/// Appends an item: tag, length, value, zeros up to a multiple of 8.
pub fn write_item(tag: u16, value: &[u8], out: &mut Vec<u8>) {
    let mut w = Writer::new(out);
    w.u16(tag);
    w.u16(0);
    w.u32(value.len() as u32);
    w.bytes(value);
    w.zeros(value.len().next_multiple_of(8) - value.len());
}

/// The items of metadata whose checksum is right, in order. Ends behind the first error.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    rest: Reader<'a>,
    is_broken: bool,
}

impl<'a> Items<'a> {
    /// Those of the table without its trailer.
    #[must_use]
    pub fn of(metadata: &'a [u8]) -> Self {
        Items { rest: Reader::new(metadata), is_broken: false }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Result<Item<'a>, ContainerRefusal>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() || self.is_broken {
            return None;
        }
        let layout = ContainerRefusal::Layout { part: Part::Metadata };
        let item = item(&mut self.rest).unwrap_or(Err(layout));
        self.is_broken = item.is_err();
        Some(item)
    }
}

/// The next item; its padding is zero.
fn item<'a>(r: &mut Reader<'a>) -> Result<Result<Item<'a>, ContainerRefusal>, Short> {
    let (tag, zero, bytes) = (r.u16()?, r.u16()?, r.u32()? as usize);
    let value = r.take(bytes)?;
    let padding = r.take(bytes.next_multiple_of(8) - bytes)?;
    let is_clean = zero == 0 && padding.iter().all(|&byte| byte == 0);
    Ok(if is_clean {
        Ok((tag, value))
    } else {
        Err(ContainerRefusal::Reserved { part: Part::Metadata })
    })
}
