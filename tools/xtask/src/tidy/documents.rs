//! Every file and folder of ours that a document names exists: a wrong map is worse than none.

use std::fs;
use std::path::Path;

/// Folders that a path of ours begins with.
const ROOTS: [&str; 8] =
    ["bench/", "deploy/", "docs/", "engine/", "ffi/", "kernels/", "netio/", "tools/"];

pub(super) fn check(root: &Path) -> Result<Vec<String>, String> {
    let docs = root.join("docs");
    let entries = fs::read_dir(&docs).map_err(|e| format!("{}: {e}", docs.display()))?;
    let mut documents = vec![root.join("README.md")];
    for entry in entries {
        documents.push(entry.map_err(|e| format!("{}: {e}", docs.display()))?.path());
    }
    documents.sort();
    let mut findings = Vec::new();
    for path in documents.iter().filter(|path| path.extension().is_some_and(|e| e == "md")) {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        for named in paths(&text).filter(|named| !root.join(named).exists()) {
            let document = path.strip_prefix(root).unwrap_or(path).display();
            findings.push(format!("{document}: names `{named}`, which does not exist"));
        }
    }
    Ok(findings)
}

/// What stands between backquotes and reads as a file or folder of ours.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.filter(|span| {
        let is_path = span.ends_with('/') || Path::new(span).extension().is_some();
        is_path && !span.contains(' ') && ROOTS.iter().any(|root| span.starts_with(root))
    })
}

#[cfg(test)]
mod tests {
    use super::paths;

    #[test]
    fn only_paths_of_ours_count() {
        let text = "`docs/WIRE.md`, `kernels/src/`; not `fold(a/b)`, `ffi/dpdk`, `std/fs.rs`,\n\
                    `bench`, `deploy/node.toml --json`";
        assert_eq!(paths(text).collect::<Vec<_>>(), ["docs/WIRE.md", "kernels/src/"]);
    }
}
