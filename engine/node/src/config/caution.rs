//! Settings that are allowed, do what they say, and may not be what their owner meant.

use bloomrf_engine::verify::HashAlgorithm;

use super::{Config, LinkUse};

/// One of them, for the log of a start and for `bloomrf doctor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caution {
    /// The setting.
    pub key: &'static str,
    /// What follows from it.
    pub says: &'static str,
    /// What to do.
    pub mend: &'static str,
}

/// xxh3 finds damage; two payloads of one digest can be made on purpose (docs/FAULTS.md).
const FORGEABLE: Caution = Caution {
    key: "chain_hash",
    says: "collisions of xxh3 can be forged: whoever may send frames here is trusted",
    mend: "elect blake3 or sha256 in the cluster, set ingest_keys, or keep the ingest network \
           the cluster's alone (then this is no matter)",
};

impl Config {
    /// What wants a second look.
    #[must_use]
    pub fn cautions(&self) -> Vec<Caution> {
        // A tap makes its batches itself; nobody's hash is compared.
        let compares = self.link.link_use == LinkUse::Ingest;
        let forgeable = self.chain_hash == HashAlgorithm::Xxh3 && self.ingest_keys.is_none();
        if compares && forgeable { vec![FORGEABLE] } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forgeable_hash_is_cautioned_against_unless_frames_are_sealed_or_made_here() {
        let config = Config::default();
        assert_eq!(config.cautions(), [FORGEABLE]);
        let keyed = Config { ingest_keys: Some("keys".into()), ..config.clone() };
        let strong = Config { chain_hash: HashAlgorithm::Blake3, ..config.clone() };
        let mut tap = config;
        tap.link.link_use = LinkUse::Tap;
        for quiet in [keyed, strong, tap] {
            assert_eq!(quiet.cautions(), []);
        }
    }
}
