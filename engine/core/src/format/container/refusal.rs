//! Why a file was refused, whatever it was to hold.

use std::fmt;

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The first 256 bytes.
    Header,
    /// Metadata.
    Metadata,
    /// The table of sections.
    Sections,
    /// The payloads of sections, in pages.
    Pages,
    /// The table of page checksums.
    Sums,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::Metadata => "metadata",
            Self::Sections => "section table",
            Self::Pages => "page area",
            Self::Sums => "page checksum table",
        })
    }
}

/// Why the container of a file is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContainerRefusal {
    /// Shorter than its parts.
    #[error("{have} bytes, where {need} were expected: the file was cut off")]
    TooShort {
        /// Bytes expected.
        need: u64,
        /// Bytes there.
        have: u64,
    },
    /// Longer than its header says, or than any file may be.
    #[error("{have} bytes, where at most {most} were expected: something was appended")]
    TooLong {
        /// Bytes expected.
        most: u64,
        /// Bytes there.
        have: u64,
    },
    /// Does not begin with `BLMF`.
    #[error("no BLMF file: it does not begin with these letters")]
    Magic,
    /// The bytes that a copy in text mode changes were changed.
    #[error("bytes 8 to 11 are not 0d 0a 1a 0a: the file was copied in text mode, or damaged")]
    TextMode,
    /// Another format version.
    #[error("format version {found}, where this reader knows {}", super::VERSION)]
    Version {
        /// The file's version.
        found: u16,
    },
    /// A part's checksum fails.
    #[error("the checksum of the {part} fails: it was damaged, or comes from another file")]
    Checksum {
        /// Which part.
        part: Part,
    },
    /// An incompatible feature that this reader does not know.
    #[error("needs features {} that this reader does not know: use a newer one", Masks(*unknown))]
    Feature {
        /// The unknown bits.
        unknown: u32,
    },
    /// In the midst of being changed in place, by a writer at work or one that died.
    #[error(
        "generation {writing} was being written over {whole}: wait for the writer, or open the \
         filter for writing once, which finishes it by the log beside it; without that log, build \
         it anew from its source"
    )]
    BeingWritten {
        /// The generation that is being written.
        writing: u64,
        /// The last one that was whole.
        whole: u64,
    },
    /// A byte that must be zero (or the one value there is) is not.
    #[error("the {part} holds something where its layout has nothing")]
    Reserved {
        /// Where.
        part: Part,
    },
    /// A part does not lie where the lengths of those before it put it, or is too long or short.
    #[error("the {part} lies elsewhere, or is longer or shorter, than the header's counts say")]
    Layout {
        /// Which part.
        part: Part,
    },
}

/// Incompatible features: the mask, and the names of bits that are reserved.
pub(in crate::format) struct Masks(pub(in crate::format) u32);

impl fmt::Display for Masks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)?;
        for (bit, name) in (0..).zip(RESERVED) {
            if self.0 >> bit & 1 == 1 {
                write!(f, " ({name})")?;
            }
        }
        Ok(())
    }
}

/// Incompatible features that have a bit, the lowest first, and no reader yet.
const RESERVED: [&str; 2] = ["pages compressed by zstd", "changed in place"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_features_are_refused_by_their_names() {
        let text = ContainerRefusal::Feature { unknown: 5 }.to_string();
        assert!(text.contains("0x5 (pages compressed by zstd) that"), "{text}");
    }
}
