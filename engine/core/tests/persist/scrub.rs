//! Stored files are looked at, again and again.

use bloomrf_engine::format::{Stamp, encode};
use bloomrf_engine::persist::{FileState, PersistConfig, Step};

use crate::disk::FakeDisk;
use crate::world::{SEED, World, batch, config};

fn world(count: u64) -> World {
    let mut world = World::new(100);
    for id in 1..=count {
        world.verify(id);
    }
    world.run();
    world
}

/// Looks at every file once.
fn round(world: &mut World) -> Vec<(u64, FileState)> {
    let mut seen = Vec::new();
    let files = world.persister.status().files;
    while (seen.len() as u64) < files {
        world.now_ns = world.persister.next_step_ns().unwrap().max(world.now_ns);
        if let Step::Scrubbed { batch, state } = world.step() {
            seen.push((batch, state));
        }
    }
    seen
}

#[test]
fn every_file_is_looked_at_once_a_day_and_one_a_minute_at_least() {
    let mut world = world(3);
    world.step();
    let start = world.now_ns;
    let seen = round(&mut world);
    assert_eq!(seen, [1, 2, 3].map(|id| (id, FileState::Whole)));
    assert_eq!(world.now_ns - start, 3 * 60_000_000_000);
    // So many files that a minute is too long.
    let config = PersistConfig { scrub_ns: 100_000_000_000, ..config(100) };
    let mut world = World { sealed: world.sealed, ..World::on(world.disk, config) };
    for id in 4..=10 {
        world.verify(id);
    }
    world.run();
    world.step();
    let start = world.now_ns;
    round(&mut world);
    assert_eq!(world.now_ns - start, 100_000_000_000);
}

#[test]
fn a_damaged_file_is_written_anew_from_memory() {
    let mut world = world(4);
    let names: Vec<String> = world.files().iter().map(ToString::to_string).collect();
    world.disk.edit(&names[0], |bytes| bytes[100] ^= 1);
    world.disk.edit(&names[1], |bytes| bytes.truncate(10));
    world.disk.state().files.remove(&names[2]);
    world.disk.state().unreadable.push(names[3].clone());
    let seen = round(&mut world);
    assert_eq!(seen[2..], [(3, FileState::Missing), (4, FileState::Unreadable)]);
    assert!(seen[..2].iter().all(|(_, state)| matches!(state, FileState::Damaged { .. })));
    world.run();
    world.check();
    let status = world.persister.status();
    assert_eq!((status.scrub_corrupt, status.scrubbed), (4, 4));
    assert_eq!(status.written, 8);
    let world = world.restart();
    assert_eq!(world.live(), [1, 2, 3, 4]);
    world.check_content();
}

#[test]
fn every_flipped_byte_of_a_file_is_found() {
    let mut world = world(1);
    let original = world.disk.state().files.clone();
    let (name, length) =
        original.iter().map(|(name, bytes)| (name.clone(), bytes.len())).next().unwrap();
    let mut at = 0;
    while at < length {
        world.disk.state().files = original.clone();
        world.disk.edit(&name, |bytes| bytes[at] ^= 1 << (at % 8));
        let mut again = World { sealed: world.sealed, ..World::on(FakeDisk::default(), config(8)) };
        // Resident, with the damaged file in the folder.
        again.verify(1);
        again.run();
        let ours = again.files()[0].to_string();
        let good = again.disk.state().files[&ours].clone();
        assert_eq!(good.len(), length);
        again.disk.edit(&ours, |bytes| bytes[at] ^= 1 << (at % 8));
        let seen = round(&mut again);
        assert!(matches!(seen[0].1, FileState::Damaged { .. }), "byte {at}: {seen:?}");
        again.run();
        again.check();
        world.sealed = again.sealed;
        at += 97;
    }
}

#[test]
fn a_damaged_file_whose_batch_is_not_in_memory_is_removed() {
    let world = world(2);
    let name = world.files()[0].to_string();
    world.disk.state().unreadable.push(name.clone());
    let mut world = world.restart();
    world.run();
    assert!(world.disk.names().contains(&name), "unreadable at start: it may come back");
    round(&mut world);
    world.run();
    assert!(!world.disk.names().contains(&name), "unreadable a day later: it is gone");
    world.check();
}

#[test]
fn a_batch_that_was_damaged_in_memory_comes_back_from_its_file() {
    let world = world(2);
    let batch = world.persister.reload(&world.disk, 1).unwrap();
    assert_eq!(*batch, world.sealed[&1]);
    let name = world.files()[0].to_string();
    world.disk.edit(&name, |bytes| bytes[60] ^= 1);
    assert!(world.persister.reload(&world.disk, 1).is_none());
    assert!(world.persister.reload(&world.disk, 9).is_none());
}

#[test]
fn a_whole_file_of_other_content_does_not_stand_in_for_a_damaged_batch() {
    let world = world(1);
    let name = world.files()[0];
    let mut other = batch(1, SEED);
    other.hash.digest[15] = 1;
    let stamp = Stamp { uuid: 7, generation: name.generation, built_at_us: 1, seed: SEED };
    let bytes = encode(&other, &world.config.origin, &stamp).unwrap();
    world.disk.put(&name.to_string(), &bytes);
    assert!(world.persister.reload(&world.disk, 1).is_none());
}

#[test]
fn files_are_looked_at_while_the_disk_is_full() {
    let mut world = world(2);
    world.disk.state().is_full = true;
    world.verify(3);
    let mut scrubbed = 0;
    for _ in 0..200 {
        world.now_ns = world.persister.next_step_ns().unwrap().max(world.now_ns);
        scrubbed += u64::from(matches!(world.step(), Step::Scrubbed { .. }));
    }
    assert!(scrubbed > 10, "{scrubbed}");
}
