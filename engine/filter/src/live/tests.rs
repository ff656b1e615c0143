//! Crashes at every step of a flush and of the recovery after it, on a disk that loses any part
//! of what was not synced.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use bloomrf_kernels::hash::Hash128;

use super::*;
use crate::file::{Asked, SourcePosition, StoredFilter, encode};
use crate::{Build, Classic, Encoding, HashRule, Presence, Spec};

const RULE: HashRule = HashRule::Native { seed: 5 };

fn item(i: u64) -> Hash128 {
    RULE.hash(&i.to_le_bytes())
}

fn stored() -> StoredFilter {
    let filter = Classic::build(&Spec { items: 20_000, fpr: 0.01 }).unwrap();
    let mut stored = StoredFilter::new(filter, RULE, Encoding::U64Le);
    stored.stamp.uuid = 0xabc;
    stored
}

fn source(lsn: u64) -> Option<SourcePosition> {
    Some(SourcePosition::Database { name: "orders".to_owned(), lsn })
}

/// What a disk does with one call.
#[derive(Clone, Debug)]
enum Change {
    Write(Part, u64, Vec<u8>),
    Resize(Part, u64),
}

/// Two files: what is sure, and the changes since the last sync of each.
#[derive(Clone, Debug, Default)]
struct World {
    durable: [Vec<u8>; 2],
    loose: Vec<Change>,
    /// Calls that still work; the next one is the crash.
    calls_left: usize,
}

fn slot(part: Part) -> usize {
    usize::from(part == Part::Log)
}

fn apply(files: &mut [Vec<u8>; 2], change: &Change) {
    match change {
        Change::Write(part, offset, bytes) => {
            let (file, start) = (&mut files[slot(*part)], *offset as usize);
            if file.len() < start + bytes.len() {
                file.resize(start + bytes.len(), 0);
            }
            file[start..start + bytes.len()].copy_from_slice(bytes);
        }
        Change::Resize(part, bytes) => files[slot(*part)].resize(*bytes as usize, 0),
    }
}

impl World {
    /// As a running system shows them.
    fn cached(&self) -> [Vec<u8>; 2] {
        let mut files = self.durable.clone();
        self.loose.iter().for_each(|change| apply(&mut files, change));
        files
    }

    /// Changes that are not sure to be there, in units that a disk may lose alone.
    fn units(&self, unit_bytes: usize) -> Vec<Change> {
        let mut units = Vec::new();
        for change in &self.loose {
            match change {
                Change::Write(part, offset, bytes) => {
                    let cut = |(i, bytes): (usize, &[u8])| {
                        Change::Write(*part, offset + (i * unit_bytes) as u64, bytes.to_vec())
                    };
                    units.extend(bytes.chunks(unit_bytes).enumerate().map(cut));
                }
                resize => units.push(resize.clone()),
            }
        }
        units
    }

    /// The files after a loss of power that `kept` of the units outlived.
    fn after(&self, units: &[Change], kept: impl Fn(usize) -> bool) -> World {
        let mut durable = self.durable.clone();
        let survivors = units.iter().enumerate().filter(|(i, _)| kept(*i));
        survivors.for_each(|(_, change)| apply(&mut durable, change));
        World { durable, loose: Vec::new(), calls_left: usize::MAX }
    }
}

#[derive(Clone, Debug)]
struct SimDisk(Rc<RefCell<World>>);

impl SimDisk {
    fn new(world: World) -> Self {
        SimDisk(Rc::new(RefCell::new(world)))
    }

    fn call(&self, change: impl FnOnce(&mut World)) -> io::Result<()> {
        let mut world = self.0.borrow_mut();
        match world.calls_left.checked_sub(1) {
            None => Err(io::Error::other("the crash")),
            Some(left) => {
                world.calls_left = left;
                change(&mut world);
                Ok(())
            }
        }
    }
}

impl Storage for SimDisk {
    fn read(&mut self, part: Part, _most: u64) -> io::Result<Vec<u8>> {
        Ok(self.0.borrow().cached()[slot(part)].clone())
    }

