//! Numbers that stand for hash rules and encodings in a file.

use std::fmt;

use crate::{Encoding, HashRule};

/// Number and seed of a rule.
pub(super) fn of_rule(rule: HashRule) -> (u16, u64) {
    match rule {
        HashRule::Native { seed } => (HASH_XXH3_128, seed),
        HashRule::Parquet => (HASH_XXH64, 0),
    }
}

/// The rule of this number and seed.
pub(super) fn rule(code: u16, seed: u64) -> Option<HashRule> {
    match (code, seed) {
        (HASH_XXH3_128, seed) => Some(HashRule::Native { seed }),
        (HASH_XXH64, 0) => Some(HashRule::Parquet),
        _ => None,
    }
}

/// A rule in words.
pub(super) struct Words(pub(super) HashRule);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            HashRule::Native { seed } => write!(f, "native hash (xxh3-128), seed {seed}"),
            HashRule::Parquet => f.write_str("xxh64, seed 0 (Parquet)"),
        }
    }
}

/// Encodings, each at its number.
const ENCODINGS: [(u8, Encoding, &str); 11] = [
    (0, Encoding::Unspecified, "unspecified"),
    (1, Encoding::Raw, "raw"),
    (2, Encoding::Utf8, "utf8"),
    (3, Encoding::Utf8LowerNfkc, "utf8-lower-nfkc"),
    (4, Encoding::U64Le, "u64-le"),
    (5, Encoding::I64Le, "i64-le"),
    (6, Encoding::U32Le, "u32-le"),
    (7, Encoding::Utf16Le, "utf16-le"),
    (8, Encoding::DecimalText, "decimal-text"),
    // 9: keys of a column, in files of batches.
    (10, Encoding::ParquetPlain, "parquet-plain"),
    (11, Encoding::I32Le, "i32-le"),
];

/// Number of an encoding.
pub(super) fn of_encoding(encoding: Encoding) -> u8 {
    ENCODINGS.iter().find(|(_, of, _)| *of == encoding).map_or(0, |(code, ..)| *code)
}

/// The encoding of this number.
pub(super) fn encoding(code: u8) -> Option<Encoding> {
    ENCODINGS.iter().find(|(of, ..)| *of == code).map(|(_, encoding, _)| *encoding)
}

/// An encoding by name.
pub(super) fn encoding_name(encoding: Encoding) -> &'static str {
    ENCODINGS.iter().find(|(_, of, _)| *of == encoding).map_or("unspecified", |(.., name)| name)
}

/// xxHash64.
const HASH_XXH64: u16 = 1;
/// xxh3-128.
const HASH_XXH3_128: u16 = 8;
