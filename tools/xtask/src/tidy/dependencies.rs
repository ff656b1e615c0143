//! Every foreign crate that we name has a row with its reason in docs/DEPENDENCIES.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cargo_metadata::Metadata;

pub(super) fn check(root: &Path, metadata: &Metadata) -> Result<Vec<String>, String> {
    let path = root.join("docs/DEPENDENCIES.md");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let used: BTreeSet<&str> = metadata
        .workspace_packages()
        .iter()
        .flat_map(|package| &package.dependencies)
        .filter(|dependency| dependency.path.is_none())
        .map(|dependency| dependency.name.as_str())
        .collect();
    let listed = rows(&text);
    let missing = used
        .iter()
        .filter(|name| !listed.contains(*name))
        .map(|name| format!("{name}: used, but without a reason in docs/DEPENDENCIES.md"));
    let stale = listed
        .iter()
        .filter(|name| !used.contains(*name))
        .map(|name| format!("{name}: listed under \"Used\" in docs/DEPENDENCIES.md, but unused"));
    Ok(missing.chain(stale).collect())
}

/// Names in the first column of the table under "## Used".
fn rows(text: &str) -> BTreeSet<&str> {
    text.lines()
        .skip_while(|line| *line != "## Used")
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn only_rows_of_the_used_table_count() {
        let text = "## Used\n\n| crate | why |\n|---|---|\n| `a` | x |\n## Judged\n| `b` | y |\n";
        assert_eq!(rows(text).into_iter().collect::<Vec<_>>(), ["a"]);
    }
}
