//! No false negative, exhaustively: addresses in network order, uuids, fixed text and bytes.

mod lookup_world;
mod truth;

use bloomrf_engine::schema::ColumnType;
use lookup_world::domain::TYPES;
use lookup_world::windows::exhaust;

fn run(belongs: impl Fn(ColumnType) -> bool) {
    let seed = lookup_world::seeded::seed(4);
    for (name, kind) in TYPES.into_iter().filter(|(_, kind)| belongs(*kind)) {
        exhaust(name, kind, None, seed);
    }
}

#[test]
fn ipv4_and_mac_lose_no_batch() {
    run(|kind| matches!(kind, ColumnType::Ipv4 | ColumnType::Mac));
}

#[test]
fn ipv6_and_uuid_lose_no_batch() {
    run(|kind| matches!(kind, ColumnType::Ipv6 | ColumnType::Uuid));
}

#[test]
fn bytes_of_any_width_lose_no_batch() {
    run(|kind| matches!(kind, ColumnType::Bytes(_)));
}
