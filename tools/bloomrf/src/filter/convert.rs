//! `bloomrf filter convert`: from and to the formats of other systems. The source is only read.

use std::fs::File;
use std::io::Read;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use bloomrf_filter::file::{StoredFilter, save, write_file};
use bloomrf_filter::foreign::guava::{Guava, Head};
use bloomrf_filter::foreign::parquet::Sbbf;
use bloomrf_filter::foreign::{Limits, Rule};
use bloomrf_filter::{AnyFilter, Encoding, HashRule, Imported, SplitBlock};

use super::args::{ConvertArgs, Format};
use super::{build, items, open};
use crate::numbers::size;
use crate::outcome::{CommandError, Outcome, print};

pub(super) fn run(args: &ConvertArgs) -> Outcome {
    let name = args.input.display();
    let stored = read(args)?;
    for sample in &args.sample {
        let place = || format!("--sample {sample:?}");
        if !stored.contains(&items::encoded(stored.encoding, sample.as_bytes(), &place)?) {
            return Err(CommandError::failed(format!(
                "{name}: known member {sample:?} is not in it: another --encoding than {:?}, \
                 another filter, or a damaged one",
                stored.encoding
            )));
        }
    }
    let bytes = match args.to {
        Format::Blmf => {
            save(&args.output, &stored).map_err(CommandError::failed)?;
            None
        }
        Format::Guava => Some(guava_bytes(&stored)),
        Format::Parquet => Some(parquet_bytes(&stored)),
    };
    if let Some(bytes) = bytes {
        let bytes = bytes.map_err(|why| CommandError::misused(format!("{name}: {why}")))?;
        write_file(&args.output, &bytes).map_err(CommandError::failed)?;
    }
    let written = std::fs::metadata(&args.output).map(|file| file.len()).unwrap_or_default();
    print(&format!("{}: {}\n", args.output.display(), size(written)))?;
    Ok(ExitCode::SUCCESS)
}

fn read(args: &ConvertArgs) -> Result<StoredFilter, CommandError> {
    if args.from == Format::Blmf {
        return open(&args.input);
    }
    let name = args.input.display();
    let Some(encoding) = args.encoding else {
        return Err(CommandError::misused(format!(
            "{name}: such a file does not say how items were encoded: name --encoding"
        )));
    };
    let failed = |why: String| CommandError::failed(format!("{name}: {why}"));
    let unread = |error: std::io::Error| CommandError::misused(format!("{name}: {error}"));
    let limits = Limits::default();
    let mut bytes = Vec::new();
    let file = File::open(&args.input).map_err(unread)?;
    // A head of a few bytes comes on top of the bits.
    file.take(limits.bytes_max + 64).read_to_end(&mut bytes).map_err(unread)?;
    let (filter, rule): (AnyFilter, HashRule) = match args.from {
        Format::Parquet => {
            let sbbf = Sbbf::parse(&bytes, limits).map_err(|why| failed(why.to_string()))?;
            let filter = SplitBlock::from_parts(sbbf.words().to_vec(), 0, 0);
            let filter = filter.ok_or_else(|| failed("not whole blocks".into()))?;
            (filter.into(), HashRule::Parquet)
        }
        _ => {
            let guava = Guava::parse(&bytes, limits).map_err(|why| failed(why.to_string()))?;
            let imported = Imported::from(&guava);
            let rule = HashRule::Foreign(imported.rule());
            (imported.into(), rule)
        }
    };
    let mut stored = StoredFilter::new(filter, rule, Encoding::from(encoding));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    stored.stamp = build::stamp(now.as_micros() as i64);
    Ok(stored)
}

/// As Guava's `writeTo` writes it: strategy, k, the number of words, words big-endian.
fn guava_bytes(stored: &StoredFilter) -> Result<Vec<u8>, String> {
    let refused = |what: String| {
        format!(
            "Guava reads what was hashed by Guava's rule, and this is {what}; build --kind guava"
        )
    };
    let AnyFilter::Imported(filter) = &stored.filter else {
        return Err(refused(format!("{} by {:?}", stored.filter.kind(), stored.rule)));
    };
    let strategy = match filter.rule() {
        Rule::GuavaMitz32 => 0,
        Rule::GuavaMitz64 => 1,
        other => return Err(refused(format!("{other:?}"))),
    };
    let k = u8::try_from(filter.k()).map_err(|error| error.to_string())?;
    let words = i32::try_from(filter.words().len()).map_err(|error| error.to_string())?;
    let mut bytes = vec![strategy, k];
    bytes.extend(words.to_be_bytes());
    Head::parse(&bytes).map_err(|why| why.to_string())?;
    bytes.extend(filter.words().iter().flat_map(|word| word.to_be_bytes()));
    Ok(bytes)
}

/// Header and bitset, as they lie in a Parquet file.
fn parquet_bytes(stored: &StoredFilter) -> Result<Vec<u8>, String> {
    let (AnyFilter::SplitBlock(filter), HashRule::Parquet) = (&stored.filter, stored.rule) else {
        return Err(format!(
            "Parquet reads split-block filters of its own hash, and this is {} by {:?}; build \
             --kind parquet",
            stored.filter.kind(),
            stored.rule
        ));
    };
    let blocks = filter.words().len() as u64 / 4;
    let empty = Sbbf::build(blocks, Limits::default()).map_err(|why| why.to_string())?;
    let mut bytes = empty.write();
    bytes.truncate(bytes.len().saturating_sub(8 * filter.words().len()));
    bytes.extend(filter.words().iter().flat_map(|word| word.to_le_bytes()));
    Ok(bytes)
}
