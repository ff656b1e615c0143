//! Writes classic pcap files: nanoseconds, little-endian, one link type.

use std::io::{self, ErrorKind, Write};

use super::{SECOND_NS, SNAPLEN_USUAL_MAX};

/// Writes one capture. Wrap files in a `BufWriter`.
#[derive(Debug)]
pub struct PcapWriter<W> {
    target: W,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the file header.
    ///
    /// # Errors
    /// Those of `target`.
    pub fn new(mut target: W, link_type: u16) -> io::Result<Self> {
        let mut header = [0_u8; 24];
        header[0..4].copy_from_slice(&0xa1b2_3c4d_u32.to_le_bytes());
        header[4..6].copy_from_slice(&2_u16.to_le_bytes());
        header[6..8].copy_from_slice(&4_u16.to_le_bytes());
        header[16..20].copy_from_slice(&(SNAPLEN_USUAL_MAX as u32).to_le_bytes());
        header[20..24].copy_from_slice(&u32::from(link_type).to_le_bytes());
        target.write_all(&header)?;
        Ok(PcapWriter { target })
    }

    /// Writes one packet of `wire_bytes` on the wire, of which `bytes` were captured.
    ///
    /// # Errors
    /// Those of the target; a time outside of 1970 to 2106, or more than 262,144 bytes.
    pub fn write(&mut self, ts_ns: i64, bytes: &[u8], wire_bytes: u32) -> io::Result<()> {
        let refuse = |text: &str| io::Error::new(ErrorKind::InvalidInput, text);
        let seconds = u32::try_from(ts_ns.div_euclid(SECOND_NS))
            .map_err(|_| refuse("pcap holds times from 1970 to 2106 only"))?;
        if bytes.len() > SNAPLEN_USUAL_MAX {
            return Err(refuse("more bytes than a pcap record holds (262144)"));
        }
        let words = [seconds, ts_ns.rem_euclid(SECOND_NS) as u32, bytes.len() as u32, wire_bytes];
        for word in words {
            self.target.write_all(&word.to_le_bytes())?;
        }
        self.target.write_all(bytes)
    }

    /// Flushes, and gives the target back.
    ///
    /// # Errors
    /// Those of the target.
    pub fn finish(mut self) -> io::Result<W> {
        self.target.flush()?;
        Ok(self.target)
    }
}
