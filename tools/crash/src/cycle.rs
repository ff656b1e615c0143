//! What a child does: a start with recovery, and then one cycle of everything that changes the
//! data folder, by the code that a node runs. It says what it has done, line by line; what it has
//! not said may or may not have happened when it dies.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use bloomrf_engine::env::Disk;
use bloomrf_engine::format::FileName;
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::persist::{Persister, Step, recover};
use bloomrf_node::disk::FolderDisk;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::shelf::Shelf;
use crate::words::Word;
use crate::world::{Splitmix, VARIANT_AT, World};

/// Batches that a store of a child holds: few, so that retention is at work.
pub(crate) const RETAIN_BATCHES: usize = 4;

/// One thing that happens to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    /// A new batch is verified; the oldest may have to leave.
    Publish,
    /// A batch leaves, and another content comes under its id.
    Replace,
    /// The controller no longer holds a batch.
    Delete,
    /// A bit of a file changes; the scrubber finds it and the batch is written anew.
    Rot,
    /// Every filter is discarded.
    Discard,
}

/// The things of one cycle, in an order by seed.
fn ops(seed: u64) -> Vec<Op> {
    let mut ops = vec![Op::Publish, Op::Publish, Op::Replace, Op::Delete, Op::Rot, Op::Publish];
    let mut chance = Splitmix(seed ^ 0x0995);
    for at in (1..ops.len()).rev() {
        ops.swap(at, chance.below(at as u64 + 1) as usize);
    }
    ops.extend([Op::Discard, Op::Publish]);
    ops
}

/// What a child is started with.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Child {
    /// The data folder.
    #[arg(long)]
    pub(crate) folder: PathBuf,
    /// The workload.
    #[arg(long)]
    pub(crate) seed: u64,
    /// Ends after recovery, and what recovery left to do.
    #[arg(long)]
    pub(crate) recovery_only: bool,
    /// The disk may fail: goes on until everything has its file after all.
    #[arg(long)]
    pub(crate) may_fail: bool,
    /// No file can be longer, until the end: writes are short, and then fail.
    #[arg(long)]
    pub(crate) file_bytes_max: Option<u64>,
}

/// Lives. The error is for people.
pub(crate) fn run(child: &Child) -> Result<(), String> {
    say(Word::Begin);
    let disk = match FolderDisk::open(&child.folder) {
        Ok(disk) => disk,
        Err(error) => return refuse(child, "open", &error),
    };
    let world = World::new(child.seed);
    let config = world.persist(RETAIN_BATCHES);
    let recovery = match recover(&disk, &config) {
        Ok(recovery) => recovery,
        Err(error) => return refuse(child, "recover", &error),
    };
    let mut life = Life {
        shelf: Shelf::new(&world, RETAIN_BATCHES),
        persister: Persister::new(config, &recovery),
        disk: Box::new(disk),
        folder: child.folder.clone(),
        chance: Splitmix(child.seed),
        now_ns: 1_000_000_000,
        held: BTreeMap::new(),
        leaving: BTreeSet::new(),
        next_id: FIRST_ID,
        errors_max: if child.may_fail { ERRORS_MAX } else { 0 },
        world,
    };
    limit_files(child.file_bytes_max)?;
    life.restore(recovery.batches)?;
    say(Word::Recovered);
    life.settle()?;
    if !child.recovery_only {
        for op in ops(child.seed) {
            life.act(op)?;
            life.serve()?;
        }
    }
    limit_files(None)?;
    life.catch_up()?;
    say(Word::Errors(life.errors()));
    say(Word::End);
    Ok(())
}

/// Sets how long this process may make files. Whoever started it ignores the signal of it.
fn limit_files(bytes_max: Option<u64>) -> Result<(), String> {
    let maximum = getrlimit(Resource::Fsize).maximum;
    let limit = Rlimit { current: bytes_max.or(maximum), maximum };
    setrlimit(Resource::Fsize, limit).map_err(|e| format!("limit of file sizes: {e}"))
}

/// A start that the disk does not let through: it says why and ends, as a node does.
fn refuse(child: &Child, what: &'static str, error: &io::Error) -> Result<(), String> {
    if child.may_fail {
        say(Word::Refused(what));
        return Ok(());
    }
    Err(format!("{what}: {error}"))
}

