//! Redisson's `RBloomFilter`: a string of bits and a hash of parameters, two keys of Redis.
//!
//! The bits are at the filter's name, the parameters at [`config_key`]. This module takes what
//! the two keys hold; asking a Redis for them is the caller's. Items are hashed as the codec
//! encodes them, and only `StringCodec`, `LongCodec`, `IntegerCodec` and `ByteArrayCodec` do so
//! in a way that others can: the default one does not.

use std::num::{ParseFloatError, ParseIntError};

use bloomrf_kernels::hash::Hash128;

use super::bit_array::byte_count;
use super::{BitArray, BitOrder, Foreign, Limits, Refusal, Rule};
use crate::{SizeRefusal, Spec};

/// The parameters, as the hash has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Bits.
    pub size: u64,
    /// Probes of an item.
    pub hash_iterations: u32,
    /// Items that it is sized for.
    pub expected_insertions: u64,
    /// The rate that was asked for.
    pub false_probability: f64,
}

impl Config {
    /// As `tryInit` computes it.
    ///
    /// # Errors
    /// Where Redisson would refuse it.
    pub fn sized_for(spec: &Spec) -> Result<Self, SizeRefusal> {
        let Spec { items, fpr } = *spec;
        if !(0.0..=1.0).contains(&fpr) {
            return Err(SizeRefusal::Rate(fpr));
        }
        let bits = (-(items as f64) * fpr.ln() / (LN_2 * LN_2)).trunc();
        if items == 0 || bits < 1.0 {
            return Err(SizeRefusal::NoItems);
        }
        if bits > BITS_MAX as f64 {
            return Err(SizeRefusal::TooLarge { bits, most: BITS_MAX });
        }
        let size = bits as u64;
        let hash_iterations = iterations(size, items);
        Ok(Config { size, hash_iterations, expected_insertions: items, false_probability: fpr })
    }

    /// Reads the fields of the hash. Others are ignored.
    ///
    /// # Errors
    /// Where one is missing or cannot be right, or they do not follow from each other.
    pub fn parse<'a>(
        fields: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Result<Self, Refusal> {
        let mut texts = [None; 4];
        for (field, value) in fields {
            if let Some(at) = FIELDS.iter().position(|name| name.as_bytes() == field) {
                texts[at] = Some(value);
            }
        }
        let text = |at: usize| match texts[at].map(str::from_utf8) {
            Some(Ok(text)) => Ok(text),
            Some(Err(_)) => Err(Refusal::field(FIELDS[at], "not text", "a number as text")),
            None => {
                let expected = "there: the filter is not initialised, or its config expired";
                Err(Refusal::field(FIELDS[at], "absent", expected))
            }
        };
        let whole = |at: usize| {
            let text = text(at)?;
            let not_one =
                |_: ParseIntError| Refusal::field(FIELDS[at], text, "a whole number as text");
            text.parse::<u64>().map_err(not_one)
        };
        let rate = text(3)?;
        let not_one = |_: ParseFloatError| Refusal::field(FIELDS[3], rate, "a number as text");
        let spec = Spec { items: whole(2)?, fpr: rate.parse().map_err(not_one)? };
        let sized = Config::sized_for(&spec)?;
        let (size, k) = (whole(0)?, whole(1)?);
        // A logarithm's last digit may round the other way on another machine.
        if size == 0 || size > BITS_MAX || size.abs_diff(sized.size) > 1 {
            return Err(Refusal::field(FIELDS[0], size, format!("about {}", sized.size)));
        }
        let hash_iterations = iterations(size, spec.items);
        if k != u64::from(hash_iterations) {
            return Err(Refusal::field(FIELDS[1], k, hash_iterations));
        }
        Ok(Config { size, hash_iterations, ..sized })
    }

    /// The fields of the hash, with their values as Redisson writes them.
    #[must_use]
    pub fn fields(&self) -> [(&'static str, String); 4] {
        [
            (FIELDS[0], self.size.to_string()),
            (FIELDS[1], self.hash_iterations.to_string()),
            (FIELDS[2], self.expected_insertions.to_string()),
            (FIELDS[3], java_double(self.false_probability)),
        ]
    }
}

/// The key of the parameters of the filter at key `name`; in a cluster both have one slot.
#[must_use]
pub fn config_key(name: &str) -> String {
    if name.contains('{') { format!("{name}:config") } else { format!("{{{name}}}:config") }
}

/// A filter of Redisson.
#[derive(Clone, Debug, PartialEq)]
pub struct Redisson {
    config: Config,
    bits: BitArray,
}

impl Redisson {
    /// An empty filter. It takes memory as bits are set.
    ///
    /// # Errors
    /// Where Redisson would refuse it, or it may come to more than the limit.
    pub fn build(spec: &Spec, limits: Limits) -> Result<Self, SizeRefusal> {
        let config = Config::sized_for(spec)?;
        if config.size.div_ceil(8) > limits.bytes_max {
            let most = limits.bytes_max.saturating_mul(8);
            return Err(SizeRefusal::TooLarge { bits: config.size as f64, most });
        }
        Ok(Redisson { config, bits: BitArray::from_bytes(BitOrder::MsbFirst, config.size, &[]) })
    }

