//! Hot path: no allocation, no lock, no syscall; a question reads four or five lines as a rule.
//!
//! Elias-Fano: sorted keys, lossless, in `2 + log2(span / n)` bits each.
//!
//! Each key, less the smallest, is split: the low `low_bits` bits lie packed in one array, the high
//! bits are told in unary in a second one: for every value of the high part (a *bucket*) a one for
//! each of its keys, then a zero. The position of every [`SAMPLE`]th zero is kept, so that a bucket
//! is found by one look at the samples and a short scan.
//!
//! Invariants: `highs` has `len` ones and one zero per bucket, and ends with a zero.

/// An exact set of sorted, distinct keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EliasFano {
    pub(super) base: u64,
    /// Last bucket: high part of the largest key.
    pub(super) bucket_max: u64,
    pub(super) len: usize,
    pub(super) low_bits: u32,
    pub(super) lows: Box<[u64]>,
    pub(super) highs: Box<[u64]>,
    /// Position in `highs` of zero number 0, `SAMPLE`, 2 `SAMPLE` ...
    pub(super) samples: Box<[u32]>,
}

/// Zeros from one sample to the next.
const SAMPLE: usize = 256;

/// Shape of a set: bits of the low part, and words of the three arrays.
struct Sizes {
    low_bits: u32,
    bucket_max: u64,
    lows: usize,
    highs: usize,
    samples: usize,
}

impl Sizes {
    fn of(keys: &[u64]) -> Option<Self> {
        let (first, last) = (*keys.first()?, *keys.last()?);
        let len = keys.len() as u64;
        let span = last - first;
        let low_bits = (span / len).checked_ilog2().unwrap_or(0);
        // At most `span / 2^low_bits <= 2 len` buckets.
        let bucket_max = span >> low_bits;
        let bits = len + bucket_max + 1;
        Some(Sizes {
            low_bits,
            bucket_max,
            lows: (u128::from(len) * u128::from(low_bits)).div_ceil(64) as usize,
            highs: bits.div_ceil(64) as usize,
            samples: (bucket_max as usize + 1).div_ceil(SAMPLE),
        })
    }
}

/// Bytes that [`EliasFano::new`] would take; sorted, distinct keys.
pub(super) fn bytes_of(keys: &[u64]) -> usize {
    match Sizes::of(keys) {
        // Positions in `highs` are 32 bits wide.
        Some(sizes) if sizes.highs < 1 << 26 => (sizes.lows + sizes.highs) * 8 + sizes.samples * 4,
        Some(_) => usize::MAX,
        None => 0,
    }
}

impl EliasFano {
    /// The set of sorted, distinct keys, for which [`bytes_of`] is not `usize::MAX`.
    pub(super) fn new(keys: &[u64]) -> Self {
        let none = Sizes { low_bits: 0, bucket_max: 0, lows: 0, highs: 0, samples: 0 };
        let sizes = Sizes::of(keys).unwrap_or(none);
        let base = keys.first().copied().unwrap_or(0);
        let mut lows = vec![0; sizes.lows].into_boxed_slice();
        let mut highs = vec![0; sizes.highs].into_boxed_slice();
        let mask = (1u64 << sizes.low_bits) - 1;
        for (at, key) in keys.iter().enumerate() {
            let offset = key - base;
            write_bits(&mut lows, at, sizes.low_bits, offset & mask);
            // `at` ones and one zero per bucket lie before it.
            let position = at as u64 + (offset >> sizes.low_bits);
            highs[(position / 64) as usize] |= 1 << (position % 64);
        }
        let set = EliasFano {
            base,
            bucket_max: sizes.bucket_max,
            len: keys.len(),
            low_bits: sizes.low_bits,
            lows,
            highs,
            samples: Box::default(),
        };
        if keys.is_empty() { set } else { set.with_samples() }
    }

    /// The set with the samples that its `highs` have.
    pub(super) fn with_samples(mut self) -> Self {
        self.samples = self.sampled((self.bucket_max as usize + 1).div_ceil(SAMPLE));
        self
    }

    /// Whether any key of `lo..=hi` is in the set.
    #[must_use]
    pub fn any(&self, lo: u64, hi: u64) -> bool {
        if lo > hi || hi < self.base || self.len == 0 {
            return false;
        }
        let (from, to) = (lo.saturating_sub(self.base), hi - self.base);
        let bucket = from >> self.low_bits;
        if bucket > self.bucket_max {
            return false;
        }
        // Keys `first..last` are those of the bucket.
        let start = match bucket {
            0 => 0,
            _ => self.zero(bucket - 1) + 1,
        };
        // The bucket's own zero, mostly in the same word.
        let end = self.next_zero(start);
        let (first, last) = (start - bucket as usize, end - bucket as usize);
        let low = from & ((1 << self.low_bits) - 1);
        let next = self.lower_bound(first, last, low);
        if next < last {
            return bucket << self.low_bits | self.low(next) <= to;
        }
        // The first key of a later bucket, if one lies in the range.
        match self.next_one(end + 1) {
            Some(one) => {
                let bucket = (one - next) as u64;
                bucket << self.low_bits | self.low(next) <= to
            }
            None => false,
        }
    }