    fn write(&mut self, part: Part, offset: u64, bytes: &[u8]) -> io::Result<()> {
        // A crash in the midst of a write leaves some of it: all units of it are loose then.
        let change = Change::Write(part, offset, bytes.to_vec());
        let done = self.call(|world| world.loose.push(change.clone()));
        if done.is_err() {
            self.0.borrow_mut().loose.push(change);
        }
        done
    }

    fn resize(&mut self, part: Part, bytes: u64) -> io::Result<()> {
        self.call(|world| world.loose.push(Change::Resize(part, bytes)))
    }

    fn sync(&mut self, part: Part) -> io::Result<()> {
        self.call(|world| {
            let all = std::mem::take(&mut world.loose);
            for change in all {
                let of = match &change {
                    Change::Write(part, ..) | Change::Resize(part, _) => *part,
                };
                if of == part {
                    apply(&mut world.durable, &change);
                } else {
                    world.loose.push(change);
                }
            }
        })
    }
}

/// A world in which items 0 to 999 are durable, and one flush of 1,000 to 1,019 was begun and
/// crashed after `calls` calls; whether it was acknowledged, and the two states that may be left.
struct Crash {
    world: World,
    is_acknowledged: bool,
    states: [Vec<u8>; 2],
}

fn crash_after(calls: usize) -> Crash {
    let mut first = stored();
    (0..1_000).for_each(|i| {
        first.filter.insert(item(i));
    });
    first.source = source(1);
    let old = encode(&first).unwrap();
    let world = World { durable: [old.clone(), Vec::new()], calls_left: calls, ..World::default() };
    let disk = SimDisk::new(world);
    let mut live = Live::open_in(disk.clone(), &Asked::default()).unwrap();
    (1_000..1_020).for_each(|i| {
        live.insert(item(i));
    });
    let is_acknowledged = live.flush(source(2)).is_ok();
    let new = encode(live.stored()).unwrap();
    let world = disk.0.borrow().clone();
    Crash { world, is_acknowledged, states: [old, new] }
}

/// Opens what a crash left; the file must be one of the two states, and the new one if that was
/// acknowledged.
fn check(world: World, crash: &Crash, what: &str) {
    let disk = SimDisk::new(world);
    let live = Live::open_in(disk.clone(), &Asked::default())
        .unwrap_or_else(|why| panic!("{what}: {why}"));
    let [old, new] = &crash.states;
    let is_new = live.image == *new;
    assert!(is_new || (live.image == *old && !crash.is_acknowledged), "{what}");
    let items = if is_new { 1_020 } else { 1_000 };
    assert!((0..items).all(|i| live.filter().contains(item(i))), "{what}");
    assert_eq!(live.stored().source, source(1 + u64::from(is_new)), "{what}");
    // What was found is on the disk as well, and stays when nothing more is done.
    let file = &disk.0.borrow().cached()[0];
    assert_eq!(*file, live.image, "{what}");
}

/// Calls of a flush whose log, and whose blocks, are as many as the test's.
fn calls_of_a_flush() -> usize {
    (0..).find(|calls| crash_after(*calls).is_acknowledged).unwrap()
}

#[test]
fn after_a_kill_at_any_call_the_last_acknowledged_flush_is_there() {
    let calls = calls_of_a_flush();
    assert!((6..40).contains(&calls), "{calls}");
    for at in 0..=calls + 1 {
        let crash = crash_after(at);
        // A killed process leaves all that it wrote.
        let files = crash.world.cached();
        let world = World { durable: files, loose: Vec::new(), calls_left: usize::MAX };
        check(world, &crash, &format!("killed at call {at}"));
    }
}

#[test]
fn any_subset_of_pages_that_were_not_synced_leaves_a_whole_flush() {
    let mut subsets = 0;
    for at in 0..=calls_of_a_flush() + 1 {
        let crash = crash_after(at);
        let units = crash.world.units(4_096);
        assert!(units.len() <= 14, "{} units", units.len());
        for kept in 0u32..1 << units.len() {
            let world = crash.world.after(&units, |i| kept >> i & 1 == 1);
            check(world, &crash, &format!("call {at}, kept {kept:b}"));
            subsets += 1;
        }
    }
    assert!(subsets > 1_000, "{subsets}");
}

