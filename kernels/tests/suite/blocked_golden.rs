//! Bytes that were written once: what other lengths, lanes or constants would change is a new
//! format version. A second implementation, in another language, wrote them.

use bloomrf_kernels::{Kernel, blocked, hash, split_block};

/// Keys of the goldens: squares, so that small and large ones are there, and the ends.
fn keys() -> Vec<u64> {
    (0..100u64).map(|i| i.wrapping_pow(9) ^ i << 57).chain([u64::MAX, 1 << 63]).collect()
}

/// Words of a committed text: hexadecimal, a block in a line; `#` starts a comment.
fn parsed(text: &str) -> Vec<u64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .flat_map(str::split_whitespace)
        .map(|w| u64::from_str_radix(w, 16).expect("hexadecimal"))
        .collect()
}

fn printed(words: &[u64], block: usize) -> String {
    let line = |block: &[u64]| {
        let words: Vec<String> = block.iter().map(|word| format!("{word:016x}")).collect();
        words.join(" ") + "\n"
    };
    words.chunks(block).map(line).collect()
}

const BLOCKED: [(u32, &str); 3] = [
    (4, include_str!("../golden/blocked-k4.hex")),
    (6, include_str!("../golden/blocked-k6.hex")),
    (8, include_str!("../golden/blocked-k8.hex")),
];

#[test]
fn every_kernel_writes_and_reads_the_golden_blocks() {
    let keys = keys();
    for (k, golden) in BLOCKED {
        let golden = parsed(golden);
        for kernel in Kernel::all() {
            let mut blocks = vec![0; 11 * blocked::BLOCK_WORDS];
            blocked::insert_many(kernel, k, &mut blocks, 0x5EED, &keys);
            assert!(blocks == golden, "{kernel}, k {k}:\n{}", printed(&blocks, 8));
            let mut found = [0; 2];
            blocked::contains_many(kernel, k, &golden, 0x5EED, &keys, &mut found);
            assert_eq!(found, [u64::MAX, (1 << 38) - 1], "{kernel}, k {k}");
        }
    }
}

#[test]
fn every_kernel_writes_and_reads_the_golden_split_blocks() {
    let keys = keys();
    let golden = parsed(include_str!("../golden/split-block.hex"));
    for kernel in Kernel::all() {
        let mut blocks = vec![0; 13 * split_block::BLOCK_WORDS];
        split_block::insert_many(kernel, &mut blocks, &keys);
        assert!(blocks == golden, "{kernel}:\n{}", printed(&blocks, 4));
        let mut found = [0; 2];
        split_block::contains_many(kernel, &golden, &keys, &mut found);
        assert_eq!(found, [u64::MAX, (1 << 38) - 1], "{kernel}");
    }
}

#[test]
fn hashes_never_change() {
    let keyed: Vec<u64> = keys().iter().map(|&key| hash::key(key, 0x5EED)).collect();
    let folded = keyed.iter().fold(0u64, |all, h| all.rotate_left(7) ^ h);
    assert_eq!((keyed[0], folded), KEYED, "{:#x} {folded:#x}", keyed[0]);
    // From the public description of xxHash64: the hash of nothing.
    assert_eq!(hash::parquet(b""), 0xEF46_DB37_51D8_E999);
}

/// The hash of key 0, and all of them combined.
const KEYED: (u64, u64) = (0x0897_62A6_1F10_EF88, 0xCA7E_7451_C507_FD26);
