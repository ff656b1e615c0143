//! The tree's own rules, run as a test. Each rule lists everything it finds, not just the first.

mod arrows;
mod dependencies;
mod documents;
mod source;
mod unsafety;

use std::fs;
use std::path::{Path, PathBuf};

use crate::bench;
use crate::run::{metadata, root};

/// A Rust source file of ours.
pub(crate) struct SourceFile {
    /// Path from the workspace root, with `/`.
    pub(crate) path: String,
    /// Text.
    pub(crate) text: String,
}

/// Runs all rules; the error lists every finding.
pub(crate) fn tidy() -> Result<String, String> {
    let root = root();
    let metadata = metadata()?;
    let files = sources(&root)?;
    let mut findings = Vec::new();
    findings.extend(arrows::check(&metadata));
    findings.extend(dependencies::check(&root, &metadata)?);
    findings.extend(documents::check(&root)?);
    findings.extend(bench::findings(&root)?);
    findings.extend(source::check(&files));
    findings.extend(unsafety::check(&root, &files)?);
    if findings.is_empty() {
        return Ok(format!(
            "tidy: {} crates, {} source files, no finding",
            metadata.workspace_packages().len(),
            files.len()
        ));
    }
    Err(format!("{} finding(s)\n  {}", findings.len(), findings.join("\n  ")))
}

/// All `.rs` files below the workspace, `target` and dot folders left out.
fn sources(root: &Path) -> Result<Vec<SourceFile>, String> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if name.ends_with(".rs") {
                files.push(SourceFile { path: relative(root, &path), text: read(&path)? });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

fn read(path: &PathBuf) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}
