//! Row 6: stored files that somebody forged. Every checksum is made right again, so that what lies
//! behind them is reached; what is read is put into a store and asked.
//!
//! An input is a script of changes to one of a few whole files: bytes, fields, blocks and lengths,
//! so that small damage stays small. One that begins with `BLMF` is a file itself.

#[path = "../../../../engine/core/tests/format_world/ask.rs"]
mod ask;
mod forge;
#[path = "../../../../engine/core/tests/format_world/reseal.rs"]
mod reseal;
#[path = "../../../../engine/core/tests/format_world/mod.rs"]
mod world;

use std::cell::OnceCell;
use std::sync::Arc;

use bloomrf_engine::format::{FileName, PageSize, Stored, decode, encode_paged};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::seal::SealedBatch;

use crate::chance::Chance;
use forge::Script;

/// Slots of a chunk.
const CHUNK: usize = 64;

struct Ground {
    schema: Arc<Schema>,
    files: Vec<Vec<u8>>,
}

thread_local! {
    static GROUND: OnceCell<Ground> = const { OnceCell::new() };
}

/// Reads the file that `input` makes; asks what was read.
///
/// # Panics
/// Where something is wrong with the reader, or with who asks: that is what it is for.
pub fn run(input: &[u8]) {
    GROUND.with(|ground| {
        let ground = ground
            .get_or_init(|| Ground { schema: Arc::new(world::schema()), files: forge::files() });
        if !input.starts_with(b"BLMF") {
            let mut script = Script::new(input);
            let is_chunk = script.below(16) == 0;
            let file = forge::forged(&ground.files, &mut script);
            return ground.read(&file, is_chunk);
        }
        ground.read(input, false);
        let mut forged = input.to_vec();
        reseal::reseal(&mut forged);
        ground.read(&forged, true);
    });
}

/// Scripts to start from.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut chance = Chance::new(6);
    (1..=64).map(|at| (0..at * 3).map(|_| chance.draw() as u8).collect()).collect()
}

impl Ground {
    fn read(&self, bytes: &[u8], is_chunk: bool) {
        let Some(stored) = self.decode(bytes) else { return };
        let batches = if is_chunk { self.chunk(stored.batch) } else { vec![stored.batch] };
        let columns: Vec<usize> = (0..self.schema.columns().len()).collect();
        let _ = ask::ask(&self.schema, &batches, &columns);
    }

    fn decode(&self, bytes: &[u8]) -> Option<Stored> {
        let number = |at: usize| {
            let bytes = bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_le_bytes)
        };
        // Its own name, so that more than the header is reached.
        let name = FileName { batch: number(80), generation: number(56) };
        let origin = world::origin(&self.schema);
        let stored = decode(bytes, &name, &origin, &self.schema).ok()?;
        let held = stored.batch.filter_bytes();
        assert!(held <= 2 * bytes.len(), "{held} bytes of filters from {} bytes", bytes.len());
        let masks = bytes.get(20..28).unwrap_or_default();
        if stored.lost.is_empty() && masks.iter().all(|&byte| byte == 0) {
            let kib64 = bytes.get(192) == Some(&16);
            let size = if kib64 { PageSize::Kib64 } else { PageSize::Kib4 };
            let again = encode_paged(&stored.batch, &origin, &stored.stamp, size);
            assert!(again.is_ok_and(|again| again == bytes), "a file has one encoding");
        }
        Some(stored)
    }

    /// A chunk of forged and of whole batches: groups are chosen, built and asked.
    fn chunk(&self, forged: SealedBatch) -> Vec<SealedBatch> {
        let whole = self.files.iter().filter_map(|file| self.decode(file));
        let mut batches: Vec<SealedBatch> = whole.map(|stored| stored.batch).collect();
        batches.push(forged);
        (0..CHUNK).filter_map(|slot| batches.get(slot % batches.len()).cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_whole_and_scripts_reach_behind_the_header() {
        let ground = Ground { schema: Arc::new(world::schema()), files: forge::files() };
        assert!(ground.files.iter().all(|file| ground.decode(file).is_some()));
        let forged = |input: &Vec<u8>| forge::forged(&ground.files, &mut Script::new(input));
        let read = seeds().iter().filter(|input| ground.decode(&forged(input)).is_some()).count();
        assert!(read > 3 && read < 60, "{read} of 64 scripts make a file that can be read");
        run(&ground.files[0]);
    }
}
