//! Refused files: a few are kept under another name, for people to look at.

use std::collections::VecDeque;

use super::{DiskError, Place};
use crate::env::Disk;
use crate::format::FileName;

/// Refused files that are kept, oldest generation first.
#[derive(Clone, Debug, Default)]
pub(super) struct Aside {
    names: VecDeque<String>,
}

/// What becomes of a refused file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Keep,
    Remove,
}

impl Aside {
    /// Those that lie in the folder from earlier times.
    pub(super) fn of(names: impl Iterator<Item = FileName>) -> Self {
        let mut names: Vec<FileName> = names.collect();
        names.sort_by_key(|name| (name.generation, name.batch));
        Aside { names: names.iter().map(name_aside).collect() }
    }

    /// Moves a refused file out of the way; returns whether it is kept. The oldest ones that are
    /// too many are removed. On an error the file may lie where it was.
    pub(super) fn put(
        &mut self,
        disk: &dyn Disk,
        name: &FileName,
        fate: Fate,
    ) -> Result<bool, DiskError> {
        if fate == Fate::Remove {
            disk.remove(&name.to_string()).map_err(|e| DiskError::new(Place::Remove, e))?;
            return Ok(false);
        }
        let aside = name_aside(name);
        let renamed = disk.rename(&name.to_string(), &aside);
        renamed.map_err(|e| DiskError::new(Place::Rename, e))?;
        self.names.push_back(aside);
        self.trim(disk)?;
        Ok(true)
    }

    /// Removes the oldest ones past the bound.
    pub(super) fn trim(&mut self, disk: &dyn Disk) -> Result<(), DiskError> {
        while self.names.len() > ASIDE_MAX {
            let Some(oldest) = self.names.pop_front() else { break };
            disk.remove(&oldest).map_err(|e| DiskError::new(Place::Remove, e))?;
        }
        Ok(())
    }
}

/// The name under which a refused file is kept.
fn name_aside(name: &FileName) -> String {
    format!("{ASIDE_PREFIX}{name}")
}

/// Reads a name back that [`name_aside`] made.
pub(super) fn parse_aside(name: &str) -> Option<FileName> {
    name.strip_prefix(ASIDE_PREFIX)?.parse().ok()
}

/// Refused files are kept under this prefix.
const ASIDE_PREFIX: &str = "bad-";
/// So many at most.
pub(super) const ASIDE_MAX: usize = 8;
