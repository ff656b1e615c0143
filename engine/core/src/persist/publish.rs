//! One durable write: after a crash at any step, the file is whole (old or new) or absent.

use super::{DiskError, Place};
use crate::env::Disk;

/// Files whose writing is not finished; whatever finds one at start removes it.
pub const TEMPORARY_PREFIX: &str = "tmp-";
/// File that proves that the folder can be written. It goes at once, or else at the next start.
pub(super) const PROBE_NAME: &str = "write-probe";

/// Writes a file whole: a temporary one, synced, renamed, the folder synced. A failed sync is never
/// tried again on the same file, since nobody knows what reached the disk: the next call writes
/// a new one.
pub fn publish(disk: &dyn Disk, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
    let temporary = temporary_of(name);
    disk.remove(&temporary).map_err(|e| DiskError::new(Place::Remove, e))?;
    let written = disk.write_new(&temporary, bytes).map_err(|e| DiskError::new(Place::Write, e));
    let renamed = written
        .and_then(|()| disk.rename(&temporary, name).map_err(|e| DiskError::new(Place::Rename, e)));
    if let Err(error) = renamed {
        // What is left is removed at the next start.
        let _ = disk.remove(&temporary);
        return Err(error);
    }
    disk.sync_folder().map_err(|e| DiskError::new(Place::Sync, e))
}

/// The name of a file while it is written.
pub(super) fn temporary_of(name: &str) -> String {
    format!("{TEMPORARY_PREFIX}{name}")
}
