use bloomrf_engine::env::Disk;
use bloomrf_engine::persist::publish;

use super::*;

fn after_power_cut(seed: u64, act: impl Fn(&SimDisk)) -> BTreeMap<String, Vec<u8>> {
    let disk = SimDisk::new(seed);
    act(&disk);
    disk.crash(true);
    disk.contents()
}

#[test]
fn what_was_synced_survives_every_power_cut() {
    for seed in 0..200 {
        let contents = after_power_cut(seed, |disk| {
            publish(disk, "a", &[7; 3_000]).unwrap();
            disk.write_new("b", &[8; 3_000]).unwrap();
        });
        assert_eq!(contents.get("a"), Some(&vec![7; 3_000]), "SEED={seed}");
        assert!(contents.get("b").is_none_or(|b| *b == vec![8; 3_000]), "synced: whole or absent");
    }
}

#[test]
fn names_that_were_not_synced_are_kept_and_undone_in_every_combination() {
    let seen: BTreeSet<Vec<String>> = (0..400)
        .map(|seed| {
            let contents = after_power_cut(seed, |disk| {
                disk.write_new("x", b"1").unwrap();
                disk.sync_folder().unwrap();
                disk.write_new("y", b"2").unwrap();
                disk.rename("x", "z").unwrap();
            });
            contents.into_keys().collect()
        })
        .collect();
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
    let all = [names(&["x"]), names(&["x", "y"]), names(&["z"]), names(&["y", "z"])];
    assert_eq!(seen, all.into_iter().collect());
}

#[test]
fn bytes_without_a_sync_are_lost_torn_or_kept() {
    let lies = Lies { unsynced: true, ..Lies::default() };
    let contents: BTreeSet<Vec<u8>> = (0..400)
        .filter_map(|seed| {
            let contents = after_power_cut(seed, |disk| {
                disk.set_lies(lies);
                publish(disk, "a", &[7; 1_024]).unwrap();
            });
            contents.get("a").cloned()
        })
        .collect();
    assert!(contents.contains(&vec![7; 1_024]) && contents.len() > 50);
    assert!(contents.iter().any(|bytes| bytes.len() == 1_024 && bytes[..512] == [0; 512]));
}

#[test]
fn a_killed_process_loses_nothing_that_it_wrote() {
    let disk = SimDisk::new(1);
    disk.write_new("x", b"1").unwrap();
    disk.cut_after(0);
    assert!(disk.rename("x", "y").is_err() && disk.is_cut());
    assert!(disk.list().is_err(), "stopped");
    disk.crash(false);
    assert_eq!(disk.list().unwrap().len(), 1, "done or not done");
    assert_eq!(disk.contents().into_values().collect::<Vec<_>>(), [b"1".to_vec()]);
}

#[test]
fn a_failed_sync_is_not_made_up_for_by_a_later_one() {
    let lost = (0..200).any(|seed| {
        let contents = after_power_cut(seed, |disk| {
            disk.write_new("x", b"1").unwrap();
            disk.set_faults(DiskFaults { eio_one_in: 1, ..DiskFaults::default() });
            assert!(disk.sync_folder().is_err());
            disk.set_faults(DiskFaults::default());
            disk.sync_folder().unwrap();
        });
        contents.is_empty()
    });
    assert!(lost);
}
