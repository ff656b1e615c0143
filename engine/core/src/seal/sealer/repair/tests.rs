//! Claims about repair, event by event.

use super::super::tests::{GRACE_NS, Want, close, config, share, taken, wants};
use super::*;
use crate::limits::REPAIR_FRAMES_MAX;
use crate::seal::SealerConfig;

const REPAIR_NS: u64 = 10_000;

fn sealer() -> (SealerConfig, Sealer) {
    let config = SealerConfig { queues: 1, repair_ns: REPAIR_NS, ..config() };
    let mut sealer = Sealer::new(config.clone());
    sealer.on_repairs(true);
    (config, sealer)
}

/// Brings a batch to the point where its last call is over.
fn lacking(config: &SealerConfig, sealer: &mut Sealer, batch: BatchId, frames: u32, has: &[u32]) {
    sealer.on_event(0, close(batch, frames), 0);
    let share = (!has.is_empty()).then(|| share(config, batch, has));
    sealer.on_event(0, taken(batch, share), 1);
    wants(sealer);
    sealer.on_tick(GRACE_NS);
    wants(sealer);
    sealer.on_event(0, taken(batch, None), GRACE_NS);
}

fn gave_up(batch: BatchId) -> Want {
    Want::Incomplete(batch, IncompleteReason::Gap)
}

#[test]
fn at_most_two_batches_are_asked_about_and_the_next_when_one_ends() {
    let (config, mut sealer) = sealer();
    for batch in 1..=4 {
        sealer.on_event(0, close(batch, 2), 0);
        sealer.on_event(0, taken(batch, Some(share(&config, batch, &[1]))), 1);
    }
    wants(&mut sealer);
    sealer.on_tick(GRACE_NS);
    wants(&mut sealer);
    for batch in 1..=4 {
        sealer.on_event(0, taken(batch, None), GRACE_NS);
    }
    assert_eq!(wants(&mut sealer), [Want::Repair(1, false, 1), Want::Repair(2, false, 1)]);
    sealer.on_not_kept(3);
    sealer.on_not_kept(9);
    assert_eq!(wants(&mut sealer), [], "not asked about");
    sealer.on_not_kept(2);
    let wanted = wants(&mut sealer);
    assert!(wanted.contains(&gave_up(2)) && wanted.contains(&Want::Repair(3, false, 1)));
    sealer.on_tick(GRACE_NS + REPAIR_NS);
    let wanted = wants(&mut sealer);
    assert!([1, 3, 4].iter().all(|batch| wanted.contains(&gave_up(*batch))), "{wanted:?}");
    assert_eq!(sealer.next_tick_ns(), None);
    let stats = sealer.repair_stats();
    assert_eq!((stats.batches, stats.failed.iter().sum::<u64>()), (4, 4));
}

#[test]
fn more_frames_than_are_ever_asked_for_are_not_asked_for() {
    for (frames, asked) in [(REPAIR_FRAMES_MAX as u32, true), (REPAIR_FRAMES_MAX as u32 + 1, false)]
    {
        let (config, mut sealer) = sealer();
        lacking(&config, &mut sealer, 7, frames, &[]);
        let wanted = wants(&mut sealer);
        assert_eq!(wanted.contains(&Want::Repair(7, false, u64::from(frames))), asked);
        assert_eq!(wanted.contains(&gave_up(7)), !asked);
        let stats = sealer.repair_stats();
        assert_eq!(stats.failed[RepairFailure::TooMany.index()], u64::from(!asked));
    }
}

#[test]
fn an_scc_that_goes_away_is_not_waited_for() {
    let (config, mut sealer) = sealer();
    lacking(&config, &mut sealer, 7, 3, &[0]);
    assert_eq!(wants(&mut sealer), [Want::Repair(7, false, 2)]);
    sealer.on_repairs(false);
    assert!(wants(&mut sealer).contains(&gave_up(7)));
    lacking(&config, &mut sealer, 8, 3, &[0]);
    assert!(wants(&mut sealer).contains(&gave_up(8)));
    assert_eq!(sealer.repair_stats().failed[RepairFailure::Away.index()], 2);
}

#[test]
fn frames_that_come_by_broadcast_while_they_are_asked_for_make_the_batch_whole() {
    let (config, mut sealer) = sealer();
    lacking(&config, &mut sealer, 7, 3, &[0]);
    wants(&mut sealer);
    sealer.on_event(0, taken(7, Some(share(&config, 7, &[1, 2]))), GRACE_NS + 1);
    assert!(wants(&mut sealer).contains(&Want::Sealed(7, 6)));
    let stats = sealer.repair_stats();
    assert_eq!((stats.batches, stats.repaired), (1, 1));
}

#[test]
fn a_place_that_another_batch_needs_ends_the_oldest_repair() {
    let (config, mut sealer) = sealer();
    lacking(&config, &mut sealer, 1, 2, &[0]);
    wants(&mut sealer);
    for batch in 2..=1 + crate::limits::SEALING_BATCHES_MAX as u64 {
        sealer.on_event(0, close(batch, 2), GRACE_NS);
    }
    assert!(wants(&mut sealer).contains(&gave_up(1)));
    assert_eq!(sealer.repair_stats().failed[RepairFailure::Crowded.index()], 1);
}
