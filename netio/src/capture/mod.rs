//! Capture files: pcap and pcapng, plain or gzip, read packet by packet by `pcap-parser`.
//!
//! A file that is no capture is an error. A capture that is cut or damaged in the middle yields
//! every packet before the damage, then reports the place.

use std::path::Path;

/// A packet as the file holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    _private: (),
}

impl Capture {
    /// Opens a file and reads its header.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        let _ = path;
        todo!("netio")
    }

    /// The next packet; `None` at the end or at the cut.
    pub fn next_packet(&mut self) -> Option<Packet> {
        todo!("netio")
    }

    /// After the end: where reading was cut short, if it was.
    #[must_use]
    pub fn cut(&self) -> Option<&Cut> {
        todo!("netio")
    }

    /// Bytes of the file read so far and in all, for progress.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        todo!("netio")
    }
}