    /// From what the two keys hold. `config` is `None` where there is no such key; the string is
    /// empty or absent before something was added, and only as long as its highest bit.
    ///
    /// # Errors
    /// Where there is no config, whatever the bits are; where the string is longer than the
    /// config says, or has bits past its end.
    pub fn parse(
        config: Option<Config>,
        string: Option<&[u8]>,
        limits: Limits,
    ) -> Result<Self, Refusal> {
        let Some(config) = config else {
            let expected = "there: the filter is not initialised, or its config expired before \
                            its bits; these say nothing alone";
            return Err(Refusal::field("the config", "absent", expected));
        };
        let string = string.unwrap_or_default();
        // It grows to that as items are added.
        limits.admit(config.size.div_ceil(8))?;
        let most = byte_count(BitOrder::MsbFirst, config.size);
        if string.len() > most {
            let expected = format!("at most {most}, as the config says");
            return Err(Refusal::field("the bytes of the string", string.len(), expected));
        }
        let bits = BitArray::from_bytes(BitOrder::MsbFirst, config.size, string);
        if bits.has_stray_bits() {
            let expected = format!("clear: the config says {} bits", config.size);
            return Err(Refusal::field("a bit past the end of the filter", "set", expected));
        }
        Ok(Redisson { config, bits })
    }

    /// Whether the config is still what it was when the filter was read; answers by another one
    /// would be wrong.
    ///
    /// # Errors
    /// Where it changed, or is gone.
    pub fn check_config(&self, now: Option<Config>) -> Result<(), Refusal> {
        let changed = |what, now: String, was: u64| {
            let expected = format!("{was}, as when the filter was read: read it again");
            Err(Refusal::field(what, now, expected))
        };
        let was = &self.config;
        match now {
            None => changed("the config's size", "absent".into(), was.size),
            Some(now) if now.size != was.size => {
                changed("the config's size", now.size.to_string(), was.size)
            }
            Some(now) if now.hash_iterations != was.hash_iterations => {
                let (now, was) = (now.hash_iterations.to_string(), was.hash_iterations.into());
                changed("the config's hashIterations", now, was)
            }
            Some(_) => Ok(()),
        }
    }

    /// Adds an encoded item; returns whether a bit changed, as `add` does.
    pub fn insert(&mut self, item: &[u8]) -> bool {
        let hash = Rule::Redisson.hash(item);
        self.bits.insert(Rule::Redisson, self.config.hash_iterations, hash)
    }

    /// Its parameters.
    #[must_use]
    pub fn config(&self) -> Config {
        self.config
    }

    /// Its bits; their bytes are the string, `None` of it where nothing was added.
    #[must_use]
    pub fn bits(&self) -> &BitArray {
        &self.bits
    }

    /// What the string is to be; `None`: no key.
    #[must_use]
    pub fn write(&self) -> Option<Vec<u8>> {
        let bytes = self.bits.bytes();
        (!bytes.is_empty()).then(|| bytes.to_vec())
    }
}

impl Foreign for Redisson {
    fn hash(&self, item: &[u8]) -> Hash128 {
        Rule::Redisson.hash(item)
    }

    fn contains_hash(&self, hash: Hash128) -> bool {
        self.bits.contains(Rule::Redisson, self.config.hash_iterations, hash)
    }

    fn fpr(&self) -> f64 {
        self.bits.fill().powi(self.config.hash_iterations as i32)
    }

    /// `count()`.
    fn estimate(&self) -> f64 {
        let bits_each = self.config.size as f64 / f64::from(self.config.hash_iterations);
        (-bits_each * (1.0 - self.bits.fill()).ln() + 0.5).floor()
    }

    fn bytes(&self) -> u64 {
        self.bits.bytes().len() as u64
    }
}

fn iterations(size: u64, items: u64) -> u32 {
    (size as f64 / items as f64 * LN_2 + 0.5).floor().max(1.0) as u32
}

/// A double as Java writes it.
fn java_double(number: f64) -> String {
    if number == 0.0 || number >= 1e-3 {
        return format!("{number:?}");
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}E{exponent}")
}

const FIELDS: [&str; 4] = ["size", "hashIterations", "expectedInsertions", "falseProbability"];
/// Most bits: a string of Redis holds 512 MiB.
const BITS_MAX: u64 = 4_294_967_294;
const LN_2: f64 = std::f64::consts::LN_2;
