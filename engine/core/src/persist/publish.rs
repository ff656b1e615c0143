//! One durable write: after a crash at any step, the file is whole (old or new) or absent.

use std::io;

use crate::env::Disk;

/// Files whose writing is not finished; whatever finds one at start removes it.
pub const TEMPORARY_PREFIX: &str = "tmp-";

/// Writes a file whole: a temporary one, synced, renamed, the folder synced. A failed sync is never
/// tried again on the same file, since nobody knows what reached the disk: the next call writes
/// a new one.
pub fn publish(disk: &dyn Disk, name: &str, bytes: &[u8]) -> io::Result<()> {
    let temporary = format!("{TEMPORARY_PREFIX}{name}");
    disk.remove(&temporary)?;
    let renamed = disk.write_new(&temporary, bytes).and_then(|()| disk.rename(&temporary, name));
    if let Err(error) = renamed {
        // What is left is removed at the next start.
        let _ = disk.remove(&temporary);
        return Err(error);
    }
    disk.sync_folder()
}
