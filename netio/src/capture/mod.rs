//! Capture files: pcap and pcapng, plain or gzip, read packet by packet by `pcap-parser`.
//!
//! A file that is no capture is an error. A capture that is cut or damaged in the middle yields
//! every packet before the damage, then reports the place.
//!
//! Cost: one copy of each packet; memory for the longest block read so far, at most
//! [`BLOCK_BYTES_MAX`], whatever the file claims.

mod legacy;
mod pcapng;
mod window;
pub mod writer;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use legacy::Legacy;
use pcapng::Pcapng;
use window::Window;

/// Longest block of a pcapng file that holds a packet, and longest pcap record. A longer one is
/// taken for damage, and reading ends there. Blocks without packets may have any length.
pub const BLOCK_BYTES_MAX: usize = 16 << 20;

/// What libpcap itself takes for the longest packet, bytes.
const SNAPLEN_USUAL_MAX: usize = 262_144;

const SECOND_NS: i64 = 1_000_000_000;

/// A packet as the file holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Nanoseconds since 1970 (0 where the file has no time, as in a Simple Packet Block).
    pub ts_ns: i64,
    /// Link type (LINKTYPE_*).
    pub link_type: u32,
    /// Bytes captured.
    pub bytes: Vec<u8>,
    /// Bytes on the wire.
    pub wire_bytes: u32,
}

impl Packet {
    /// Becomes another packet, in the same memory.
    fn set(&mut self, ts_ns: i64, link_type: u32, bytes: &[u8], wire_bytes: u32) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        (self.ts_ns, self.link_type, self.wire_bytes) = (ts_ns, link_type, wire_bytes);
    }
}

/// Why a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file system's reason.
    #[error("{path}: {source}")]
    Open {
        /// File.
        path: String,
        /// Reason.
        source: std::io::Error,
    },
    /// Neither pcap nor pcapng (also after unpacking gzip).
    #[error("{path}: not a capture file (expected pcap or pcapng, plain or gzip): {detail}")]
    NotACapture {
        /// File.
        path: String,
        /// What was found instead.
        detail: String,
    },
}

/// Where and why reading ended before the end of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Byte offset (in the unpacked stream) of the block that could not be read.
    pub offset: u64,
    /// Why.
    pub reason: String,
}

/// An open capture.
pub struct Capture {
    format: Format,
    cut: Option<Cut>,
    done: bool,
    file_read: Arc<AtomicU64>,
    file_bytes: u64,
}

enum Format {
    Legacy(Legacy),
    Pcapng(Pcapng),
}

impl Capture {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// The file cannot be opened or read, or is no capture.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        let failed = |source| CaptureError::Open { path: path.display().to_string(), source };
        let file = File::open(path).map_err(failed)?;
        let file_bytes = file.metadata().map_err(failed)?.len();
        Self::from_reader(file, file_bytes, &path.display().to_string())
    }

    /// A capture from any reader; `file_bytes` is for [`Capture::progress`] only, `name` for
    /// messages.
    ///
    /// # Errors
    /// The first bytes cannot be read, or are no capture's.
    pub fn from_reader(
        reader: impl Read + Send + 'static,
        file_bytes: u64,
        name: &str,
    ) -> Result<Self, CaptureError> {
        let failed = |source| CaptureError::Open { path: name.to_owned(), source };
        let refused = |detail| CaptureError::NotACapture { path: name.to_owned(), detail };
        let file_read = Arc::new(AtomicU64::new(0));
        let counted = Counted { inner: reader, count: Arc::clone(&file_read) };
        let mut buffered = BufReader::with_capacity(64 << 10, counted);
        let is_gzip = buffered.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]);
        let mut window = if is_gzip {
            Window::new(Box::new(MultiGzDecoder::new(buffered)))
        } else {
            Window::new(Box::new(buffered))
        };
        let magic = window.peek(4);
        let format = if magic == [0x0a, 0x0d, 0x0d, 0x0a] {
            Pcapng::open(window).map(Format::Pcapng)
        } else {
            Legacy::open(window).map(Format::Legacy)
        };
        let format = format
            .map_err(|detail| refused(if is_gzip { format!("gzip: {detail}") } else { detail }))?;
        Ok(Capture { format, cut: None, done: false, file_read, file_bytes })
    }

    /// The next packet; `None` at the end or at the cut.
    pub fn next_packet(&mut self) -> Option<Packet> {
        let mut packet = Packet::default();
        self.next_into(&mut packet).then_some(packet)
    }

    /// The next packet, in the memory of an earlier one; false at the end or at the cut, where
    /// `packet` is as it was or holds bytes of no meaning.
    pub fn next_into(&mut self, packet: &mut Packet) -> bool {
        if self.done {
            return false;
        }
        let next = match &mut self.format {
            Format::Legacy(legacy) => legacy.next_into(packet),
            Format::Pcapng(pcapng) => pcapng.next_into(packet),
        };
        match next {
            Ok(true) => return true,
            Ok(false) => {}
            Err(cut) => self.cut = Some(cut),
        }
        self.done = true;
        false
    }

    /// After the end: where reading was cut short, if it was.
    #[must_use]
    pub fn cut(&self) -> Option<&Cut> {
        self.cut.as_ref()
    }

    /// Bytes of the file read so far and in all, for progress.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.file_read.load(Ordering::Relaxed), self.file_bytes)
    }
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture")
            .field("progress", &self.progress())
            .field("cut", &self.cut)
            .finish()
    }
}

impl Iterator for Capture {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        self.next_packet()
    }
}

/// Counts what is read of the file itself, below gzip.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
