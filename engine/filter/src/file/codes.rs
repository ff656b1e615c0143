//! Numbers that stand for hash rules and encodings in a file.

use std::fmt;

use crate::foreign::Rule;
use crate::{Encoding, HashRule};

/// How a file says a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RuleCode {
    pub(super) hash: u16,
    pub(super) seed: u64,
    /// How another system finds its bits by the hash; 0 where the kind says that.
    pub(super) index: u8,
}

/// How a rule is said.
pub(super) fn of_rule(rule: HashRule) -> RuleCode {
    let (hash, seed, index) = match rule {
        HashRule::Native { seed } => (HASH_XXH3_128, seed, 0),
        HashRule::Parquet => (HASH_XXH64, 0, 0),
        HashRule::Foreign(Rule::GuavaMitz64) => (HASH_MURMUR3_128, 0, 1),
        HashRule::Foreign(Rule::GuavaMitz32) => (HASH_MURMUR3_128, 0, 2),
        HashRule::Foreign(Rule::RedisBloom) => (HASH_MURMUR64A, REDISBLOOM_SEED, 3),
        HashRule::Foreign(Rule::Redisson) => (HASH_HIGHWAY128, 0, 4),
    };
    RuleCode { hash, seed, index }
}

/// The rule that is said so.
pub(super) fn rule(code: RuleCode) -> Option<HashRule> {
    const FOREIGN: [Rule; 4] =
        [Rule::GuavaMitz64, Rule::GuavaMitz32, Rule::RedisBloom, Rule::Redisson];
    let foreign = FOREIGN.map(HashRule::Foreign);
    let native = HashRule::Native { seed: code.seed };
    let rules = [native, HashRule::Parquet].into_iter().chain(foreign);
    rules.into_iter().find(|rule| of_rule(*rule) == code)
}

/// A rule in words.
pub(super) struct Words(pub(super) HashRule);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            HashRule::Native { seed } => write!(f, "native hash (xxh3-128), seed {seed}"),
            HashRule::Parquet => f.write_str("xxh64, seed 0 (Parquet)"),
            HashRule::Foreign(Rule::GuavaMitz64) => f.write_str("murmur3_x64_128 (Guava, MITZ_64)"),
            HashRule::Foreign(Rule::GuavaMitz32) => f.write_str("murmur3_x64_128 (Guava, MITZ_32)"),
            HashRule::Foreign(Rule::RedisBloom) => f.write_str("murmur64A (RedisBloom)"),
            HashRule::Foreign(Rule::Redisson) => f.write_str("highway128 (Redisson)"),
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
/// MurmurHash3 for x64 with 128 bits, seed 0.
const HASH_MURMUR3_128: u16 = 2;
/// MurmurHash64A, twice: with the seed, and with the hash as the seed.
const HASH_MURMUR64A: u16 = 3;
const REDISBLOOM_SEED: u64 = 0xc6a4_a793_5bd1_e995;
/// HighwayHash with 128 bits, by Redisson's key.
const HASH_HIGHWAY128: u16 = 4;
/// xxh3-128.
const HASH_XXH3_128: u16 = 8;
