//! No false negative, exhaustively: integers of every width, sign and byte order, times, bool.

mod lookup_world;
mod truth;

use bloomrf_engine::schema::{ByteOrder, ColumnType};
use lookup_world::domain::TYPES;
use lookup_world::windows::exhaust;

fn run(belongs: impl Fn(ColumnType) -> bool) {
    let seed = lookup_world::seeded::seed(1);
    for (name, kind) in TYPES.into_iter().filter(|(_, kind)| belongs(*kind)) {
        if kind.width() == 1 {
            exhaust(name, kind, None, seed);
        } else {
            exhaust(name, kind, Some(ByteOrder::Little), seed);
            exhaust(name, kind, Some(ByteOrder::Big), seed);
        }
    }
}

#[test]
fn unsigned_integers_lose_no_batch() {
    run(|k| matches!(k, ColumnType::U8 | ColumnType::U16 | ColumnType::U32 | ColumnType::U64));
}

#[test]
fn signed_integers_lose_no_batch() {
    run(|k| matches!(k, ColumnType::I8 | ColumnType::I16 | ColumnType::I32 | ColumnType::I64));
}

#[test]
fn times_and_truth_values_lose_no_batch() {
    run(|kind| matches!(kind, ColumnType::Timestamp(_) | ColumnType::Bool));
}
