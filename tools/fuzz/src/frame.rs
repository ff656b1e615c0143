//! The ingest frame: an error, or a frame that its own encoder writes back byte by byte.

use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_engine::wire::frame::{Frame, FrameHeader, LaneTotal, encode_close, encode_data};

use crate::checksum::seal_frame;

/// Bytes as they are, and with a right checksum.
pub fn run(bytes: &[u8]) {
    parse(bytes);
    let mut sealed = bytes.to_vec();
    seal_frame(&mut sealed);
    parse(&sealed);
}

fn parse(bytes: &[u8]) {
    let Ok(frame) = Frame::parse(bytes, RECORD_BYTES) else { return };
    let mut again = Vec::new();
    match &frame {
        Frame::Data { header, records, payload, .. } => {
            assert_eq!(usize::from(*records) * RECORD_BYTES, payload.len());
            encode_data(&mut again, header, RECORD_BYTES, payload);
        }
        Frame::Close { header, totals, .. } => {
            let totals: Vec<LaneTotal> = totals.iter().collect();
            assert_eq!(totals.len(), usize::from(header.lanes));
            encode_close(&mut again, header, &totals);
        }
    }
    // A keyed frame ends in a seal that the encoder does not write.
    if again.len() == bytes.len() {
        assert_eq!(again, bytes, "a frame has one encoding");
    }
}

/// Frames to start from.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (lanes, hash) in [(1, HashAlgorithm::Xxh3), (64, HashAlgorithm::Sha256)] {
        let header = FrameHeader {
            cluster: ClusterId(7),
            fingerprint: Fingerprint(9),
            batch: 11,
            hash,
            lane: 0,
            lanes,
            sequence: 3,
        };
        let mut data = Vec::new();
        encode_data(&mut data, &header, RECORD_BYTES, &[0xA5; 5 * RECORD_BYTES]);
        let totals = vec![LaneTotal { frames: 4, records: 20 }; usize::from(lanes)];
        let mut close = Vec::new();
        encode_close(&mut close, &header, &totals);
        all.extend([data, close]);
    }
    all
}

const RECORD_BYTES: usize = 12;
