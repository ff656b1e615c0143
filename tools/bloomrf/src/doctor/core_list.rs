//! Lists of cores as Linux writes them: `0-3,8,10-11`.

use std::collections::BTreeSet;
use std::fmt;

/// Core numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CoreList(BTreeSet<usize>);

/// No machine has more; a longer range is nonsense, and not worth memory.
const CORES_MAX: usize = 1 << 16;

impl CoreList {
    /// Reads what it can: words that are no number and no range (`domain`, `managed_irq`) name no
    /// core.
    pub(super) fn parse(text: &str) -> Self {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (last < CORES_MAX).then_some(first..=last)
        };
        CoreList(text.split(',').filter_map(range).flatten().collect())
    }

    pub(super) fn has(&self, core: usize) -> bool {
        self.0.contains(&core)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().copied()
    }

    /// Those of `self` that `other` lacks.
    pub(super) fn without(&self, other: &CoreList) -> Self {
        CoreList(self.0.difference(&other.0).copied().collect())
    }
}

impl FromIterator<usize> for CoreList {
    fn from_iter<I: IntoIterator<Item = usize>>(cores: I) -> Self {
        CoreList(cores.into_iter().collect())
    }
}

impl fmt::Display for CoreList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cores = self.0.iter().copied().peekable();
        let mut separator = "";
        while let Some(first) = cores.next() {
            let mut last = first;
            while let Some(next) = cores.next_if(|&next| next == last + 1) {
                last = next;
            }
            write!(f, "{separator}{first}")?;
            if last > first {
                write!(f, "-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CoreList;

    #[test]
    fn a_list_reads_back_as_it_is_shown_and_nonsense_names_no_core() {
        for (text, shown) in [
            ("0-3,8,10-11", "0-3,8,10-11"),
            ("3,1,2", "1-3"),
            ("", ""),
            ("managed_irq,domain,2-3", "2-3"),
            ("3-1,x,-,4-99999999999,7", "7"),
        ] {
            assert_eq!(CoreList::parse(text).to_string(), shown, "{text}");
        }
    }
}
