//! The command line of the program; `cargo xtask bench kernels` passes it on.

use std::path::PathBuf;

use bloomrf_kernels::arena::PagesWanted;
use clap::{Parser, ValueEnum};

/// Our kernels and their peers, interleaved.
#[derive(Debug, Parser)]
#[command(name = "kernels")]
pub(crate) struct Options {
    /// A run of seconds that shows that everything works; its numbers mean nothing.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Filter sizes, MiB (fractions allowed). The smallest default shows the kernel without the
    /// memory: the compute floor.
    #[arg(long, value_delimiter = ',', value_parser = size)]
    sizes: Vec<Size>,
    /// Only filters whose name contains one of these.
    #[arg(long, value_delimiter = ',')]
    pub(crate) filters: Vec<String>,
    /// Only these parts.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Section>,
    /// Pages of our filters; peers get what GLIBC_TUNABLES makes `malloc` ask for.
    #[arg(long, default_value = "huge")]
    pub(crate) pages: Pages,
    /// Write the rows to this file.
    #[arg(long)]
    pub(crate) csv: Option<PathBuf>,
}

/// Parts of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// Point filters: blocked, split-block, and the peers.
    Blocked,
    /// bloomRF: inserts, points, ranges by width and distribution, rates beside the model.
    Bloomrf,
}

/// Which pages are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pages {
    /// 2 MiB, reserved or transparent.
    Huge,
    /// 4 KiB.
    Small,
}

impl Pages {
    pub(crate) fn wanted(self) -> PagesWanted {
        match self {
            Pages::Huge => PagesWanted::Auto,
            Pages::Small => PagesWanted::Small,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Pages::Huge => "huge",
            Pages::Small => "small",
        }
    }
}

/// Bytes of one filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) usize);

impl Size {
    /// As in the records: `16 KiB`, `256 MiB`, `1 GiB`.
    pub(crate) fn name(self) -> String {
        match self.0 {
            bytes if bytes >= 1 << 30 => format!("{} GiB", bytes >> 30),
            bytes if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
            bytes => format!("{} KiB", bytes >> 10),
        }
    }
}

const QUICK: [Size; 1] = [Size(64 << 10)];
const FULL: [Size; 6] = [
    Size(16 << 10),
    Size(512 << 10),
    Size(1 << 20),
    Size(32 << 20),
    Size(256 << 20),
    Size(1 << 30),
];

impl Options {
    pub(crate) fn sizes(&self) -> &[Size] {
        match (self.sizes.is_empty(), self.quick) {
            (false, _) => &self.sizes,
            (true, true) => &QUICK,
            (true, false) => &FULL,
        }
    }

    pub(crate) fn runs(&self, section: Section) -> bool {
        self.only.is_empty() || self.only.contains(&section)
    }

    pub(crate) fn takes(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|part| name.contains(part.as_str()))
    }
}

fn size(text: &str) -> Result<Size, String> {
    let mib: f64 = text.parse().map_err(|_| format!("{text:?} is no number of MiB"))?;
    let bytes = mib * f64::from(1 << 20);
    if !(16_384.0..=68_719_476_736.0).contains(&bytes) {
        return Err(format!("{text} MiB is outside 0.015625 (16 KiB) to 65,536 (64 GiB)"));
    }
    // Whole lines of 64 bytes.
    Ok(Size((bytes as usize) & !63))
}
