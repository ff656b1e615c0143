//! The chain hash: frame digests, lane chains in sequence order, one batch hash.
//!
//! d = H(payload). c0 = H(cluster ‖ fingerprint ‖ batch ‖ lane), c(i+1) = H(c(i) ‖ d(i)).
//! Batch hash = H(lane chains in lane order ‖ record total). Numbers little-endian.

use crate::identity::{BatchId, ClusterId, Fingerprint};

/// The elected hash H.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HashAlgorithm {
    /// xxh3, 128 bits: fast, against accidents.
    #[default]
    Xxh3,
    /// blake3, 256 bits: against forgery.
    Blake3,
    /// SHA-256.
    Sha256,
}

/// A digest of H; xxh3 fills the first 16 bytes (little-endian), the rest is zero.
pub type Digest = [u8; 32];

/// The hash of a whole batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BatchHash {
    /// Which H.
    pub algorithm: HashAlgorithm,
    /// Its value.
    pub digest: Digest,
}

/// H(payload).
#[must_use]
pub fn frame_digest(algorithm: HashAlgorithm, payload: &[u8]) -> Digest {
    let _ = (algorithm, payload);
    todo!("verify")
}

/// Computes a batch hash from frame digests given in (lane, sequence) order.
#[derive(Clone, Debug)]
pub struct ChainHasher {
    _private: (),
}

impl ChainHasher {
    /// Starts a batch of `lanes` lanes.
    #[must_use]
    pub fn new(
        algorithm: HashAlgorithm,
        cluster: ClusterId,
        fingerprint: Fingerprint,
        batch: BatchId,
        lanes: u8,
    ) -> Self {
        let _ = (algorithm, cluster, fingerprint, batch, lanes);
        todo!("verify")
    }

    /// Takes the next frame of `lane`, in sequence order within the lane.
    pub fn frame(&mut self, lane: u8, digest: &Digest) {
        let _ = (lane, digest);
        todo!("verify")
    }

    /// The batch hash over all lanes and the record total.
    #[must_use]
    pub fn finish(self, records: u64) -> BatchHash {
        let _ = records;
        todo!("verify")
    }
}
