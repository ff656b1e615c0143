//! The list of operations.

use crate::case::Case;
use crate::{
    blocked, bloomrf, classic, columns, columns_kept, gather, hashes, sliced_asked, sliced_rows,
    split_block, words,
};

/// An operation, or a few that share their input.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) visit: fn(&mut Case<'_>),
}

macro_rules! operations {
    ($($name:literal => $visit:path,)*) => {
        pub(crate) const OPERATIONS: &[Operation] =
            &[$(Operation { name: $name, visit: $visit }),*];
    };
}

operations! {
    "bloomrf::insert" => bloomrf::insert,
    "bloomrf::insert_u32" => bloomrf::insert_u32,
    "bloomrf::contains" => bloomrf::contains,
    "bloomrf::range" => bloomrf::range,
    "words::merge" => words::merge,
    "words::ones" => words::ones,
    "words::fold" => words::fold,
    "words::merge_fold" => words::merge_fold,
    "blocked::insert" => blocked::insert,
    "blocked::contains" => blocked::contains,
    "split_block::insert" => split_block::insert,
    "split_block::contains" => split_block::contains,
    "classic::insert" => classic::insert,
    "classic::contains" => classic::contains,
    "hash::bytes" => hashes::bytes,
    "digest::xxh3" => hashes::digest,
    "zone::masks" => hashes::zones,
    "columns::gather" => gather::append,
    "columns::gather_line" => gather::append_line,
    "columns::bounds" => columns::bounds,
    "columns::bounds_wide" => columns::bounds_wide,
    "columns::maps" => columns::maps,
    "columns::keep_valid" => columns_kept::valid,
    "columns::drop_nan" => columns_kept::numbers,
    "columns::recent" => columns_kept::recent,
    "sliced::build" => sliced_rows::build,
    "sliced::run_plan" => sliced_asked::run_plan,
    "sliced::exact_any" => sliced_asked::exact_any,
    "sliced::blocked" => sliced_asked::blocked_contains,
}
