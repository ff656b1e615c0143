//! Worlds of random schemas and rows.

use bloomrf_engine::schema::ByteOrder;
use bloomrf_kernels::SizeClasses;
use bloomrf_kernels::params::Budget;

use super::domain::{TYPES, has_order};
use super::trees::{Pool, ordinals, random_cell};
use super::{Cell, Splitmix, World, evaluator, schema};

/// A world of a few columns of random types, with verified batches; and its pools. One in 24
/// has full chunks.
pub(crate) fn world(rng: &mut Splitmix) -> (World, Vec<Pool>) {
    let batches = if rng.one_in(24) { 64 + rng.below(30) } else { 12 };
    world_of(batches, rng, |world, rng| {
        world.policy.budget.levels = if rng.one_in(5) { 1 } else { 4 };
    })
}

/// The same at the ends of every setting, each batch with its own and with its own seed.
pub(crate) fn extreme_world(rng: &mut Splitmix) -> (World, Vec<Pool>) {
    let batches = if rng.one_in(24) { 64 + rng.below(30) } else { 12 };
    let (mut world, pools) = world_of(batches, rng, |world, rng| {
        world.policy.budget =
            Budget { bits_per_key: *rng.pick(&[1, 8, 64]), levels: *rng.pick(&[1, 2, 4, 8]) };
        world.policy.sizes = SizeClasses::new(*rng.pick(&[1, 2, 1_024]));
        let random = rng.next();
        world.policy.seed = *rng.pick(&[0, 1, u64::MAX, random]);
    });
    world.evaluator = evaluator(&world.schema, *rng.pick(&[1, 9, 256, u32::MAX]));
    world.is_compared = false;
    (world, pools)
}

/// A world of that many batches, each with what `configure` makes of the policy.
pub(crate) fn world_of(
    batches: u64,
    rng: &mut Splitmix,
    mut configure: impl FnMut(&mut World, &mut Splitmix),
) -> (World, Vec<Pool>) {
    let mut columns = Vec::new();
    let mut pools = Vec::new();
    for _ in 0..2 + rng.below(4) {
        let (name, kind) = *rng.pick(&TYPES);
        let nullable = rng.one_in(2);
        let is_ordered = has_order(kind) && kind.width() > 1;
        let order = *rng.pick(&[ByteOrder::Little, ByteOrder::Big]);
        columns.push((name, is_ordered.then_some(order), nullable));
        pools.push(Pool { kind, nullable, ordinals: ordinals(kind, rng) });
    }
    let mut world = World::new(schema(&columns));
    for column in 0..pools.len() {
        world.policy.filtered[column] = !rng.one_in(8);
    }
    for _ in 0..batches {
        configure(&mut world, rng);
        // A batch draws from a few values of each pool only, so that many can be excluded.
        let parts: Vec<Vec<u128>> = pools
            .iter()
            .map(|pool| (0..1 + rng.below(3)).map(|_| *rng.pick(&pool.ordinals)).collect())
            .collect();
        let rows: Vec<Vec<Cell>> = (0..rng.below(24))
            .map(|_| {
                pools.iter().zip(&parts).map(|(pool, part)| random_cell(pool, part, rng)).collect()
            })
            .collect();
        let opened_for = *rng.pick(&[1, 20_000]);
        world.add_sized(&rows, opened_for);
    }
    (world, pools)
}
