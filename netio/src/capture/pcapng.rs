//! pcapng: sections of blocks, each section with its own byte order and interfaces.
//!
//! The framing of blocks is ours, which bounds memory: a block without a packet is skipped without
//! being read into memory. `pcap-parser` reads the headers of sections and interfaces and Simple
//! Packet Blocks. The body that Enhanced Packet Blocks share with the older Packet Blocks is read
//! here: `pcap-parser` does not know the latter, and keeps every option of the former in a vector.

mod interface;

use pcap_parser::pcapng::{
    Block, EPB_MAGIC, IDB_MAGIC, SHB_MAGIC, SPB_MAGIC, parse_block_be, parse_block_le,
    parse_sectionheaderblock,
};
use pcap_parser::traits::PcapNGPacketBlock;

use super::window::Window;
use super::{BLOCK_BYTES_MAX, Cut, Packet};
use interface::Interface;

/// The Packet Block of early pcapng.
const PB_MAGIC: u32 = 2;
/// Longest header of a section or interface: they hold texts for people.
const HEADER_BYTES_MAX: usize = 1 << 20;
/// Most interfaces of a section.
const INTERFACES_MAX: usize = 1 << 16;

pub(super) struct Pcapng {
    window: Window,
    big_endian: bool,
    interfaces: Vec<Interface>,
}

impl Pcapng {
    /// Reads the first section header.
    pub(super) fn open(window: Window) -> Result<Self, String> {
        let mut this = Pcapng { window, big_endian: false, interfaces: Vec::new() };
        this.section().map_err(|cut| {
            format!("a pcapng section header that cannot be read: {}", cut.reason)
        })?;
        Ok(this)
    }

