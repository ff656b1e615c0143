//! The header of a batch's file: whose it is, beside where its parts lie ([`Outline`]).

use super::container::{ABOUT_BYTES, Features, Outline, PageSize, Part};
use super::{FileName, FileRefusal, Origin, Stamp};
use crate::identity::{BatchId, ClusterId, Fingerprint};
use crate::limits::{FILE_BYTES_MAX, RECORDS_PER_BATCH_MAX};
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

impl Header {
    /// Where the parts lie, and the bytes of the header.
    pub(super) fn outline(&self) -> Outline {
        Outline {
            features: self.features,
            sections: self.sections,
            uuid: self.uuid,
            generation: self.generation,
            about: self.about(),
            metadata_bytes: self.metadata_bytes,
            pages_bytes: self.pages_bytes,
            page_size: self.page_size,
        }
    }

    pub(super) fn stamp(&self) -> Stamp {
        Stamp {
            uuid: self.uuid,
            generation: self.generation,
            built_at_us: self.built_at_us,
            seed: self.seed,
        }
    }

    fn about(&self) -> [u8; ABOUT_BYTES] {
        let mut out = Vec::with_capacity(ABOUT_BYTES);
        let mut w = Writer::new(&mut out);
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
        out.try_into().unwrap_or_else(|_| unreachable!("fields of {ABOUT_BYTES} bytes"))
    }

    /// Reads the header of `file`, and checks that the file is as long as it says.
    pub(super) fn read(file: &[u8]) -> Result<Self, FileRefusal> {
        let have = file.len() as u64;
        if have > FILE_BYTES_MAX {
            return Err(FileRefusal::TooLong { most: FILE_BYTES_MAX, have });
        }
        let outline = Outline::read(file, FILE_BYTES_MAX)?;
        let reserved = FileRefusal::Reserved { part: Part::Header };
        let header = Header::parse(&outline).unwrap_or(Err(reserved))?;
        if header.about() != outline.about {
            return Err(reserved);
        }
        if header.records > RECORDS_PER_BATCH_MAX {
            return Err(FileRefusal::Records { found: header.records });
        }
        outline.check_length(have)?;
        Ok(header)
    }

    /// The fields, in order; the outer error is unreachable with a whole header.
    fn parse(outline: &Outline) -> Result<Result<Self, FileRefusal>, Short> {
        let mut r = Reader::new(&outline.about);
        let (cluster, batch) = (ClusterId(r.u128()?), r.u64()?);
        let (fingerprint, schema_version) = (Fingerprint(r.u64()?), r.u32()?);
        let (hash, state, contents) = (r.u8()?, r.u8()?, r.u8()?);
        r.take(1)?;
        let (records, built_at_us, seed) = (r.u64()?, r.u64()? as i64, r.u64()?);
        if state == 0 && contents == CONTENTS_FILTER {
            return Ok(Err(FileRefusal::SingleFilter));
        }
        if state != STATE_VERIFIED {
            return Ok(Err(FileRefusal::State { found: state }));
        }
        let Some(hash) = HashAlgorithm::from_code(hash) else {
            return Ok(Err(FileRefusal::Hash { found: hash }));
        };
        Ok(Ok(Header {
            features: outline.features,
            sections: outline.sections,
            uuid: outline.uuid,
            generation: outline.generation,
            cluster,
            batch,
            fingerprint,
            schema_version,
            hash,
            records,
            built_at_us,
            seed,
            metadata_bytes: outline.metadata_bytes,
            pages_bytes: outline.pages_bytes,
            page_size: outline.page_size,
        }))
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

const STATE_VERIFIED: u8 = 1;
/// Byte 102 of the header, where state is 0: the file holds a single filter.
const CONTENTS_FILTER: u8 = 1;
