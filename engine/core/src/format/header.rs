//! The header: 256 bytes that say whose file it is and where its parts lie.
//!
//! Invariant: where a part lies follows from the lengths of those before it, so the header that
//! was read must encode to the bytes it was read from.

use super::{FileName, FileRefusal, Origin, PageSize, Part, Stamp};
use crate::identity::{BatchId, ClusterId, Fingerprint};
use crate::limits::{FILE_BYTES_MAX, METADATA_BYTES_MAX, RECORDS_PER_BATCH_MAX};
use crate::verify::HashAlgorithm;
use crate::wire::cursor::{Reader, Short, Writer};

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) features: Features,
    /// Entries of the section table.
    pub(super) sections: u32,
    pub(super) uuid: u128,
    pub(super) generation: u64,
    pub(super) cluster: ClusterId,
    pub(super) batch: BatchId,
    pub(super) fingerprint: Fingerprint,
    pub(super) schema_version: u32,
    pub(super) hash: HashAlgorithm,
    pub(super) records: u64,
    pub(super) built_at_us: i64,
    pub(super) seed: u64,
    /// Bytes of the metadata, trailer included.
    pub(super) metadata_bytes: u64,
    /// Bytes of the page area.
    pub(super) pages_bytes: u64,
    pub(super) page_size: PageSize,
}

/// Feature masks. A reader refuses what it does not know of `incompat`, must not change a file with
/// something unknown in `ro_compat`, and ignores what it does not know of `compat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Features {
    incompat: u32,
    ro_compat: u32,
    compat: u32,
}

/// Where a part lies in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

impl Place {
    pub(super) fn end(self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// Its bytes in `file`.
    pub(super) fn of(self, file: &[u8]) -> Option<&[u8]> {
        file.get(usize::try_from(self.offset).ok()?..usize::try_from(self.end()).ok()?)
    }
}

impl Header {
    pub(super) fn metadata(&self) -> Place {
        Place { offset: HEADER_BYTES as u64, bytes: self.metadata_bytes }
    }

    pub(super) fn section_table(&self) -> Place {
        let bytes = u64::from(self.sections) * ENTRY_BYTES as u64 + TRAILER_BYTES as u64;
        Place { offset: self.metadata().end(), bytes }
    }

    pub(super) fn pages(&self) -> Place {
        let offset = self.section_table().end().next_multiple_of(ALIGNMENT);
        Place { offset, bytes: self.pages_bytes }
    }

    pub(super) fn sums(&self) -> Place {
        let pages = self.pages_bytes.div_ceil(self.page_size.bytes());
        Place { offset: self.pages().end(), bytes: pages * 4 + TRAILER_BYTES as u64 }
    }

    pub(super) fn stamp(&self) -> Stamp {
        Stamp {
            uuid: self.uuid,
            generation: self.generation,
            built_at_us: self.built_at_us,
            seed: self.seed,
        }
    }

    /// Appends the header. Its checksum is right.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut w = Writer::new(out);
        w.bytes(MAGIC);
        w.u16(VERSION);
        w.u16(HASH_PER_SECTION);
        w.bytes(TEXT_MODE);
        w.u32(HEADER_BYTES as u32);
        w.u32(self.features.incompat);
        w.u32(self.features.ro_compat);
        w.u32(self.features.compat);
        w.u32(self.sections);
        w.u64(self.sums().end());
        w.u128(self.uuid);
        w.u64(self.generation);
        w.u128(self.cluster.0);
        w.u64(self.batch);
        w.u64(self.fingerprint.0);
        w.u32(self.schema_version);
        w.u8(self.hash.code());
        w.u8(STATE_VERIFIED);
        w.zeros(2);
        w.u64(self.records);
        w.u64(self.built_at_us as u64);
        w.u64(self.seed);
        // Sequence numbers of files that change in place; these do not.
        w.zeros(16);
        for part in [self.metadata(), self.section_table(), self.sums()] {
            w.u64(part.offset);
            w.u64(part.bytes);
        }
        w.u8(self.page_size.log2());
        w.zeros(7);
        w.u64(self.pages().offset);
        w.u64(self.pages().bytes);
        w.zeros(HEADER_BYTES - 4 - w.len());
        let sum = crc32c::crc32c(w.written());
        w.u32(sum);
    }

    /// Reads the header of `file`, and checks that the file is as long as it says.
    pub(super) fn read(file: &[u8]) -> Result<Self, FileRefusal> {
        let have = file.len() as u64;
        if have > FILE_BYTES_MAX {
            return Err(FileRefusal::TooLong { most: FILE_BYTES_MAX, have });
        }
        let Some(bytes) = file.first_chunk::<HEADER_BYTES>() else {
            return Err(FileRefusal::TooShort { need: HEADER_BYTES as u64, have });
        };
        let header = Header::parse(bytes)?;
        let need = header.sums().end();
        match have {
            _ if have < need => Err(FileRefusal::TooShort { need, have }),
            _ if have > need => Err(FileRefusal::TooLong { most: need, have }),
            _ => Ok(header),
        }
    }

    fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self, FileRefusal> {
        if !bytes.starts_with(MAGIC) {
            return Err(FileRefusal::Magic);
        }
        if bytes[8..12] != *TEXT_MODE {
            return Err(FileRefusal::TextMode);
        }
        let found = u16::from_le_bytes([bytes[4], bytes[5]]);
        if found != VERSION {
            return Err(FileRefusal::Version { found });
        }
        let (fields, sum) = bytes.split_at(HEADER_BYTES - 4);
        if crc32c::crc32c(fields).to_le_bytes() != *sum {
            return Err(FileRefusal::Checksum { part: Part::Header });
        }
        let short = |Short| FileRefusal::Reserved { part: Part::Header };
        let header = Header::parse_fields(&mut Reader::new(fields)).map_err(short)??;
        header.check()?;
        let mut again = Vec::with_capacity(HEADER_BYTES);
        header.write(&mut again);
        if again != bytes {
            return Err(header.difference(&again, bytes));
        }
        Ok(header)
    }

    /// The fields, in order; the outer error is unreachable with a whole header.
    fn parse_fields(r: &mut Reader<'_>) -> Result<Result<Self, FileRefusal>, Short> {
        r.take(16)?;
        let features = Features { incompat: r.u32()?, ro_compat: r.u32()?, compat: r.u32()? };
        let sections = r.u32()?;
        r.take(8)?;
        let (uuid, generation, cluster) = (r.u128()?, r.u64()?, ClusterId(r.u128()?));
        let (batch, fingerprint, schema_version) = (r.u64()?, Fingerprint(r.u64()?), r.u32()?);
        let (hash, state) = (r.u8()?, r.u8()?);
        r.take(2)?;
        let (records, built_at_us, seed) = (r.u64()?, r.u64()? as i64, r.u64()?);
        r.take(16 + 8)?;
        let metadata_bytes = r.u64()?;
        r.take(32)?;
        let page_log2 = r.u8()?;
        r.take(7 + 8)?;
        let pages_bytes = r.u64()?;
        if features.incompat != 0 {
            return Ok(Err(FileRefusal::Feature { unknown: features.incompat }));
        }
        if state != STATE_VERIFIED {
            return Ok(Err(FileRefusal::State { found: state }));
        }
        let Some(hash) = HashAlgorithm::from_code(hash) else {
            return Ok(Err(FileRefusal::Hash { found: hash }));
        };
        let Some(page_size) = PageSize::from_log2(page_log2) else {
            return Ok(Err(FileRefusal::Layout { part: Part::Pages }));
        };
        Ok(Ok(Header {
            features,
            sections,
            uuid,
            generation,
            cluster,
            batch,
            fingerprint,
            schema_version,
            hash,
            records,
            built_at_us,
            seed,
            metadata_bytes,
            pages_bytes,
            page_size,
        }))
    }

    /// Holds counts and lengths to their limits: no sum of them can overflow after that.
    fn check(&self) -> Result<(), FileRefusal> {
        if self.records > RECORDS_PER_BATCH_MAX {
            return Err(FileRefusal::Records { found: self.records });
        }
        let metadata =
            (TRAILER_BYTES as u64..=METADATA_BYTES_MAX as u64).contains(&self.metadata_bytes);
        if !metadata || !self.metadata_bytes.is_multiple_of(8) {
            return Err(FileRefusal::Layout { part: Part::Metadata });
        }
        if self.pages_bytes > FILE_BYTES_MAX || !self.pages_bytes.is_multiple_of(ALIGNMENT) {
            return Err(FileRefusal::Layout { part: Part::Pages });
        }
        Ok(())
    }

    /// What a header says that no writer writes: a part in another place, or a byte too many.
    fn difference(&self, again: &[u8], bytes: &[u8; HEADER_BYTES]) -> FileRefusal {
        let differs = |from: usize, to: usize| again.get(from..to) != bytes.get(from..to);
        let part = match () {
            () if differs(144, 160) => Part::Metadata,
            () if differs(160, 176) => Part::Sections,
            () if differs(176, 192) || differs(32, 40) => Part::Sums,
            () if differs(200, 216) => Part::Pages,
            () => return FileRefusal::Reserved { part: Part::Header },
        };
        FileRefusal::Layout { part }
    }

    /// Compares with whose file is wanted.
    pub(super) fn check_identity(
        &self,
        name: &FileName,
        origin: &Origin,
    ) -> Result<(), FileRefusal> {
        if self.cluster != origin.cluster {
            return Err(FileRefusal::Cluster { found: self.cluster });
        }
        if self.fingerprint != origin.fingerprint {
            return Err(FileRefusal::Schema { found: self.fingerprint });
        }
        if self.schema_version != origin.schema_version {
            return Err(FileRefusal::SchemaVersion { found: self.schema_version });
        }
        if self.batch != name.batch {
            return Err(FileRefusal::Batch { found: self.batch });
        }
        if self.generation != name.generation {
            return Err(FileRefusal::Generation { found: self.generation });
        }
        Ok(())
    }
}

/// Bytes of the header.
pub(super) const HEADER_BYTES: usize = 256;
/// Bytes of an entry of the section table.
pub(super) const ENTRY_BYTES: usize = 128;
/// Bytes at the end of every table: its number and its checksum.
pub(super) const TRAILER_BYTES: usize = 8;
/// The page area, and every payload in it, starts at a multiple of this.
pub(super) const ALIGNMENT: u64 = 4_096;
/// Bytes of the header that every other checksum begins with: who the file is.
pub(super) const IDENTITY: std::ops::Range<usize> = 40..128;

const MAGIC: &[u8; 4] = b"BLMF";
const TEXT_MODE: &[u8; 4] = b"\x0d\x0a\x1a\x0a";
/// The one format version that is written and read.
pub(crate) const VERSION: u16 = 2;
const HASH_PER_SECTION: u16 = 0xffff;
const STATE_VERIFIED: u8 = 1;
