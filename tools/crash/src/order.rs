//! What the order of calls proves where no crash of a process can: that what was said to be
//! stored had reached the disk, and that no failed sync was taken for a good one.

use std::collections::BTreeMap;

use crate::calls::Call;
use crate::words::Word;

/// State of the files of one life, by path.
#[derive(Debug, Default)]
struct Files {
    /// Files that were made and written, with whether all of it is synced.
    synced: BTreeMap<String, bool>,
    /// Files whose sync failed: never to be named as if they were whole.
    failed: BTreeMap<String, ()>,
    /// Names that came by a rename, with whether the folder was synced well since.
    named: BTreeMap<String, bool>,
}

/// Follows the calls of a life from its first word on. The error names the call.
pub(crate) fn check(calls: &[Call], folder: &str) -> Result<(), String> {
    let mut files = Files::default();
    for call in calls {
        files.follow(call, folder).map_err(|e| format!("{e}, at {}", call.describe()))?;
    }
    Ok(())
}

impl Files {
    fn follow(&mut self, call: &Call, folder: &str) -> Result<(), String> {
        if call.is_speech() {
            return self.hear(call, folder);
        }
        match call.name.as_str() {
            "openat" | "open" | "creat" if call.arguments.contains("O_CREAT") && call.is_well() => {
                let Some(path) = call.texts().first().map(ToString::to_string) else {
                    return Ok(());
                };
                self.failed.remove(&path);
                self.synced.insert(path, false);
            }
            "write" | "pwrite64" | "writev" | "ftruncate" | "fallocate" if call.is_well() => {
                if let Some(path) = call.descriptor_path().filter(|p| p.starts_with(folder)) {
                    self.synced.insert(path.to_owned(), false);
                }
            }
            "fsync" | "fdatasync" if call.is_interrupted() => {}
            "fsync" | "fdatasync" => {
                let path = call.descriptor_path().unwrap_or_default().to_owned();
                if path == folder {
                    self.sync_folder(call.is_well());
                } else if call.is_well() {
                    self.synced.insert(path, true);
                } else {
                    self.failed.insert(path, ());
                }
            }
            "rename" | "renameat" | "renameat2" if call.is_well() => return self.rename(call),
            _ => {}
        }
        Ok(())
    }

    /// A sync that failed makes nothing durable, now or by the next one.
    fn sync_folder(&mut self, is_well: bool) {
        if is_well {
            self.named.values_mut().for_each(|durable| *durable = true);
        } else {
            self.named.retain(|_, durable| *durable);
        }
    }

    fn rename(&mut self, call: &Call) -> Result<(), String> {
        let texts = call.texts();
        let [from, to] = texts.as_slice() else { return Ok(()) };
        // What is put aside was no file of ours in this life.
        if name_of(from).starts_with("batch-") {
            return Ok(());
        }
        if self.failed.contains_key(*from) {
            return Err(format!("{from}, whose sync failed, was given the name {to}"));
        }
        if self.synced.get(*from) != Some(&true) {
            return Err(format!("{from} was given the name {to} before it was synced"));
        }
        self.named.insert((*to).to_owned(), false);
        Ok(())
    }

    /// What the child says it has stored.
    fn hear(&self, call: &Call, folder: &str) -> Result<(), String> {
        let Some(Word::Stored(id, _)) = call.word() else { return Ok(()) };
        let prefix = format!("{folder}/batch-{id:016x}-");
        let durable =
            self.named.iter().any(|(path, durable)| path.starts_with(&prefix) && *durable);
        if durable {
            return Ok(());
        }
        Err(format!("batch {id} was said to be stored before its name was durable"))
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::parse;

    const GOOD: &str = r#"
1 openat(AT_FDCWD</>, "/d/tmp-batch-1", O_WRONLY|O_CREAT|O_EXCL, 0666) = 3</d/tmp-batch-1>
1 write(3</d/tmp-batch-1>, "x"..., 10) = 10
1 fsync(3</d/tmp-batch-1>) = 0
1 rename("/d/tmp-batch-1", "/d/batch-0000000000000001-0000000000000001.blmf") = 0
1 fsync(4</d>) = 0
1 write(1<pipe:[7]>, "stored 1 0\n", 11) = 11
"#;

    fn judged(log: &str) -> Result<(), String> {
        check(&parse(log), "/d")
    }

    #[test]
    fn a_durable_write_passes() {
        assert_eq!(judged(GOOD), Ok(()));
    }

    #[test]
    fn a_write_without_one_of_its_syncs_is_seen() {
        let without_file = GOOD.replace("1 fsync(3</d/tmp-batch-1>) = 0\n", "");
        assert!(judged(&without_file).unwrap_err().contains("before it was synced"));
        let without_folder = GOOD.replace("1 fsync(4</d>) = 0\n", "");
        assert!(judged(&without_folder).unwrap_err().contains("before its name was durable"));
    }

    #[test]
    fn a_failed_sync_that_is_taken_for_a_good_one_is_seen() {
        let failed = "-1 EIO (Input/output error) (INJECTED)";
        let file = GOOD.replace("tmp-batch-1>) = 0", &format!("tmp-batch-1>) = {failed}"));
        assert!(judged(&file).unwrap_err().contains("whose sync failed"));
        // Nor does a second sync that went well make up for it.
        let retried = file.replace("1 rename", "1 fsync(3</d/tmp-batch-1>) = 0\n1 rename");
        assert!(judged(&retried).unwrap_err().contains("whose sync failed"));
        let folder = GOOD.replace("4</d>) = 0", &format!("4</d>) = {failed}\n1 fsync(4</d>) = 0"));
        assert!(judged(&folder).unwrap_err().contains("before its name was durable"));
    }
}
