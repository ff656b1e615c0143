//! `bloomrf filter`: filters as files. Thin over `bloomrf_filter`; files are BLMF.

pub(crate) mod args;
mod build;
mod combine;
mod convert;
mod inspect;
mod items;
mod query;

use std::collections::BTreeMap;
use std::path::Path;

use bloomrf_filter::file::{Asked, LoadError, StoredFilter, load};

use crate::outcome::{CommandError, Outcome};
use args::FilterCommand;

pub(crate) fn run(command: &FilterCommand) -> Outcome {
    match command {
        FilterCommand::Build(args) => build::run(args),
        FilterCommand::Query(args) => query::run(args),
        FilterCommand::Info(args) => inspect::info(args),
        FilterCommand::Verify(args) => inspect::verify(args),
        FilterCommand::Diff(args) => inspect::diff(args),
        FilterCommand::Merge(args) => combine::merge(args),
        FilterCommand::Fold(args) => combine::fold(args),
        FilterCommand::Convert(args) => convert::run(args),
    }
}

fn open(path: &Path) -> Result<StoredFilter, CommandError> {
    load(path, &Asked::default()).map_err(refusal)
}

/// A file that is not there is the caller's mistake; one that is damaged is a failure.
fn refusal(error: LoadError) -> CommandError {
    match error {
        LoadError::Io { .. } => CommandError::misused(error),
        _ => CommandError::failed(error),
    }
}

/// When it expires, seconds since 1970. A label that is no number has expired long ago.
fn expiry(labels: &BTreeMap<String, String>) -> Option<u64> {
    labels.get(EXPIRES).map(|text| text.parse().unwrap_or(0))
}

/// Label: seconds since 1970 after which a filter is not to be asked any more.
const EXPIRES: &str = "expires_at_s";
