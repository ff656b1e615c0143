//! The command line of `bloomrf plan`.

use std::path::PathBuf;

use bloomrf_filter::plan::Share;
use clap::{Args, ValueEnum};

use crate::numbers;

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Distinct items: 1e8, 100M, 30_000_000.
    #[arg(long, short = 'n', value_name = "N", value_parser = numbers::count)]
    pub(crate) items: Option<u64>,
    /// Highest false-positive rate with so many items: 0.01, 1%, 1e-4.
    #[arg(long, short = 'p', value_name = "RATE", value_parser = numbers::rate)]
    pub(crate) fpr: Option<f64>,
    /// Most bits of a filter: 1e7, 80M.
    #[arg(long, short = 'm', value_name = "N", value_parser = numbers::count,
          conflicts_with = "memory")]
    pub(crate) bits: Option<u64>,
    /// Most memory of a filter: 64MiB, 1.5GB.
    #[arg(long, value_name = "SIZE", value_parser = numbers::bytes)]
    pub(crate) memory: Option<u64>,
    /// Bits of each item (k).
    #[arg(long, short = 'k', value_name = "K")]
    pub(crate) probes: Option<u32>,
    /// Items will be taken back.
    #[arg(long)]
    pub(crate) delete: bool,
    /// Ranges of this many keys will be asked for; 1,000 without a number.
    #[arg(long, value_name = "KEYS", num_args = 0..=1, default_missing_value = "1000",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) range: Option<u64>,
    /// More items may come than said.
    #[arg(long)]
    pub(crate) grow: bool,
    /// Another system reads it.
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) share: Option<ShareArg>,
    /// Bits of a key, where items are numbers.
    #[arg(long, value_name = "BITS", default_value_t = 64,
          value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) key_bits: u8,
    /// Mean length of an item, where items are text; a hash set then keeps the texts.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(0..1 << 20))]
    pub(crate) item_bytes: Option<u64>,
    /// Measure inserts and lookups here, on one core, at these sizes; some seconds.
    #[arg(long)]
    pub(crate) measure: bool,
    /// Draw the rate against the load to FILE, .svg or .png.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShareArg {
    /// Readers of Parquet files.
    Parquet,
    /// Guava's BloomFilter.
    Guava,
    /// RedisBloom.
    Redis,
}

impl From<ShareArg> for Share {
    fn from(share: ShareArg) -> Self {
        match share {
            ShareArg::Parquet => Share::Parquet,
            ShareArg::Guava => Share::Guava,
            ShareArg::Redis => Share::Redis,
        }
    }
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  bloomrf plan --items 1e8 --fpr 1%                 how large, of every kind, and which to take
  bloomrf plan --items 30M --memory 64MiB           which rate
  bloomrf plan --fpr 0.001 --memory 1GiB            how many items
  bloomrf plan --items 1e6 --bits 1e7 --probes 7
  bloomrf plan --items 5M --fpr 1e-3 --delete       items will be taken back
  bloomrf plan --items 5M --fpr 1e-3 --range 256 --key-bits 32
  bloomrf plan --items 1e7 --fpr 1% --share guava --measure --plot load.svg --json

Exit code: 0 there is something to take, 1 nothing does what was asked, 2 misused.";
