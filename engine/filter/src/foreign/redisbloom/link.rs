//! One link of a chain: its size, and what must hold among its fields.

use super::super::Refusal;
use crate::SizeRefusal;

/// What a dump says of a link, but for its bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkHead {
    /// Bytes of its bits.
    pub bytes: u64,
    /// Adds that changed a bit.
    pub size: u64,
    /// Its rate.
    pub error: f64,
    /// Bits for each item.
    pub bpe: f64,
    /// Probes of an item.
    pub hashes: u32,
    /// Items that it is sized for.
    pub entries: u64,
}

impl LinkHead {
    /// An empty link, sized as RedisBloom does without rounding to a power of two.
    ///
    /// # Errors
    /// Where no link has this rate or capacity.
    pub fn sized_for(entries: u64, error: f64) -> Result<Self, SizeRefusal> {
        if !(f64::MIN_POSITIVE..1.0).contains(&error) {
            return Err(SizeRefusal::Rate(error));
        }
        if entries == 0 {
            return Err(SizeRefusal::NoItems);
        }
        let bpe = bits_per_entry(error);
        let bits = (entries as f64 * bpe).trunc().max(1.0);
        // Beyond what a double counts exactly; RedisBloom itself wraps around here.
        if bits > BITS_MAX as f64 {
            return Err(SizeRefusal::TooLarge { bits, most: BITS_MAX });
        }
        let bytes = (bits as u64).div_ceil(64) * 8;
        Ok(LinkHead { bytes, size: 0, error, bpe, hashes: hashes(bpe), entries })
    }

    /// The modulus of its probes.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bytes * 8
    }

    /// Whether its fields agree with each other, and with the `bits` that a dump says.
    pub(super) fn check(&self, bits: u64) -> Result<(), Refusal> {
        let LinkHead { bytes, error, bpe, hashes: k, entries, .. } = *self;
        let sized = LinkHead::sized_for(entries, error)?;
        let is_near = (bpe - sized.bpe).abs() <= sized.bpe * 1e-9;
        if !is_near {
            return Err(Refusal::field("a link's bits per entry", bpe, sized.bpe));
        }
        if k != hashes(bpe) {
            return Err(Refusal::field("a link's number of hashes", k, hashes(bpe)));
        }
        if bytes != sized.bytes {
            return Err(Refusal::field("a link's number of bytes", bytes, sized.bytes));
        }
        if bits != sized.bits() {
            return Err(Refusal::field("a link's number of bits", bits, sized.bits()));
        }
        Ok(())
    }

    /// Whether `ones` set bits can come of the adds that a dump tells of: each of those set one
    /// bit at least, and `hashes` at most.
    pub(super) fn check_ones(&self, ones: u64) -> Result<(), Refusal> {
        let most = self.size.saturating_mul(self.hashes.into());
        if (self.size..=most).contains(&ones) {
            return Ok(());
        }
        let expected = format!(
            "from {} to {most}, as its {} adds set: a part is missing, or another link's",
            self.size, self.size
        );
        Err(Refusal::field("a link's number of set bits", ones, expected))
    }
}

fn bits_per_entry(error: f64) -> f64 {
    (error.ln() / LN2_SQUARED).abs()
}

fn hashes(bpe: f64) -> u32 {
    (LN2 * bpe).ceil() as u32
}

// Theirs, to their last digit.
#[expect(clippy::approx_constant, reason = "the constants of another program, to its last digit")]
const LN2: f64 = 0.693_147_180_559_945;
const LN2_SQUARED: f64 = 0.480_453_013_918_201;
/// Most bits of a link.
const BITS_MAX: u64 = 1 << 50;