    pub(super) fn next_into(&mut self, packet: &mut Packet) -> Result<bool, Cut> {
        while !self.window.at_end()? {
            let head = self.window.need(8, "a block header")?;
            let (kind, length) = (word(head, 0, self.big_endian), word(head, 4, self.big_endian));
            // Reads the same in both byte orders; its length may be of the other one.
            if kind == SHB_MAGIC {
                self.section()?;
                continue;
            }
            let length = self.checked_length(length)?;
            match kind {
                IDB_MAGIC => self.interface(length)?,
                EPB_MAGIC | PB_MAGIC => self.packet(length, kind, packet)?,
                SPB_MAGIC => self.simple_packet(length, packet)?,
                _ => {
                    self.skip_block(length)?;
                    continue;
                }
            }
            self.window.consume(length as usize);
            if kind != IDB_MAGIC {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A section header: byte order, and a new set of interfaces.
    fn section(&mut self) -> Result<(), Cut> {
        let head = self.window.need(12, "a section header")?;
        let big_endian = match word(head, 8, false) {
            0x1a2b_3c4d => false,
            0x4d3c_2b1a => true,
            _ => {
                return Err(self.window.cut("a section header without byte-order mark".to_owned()));
            }
        };
        let length = word(head, 4, big_endian);
        self.big_endian = big_endian;
        let length = self.checked_length(length)?;
        let block = self.whole_block(length, HEADER_BYTES_MAX)?;
        let version = parse_sectionheaderblock(block).map(|(_, header)| header.major_version);
        match version {
            Ok(1) => {}
            Ok(other) => {
                return Err(self.window.cut(format!("a section of version {other}, not 1")));
            }
            Err(_) => return Err(self.window.cut("a malformed section header".to_owned())),
        }
        self.interfaces.clear();
        self.window.consume(length as usize);
        Ok(())
    }

    fn interface(&mut self, length: u32) -> Result<(), Cut> {
        if self.interfaces.len() == INTERFACES_MAX {
            return Err(self.window.cut(format!("more than {INTERFACES_MAX} interfaces")));
        }
        let big_endian = self.big_endian;
        let block = self.whole_block(length, HEADER_BYTES_MAX)?;
        let interface = match if big_endian { parse_block_be(block) } else { parse_block_le(block) }
        {
            Ok((_, Block::InterfaceDescription(block))) => Some(Interface::new(&block, big_endian)),
            _ => None,
        };
        let Some(interface) = interface else {
            return Err(self.window.cut("a malformed interface description".to_owned()));
        };
        self.interfaces.push(interface);
        Ok(())
    }

    /// The body of an Enhanced Packet Block, or of a Packet Block, whose first word is two halves:
    /// interface and drop count.
    fn packet(&mut self, length: u32, kind: u32, packet: &mut Packet) -> Result<(), Cut> {
        const BODY: usize = 8;
        const CONTENT: usize = BODY + 20;
        const TRAILER: usize = 4;
        let big_endian = self.big_endian;
        let interfaces = std::mem::take(&mut self.interfaces);
        let block = self.whole_block(length, BLOCK_BYTES_MAX)?;
        let number = match (kind, big_endian) {
            (EPB_MAGIC, _) => word(block, BODY, big_endian),
            (_, true) => word(block, BODY, true) >> 16,
            (_, false) => word(block, BODY, false) & 0xffff,
        };
        let ticks = u64::from(word(block, BODY + 4, big_endian)) << 32
            | u64::from(word(block, BODY + 8, big_endian));
        let captured = word(block, BODY + 12, big_endian);
        let wire_bytes = word(block, BODY + 16, big_endian);
        let end = CONTENT.saturating_add(captured as usize);
        let content = block.get(..block.len() - TRAILER).and_then(|b| b.get(CONTENT..end));
        let result = match (interfaces.get(number as usize), content) {
            (None, _) => Err(format!(
                "a packet of interface {number}, where the section describes {}",
                interfaces.len()
            )),
            (_, None) => Err(format!("a packet of {captured} bytes in a block of {length}")),
            (Some(interface), Some(content)) => {
                packet.set(interface.ts_ns(ticks), interface.link_type, content, wire_bytes);
                Ok(())
            }
        };
        self.interfaces = interfaces;
        result.map_err(|reason| self.window.cut(reason))
    }

    /// A Simple Packet Block: no time, the first interface, cut at that interface's snap length.
    fn simple_packet(&mut self, length: u32, packet: &mut Packet) -> Result<(), Cut> {
        let Some((link_type, snaplen)) = self.interfaces.first().map(|i| (i.link_type, i.snaplen))
        else {
            return Err(self.window.cut("a simple packet before any interface".to_owned()));
        };
        let big_endian = self.big_endian;
        let block = self.whole_block(length, BLOCK_BYTES_MAX)?;
        match if big_endian { parse_block_be(block) } else { parse_block_le(block) } {
            Ok((_, Block::SimplePacket(block))) => {
                let mut bytes = block.packet_data();
                if snaplen > 0 {
                    bytes = bytes.get(..snaplen as usize).unwrap_or(bytes);
                }
                packet.set(0, link_type, bytes, block.origlen);
                Ok(())
            }
            _ => Err(self.window.cut("a malformed simple packet".to_owned())),
        }
    }

    fn checked_length(&self, length: u32) -> Result<u32, Cut> {
        if length < 12 || !length.is_multiple_of(4) {
            let reason = format!("a block of impossible length {length}: damaged");
            return Err(self.window.cut(reason));
        }
        Ok(length)
    }

    /// The block at the window's start in full, its two lengths the same; at least 32 bytes are
    /// needed by the kinds that this is called for, fewer make a later check fail.
    fn whole_block(&mut self, length: u32, bytes_max: usize) -> Result<&[u8], Cut> {
        if length as usize > bytes_max {
            let reason =
                format!("a block of {length} bytes, where {bytes_max} are possible: damaged");
            return Err(self.window.cut(reason));
        }
        let big_endian = self.big_endian;
        let block = self.window.need(length as usize, "a block")?;
        let trailer = word(block, length as usize - 4, big_endian);
        if trailer != length {
            let reason =
                format!("a block of length {length} that ends with length {trailer}: damaged");
            return Err(self.window.cut(reason));
        }
        Ok(self.window.peek(length as usize))
    }

    /// Goes past a block of no interest, of whatever length.
    fn skip_block(&mut self, length: u32) -> Result<(), Cut> {
        let offset = self.window.offset();
        let ok = self.window.skip(u64::from(length) - 4);
        let trailer = self.window.peek(4);
        let reason = if !ok || trailer.len() < 4 {
            let have = self.window.offset() + self.window.peek(4).len() as u64 - offset;
            self.window.short(&format!("a block of {length} bytes"), have)
        } else if word(trailer, 0, self.big_endian) != length {
            format!("a block of length {length} that ends with another length: damaged")
        } else {
            self.window.consume(4);
            return Ok(());
        };
        Err(Cut { offset, reason })
    }

    #[cfg(test)]
    pub(super) fn memory_bytes(&self) -> usize {
        self.window.memory_bytes()
    }
}

/// The word at `offset`; zero where the block is too short for it.
fn word(bytes: &[u8], offset: usize, big_endian: bool) -> u32 {
    let word = bytes.get(offset..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; 4]);
    if big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}
