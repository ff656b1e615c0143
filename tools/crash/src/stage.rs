//! Where lives are played: a folder as every life finds it, and room for the life of this moment.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::calls::Call;
use crate::ledger::Ledger;
use crate::prepare::{copy, prepare};
use crate::strace::{self, Fault, Life};
use crate::words::Word;
use crate::world::World;

/// A workload with its folder.
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) seed: u64,
    /// What must be in the folder at the beginning.
    pub(crate) ledger: Ledger,
    room: TempDir,
}

impl Stage {
    /// Prepares the folder of a workload.
    pub(crate) fn new(seed: u64) -> Result<Self, String> {
        let room = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
        let world = World::new(seed);
        let ledger = prepare(&room.path().join("before"), &world, seed)?;
        Ok(Stage { world, seed, ledger, room })
    }

    /// The folder of the life of this moment.
    pub(crate) fn folder(&self) -> PathBuf {
        self.room.path().join("data")
    }

    /// The folder as every life finds it.
    pub(crate) fn before(&self) -> PathBuf {
        self.room.path().join("before")
    }

    /// Keeps the folder as it is now, to begin with it several times.
    pub(crate) fn keep(&self) -> Result<PathBuf, String> {
        let kept = self.room.path().join("kept");
        copy(&self.folder(), &kept).map_err(|e| format!("{}: {e}", kept.display()))?;
        Ok(kept)
    }

    /// Plays a life on a copy of `from`.
    pub(crate) fn play(
        &self,
        from: &Path,
        fault: Fault<'_>,
        options: &[&str],
    ) -> Result<Life, String> {
        let folder = self.folder();
        copy(from, &folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let (seed, path) = (self.seed.to_string(), folder.to_string_lossy().into_owned());
        let arguments = [&["child", "--folder", &path, "--seed", &seed][..], options].concat();
        let log = self.room.path().join("log");
        strace::run(&log, fault, &arguments).map_err(|e| format!("no life under strace: {e}"))
    }

    /// Plays a life without a fault: what it said is what the others are compared with.
    pub(crate) fn rehearse(&self, from: &Path, options: &[&str]) -> Result<Vec<Call>, String> {
        let life = self.play(from, Fault::None, options)?;
        if !life.is_well || life.said.last().map(String::as_str) != Some("end") {
            let Life { said, complaint, .. } = life;
            return Err(format!("without any fault, it ended so: {said:?} {complaint}"));
        }
        Ok(life.calls)
    }
}

/// The calls from the first word on.
pub(crate) fn of_the_path(calls: &[Call]) -> &[Call] {
    let begin = Word::Begin.to_string();
    let is_begin = |call: &Call| call.is_speech() && call.arguments.contains(&begin);
    let at = calls.iter().position(is_begin).map_or(calls.len(), |at| at + 1);
    &calls[at..]
}