    /// Number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True where there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.lows) + size_of_val(&*self.highs) + size_of_val(&*self.samples)
    }

    /// The keys, ascending.
    pub fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        self.offsets().map(|offset| self.base + offset)
    }

    /// The keys less the smallest, ascending.
    pub(super) fn offsets(&self) -> impl Iterator<Item = u64> + '_ {
        let mut position = 0;
        (0..self.len).map_while(move |at| {
            let one = self.next_one(position)?;
            position = one + 1;
            Some(((one - at) as u64) << self.low_bits | self.low(at))
        })
    }

    /// First of the keys `first..last` of one bucket whose low part is not below `low`.
    fn lower_bound(&self, first: usize, last: usize, low: u64) -> usize {
        let (mut first, mut last) = (first, last);
        while first < last {
            let middle = first + (last - first) / 2;
            if self.low(middle) < low {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        first
    }

    pub(super) fn low(&self, at: usize) -> u64 {
        read_bits(&self.lows, at, self.low_bits)
    }

    /// Position of zero number `index` in `highs`.
    fn zero(&self, index: u64) -> usize {
        let index = index as usize;
        let sample = self.samples[index / SAMPLE] as usize;
        let mut rest = index % SAMPLE;
        let mut at = sample / 64;
        // The zero of the sample itself counts as the first.
        let mut zeros = !self.highs[at] & (u64::MAX << (sample % 64));
        loop {
            let count = zeros.count_ones() as usize;
            if rest < count {
                return at * 64 + nth_one(zeros, rest);
            }
            rest -= count;
            at += 1;
            zeros = !self.highs[at];
        }
    }

    /// Position of the first zero at or after `position`; the last bucket ends with one.
    fn next_zero(&self, position: usize) -> usize {
        let mut at = position / 64;
        let mut zeros = !self.highs[at] & (u64::MAX << (position % 64));
        while zeros == 0 {
            at += 1;
            zeros = !self.highs[at];
        }
        at * 64 + zeros.trailing_zeros() as usize
    }

    /// Position of the first one at or after `position`.
    fn next_one(&self, position: usize) -> Option<usize> {
        let mut at = position / 64;
        let mut word = self.highs.get(at)? & (u64::MAX << (position % 64));
        while word == 0 {
            at += 1;
            word = *self.highs.get(at)?;
        }
        Some(at * 64 + word.trailing_zeros() as usize)
    }

    fn sampled(&self, count: usize) -> Box<[u32]> {
        let mut samples = Vec::with_capacity(count);
        let mut seen = 0;
        for (at, &word) in self.highs.iter().enumerate() {
            let zeros = !word;
            let ones = zeros.count_ones() as usize;
            while samples.len() < count && samples.len() * SAMPLE < seen + ones {
                let within = samples.len() * SAMPLE - seen;
                samples.push((at * 64 + nth_one(zeros, within)) as u32);
            }
            seen += ones;
        }
        samples.into()
    }
}

/// Position of one number `rest` of `word`, which has more ones than that.
#[inline]
fn nth_one(mut word: u64, mut rest: usize) -> usize {
    let mut base = 0;
    // Halve until few are left: a branch per step, none per one.
    for width in [32, 16, 8] {
        let low = word & ((1u64 << width) - 1);
        let count = low.count_ones() as usize;
        if rest >= count {
            rest -= count;
            word >>= width;
            base += width;
        } else {
            word = low;
        }
    }
    for _ in 0..rest {
        word &= word - 1;
    }
    base + word.trailing_zeros() as usize
}

fn write_bits(words: &mut [u64], at: usize, bits: u32, value: u64) {
    if bits == 0 {
        return;
    }
    let position = at * bits as usize;
    let (word, shift) = (position / 64, (position % 64) as u32);
    words[word] |= value << shift;
    if shift + bits > 64 {
        words[word + 1] |= value >> (64 - shift);
    }
}

#[inline]
fn read_bits(words: &[u64], at: usize, bits: u32) -> u64 {
    if bits == 0 {
        return 0;
    }
    let position = at * bits as usize;
    let (word, shift) = (position / 64, (position % 64) as u32);
    let mut value = words[word] >> shift;
    if shift + bits > 64 {
        value |= words[word + 1] << (64 - shift);
    }
    value & (u64::MAX >> (64 - bits))
}
