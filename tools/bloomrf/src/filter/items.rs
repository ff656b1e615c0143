//! Items of a file or a stream: lines, or a column of CSV. Memory: one line, at most [`LINE_MAX`].

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use bloomrf_filter::Encoding;
use bloomrf_filter::foreign::{Item, encode};
use indicatif::ProgressBar;

use super::args::ItemsArgs;
use crate::outcome::CommandError;
use crate::progress;

/// What is done with an item and the number of its line.
pub(super) type Each<'a> = &'a mut dyn FnMut(&[u8], u64) -> Result<(), CommandError>;

/// Calls `each` with every item as it stands in the file and the number of its line. Empty lines
/// are no items.
pub(super) fn read(from: &ItemsArgs, hidden: bool, each: Each<'_>) -> Result<(), CommandError> {
    let name = from.input.display();
    let failed = |error: io::Error| CommandError::misused(format!("{name}: {error}"));
    let is_stdin = from.input == Path::new("-");
    let (source, bar): (Box<dyn Read>, ProgressBar) = if is_stdin {
        (Box::new(io::stdin().lock()), progress::spinner("items", hidden))
    } else {
        let file = File::open(&from.input).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let bar = if hidden { ProgressBar::hidden() } else { progress::bytes("items", length) };
        (Box::new(file), bar)
    };
    let source = BufReader::with_capacity(1 << 16, source);
    let step = |bytes: u64| bar.inc(if is_stdin { 1 } else { bytes });
    let done = match &from.csv_column {
        None => read_lines(source, &from.input, &step, each),
        Some(column) => read_csv(source, &from.input, column, &step, each),
    };
    bar.finish_and_clear();
    done
}

/// The bytes of an item that are hashed.
pub(super) fn encoded<'a>(
    encoding: Encoding,
    item: &'a [u8],
    place: &dyn Fn() -> String,
) -> Result<Cow<'a, [u8]>, CommandError> {
    let refused = |why: String| CommandError::misused(format!("{}: {why}", place()));
    let item = match encoding {
        Encoding::Raw | Encoding::Utf8 => Item::Bytes(item),
        _ => match std::str::from_utf8(item) {
            Ok(text) => Item::Text(text),
            Err(_) => return Err(refused("expected text, found bytes that are none".into())),
        },
    };
    encode(encoding, item).map_err(|why| refused(format!("{why}; see --encoding")))
}

fn read_lines(
    mut source: impl BufRead,
    path: &Path,
    step: &dyn Fn(u64),
    each: Each<'_>,
) -> Result<(), CommandError> {
    let name = path.display();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let limit = LINE_MAX as u64 + 1;
        let read = source.by_ref().take(limit).read_until(b'\n', &mut line);
        let read = read.map_err(|e| CommandError::failed(format!("{name}, line {number}: {e}")))?;
        if read == 0 {
            return Ok(());
        }
        if read > LINE_MAX {
            return Err(CommandError::misused(format!(
                "{name}, line {number}: longer than {LINE_MAX} bytes; expected an item on each line"
            )));
        }
        step(read as u64);
        let item = line.strip_suffix(b"\n").unwrap_or(&line);
        let item = item.strip_suffix(b"\r").unwrap_or(item);
        if !item.is_empty() {
            each(item, number)?;
        }
    }
    Ok(())
}

fn read_csv(
    source: impl Read,
    path: &Path,
    column: &str,
    step: &dyn Fn(u64),
    each: Each<'_>,
) -> Result<(), CommandError> {
    let name = path.display();
    let refused = |error: csv::Error| CommandError::misused(format!("{name}: {error}"));
    let mut reader = csv::ReaderBuilder::new().from_reader(source);
    let heads = reader.byte_headers().map_err(refused)?;
    let by_number = || column.parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < heads.len());
    let at = heads.iter().position(|head| head == column.as_bytes()).or_else(by_number);
    let Some(at) = at else {
        let heads: Vec<_> = heads.iter().take(20).map(String::from_utf8_lossy).collect();
        return Err(CommandError::misused(format!(
            "{name}, line 1: no column {column:?}; there are: {}",
            heads.join(", ")
        )));
    };
    let mut record = csv::ByteRecord::new();
    let mut before = 0;
    while reader.read_byte_record(&mut record).map_err(refused)? {
        let now = reader.position().byte();
        step(now - before);
        before = now;
        let line = record.position().map_or(0, csv::Position::line);
        if let Some(item) = record.get(at).filter(|item| !item.is_empty()) {
            each(item, line)?;
        }
    }
    Ok(())
}

/// Longest line.
const LINE_MAX: usize = 1 << 20;
