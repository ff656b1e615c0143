//! What a start makes of a folder.

use bloomrf_engine::filter::Filter;
use bloomrf_engine::format::{FileName, Stamp, encode};
use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::persist::{PersistConfig, Place, recover};

use crate::disk::FakeDisk;
use crate::world::{World, batch, config};

/// A folder with batches `1..=count`, in generations of the same number.
fn folder(count: u64, config: &PersistConfig) -> FakeDisk {
    let disk = FakeDisk::default();
    for id in 1..=count {
        put(&disk, id, id, 42, config);
    }
    disk
}

fn put(disk: &FakeDisk, id: u64, generation: u64, seed: u64, config: &PersistConfig) -> String {
    let stamp = Stamp { uuid: u128::from(generation), generation, built_at_us: 1, seed };
    let name = FileName { batch: id, generation }.to_string();
    disk.put(&name, &encode(&batch(id, seed), &config.origin, &stamp).unwrap());
    name
}

fn ids(recovery: &bloomrf_engine::persist::Recovery) -> Vec<u64> {
    recovery.batches.iter().map(|batch| batch.batch).collect()
}

#[test]
fn an_empty_folder_is_a_good_start() {
    let recovery = recover(&FakeDisk::default(), &config(4)).unwrap();
    assert!(recovery.batches.is_empty());
    assert_eq!(recovery.report.status.errors_sum(), 0);
}

#[test]
fn more_files_than_may_be_held_keep_the_newest() {
    let config = config(4);
    let disk = folder(10, &config);
    let recovery = recover(&disk, &config).unwrap();
    assert_eq!(ids(&recovery), [7, 8, 9, 10]);
    assert_eq!(recovery.report.surplus, 6);
    assert_eq!(disk.names().len(), 4);
}

#[test]
fn more_bytes_than_the_arena_keep_the_newest_that_fit() {
    let bytes = batch(1, 42).filter_bytes();
    let config = PersistConfig { arena_bytes: bytes * 3 + bytes / 2, ..config(100) };
    let disk = folder(10, &config);
    let recovery = recover(&disk, &config).unwrap();
    assert_eq!(ids(&recovery), [8, 9, 10]);
    assert_eq!(recovery.report.filter_bytes, 3 * bytes as u64);
    assert_eq!(disk.names().len(), 3);
    // Nothing fits: nothing is loaded, and nothing dies.
    let config = PersistConfig { arena_bytes: bytes - 1, ..config };
    assert!(ids(&recover(&disk, &config).unwrap()).is_empty());
}

#[test]
fn any_hash_seed_is_right_since_files_carry_theirs() {
    let config = config(8);
    let disk = FakeDisk::default();
    for (id, seed) in [(1, 7), (2, 42), (3, u64::MAX)] {
        put(&disk, id, id, seed, &config);
    }
    // The folder's own seed was lost: another one is drawn.
    let mut world = World::on(disk, PersistConfig { seed: 1, ..config });
    for (id, seed) in [(1, 7), (2, 42), (3, u64::MAX)] {
        let (held, _) = world.store.list()[id - 1].clone();
        assert_eq!(*held, batch(id as u64, seed));
        world.sealed.insert(id as u64, batch(id as u64, seed));
    }
    world.verify_made_with(4, 1);
    world.run();
    world.check();
    // Written anew, they keep the seeds of their filters.
    let name = world.files().iter().find(|name| name.batch == 1).unwrap().to_string();
    world.disk.edit(&name, |bytes| bytes.truncate(100));
    world.now_ns = 1 << 50;
    for _ in 0..4 {
        world.now_ns += 60_000_000_000;
        world.step();
    }
    world.run();
    world.check();
    let world = world.restart();
    world.check_content();
    assert_eq!(world.live(), [1, 2, 3, 4]);
}

#[test]
fn files_of_another_cluster_or_schema_are_removed_and_told() {
    let config = config(8);
    let disk = folder(3, &config);
    let mut other = config.clone();
    other.origin.cluster = ClusterId(9);
    put(&disk, 4, 4, 42, &other);
    let mut other = config.clone();
    other.origin.fingerprint.0 ^= 1;
    put(&disk, 5, 5, 42, &other);
    let recovery = recover(&disk, &config).unwrap();
    assert_eq!((ids(&recovery), recovery.report.foreign), (vec![1, 2, 3], 2));
    assert_eq!(disk.names().len(), 3);
    assert_eq!(recovery.report.status.refused_sum(), 0, "no damage");
}

#[test]
fn unfinished_writes_are_removed() {
    let config = config(8);
    let disk = folder(1, &config);
    disk.put("tmp-batch-0000000000000002-0000000000000002.blmf", b"half");
    disk.put("tmp-seed.txt", b"");
    disk.put("write-probe", b"writable\n");
    let recovery = recover(&disk, &config).unwrap();
    assert_eq!((recovery.report.temporaries, disk.names().len()), (3, 1));
}

