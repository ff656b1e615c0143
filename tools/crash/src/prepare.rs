//! The folder that every life begins with: whole files, more than may be kept; what an earlier
//! crash left; files of another cluster; a damaged one.

use std::fs;
use std::io;
use std::path::Path;

use bloomrf_engine::env::{Disk as _, Rng as _};
use bloomrf_engine::format::{FileName, Stamp, encode};
use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::persist::{TEMPORARY_PREFIX, publish};
use bloomrf_node::disk::FolderDisk;

use crate::cycle::RETAIN_BATCHES;
use crate::ledger::Ledger;
use crate::words::Word;
use crate::world::{CLUSTER, Splitmix, World};

/// Makes the folder; what must be in it after a start.
pub(crate) fn prepare(folder: &Path, world: &World, seed: u64) -> Result<Ledger, String> {
    let disk = FolderDisk::open(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut chance = Splitmix(seed ^ 0x9EE9);
    let mut ledger = Ledger::default();
    let mut generation = 0;
    let mut write = |id: BatchId, cluster: ClusterId| {
        generation += 1;
        let stamp = Stamp {
            uuid: u128::from(chance.next_u64()),
            generation,
            built_at_us: 1,
            seed: world.filter_seed(),
        };
        let batch = world.batch(id, 0);
        let bytes = encode(&batch, &world.origin(cluster), &stamp).map_err(|e| e.to_string())?;
        let name = FileName { batch: id, generation }.to_string();
        publish(&disk, &name, &bytes).map_err(|e| e.to_string())?;
        Ok::<_, String>(name)
    };
    // Two more than may be kept; the newest ones count.
    let last = RETAIN_BATCHES as u64 + 2;
    for id in 1..=last {
        write(id, CLUSTER)?;
    }
    let damaged = write(DAMAGED, CLUSTER)?;
    write(FOREIGN, ClusterId(0xF0))?;
    for id in last + 1 - RETAIN_BATCHES as u64..=last {
        ledger.hear(Word::Writing(id, 0));
        ledger.hear(Word::Stored(id, 0));
    }
    let io = |what: io::Result<()>| what.map_err(|e| e.to_string());
    // In the header: the whole file is of no use.
    io(flip_header(&folder.join(damaged)))?;
    io(disk.write_new(&format!("{TEMPORARY_PREFIX}batch-0000000000000009-9.blmf"), b"half"))?;
    Ok(ledger)
}

fn flip_header(path: &Path) -> io::Result<()> {
    let mut bytes = fs::read(path)?;
    bytes[30] ^= 1;
    fs::write(path, bytes)
}

/// Copies a folder of files.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// A batch whose file is damaged.
pub(crate) const DAMAGED: BatchId = 50;
/// A batch of another cluster.
const FOREIGN: BatchId = 51;
