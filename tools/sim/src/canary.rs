//! Planted bugs. A simulation that does not find them proves nothing.

use std::fmt;
use std::str::FromStr;

/// A bug in how the simulated node is wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canary {
    /// A verdict is applied to whatever is held under its batch's id.
    VerdictWithoutHash,
    /// Every sealed batch is used before it is judged.
    Unjudged,
    /// Batches that the SCC deleted stay.
    DeletedStay,
    /// One sealed batch in 50 loses its largest key.
    LostKey,
    /// CLOSE is believed to name as many frames as were seen.
    GapIgnored,
    /// A lookup that runs out of time excludes what it has not looked at.
    TimeExcludes,
    /// The reply's bits follow the ids in ascending order instead of the order sent.
    SortedReply,
    /// A schema change keeps the filters of the old one.
    SchemaKeepsFilters,
    /// Frames that found a receive ring full are not counted.
    DropsUncounted,
    /// Files are renamed before they are synced.
    RenameBeforeSync,
    /// The folder is never synced.
    FolderUnsynced,
    /// A failed write is taken for one that worked.
    ErrorIgnored,
    /// A restart believes the name of a file whatever its header says.
    NameTrusted,
    /// Files of evicted and deleted batches stay.
    FilesStay,
}

impl Canary {
    /// All of them, with their names on the command line.
    pub const ALL: [(Self, &'static str); 14] = [
        (Self::VerdictWithoutHash, "verdict-without-hash"),
        (Self::Unjudged, "unjudged"),
        (Self::DeletedStay, "deleted-stay"),
        (Self::LostKey, "lost-key"),
        (Self::GapIgnored, "gap-ignored"),
        (Self::TimeExcludes, "time-excludes"),
        (Self::SortedReply, "sorted-reply"),
        (Self::SchemaKeepsFilters, "schema-keeps-filters"),
        (Self::DropsUncounted, "drops-uncounted"),
        (Self::RenameBeforeSync, "rename-before-sync"),
        (Self::FolderUnsynced, "folder-unsynced"),
        (Self::ErrorIgnored, "error-ignored"),
        (Self::NameTrusted, "name-trusted"),
        (Self::FilesStay, "files-stay"),
    ];
}

impl fmt::Display for Canary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(canary, _)| canary == self).map_or("", |known| known.1);
        f.write_str(name)
    }
}

impl FromStr for Canary {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(_, name)| *name == text).map(|known| known.0);
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|known| known.1).collect();
            format!("no such canary; there are {}", names.join(", "))
        })
    }
}
