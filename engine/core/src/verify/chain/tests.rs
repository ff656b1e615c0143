//! Published and golden digests, and the chain against its definition.

use super::*;

const CLUSTER: ClusterId = ClusterId(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
const FINGERPRINT: Fingerprint = Fingerprint(0x1112_1314_1516_1718);
const BATCH: BatchId = 42;

/// Frames of two lanes in lane order: "alpha", "beta"; "gamma".
const FRAMES: [(u8, &str); 3] = [(0, "alpha"), (0, "beta"), (1, "gamma")];

fn hash(algorithm: HashAlgorithm, lanes: u8, frames: &[(u8, &str)], records: u64) -> BatchHash {
    let mut chain = ChainHasher::new(algorithm, CLUSTER, FINGERPRINT, BATCH, lanes);
    for (lane, payload) in frames {
        chain.frame(*lane, &frame_digest(algorithm, payload.as_bytes()));
    }
    chain.finish(records)
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

/// The module's doc comment, written down once more with vectors.
fn naive(algorithm: HashAlgorithm, lanes: u8, frames: &[(u8, &str)], records: u64) -> Digest {
    let h = |parts: &[&[u8]]| frame_digest(algorithm, &parts.concat());
    let (cluster, fingerprint) = (CLUSTER.0.to_le_bytes(), FINGERPRINT.0.to_le_bytes());
    let mut all = Vec::new();
    for lane in 0..lanes {
        let mut c = h(&[&cluster, &fingerprint, &BATCH.to_le_bytes(), &[lane]]);
        for (_, payload) in frames.iter().filter(|f| f.0 == lane) {
            c = h(&[&c, &h(&[payload.as_bytes()])]);
        }
        all.extend_from_slice(&c);
    }
    h(&[&all, &records.to_le_bytes()])
}

#[test]
fn digests_are_those_that_the_hashes_publish() {
    let digest = |algorithm, text: &str| hex(&frame_digest(algorithm, text.as_bytes()));
    // xxh3-128 is published most significant byte first; here it lies least significant first.
    let zeros = "0".repeat(32);
    let xxh3 = format!("{}{zeros}", "7f498d4624c30160d8984701d306aa99");
    assert_eq!(digest(HashAlgorithm::Xxh3, ""), xxh3);
    let blake3 = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
    assert_eq!(digest(HashAlgorithm::Blake3, "abc"), blake3);
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(digest(HashAlgorithm::Sha256, "abc"), sha256);
}

#[test]
fn batch_hashes_are_golden() {
    let golden = [
        (HashAlgorithm::Xxh3, "8d638e5a9e123250472606c0cfae7b0500000000000000000000000000000000"),
        (HashAlgorithm::Blake3, "30442b43fee54358d1af9de349ea1aa5c4de806140bdb0ffb037a9ec3a9336f0"),
        // Computed by another implementation of the document.
        (HashAlgorithm::Sha256, "a69753fb60223ed63d85f6a26fb9473acdd8a2fe244f873fda3bbc436ce19948"),
    ];
    for (algorithm, expected) in golden {
        let hash = hash(algorithm, 2, &FRAMES, 6);
        assert_eq!(hash.algorithm, algorithm);
        assert_eq!(hex(&hash.digest), expected, "{algorithm:?}");
    }
}

#[test]
fn chain_equals_its_definition_for_any_number_of_lanes() {
    for algorithm in HashAlgorithm::ALL {
        for lanes in [1, 2, 3, 63, 64] {
            let frames: Vec<(u8, &str)> =
                (0..lanes).flat_map(|lane| FRAMES.map(|(_, payload)| (lane, payload))).collect();
            let expected = naive(algorithm, lanes, &frames, 7);
            assert_eq!(hash(algorithm, lanes, &frames, 7).digest, expected);
            // Lanes may be interleaved: only the order within a lane counts.
            let mut interleaved = frames.clone();
            interleaved.sort_by_key(|f| std::cmp::Reverse(f.0));
            assert_eq!(hash(algorithm, lanes, &interleaved, 7).digest, expected);
        }
    }
}

#[test]
fn whatever_differs_changes_the_hash() {
    let [alpha, beta, gamma] = FRAMES;
    for algorithm in HashAlgorithm::ALL {
        let other_identity = |cluster, fingerprint, batch| {
            let mut chain = ChainHasher::new(algorithm, cluster, fingerprint, batch, 2);
            for (lane, payload) in FRAMES {
                chain.frame(lane, &frame_digest(algorithm, payload.as_bytes()));
            }
            chain.finish(6)
        };
        let hashes = [
            hash(algorithm, 2, &FRAMES, 6),
            hash(algorithm, 3, &FRAMES, 6),
            hash(algorithm, 2, &FRAMES, 7),
            hash(algorithm, 2, &[beta, alpha, gamma], 6),
            hash(algorithm, 2, &[alpha, gamma], 6),
            hash(algorithm, 2, &[alpha, beta], 6),
            hash(algorithm, 2, &[alpha, beta, gamma, gamma], 6),
            hash(algorithm, 2, &[alpha, (1, "beta"), gamma], 6),
            hash(algorithm, 2, &[(1, "alpha"), (1, "beta"), (0, "gamma")], 6),
            hash(algorithm, 2, &[alpha, beta, (1, "gamme")], 6),
            hash(algorithm, 2, &[], 0),
            other_identity(ClusterId(1), FINGERPRINT, BATCH),
            other_identity(CLUSTER, Fingerprint(1), BATCH),
            other_identity(CLUSTER, FINGERPRINT, 43),
        ];
        for (i, a) in hashes.iter().enumerate() {
            for (j, b) in hashes.iter().enumerate() {
                assert_eq!(a == b, i == j, "{algorithm:?} case {i} and {j}");
            }
        }
        assert_eq!(other_identity(CLUSTER, FINGERPRINT, BATCH), hashes[0]);
    }
}

#[test]
fn an_algorithm_reads_back_from_its_code_and_fills_its_bytes() {
    for algorithm in HashAlgorithm::ALL {
        assert_eq!(HashAlgorithm::from_code(algorithm.code()), Some(algorithm));
        let digest = frame_digest(algorithm, b"x");
        let (filled, rest) = digest.split_at(algorithm.digest_bytes());
        assert!(filled.iter().any(|b| *b != 0) && rest.iter().all(|b| *b == 0));
    }
    assert_eq!(HashAlgorithm::from_code(0), None);
    assert_eq!(HashAlgorithm::from_code(4), None);
}

#[test]
fn a_hash_name_reads_back_as_shown_in_any_case() {
    for algorithm in HashAlgorithm::ALL {
        assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
        assert_eq!(algorithm.to_string().to_uppercase().parse(), Ok(algorithm));
    }
    assert_eq!("SHA-256".parse(), Ok(HashAlgorithm::Sha256));
    for wrong in ["", "md5", "xxh3 "] {
        assert_eq!(wrong.parse::<HashAlgorithm>(), Err(HashNameError), "{wrong:?}");
    }
}

#[test]
fn xxh3_finds_damage_and_no_forger() {
    // Whoever knows the constants of xxh3 makes one of a pair pass for the other.
    let pair = [1_u32, 2].map(|i| {
        let mut payload = [0; 512];
        payload[..4].copy_from_slice(&[0xb8, 0xfe, 0x6c, 0x39]);
        payload[4..8].copy_from_slice(&i.to_le_bytes());
        payload[64..68].copy_from_slice(&[0x7c, 0x01, 0x81, 0x2c]);
        payload[68..72].copy_from_slice(&(100 - i).to_le_bytes());
        payload
    });
    let [one, other] = pair.map(|payload| HashAlgorithm::ALL.map(|h| frame_digest(h, &payload)));
    assert_ne!(pair[0], pair[1]);
    assert_eq!(one[0], other[0], "xxh3: for ingest that only the cluster can write to");
    assert_ne!(one[1], other[1]);
    assert_ne!(one[2], other[2]);
}
