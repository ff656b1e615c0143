//! Where DPDK's memory comes from: huge pages where enough are free, else ordinary ones.

use std::fs;

use crate::error::DpdkError;

/// What memory is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Huge pages where this many MiB of them are free, else ordinary pages.
    Auto {
        /// MiB in all.
        mib: u64,
    },
    /// Huge pages, or an error.
    Huge {
        /// MiB in all.
        mib: u64,
    },
    /// Ordinary pages.
    NoHuge {
        /// MiB in all.
        mib: u64,
    },
}

/// What memory was got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryUsed {
    /// Huge pages, taken as they are needed.
    Huge {
        /// Of this size.
        page_kib: u64,
        /// Free when it started, MiB.
        free_mib: u64,
    },
    /// Ordinary pages, this many MiB in all.
    NoHuge {
        /// MiB.
        mib: u64,
    },
}

impl Memory {
    /// Chooses by what the system has free.
    pub(crate) fn choose(self) -> Result<MemoryUsed, DpdkError> {
        // Where there is no such file there are no huge pages.
        self.choose_by(&fs::read_to_string("/proc/meminfo").unwrap_or_default())
    }

    fn choose_by(self, meminfo: &str) -> Result<MemoryUsed, DpdkError> {
        let (page_kib, pages) =
            (field(meminfo, "Hugepagesize:"), field(meminfo, "HugePages_Free:"));
        let free_mib = page_kib.saturating_mul(pages) / 1024;
        let huge = MemoryUsed::Huge { page_kib, free_mib };
        match self {
            Memory::NoHuge { mib } => Ok(MemoryUsed::NoHuge { mib }),
            Memory::Auto { mib } | Memory::Huge { mib } if free_mib >= mib.max(1) => Ok(huge),
            Memory::Auto { mib } => Ok(MemoryUsed::NoHuge { mib }),
            Memory::Huge { mib } => Err(DpdkError::NoHugePages { wanted_mib: mib, free_mib }),
        }
    }
}

impl MemoryUsed {
    /// As EAL wants it said. `--in-memory` leaves nothing on disk, whatever happens to the process;
    /// it excludes `--no-huge`, which without `--no-shconf` would leave files.
    pub(crate) fn arguments(self) -> Vec<String> {
        match self {
            MemoryUsed::Huge { .. } => vec!["--in-memory".into()],
            MemoryUsed::NoHuge { mib } => {
                vec!["--no-huge".into(), "-m".into(), mib.to_string(), "--no-shconf".into()]
            }
        }
    }
}

fn field(meminfo: &str, name: &str) -> u64 {
    let value = |line: &str| line.strip_prefix(name)?.split_ascii_whitespace().next()?.parse().ok();
    meminfo.lines().find_map(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: &str = "HugePages_Total:     300\nHugePages_Free:      100\nHugePages_Rsvd: 0\n\
                         Hugepagesize:       2048 kB\n";

    #[test]
    fn huge_pages_are_used_where_enough_are_free() {
        let huge = MemoryUsed::Huge { page_kib: 2048, free_mib: 200 };
        assert_eq!(Memory::Auto { mib: 200 }.choose_by(PAGES), Ok(huge));
        assert_eq!(Memory::Huge { mib: 200 }.choose_by(PAGES), Ok(huge));
        let ordinary = MemoryUsed::NoHuge { mib: 201 };
        assert_eq!(Memory::Auto { mib: 201 }.choose_by(PAGES), Ok(ordinary));
        assert_eq!(Memory::NoHuge { mib: 201 }.choose_by(PAGES), Ok(ordinary));
        assert_eq!(Memory::Auto { mib: 201 }.choose_by(""), Ok(ordinary));
    }

    #[test]
    fn too_few_huge_pages_are_an_error_where_they_are_demanded() {
        let error = Memory::Huge { mib: 256 }.choose_by(PAGES).unwrap_err().to_string();
        assert!(error.contains("256 MiB of huge pages are wanted and 200 MiB are free"), "{error}");
        assert!(error.contains("vm.nr_hugepages"), "{error}");
    }
}
