//! The seeded mutator: inputs from seeds and corpus, damaged, tried for so many seconds.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::chance::Chance;
use crate::target::Target;

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Inputs tried.
    pub executions: u64,
    /// Inputs that panicked, or took longer than [`SLOW`], with what was wrong.
    pub failures: Vec<(Vec<u8>, String)>,
}

/// Longest time that one input may take; shorter inputs are long done.
pub const SLOW: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1_000 } else { 100 });

/// Files of the kept corpus of a target, in order of name.
pub fn corpus(target: &Target) -> io::Result<Vec<Vec<u8>>> {
    let folder = corpus_folder().join(target.name);
    let mut paths: Vec<PathBuf> = match fs::read_dir(&folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    paths.sort();
    paths.iter().map(fs::read).collect()
}

/// Where inputs that once failed are kept.
#[must_use]
pub fn corpus_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Tries every input of seeds and corpus as it is.
pub fn replay(target: &Target, inputs: &[Vec<u8>]) -> Findings {
    let mut findings = Findings::default();
    inputs.iter().for_each(|input| try_one(target, input, &mut findings));
    findings
}

/// Tries damaged inputs until `time` is over or [`FAILURES_MAX`] have failed.
pub fn mutate(target: &Target, inputs: &[Vec<u8>], seed: u64, time: Duration) -> Findings {
    let mut pool = inputs.to_vec();
    let mut findings = Findings::default();
    let mut chance = Chance::new(seed);
    let started = Instant::now();
    while findings.failures.len() < FAILURES_MAX && started.elapsed() < time {
        let mut input = pool.get(chance.below(pool.len())).cloned().unwrap_or_default();
        let other = pool.get(chance.below(pool.len())).map(Vec::as_slice).unwrap_or_default();
        if chance.below(50) == 0 {
            let length = chance.below(200);
            input = (0..length).map(|_| chance.draw() as u8).collect();
        } else {
            chance.wound(&mut input, other);
        }
        try_one(target, &input, &mut findings);
        // Damage upon damage: without coverage to guide, depth comes by chance.
        if chance.below(20) == 0 && pool.len() < POOL_MAX {
            pool.push(input);
        }
    }
    findings
}

fn try_one(target: &Target, input: &[u8], findings: &mut Findings) {
    let started = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    findings.executions += 1;
    let took = started.elapsed();
    if outcome.is_err() {
        findings.failures.push((input.to_vec(), "panicked".to_owned()));
    } else if took > SLOW && is_slow_again(target, input) {
        let why = format!("took {} ms", took.as_millis());
        findings.failures.push((input.to_vec(), why));
    }
}

/// Another process may have had the core: slow means slow every time.
fn is_slow_again(target: &Target, input: &[u8]) -> bool {
    (0..3).all(|_| {
        let started = Instant::now();
        (target.run)(input);
        started.elapsed() > SLOW
    })
}

/// Failures after which a run ends.
const FAILURES_MAX: usize = 10;
/// Inputs that the pool grows to.
const POOL_MAX: usize = 4_096;