/// A node's store and its folder.
struct Life {
    world: World,
    shelf: Shelf,
    persister: Persister,
    disk: Box<dyn Disk>,
    folder: PathBuf,
    chance: Splitmix,
    now_ns: u64,
    /// Batches that the store holds, and in which variant.
    held: BTreeMap<BatchId, u8>,
    /// Batches whose files are to go.
    leaving: BTreeSet<BatchId>,
    next_id: BatchId,
    errors_max: u64,
}

impl Life {
    fn restore(
        &mut self,
        batches: Vec<std::sync::Arc<bloomrf_engine::seal::SealedBatch>>,
    ) -> Result<(), String> {
        for batch in &batches {
            let variant = batch.hash.digest[VARIANT_AT];
            self.held.insert(batch.batch, variant);
        }
        let left_out = self.shelf.store.restore(batches);
        if !left_out.is_empty() {
            return Err(format!("{left_out:?} found no room"));
        }
        self.serve()
    }

    fn act(&mut self, op: Op) -> Result<(), String> {
        match op {
            Op::Publish => {
                let id = self.next_id;
                self.next_id += 1;
                self.publish(id, 0)
            }
            Op::Replace => {
                let Some((id, variant)) = self.any_held() else { return Ok(()) };
                self.leave(&[id]);
                self.publish(id, variant + 1)
            }
            Op::Delete => {
                let Some((id, _)) = self.any_held() else { return Ok(()) };
                self.leave(&[id]);
                self.settle()
            }
            Op::Rot => self.rot(),
            Op::Discard => {
                say(Word::Discarding);
                self.shelf.store.clear();
                self.held.clear();
                self.persister.discard_all();
                self.settle()?;
                if self.persister.status().removing == 0 {
                    say(Word::Discarded);
                }
                Ok(())
            }
        }
    }

    fn any_held(&mut self) -> Option<(BatchId, u8)> {
        let at = self.chance.below(self.held.len().max(1) as u64) as usize;
        self.held.iter().nth(at).map(|(id, variant)| (*id, *variant))
    }

    fn publish(&mut self, id: BatchId, variant: u8) -> Result<(), String> {
        let evicted = self.shelf.verified(self.world.batch(id, variant))?;
        self.held.insert(id, variant);
        self.leave(&evicted);
        say(Word::Writing(id, variant));
        self.persister.on_verified(id);
        self.settle()
    }

    fn leave(&mut self, batches: &[BatchId]) {
        batches.iter().for_each(|&id| say(Word::Leaving(id)));
        self.shelf.store.delete(batches);
        self.held.retain(|id, _| !batches.contains(id));
        self.leaving.extend(batches);
        self.persister.on_gone(batches);
    }

    /// Changes a bit of a stored file behind the persister's back, and scrubs until another one has
    /// taken its place.
    fn rot(&mut self) -> Result<(), String> {
        let Some((id, variant)) = self.any_held() else { return Ok(()) };
        say(Word::Rotting(id));
        let before = self.file_of(id);
        let path = before.as_ref().map(|name| self.folder.join(name));
        let flipped = path.as_ref().map(|path| flip(path, &mut self.chance));
        say(Word::Rotten);
        match flipped {
            Some(Ok(())) => {}
            // The fault has hit the test's own hand, or kept the file from being written before.
            _ if self.errors_max > 0 => return Ok(()),
            other => return Err(format!("{path:?}: {other:?}")),
        }
        for _ in 0..SCRUBS_MAX {
            self.now_ns += SCRUB_PAUSE_NS;
            self.settle()?;
            let now = self.file_of(id).filter(|now| Some(now) != before.as_ref());
            if self.persister.is_stored(id) && now.is_some() {
                say(Word::Stored(id, variant));
                return Ok(());
            }
        }
        // Something else may have taken its file meanwhile.
        if self.errors_max > 0 {
            return Ok(());
        }
        Err(format!("the scrubber has not found what was changed in {path:?}"))
    }

    /// The name of the file of a batch: the only one, after a settled write.
    fn file_of(&self, id: BatchId) -> Option<String> {
        let is_of = |name: &String| name.parse::<FileName>().is_ok_and(|name| name.batch == id);
        self.disk.list().ok()?.into_iter().find(is_of)
    }

