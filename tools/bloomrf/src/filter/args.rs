//! The command line of `bloomrf filter`.

use std::path::PathBuf;

use bloomrf_filter::Encoding;
use clap::{Args, Subcommand, ValueEnum};

use crate::numbers;

#[derive(Debug, Subcommand)]
pub(crate) enum FilterCommand {
    /// Make a filter of the items of a file or a stream.
    #[command(after_help = EXAMPLES)]
    Build(BuildArgs),
    /// Ask a filter for items.
    #[command(after_help = EXAMPLES)]
    Query(QueryArgs),
    /// What a filter file says of itself.
    Info(InfoArgs),
    /// One filter of the items of several, of one shape.
    Merge(MergeArgs),
    /// Fold a blocked or split-block filter to a smaller size.
    Fold(FoldArgs),
    /// Read a filter file whole, check it, and measure its rate.
    Verify(VerifyArgs),
    /// How two filter files differ; exit code 1 where they do.
    Diff(DiffArgs),
    /// From and to the formats of other systems.
    #[command(after_help = EXAMPLES)]
    Convert(ConvertArgs),
}

/// Where items come from.
#[derive(Debug, Args)]
pub(crate) struct ItemsArgs {
    /// File with an item on each line; `-`: standard input.
    #[arg(value_name = "ITEMS", default_value = "-")]
    pub(crate) input: PathBuf,
    /// The file is CSV with a head line: take this column, by name or by number from 1.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) csv_column: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    pub(crate) from: ItemsArgs,
    /// The filter file to write, in place of what is there.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Distinct items that it is to hold: 30e6, 30M, 30_000_000 [default: as many as the file has].
    #[arg(long, short = 'n', value_name = "N", value_parser = numbers::count)]
    pub(crate) items: Option<u64>,
    /// Highest false-positive rate with so many items: 0.01, 1%, 1e-4.
    #[arg(long, short = 'p', value_name = "RATE", default_value = "1%",
          value_parser = numbers::rate)]
    pub(crate) fpr: f64,
    /// Kind; `bloomrf plan` says which.
    #[arg(long, value_name = "KIND", default_value = "classic")]
    pub(crate) kind: BuildKind,
    /// What the bytes of an item are.
    #[arg(long, value_name = "ENCODING", default_value = "raw")]
    pub(crate) encoding: EncodingArg,
    /// Seed of the hash, for kinds of our own.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Time after which it is not to be asked any more: 90s, 15m, 12h, 6d, 2w.
    #[arg(long, value_name = "SPAN", value_parser = numbers::span)]
    pub(crate) expires_in: Option<u64>,
    /// A label to keep with it.
    #[arg(long, value_name = "NAME=VALUE", value_parser = label)]
    pub(crate) label: Vec<(String, String)>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BuildKind {
    /// k bits anywhere.
    Classic,
    /// k bits in one cache line.
    Blocked,
    /// Eight bits in 32 bytes.
    SplitBlock,
    /// Counters of four bits in one cache line: items can be taken back.
    Counting,
    /// Fingerprints of 16 bits in buckets of four: items can be taken back.
    Cuckoo,
    /// A chain of classic filters that grows.
    Scaling,
    /// As Guava builds it.
    Guava,
    /// Split-block with Parquet's hash.
    Parquet,
}

/// Names of encodings, as a command takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EncodingArg {
    /// The bytes of the line.
    Raw,
    /// Text; bytes that are none are refused.
    Utf8,
    /// A decimal number, as 8 bytes.
    U64,
    /// A decimal number with a sign, as 8 bytes.
    I64,
    /// A decimal number, as 4 bytes.
    U32,
    /// A decimal number with a sign, as 4 bytes.
    I32,
    /// Text as UTF-16.
    Utf16,
}

impl From<EncodingArg> for Encoding {
    fn from(encoding: EncodingArg) -> Self {
        match encoding {
            EncodingArg::Raw => Encoding::Raw,
            EncodingArg::Utf8 => Encoding::Utf8,
            EncodingArg::U64 => Encoding::U64Le,
            EncodingArg::I64 => Encoding::I64Le,
            EncodingArg::U32 => Encoding::U32Le,
            EncodingArg::I32 => Encoding::I32Le,
            EncodingArg::Utf16 => Encoding::Utf16Le,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// Filter file.
    pub(crate) filter: PathBuf,
    #[command(flatten)]
    pub(crate) from: ItemsArgs,
    /// Ask for this item instead; may be given several times.
    #[arg(long, value_name = "ITEM")]
    pub(crate) item: Vec<String>,
    /// Print how many may be there and how many are not, and no line of each.
    #[arg(long)]
    pub(crate) count: bool,
    /// Ask although it has expired.
    #[arg(long)]
    pub(crate) expired: bool,
    /// Print one JSON object with the counts.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Filter file.
    pub(crate) filter: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Filter files, two or more.
    #[arg(required = true, num_args = 2..)]
    pub(crate) filters: Vec<PathBuf>,
    /// The filter file to write.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct FoldArgs {
    /// Filter file.
    pub(crate) filter: PathBuf,
    /// How many blocks become one; it must divide their number.
    #[arg(long, value_name = "FACTOR", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) by: u32,
    /// The filter file to write.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Filter file.
    pub(crate) filter: PathBuf,
    /// Random items to ask for, to measure the rate.
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub(crate) probes: u64,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Filter file.
    pub(crate) left: PathBuf,
    /// The other one.
    pub(crate) right: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// File to read.
    pub(crate) input: PathBuf,
    /// What it is.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Format,
    /// What is to be written.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Format,
    /// The file to write, in place of what is there.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// How the items of a foreign file were encoded: it does not say.
    #[arg(long, value_name = "ENCODING")]
    pub(crate) encoding: Option<EncodingArg>,
    /// An item that is known to be in it: a wrong encoding shows. May be given several times.
    #[arg(long, value_name = "ITEM")]
    pub(crate) sample: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Our own file.
    Blmf,
    /// What Guava's writeTo writes.
    Guava,
    /// Header and bitset of a Parquet split-block filter.
    Parquet,
}

fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if name.is_empty() { Err("a label has a name".into()) } else { Ok((name.into(), value.into())) }
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  bloomrf filter build --items 30e6 --fpr 1% --expires-in 6d members.txt -o members.blmf
  zcat ids.gz | bloomrf filter build --items 5M --encoding u64 --kind blocked -o ids.blmf
  bloomrf filter build --csv-column email people.csv -o people.blmf
  bloomrf filter query members.blmf --item alice --item bob
  bloomrf filter query members.blmf asked.txt --count --json
  bloomrf filter convert cache.guava --from guava --to blmf --encoding utf8 --sample alice -o c.blmf

Exit code: 0 done, 1 failed (a filter damaged or expired, files that differ), 2 bad input.";