#[test]
fn damaged_files_are_refused_by_reason_and_a_few_are_kept_aside() {
    let config = config(100);
    let disk = folder(20, &config);
    for id in 1..=12 {
        let name = FileName { batch: id, generation: id }.to_string();
        disk.edit(&name, |bytes| bytes[20] ^= 1);
    }
    // Swapped: the right content under another name.
    let names = disk.names();
    let thirteenth = disk.state().files[&names[12]].clone();
    disk.put(&names[13], &thirteenth);
    let recovery = recover(&disk, &config).unwrap();
    assert_eq!(ids(&recovery), [13, 15, 16, 17, 18, 19, 20]);
    let refused = &recovery.report.refused;
    assert_eq!((refused.len(), recovery.report.status.refused_sum()), (13, 13));
    assert_eq!(recovery.report.status.refused_for("checksum"), 12);
    assert_eq!(recovery.report.status.refused_for("batch"), 1);
    let aside = |disk: &FakeDisk| disk.names().iter().filter(|n| n.starts_with("bad-")).count();
    assert_eq!((aside(&disk), disk.names().len()), (8, 15));
    // And they stay bounded.
    recover(&disk, &config).unwrap();
    assert_eq!((aside(&disk), disk.names().len()), (8, 15));
}

#[test]
fn a_damaged_filter_costs_that_column_alone() {
    let config = config(8);
    let disk = folder(1, &config);
    let name = disk.names()[0].clone();
    let length = disk.state().files[&name].len();
    let mut lost = 0;
    for at in (0..length).step_by(61) {
        let copy = FakeDisk::default();
        let mut bytes = disk.state().files[&name].clone();
        bytes[at] ^= 0x10;
        copy.put(&name, &bytes);
        let recovery = recover(&copy, &config).unwrap();
        for held in &recovery.batches {
            lost += recovery.report.lost.len();
            for (column, right) in held.columns.iter().zip(&batch(1, 42).columns) {
                assert!(column == right || column.filter == Filter::None, "byte {at}");
                assert_eq!((column.zone, column.flags), (right.zone, right.flags));
            }
        }
        let told = recovery.report.status.refused_sum()
            + recovery.report.status.sections_lost
            + recovery.report.status.newer;
        assert_eq!(told, 1, "byte {at}: damage is never silent");
    }
    assert!(lost > 0);
}

#[test]
fn a_file_of_a_newer_format_is_left_alone_and_takes_no_place() {
    let config = config(2);
    let disk = folder(4, &config);
    let name = FileName { batch: 9, generation: 9 }.to_string();
    put(&disk, 9, 9, 42, &config);
    disk.edit(&name, |bytes| bytes[4] = 3);
    let bytes = disk.state().files[&name].clone();
    let old = FileName { batch: 1, generation: 1 }.to_string();
    disk.edit(&old, |bytes| bytes[4] = 200);
    let recovery = recover(&disk, &config).unwrap();
    assert_eq!((ids(&recovery), recovery.report.status.newer), (vec![3, 4], 2));
    assert_eq!(disk.state().files[&name], bytes, "a downgrade must not destroy");
    assert_eq!(disk.names().len(), 4);
    // Nor is its generation used again.
    let mut world = World::on(disk, config);
    world.verify(9);
    world.run();
    let nine: Vec<u64> =
        world.files().iter().filter(|n| n.batch == 9).map(|n| n.generation).collect();
    assert_eq!(nine, [9, 10]);
    assert_eq!(world.disk.state().files[&name], bytes);
}

#[test]
fn of_two_files_of_a_batch_the_newest_whole_one_counts() {
    let config = config(4);
    let disk = folder(2, &config);
    let newest = put(&disk, 1, 7, 42, &config);
    let recovery = recover(&disk, &config).unwrap();
    assert_eq!((ids(&recovery), recovery.report.surplus), (vec![2, 1], 1));
    let older = put(&disk, 1, 6, 42, &config);
    disk.edit(&newest, |bytes| bytes[300] ^= 255);
    let recovery = recover(&disk, &config).unwrap();
    assert_eq!(ids(&recovery), [2, 1]);
    assert!(disk.names().contains(&older));
}

#[test]
fn an_unreadable_file_is_left_for_another_time_and_stops_no_start() {
    let config = config(8);
    let disk = folder(3, &config);
    let name = disk.names()[1].clone();
    disk.state().unreadable.push(name.clone());
    let world = World::on(disk, config);
    assert_eq!(world.live(), [1, 3]);
    assert_eq!(world.report.status.refused_for("unreadable"), 1);
    assert_eq!(world.report.status.errors_at(Place::Read), 1);
    let mut world = world;
    world.run();
    assert!(world.disk.names().contains(&name));
    // It was the cable.
    world.disk.state().unreadable.clear();
    let world = world.restart();
    assert_eq!(world.live(), [1, 2, 3]);
}

#[test]
fn an_unreadable_file_goes_when_its_batch_does() {
    let config = config(8);
    let disk = folder(3, &config);
    let name = disk.names()[1].clone();
    disk.state().unreadable.push(name.clone());
    let mut world = World::on(disk, config);
    world.persister.on_gone(&[2]);
    world.run();
    assert!(!world.disk.names().contains(&name));
}

#[test]
fn files_that_are_not_ours_are_not_touched() {
    let config = config(1);
    let disk = folder(2, &config);
    for name in ["README", "seed-0123.txt", "batch-1.blmf", "bad-thing"] {
        disk.put(name, b"x");
    }
    recover(&disk, &config).unwrap();
    assert_eq!(disk.names().len(), 5);
}

#[test]
fn a_name_with_an_absurd_generation_does_not_end_the_count() {
    let config = config(4);
    let disk = folder(1, &config);
    let name = FileName { batch: 5, generation: u64::MAX }.to_string();
    disk.put(&name, b"nonsense");
    let mut world = World::on(disk, config);
    world.verify(6);
    world.run();
    assert!(world.files().contains(&FileName { batch: 6, generation: 2 }));
}
