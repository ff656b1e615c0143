//! A built filter and the checks that hold for every filter.

use bloomrf_kernels::bloomrf as vector;
use bloomrf_kernels::plan::TopBits;
use bloomrf_kernels::scalar::{bitmap, bloomrf, words};
use bloomrf_kernels::{Answer, Kernel, Layers, RangePlan};

/// No budget.
pub(crate) const FREE: u32 = u32::MAX;

/// A filter and what belongs to it.
pub(crate) struct Built {
    pub(crate) layers: Layers,
    pub(crate) hashed: Vec<u64>,
    pub(crate) top: Vec<u64>,
    pub(crate) list: Vec<u16>,
}

impl Built {
    pub(crate) fn new(layers: Layers, words: usize, keys: &[u64]) -> Self {
        let mut hashed = vec![0; words];
        let mut top = vec![0; if layers.has_exact_top() { bitmap::WORDS_16 } else { 0 }];
        for &key in keys {
            bloomrf::insert(&layers, &mut hashed, &mut top, key);
        }
        for kernel in sets() {
            let mut same = (vec![0; words], vec![0; top.len()]);
            vector::insert_many(kernel, &layers, &mut same.0, &mut same.1, keys);
            assert_eq!((&same.0, &same.1), (&hashed, &top), "built by {kernel}: {layers:?}");
        }
        let list = bitmap::keys(&top).collect();
        Built { layers, hashed, top, list }
    }

    pub(crate) fn folded(&self, factor: usize) -> Self {
        let mut hashed = self.hashed.clone();
        words::fold(&mut hashed, factor);
        Built { layers: self.layers, hashed, top: self.top.clone(), list: self.list.clone() }
    }

    pub(crate) fn range(&self, lo: u64, hi: u64, probes_max: u32) -> Answer {
        bloomrf::range(&self.layers, &self.hashed, &self.top, lo, hi, probes_max)
    }

    /// The answer of a plan, which must not depend on how the top is stored.
    pub(crate) fn run(&self, plan: &RangePlan) -> Answer {
        if !self.layers.has_exact_top() {
            return plan.run(&self.hashed, TopBits::None);
        }
        let answer = plan.run(&self.hashed, TopBits::Bitmap(&self.top));
        assert_eq!(plan.run(&self.hashed, TopBits::List(&self.list)), answer);
        answer
    }

    pub(crate) fn contains(&self, key: u64) -> bool {
        bloomrf::contains(&self.layers, &self.hashed, &self.top, key)
    }

    /// Everything that must agree about one range, and be right if `truth`.
    pub(crate) fn check(&self, plan: &RangePlan, lo: u64, hi: u64, truth: bool) {
        let direct = self.range(lo, hi, FREE);
        assert_ne!(direct, Answer::OverBudget);
        assert!(!truth || direct == Answer::Maybe, "lost {lo:#x}..={hi:#x}: {:?}", self.layers);
        assert_eq!(self.run(plan), direct, "plan of {lo:#x}..={hi:#x}: {:?}", self.layers);
        if lo == hi {
            assert_eq!(self.contains(lo), direct == Answer::Maybe, "point {lo:#x}");
        }
    }

    /// Every kernel set answers `ranges` as one call of the reference each does.
    pub(crate) fn check_many(&self, ranges: &[(u64, u64)]) {
        let expected: Vec<_> =
            ranges.iter().map(|&(lo, hi)| self.range(lo, hi, FREE).may_hold()).collect();
        let expected = bits(&expected);
        let mut found = vec![0; expected.len()];
        for kernel in sets() {
            let (hashed, top) = (&self.hashed, &self.top);
            let layers = &self.layers;
            vector::range_many(kernel, layers, hashed, top, ranges, FREE, &mut found);
            assert_eq!(found, expected, "{kernel}: {ranges:x?}: {layers:?}");
        }
    }

    /// Every kernel set answers `keys` as one call of the reference each does.
    pub(crate) fn check_keys(&self, keys: &[u64]) {
        let expected: Vec<_> = keys.iter().map(|&key| self.contains(key)).collect();
        let expected = bits(&expected);
        let mut found = vec![0; expected.len()];
        for kernel in sets() {
            let (hashed, top) = (&self.hashed, &self.top);
            vector::contains_many(kernel, &self.layers, hashed, top, keys, &mut found);
            assert_eq!(found, expected, "{kernel}: {keys:x?}: {:?}", self.layers);
        }
    }
}

/// The sets that differ in bloomRF: both AVX-512 sets run one kernel.
fn sets() -> impl Iterator<Item = Kernel> {
    let twin = Kernel::all().iter().any(|kernel| matches!(kernel, Kernel::Avx512Vbmi(_)));
    Kernel::all()
        .into_iter()
        .skip(1)
        .filter(move |kernel| !(twin && matches!(kernel, Kernel::Avx512(_))))
}

fn bits(answers: &[bool]) -> Vec<u64> {
    let word = |answers: &[bool]| {
        (0..).zip(answers).fold(0, |word, (at, &answer)| word | u64::from(answer) << at)
    };
    answers.chunks(64).map(word).collect()
}
