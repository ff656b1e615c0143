//! No false negative, exhaustively: floats with both zeros, subnormals, infinities and NaN.

mod lookup_world;
mod truth;

use bloomrf_engine::schema::{ByteOrder, ColumnType};
use lookup_world::windows::exhaust;

#[test]
fn binary32_loses_no_batch() {
    let seed = lookup_world::seeded::seed(2);
    exhaust("f32", ColumnType::F32, Some(ByteOrder::Little), seed);
    exhaust("f32", ColumnType::F32, Some(ByteOrder::Big), seed);
}

#[test]
fn binary64_loses_no_batch() {
    let seed = lookup_world::seeded::seed(3);
    exhaust("f64", ColumnType::F64, Some(ByteOrder::Little), seed);
    exhaust("f64", ColumnType::F64, Some(ByteOrder::Big), seed);
}