#[test]
fn a_crash_of_the_recovery_after_a_crash_loses_nothing_either() {
    let mut random = Random(seed());
    for at in 0..=calls_of_a_flush() + 1 {
        let crash = crash_after(at);
        for round in 0..40 {
            // Sectors this time, and any of them; or a kill, and the power is lost later.
            let units = crash.world.units(512);
            let kept: Vec<bool> = units.iter().map(|_| random.draw() & 1 == 1).collect();
            let mut world = match round % 2 {
                0 => crash.world.after(&units, |i| kept[i]),
                _ => crash.world.clone(),
            };
            world.calls_left = (random.draw() % 12) as usize;
            let disk = SimDisk::new(world);
            let _ = Live::open_in(disk.clone(), &Asked::default());
            let again = disk.0.borrow().clone();
            let units = again.units(512);
            let kept: Vec<bool> = units.iter().map(|_| random.draw() & 1 == 1).collect();
            let world = again.after(&units, |i| kept[i]);
            check(world, &crash, &format!("call {at}, round {round}, SEED={}", seed()));
        }
    }
}

#[test]
fn a_writer_whose_flush_failed_writes_no_more() {
    let crash = crash_after(1);
    let disk = SimDisk::new(World { calls_left: 1, ..crash.world.after(&[], |_| false) });
    let mut live = Live::open_in(disk.clone(), &Asked::default()).unwrap();
    live.insert(item(5_000));
    assert!(matches!(live.flush(None), Err(FlushError::Io(_))));
    disk.0.borrow_mut().calls_left = usize::MAX;
    assert!(matches!(live.flush(None), Err(FlushError::Broken)));
}

#[test]
fn a_damaged_file_is_refused_and_a_log_of_another_file_too() {
    let crash = crash_after(usize::MAX);
    let mut world = crash.world.after(&crash.world.units(4_096), |_| true);
    world.durable[0][9_000] ^= 4;
    let opened = Live::open_in(SimDisk::new(world.clone()), &Asked::default());
    assert!(matches!(opened, Err(OpenError::Refused(_))), "{opened:?}");
    world.durable[0][9_000] ^= 4;
    let mut other = world.durable[0].clone();
    other[UUID.start] ^= 1;
    world.durable[1] = log::Log::between(&[], &other, [7; 16], 9).encode();
    let opened = Live::open_in(SimDisk::new(world), &Asked::default());
    assert!(matches!(opened, Err(OpenError::ForeignLog(_))), "{opened:?}");
}

#[test]
fn readers_of_a_file_see_whole_flushes_while_a_writer_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.blmf");
    crate::file::save(&path, &stored()).unwrap();
    let mut live = Live::open(&path, &Asked::default()).unwrap();
    let second = Live::open(&path, &Asked::default());
    assert!(second.is_err_and(|why| why.to_string().contains("another writer")));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reader = LiveReader::open(&path, &Asked::default()).unwrap();
            let mut refreshed = 0;
            loop {
                let flushes = reader.stored().stamp.generation;
                let found = |i| reader.filter().contains(item(i));
                assert!((0..flushes * 10).all(found), "generation {flushes}");
                if flushes == 200 {
                    return refreshed;
                }
                refreshed += u32::from(reader.refresh().unwrap());
            }
        });
        for flush in 0..200 {
            (flush * 10..flush * 10 + 10).for_each(|i| {
                live.insert(item(i));
            });
            assert_eq!(live.flush(source(flush)).unwrap(), flush + 1);
        }
        assert!(reader.join().unwrap() > 0);
    });
    assert_eq!(live.flush(source(199)).unwrap(), 200, "nothing changed");
    drop(live);
    assert_eq!(Live::open(&path, &Asked::default()).unwrap().durable_generation(), 200);
}

#[test]
fn a_file_that_was_replaced_under_its_writer_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.blmf");
    crate::file::save(&path, &stored()).unwrap();
    let mut live = Live::open(&path, &Asked::default()).unwrap();
    crate::file::save(&path, &stored()).unwrap();
    live.insert(item(1));
    assert!(live.flush(None).is_err_and(|why| why.to_string().contains("another file")));
}

fn seed() -> u64 {
    std::env::var("SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
