//! Every file and folder of ours that a document names exists, and so does every test that it names
//! as `file.rs::test`: a wrong map is worse than none, and a promise without its test is none.

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
        for (file, test) in tests_named(&text) {
            let source = fs::read_to_string(root.join(file)).unwrap_or_default();
            if !source.contains(&format!("fn {test}(")) {
                let document = path.strip_prefix(root).unwrap_or(path).display();
                findings.push(format!("{document}: names test `{test}`, which is not in {file}"));
            }
        }
    }
    Ok(findings)
}

/// What stands between backquotes and reads as a file or folder of ours.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.filter(|span| {
        let is_path = span.ends_with('/') || Path::new(span).extension().is_some();
        is_path && !span.contains([' ', ':']) && ROOTS.iter().any(|root| span.starts_with(root))
    })
}

/// What stands between backquotes and reads as `file.rs::test`.
fn tests_named(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.filter_map(|span| {
        let (file, test) = span.split_once(".rs::")?;
        ROOTS.iter().any(|root| span.starts_with(root)).then_some((&span[..file.len() + 3], test))
    })
}

#[cfg(test)]
mod tests {
    use super::{paths, tests_named};

    #[test]
    fn tests_are_named_by_file_and_function() {
        let text = "`engine/core/tests/a.rs::it_holds` and `Disk::list`, `x.rs::y`";
        assert_eq!(tests_named(text).collect::<Vec<_>>(), [("engine/core/tests/a.rs", "it_holds")]);
    }

    #[test]
    fn only_paths_of_ours_count() {
        let text = "`docs/WIRE.md`, `kernels/src/`; not `fold(a/b)`, `ffi/dpdk`, `std/fs.rs`,\n\
                    `bench`, `deploy/node.toml --json`";
        assert_eq!(paths(text).collect::<Vec<_>>(), ["docs/WIRE.md", "kernels/src/"]);
    }
}