    /// Steps until nothing is left to do, or the disk fails; what became whole is said.
    fn settle(&mut self) -> Result<(), String> {
        let before = self.stored();
        for _ in 0..STEPS_MAX {
            match self.step() {
                Step::Idle => {
                    self.say_changes(&before);
                    self.say_gone();
                    return Ok(());
                }
                Step::Failed { place } if self.errors() > self.errors_max => {
                    let status = self.persister.status();
                    return Err(format!("the disk failed: {place:?}, {:?}", status.last_error));
                }
                Step::Unstorable { batch, .. } => return Err(format!("{batch} is unstorable")),
                _ => {}
            }
        }
        Err(format!("not settled after {STEPS_MAX} steps: {:?}", self.persister.status()))
    }

    fn step(&mut self) -> Step {
        self.now_ns += 1_000;
        let snapshot = self.shelf.snapshot();
        let (disk, chance) = (self.disk.as_ref(), &mut self.chance);
        self.persister.step(disk, &snapshot, chance, self.now_ns, UNIX_US)
    }

    /// After failures: time goes on until every batch has its file and nothing else is there.
    fn catch_up(&mut self) -> Result<(), String> {
        for _ in 0..CATCH_UPS_MAX {
            self.settle()?;
            let status = self.persister.status();
            let is_whole = self.held.keys().all(|&id| self.persister.is_stored(id));
            if is_whole && status.waiting == 0 && status.removing == 0 && !self.is_failing() {
                return Ok(());
            }
            let due = self.persister.next_step_ns().unwrap_or(self.now_ns);
            self.now_ns = due.max(self.now_ns + 1_000_000);
        }
        Err(format!("never caught up: {:?}", self.persister.status()))
    }

    fn is_failing(&self) -> bool {
        self.persister.status().failing_since_ns.is_some()
    }

    fn errors(&self) -> u64 {
        self.persister.status().errors_sum()
    }

    /// Every batch held, with its variant, that has a whole file.
    fn stored(&self) -> BTreeMap<BatchId, u8> {
        let is_stored = |id: &BatchId| self.persister.is_stored(*id);
        self.held.iter().filter(|(id, _)| is_stored(id)).map(|(id, v)| (*id, *v)).collect()
    }

    fn say_changes(&self, before: &BTreeMap<BatchId, u8>) {
        for (id, variant) in self.stored() {
            if before.get(&id) != Some(&variant) {
                say(Word::Stored(id, variant));
            }
        }
    }

    fn say_gone(&mut self) {
        if self.persister.status().removing > 0 {
            return;
        }
        let leaving = std::mem::take(&mut self.leaving);
        let gone = leaving.iter().filter(|id| !self.held.contains_key(id));
        gone.for_each(|id| say(Word::Gone(*id)));
    }

    /// Asks the store for records of every batch that it holds.
    fn serve(&mut self) -> Result<(), String> {
        for (&id, &variant) in &self.held {
            if let Some(text) = self.shelf.wrong(&self.world, id, variant).first() {
                return Err(format!("batch {id} does not answer {text}"));
            }
        }
        Ok(())
    }
}

/// Flips a bit somewhere in a file.
fn flip(path: &Path, chance: &mut Splitmix) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let at = chance.below(file.metadata()?.len().max(1));
    let mut byte = [0];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut byte)?;
    byte[0] ^= 1 << chance.below(8);
    file.seek(SeekFrom::Start(at))?;
    file.write_all(&byte)
}

/// One line, at once; again where the fault hits it.
fn say(word: Word) {
    for _ in 0..SAY_TRIES {
        if writeln!(io::stdout(), "{word}").is_ok() {
            return;
        }
    }
}

/// More than a fault hits one after the other.
const SAY_TRIES: usize = 10;
/// Ids of batches that a child makes begin here; those below were there before.
const FIRST_ID: BatchId = 100;
/// The wall clock of a child.
const UNIX_US: i64 = 1_700_000_000_000_000;
/// More than any settled work takes.
const STEPS_MAX: usize = 500;
/// Failures that a child bears with.
const ERRORS_MAX: u64 = 1_000;
/// Longest pause between two scrubs.
const SCRUB_PAUSE_NS: u64 = 61_000_000_000 * 60;
/// More scrubs than there are files.
const SCRUBS_MAX: usize = 3 * RETAIN_BATCHES;
/// Pauses after failures.
const CATCH_UPS_MAX: usize = 100;
