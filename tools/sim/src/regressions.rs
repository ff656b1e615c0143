//! Seeds that once failed, rerun first by every run.

/// A seed that once failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// `run`, `links` or `power`.
    pub command: String,
    /// Seed.
    pub seed: u64,
    /// Events; of no meaning for `power`.
    pub steps: u64,
}

/// The kept seeds: lines of `command seed steps`, with comments behind `#`.
///
/// # Panics
/// Where a line of our own file is none.
#[must_use]
pub fn regressions() -> Vec<Kept> {
    let lines = include_str!("../regressions.txt").lines();
    let told = lines.map(|line| line.split('#').next().unwrap_or_default().trim());
    told.filter(|line| !line.is_empty()).map(parse).collect()
}

fn parse(line: &str) -> Kept {
    let words: Vec<&str> = line.split_whitespace().collect();
    let kept = match words[..] {
        [command, seed, steps] => seed
            .parse()
            .ok()
            .zip(steps.parse().ok())
            .map(|(seed, steps)| Kept { command: command.to_owned(), seed, steps }),
        _ => None,
    };
    kept.unwrap_or_else(|| panic!("regressions.txt: {line:?} is not `command seed steps`"))
}
