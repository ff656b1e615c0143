//! Ids of a tap's batches: from the clock, and never the same twice.
//!
//! Ids count on from the start's time in microseconds, so that a later start begins above an
//! earlier one, however many batches that had. For clocks that went back there is a small file in
//! the data folder: a start writes down up to where it may count, and begins above whatever an
//! earlier one wrote, and above every stored batch. A folder that cannot be written leaves the
//! clock.

use std::io;

use bloomrf_engine::env::Disk;
use bloomrf_engine::format::FileName;
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::persist::publish;

/// The ids of one queue's batches, ascending.
#[derive(Clone, Debug)]
pub(super) struct BatchIds {
    next: BatchId,
    step: u64,
}

impl BatchIds {
    /// Of queue number `queue` of `queues`, which share the ids from `first` on.
    pub(super) fn of_queue(first: BatchId, queue: usize, queues: usize) -> Self {
        BatchIds { next: first + queue as u64, step: queues as u64 }
    }

    /// The next one. A start has some 10^10 of them: nobody lives to see the end.
    pub(super) fn next(&mut self) -> BatchId {
        let id = self.next;
        self.next = id.wrapping_add(self.step);
        id
    }
}

/// The first of `RESERVED` ids that nobody had before; `None` where so many are not left.
pub(super) fn reserve_ids(disk: &dyn Disk, unix_us: i64) -> Option<BatchId> {
    let earlier = match disk.read(NAME, FILE_BYTES_MAX).map(|bytes| decode(&bytes)) {
        Ok(Some(end)) => end,
        Ok(None) => {
            tracing::warn!(file = NAME, "damaged: batch ids start at the clock's time");
            0
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => {
            tracing::warn!(file = NAME, %error, "unreadable: batch ids start at the clock's time");
            0
        }
    };
    let names = disk.list().unwrap_or_default();
    let stored = names.iter().filter_map(|name| name.parse::<FileName>().ok());
    let above_stored =
        stored.map(|name| name.batch).max().map_or(Some(0), |id| id.checked_add(1))?;
    let clock = u64::try_from(unix_us).unwrap_or(0);
    let first = clock.max(earlier).max(above_stored);
    let end = first.checked_add(RESERVED)?;
    if let Err(error) = publish(disk, NAME, encode(end).as_bytes()) {
        tracing::warn!(file = NAME, %error, "ids not reserved: the next start trusts its clock");
    }
    Some(first)
}

/// Ids of one start: 19 hours of microseconds, so that they keep near the clock; at a thousand
/// batches a second they last two years.
const RESERVED: u64 = 1 << 36;
const NAME: &str = "tap-ids.txt";
/// Longest file looked at, bytes.
const FILE_BYTES_MAX: u64 = 4_096;

fn encode(end: BatchId) -> String {
    let body = format!("bloomrf tap ids 1\nbelow {end:016x}\n");
    let sum = crc32c::crc32c(body.as_bytes());
    format!("{body}crc32c {sum:08x}\n")
}

fn decode(bytes: &[u8]) -> Option<BatchId> {
    let text = std::str::from_utf8(bytes).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("below "))?;
    let end = BatchId::from_str_radix(line, 16).ok()?;
    // One way to write it: whatever differs by a byte is damaged.
    (encode(end) == text).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::FolderDisk;

    #[test]
    fn no_id_comes_twice_whatever_the_clock_says() {
        let folder = tempfile::tempdir().unwrap();
        let mut before = 0;
        for unix_us in [1_000_000, 1_000_001, 999, i64::MIN, i64::MAX / 2, 0, 5] {
            let disk = FolderDisk::open(folder.path()).unwrap();
            let first = reserve_ids(&disk, unix_us).unwrap();
            assert!(first >= before, "{first} after {before} at {unix_us}");
            before = first + RESERVED;
        }
    }

    #[test]
    fn ids_begin_above_every_stored_batch_and_a_damaged_file() {
        let folder = tempfile::tempdir().unwrap();
        let disk = FolderDisk::open(folder.path()).unwrap();
        let name = FileName { batch: 1 << 40, generation: 1 }.to_string();
        std::fs::write(folder.path().join(&name), b"anything").unwrap();
        std::fs::write(folder.path().join(NAME), b"below 0").unwrap();
        assert_eq!(reserve_ids(&disk, 7), Some((1 << 40) + 1));
        assert_eq!(reserve_ids(&disk, 7), Some((1 << 40) + 1 + RESERVED));
        std::fs::remove_file(folder.path().join(NAME)).unwrap();
        assert_eq!(
            reserve_ids(&disk, 1 << 50),
            Some(1 << 50),
            "an honest clock alone does it, too"
        );
        let name = FileName { batch: u64::MAX - 5, generation: 1 }.to_string();
        std::fs::write(folder.path().join(&name), b"anything").unwrap();
        assert_eq!(reserve_ids(&disk, 7), None);
    }

    #[test]
    fn queues_never_share_an_id() {
        let mut all: Vec<BatchId> = (0..3)
            .flat_map(|queue| {
                let mut ids = BatchIds::of_queue(100, queue, 3);
                std::iter::repeat_with(move || ids.next()).take(50)
            })
            .collect();
        all.sort_unstable();
        assert_eq!(all, (100..250).collect::<Vec<_>>());
    }
}
