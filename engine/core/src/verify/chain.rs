//! The chain hash: frame digests, lane chains in sequence order, one batch hash.
//!
//! d = H(payload). c0 = H(cluster ‖ fingerprint ‖ batch ‖ lane), c(i+1) = H(c(i) ‖ d(i)).
//! Batch hash = H(lane chains in lane order ‖ record total). Numbers little-endian (16, 8, 8, 1
//! and 8 bytes); chains and digests enter H with all their 32 bytes.
//!
//! Cost: one pass of H over every payload, and one H of 64 bytes per frame. No allocation.

use std::fmt;
use std::str::FromStr;

use sha2::Digest as _;

use crate::identity::{BatchId, ClusterId, Fingerprint};
use crate::limits::LANES_MAX;

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

/// A chain hash that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected xxh3, blake3 or sha256")]
pub struct HashNameError;

impl fmt::Display for HashAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Xxh3 => "xxh3",
            Self::Blake3 => "blake3",
            Self::Sha256 => "sha256",
        })
    }
}

impl FromStr for HashAlgorithm {
    type Err = HashNameError;

    /// In any case; `SHA-256` is `sha256`.
    fn from_str(text: &str) -> Result<Self, HashNameError> {
        let name = text.to_ascii_lowercase().replace('-', "");
        Self::ALL.into_iter().find(|a| a.to_string() == name).ok_or(HashNameError)
    }
}

impl HashAlgorithm {
    /// All of them, in code order.
    pub const ALL: [Self; 3] = [Self::Xxh3, Self::Blake3, Self::Sha256];

    /// Its number in frames, streams and files.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Xxh3 => 1,
            Self::Blake3 => 2,
            Self::Sha256 => 3,
        }
    }

    /// The algorithm of a number.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.code() == code)
    }

    /// Bytes of a digest that H fills; the rest is zero.
    #[must_use]
    pub fn digest_bytes(self) -> usize {
        match self {
            Self::Xxh3 => 16,
            Self::Blake3 | Self::Sha256 => 32,
        }
    }
}

/// H(payload).
#[must_use]
pub fn frame_digest(algorithm: HashAlgorithm, payload: &[u8]) -> Digest {
    match algorithm {
        HashAlgorithm::Xxh3 => {
            let mut digest = [0; 32];
            let value = xxhash_rust::xxh3::xxh3_128(payload);
            digest[..16].copy_from_slice(&value.to_le_bytes());
            digest
        }
        HashAlgorithm::Blake3 => *blake3::hash(payload).as_bytes(),
        HashAlgorithm::Sha256 => sha2::Sha256::digest(payload).into(),
    }
}

/// Computes a batch hash from frame digests given in (lane, sequence) order.
#[derive(Clone, Debug)]
pub struct ChainHasher {
    algorithm: HashAlgorithm,
    lanes: usize,
    chains: [Digest; LANES_MAX],
}

impl ChainHasher {
    /// Starts a batch of `lanes` lanes.
    ///
    /// # Panics
    /// Unless `lanes` is in `1..=LANES_MAX`, which every parsed frame guarantees.
    #[must_use]
    pub fn new(
        algorithm: HashAlgorithm,
        cluster: ClusterId,
        fingerprint: Fingerprint,
        batch: BatchId,
        lanes: u8,
    ) -> Self {
        assert!((1..=LANES_MAX).contains(&usize::from(lanes)), "{lanes} lanes");
        let mut start = [0; 33];
        start[..16].copy_from_slice(&cluster.0.to_le_bytes());
        start[16..24].copy_from_slice(&fingerprint.0.to_le_bytes());
        start[24..32].copy_from_slice(&batch.to_le_bytes());
        let mut chains = [[0; 32]; LANES_MAX];
        for (lane, chain) in (0..lanes).zip(&mut chains) {
            start[32] = lane;
            *chain = frame_digest(algorithm, &start);
        }
        ChainHasher { algorithm, lanes: usize::from(lanes), chains }
    }

    /// Takes the next frame of `lane`, in sequence order within the lane.
    ///
    /// # Panics
    /// Where `lane` is not one of the batch's lanes.
    pub fn frame(&mut self, lane: u8, digest: &Digest) {
        let chain = &mut self.chains[..self.lanes][usize::from(lane)];
        let mut both = [0; 64];
        both[..32].copy_from_slice(chain);
        both[32..].copy_from_slice(digest);
        *chain = frame_digest(self.algorithm, &both);
    }

    /// The batch hash over all lanes and the record total.
    #[must_use]
    pub fn finish(self, records: u64) -> BatchHash {
        let mut all = [0; LANES_MAX * 32 + 8];
        let chains = self.chains[..self.lanes].as_flattened();
        let end = chains.len();
        all[..end].copy_from_slice(chains);
        all[end..end + 8].copy_from_slice(&records.to_le_bytes());
        let digest = frame_digest(self.algorithm, &all[..end + 8]);
        BatchHash { algorithm: self.algorithm, digest }
    }
}

#[cfg(test)]
mod tests;
