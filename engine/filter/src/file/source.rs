//! Where the items came from, and how far that was read: what to go on from, or to build anew
//! from, when a file is old or refused.

use std::collections::BTreeMap;

use super::cbor::{NotThat, Reader, in_order, put_bytes, put_map, put_number, put_text};

/// How far the source of the items had been read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourcePosition {
    /// Topics of Kafka: for each partition the offset of the next record.
    Kafka {
        /// Topic, partition, next offset.
        topics: BTreeMap<String, BTreeMap<u32, u64>>,
    },
    /// The log of a database.
    Database {
        /// Which one.
        name: String,
        /// Log sequence number up to which everything is in the filter.
        lsn: u64,
    },
    /// A file that was read whole.
    File {
        /// Its path, as it was named.
        path: String,
        /// Its SHA-256.
        sha256: [u8; 32],
    },
}

impl SourcePosition {
    /// As deterministic CBOR.
    pub(super) fn to_cbor(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_map(1, &mut out);
        match self {
            Self::Kafka { topics } => {
                put_text(KAFKA, &mut out);
                put_map(topics.len(), &mut out);
                for (topic, partitions) in in_order(topics) {
                    put_text(topic, &mut out);
                    put_map(partitions.len(), &mut out);
                    // Numbers ascend as their encodings do.
                    for (partition, offset) in partitions {
                        put_number((*partition).into(), &mut out);
                        put_number(*offset, &mut out);
                    }
                }
            }
            Self::Database { name, lsn } => {
                put_text(DATABASE, &mut out);
                put_map(2, &mut out);
                put_text("lsn", &mut out);
                put_number(*lsn, &mut out);
                put_text("name", &mut out);
                put_text(name, &mut out);
            }
            Self::File { path, sha256 } => {
                put_text(FILE, &mut out);
                put_map(2, &mut out);
                put_text("path", &mut out);
                put_text(path, &mut out);
                put_text("sha256", &mut out);
                put_bytes(sha256, &mut out);
            }
        }
        out
    }

    /// Reads what [`SourcePosition::to_cbor`] writes, and nothing else.
    pub(super) fn from_cbor(bytes: &[u8]) -> Result<Self, NotThat> {
        let mut r = Reader::new(bytes);
        let position = Self::parse(&mut r)?;
        r.end()?;
        if position.to_cbor() == bytes { Ok(position) } else { Err(NotThat) }
    }

    fn parse(r: &mut Reader<'_>) -> Result<Self, NotThat> {
        if r.map()? != 1 {
            return Err(NotThat);
        }
        match r.text()? {
            KAFKA => Ok(Self::Kafka { topics: topics(r)? }),
            DATABASE if r.map()? == 2 => {
                r.key("lsn")?;
                let lsn = r.number()?;
                r.key("name")?;
                Ok(Self::Database { name: r.text()?.to_owned(), lsn })
            }
            FILE if r.map()? == 2 => {
                r.key("path")?;
                let path = r.text()?.to_owned();
                r.key("sha256")?;
                let sha256 = r.bytes()?.try_into().map_err(|_| NotThat)?;
                Ok(Self::File { path, sha256 })
            }
            _ => Err(NotThat),
        }
    }
}

/// Every pair takes bytes that are there, so that the work is bounded by them.
fn topics(r: &mut Reader<'_>) -> Result<BTreeMap<String, BTreeMap<u32, u64>>, NotThat> {
    let mut topics = BTreeMap::new();
    for _ in 0..r.map()? {
        let topic = r.text()?.to_owned();
        let mut partitions = BTreeMap::new();
        for _ in 0..r.map()? {
            let partition = u32::try_from(r.number()?).map_err(|_| NotThat)?;
            partitions.insert(partition, r.number()?);
        }
        topics.insert(topic, partitions);
    }
    Ok(topics)
}

/// Labels as deterministic CBOR: a map of texts.
pub(super) fn labels_to_cbor(labels: &BTreeMap<String, String>) -> Vec<u8> {
    let mut out = Vec::new();
    put_map(labels.len(), &mut out);
    for (label, value) in in_order(labels) {
        put_text(label, &mut out);
        put_text(value, &mut out);
    }
    out
}

/// Reads what [`labels_to_cbor`] writes for at least one label, and nothing else.
pub(super) fn labels_from_cbor(bytes: &[u8]) -> Result<BTreeMap<String, String>, NotThat> {
    let mut r = Reader::new(bytes);
    let mut labels = BTreeMap::new();
    for _ in 0..r.map()? {
        let label = r.text()?.to_owned();
        labels.insert(label, r.text()?.to_owned());
    }
    r.end()?;
    let is_canonical = !labels.is_empty() && labels_to_cbor(&labels) == bytes;
    if is_canonical { Ok(labels) } else { Err(NotThat) }
}

const KAFKA: &str = "kafka";
const DATABASE: &str = "database";
const FILE: &str = "file";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_written_and_has_one_encoding() {
        let topics =
            [("b".to_owned(), [(0, 7), (300, u64::MAX)].into()), ("aa".to_owned(), [].into())];
        let positions = [
            SourcePosition::Kafka { topics: topics.into() },
            SourcePosition::Kafka { topics: [].into() },
            SourcePosition::Database { name: "orders".to_owned(), lsn: 1 << 40 },
            SourcePosition::File { path: "members.csv".to_owned(), sha256: [9; 32] },
        ];
        for position in &positions {
            let bytes = position.to_cbor();
            assert_eq!(SourcePosition::from_cbor(&bytes).as_ref(), Ok(position));
            for cut in 0..bytes.len() {
                assert_eq!(SourcePosition::from_cbor(&bytes[..cut]), Err(NotThat), "{cut}");
            }
            assert_eq!(SourcePosition::from_cbor(&[&bytes[..], &[0]].concat()), Err(NotThat));
        }
        // The shorter key first, whatever the alphabet says.
        let at = |text: &[u8]| positions[0].to_cbor().windows(text.len()).position(|w| w == text);
        assert!(at(b"\x61b") < at(b"\x62aa"));
    }

    #[test]
    fn other_encodings_of_the_same_are_refused() {
        let labels = labels_to_cbor(&[("a".to_owned(), "1".to_owned())].into());
        assert_eq!(labels, [0xa1, 0x61, b'a', 0x61, b'1']);
        for other in [
            &[0xa0][..],
            &[0xb8, 1, 0x61, b'a', 0x61, b'1'],
            &[0xa1, 0x78, 1, b'a', 0x61, b'1'],
            &[0xa2, 0x61, b'a', 0x61, b'1', 0x61, b'a', 0x61, b'1'],
            &[0xa2, 0x61, b'b', 0x61, b'1', 0x61, b'a', 0x61, b'1'],
            &[0xa1, 0x61, b'a', 0x01],
            &[0xbb, 255, 255, 255, 255, 255, 255, 255, 255],
        ] {
            assert_eq!(labels_from_cbor(other), Err(NotThat), "{other:x?}");
        }
    }
}
