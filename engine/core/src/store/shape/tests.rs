//! Which filters share a group, and which columns are sliced.

use super::*;
use bloomrf_kernels::params::layers_for;

fn bloomrf(words: usize, fill: f64) -> Option<Member> {
    let shape = GroupShape::BloomRf { layers: layers_for(64, 7), words };
    Some(Member { shape, fill, bytes: words * 8 })
}

fn exact(bytes: usize) -> Option<Member> {
    Some(Member { shape: GroupShape::Bitmap16, fill: 0.0, bytes })
}

fn plan_of(members: [Option<Member>; CHUNK_SLOTS]) -> Option<(usize, u64)> {
    plan_column(&members, None).map(|plan| (plan.shape.words(), plan.slots))
}

#[test]
fn shorter_ones_unfold_and_longer_ones_fold_where_that_leaves_room() {
    let members = |long_fill| {
        std::array::from_fn(|slot| match slot {
            0 => bloomrf(15, 0.2),
            1 => bloomrf(48, 0.2),
            2 => bloomrf(120, long_fill),
            3 => None,
            _ => bloomrf(60, 0.2),
        })
    };
    // 1 - (1 - 0.1)^2 = 0.19 is no fuller than the others; 1 - (1 - 0.2)^2 = 0.36 is.
    assert_eq!(plan_of(members(0.1)), Some((60, !0b1010)));
    assert_eq!(plan_of(members(0.2)), Some((60, !0b1110)));
}

#[test]
fn a_near_tie_goes_to_the_chunk_before_and_few_are_no_group() {
    let members: [_; 64] =
        std::array::from_fn(|slot| bloomrf(if slot < 34 { 60 } else { 48 }, 0.2));
    assert_eq!(plan_of(members), Some((60, (1 << 34) - 1)));
    let before = ColumnPlan { shape: members[63].unwrap().shape, slots: 0 };
    assert_eq!(plan_column(&members, Some(before)).unwrap().shape.words(), 48);
    let few = |count| std::array::from_fn(|slot| bloomrf(60, 0.2).filter(|_| slot < count));
    assert_eq!(plan_of(few(7)), None);
    assert_eq!(plan_of(few(8)), Some((60, 0xFF)));
}

#[test]
fn a_chunk_grows_by_half_at_most_and_the_columns_that_grow_least_go_first() {
    let uniform: [_; 64] = [bloomrf(8_192, 0.2); 64];
    let lists: [_; 64] = [exact(200); 64];
    let plain = 64 * (8_192 * 8 + 200);
    let sliced = |columns: &[_], plain, max| {
        let plans = plan_chunk(columns, &[], plain, max);
        plans.iter().map(Option::is_some).collect::<Vec<_>>()
    };
    assert_eq!(sliced(&[lists, uniform], plain, usize::MAX), [true, true]);
    assert_eq!(sliced(&[lists, uniform], plain, plain), [false, true], "no room to grow");
    assert_eq!(sliced(&[lists], 64 * 200, usize::MAX), [false], "520 KiB for 12.5 KiB");
    let thirds: [_; 64] = std::array::from_fn(|slot| bloomrf(512, 0.2).filter(|_| slot < 43));
    assert_eq!(sliced(&[thirds], 43 * 512 * 8, usize::MAX), [true]);
    let half: [_; 64] = std::array::from_fn(|slot| bloomrf(512, 0.2).filter(|_| slot < 32));
    assert_eq!(sliced(&[half], 32 * 512 * 8, usize::MAX), [false]);
}
