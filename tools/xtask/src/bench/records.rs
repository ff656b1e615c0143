//! The newest record of each bench and CPU, as it lies in `bench/record/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// All that is kept of one CPU.
pub(crate) struct Cpu {
    /// Folder name.
    pub(crate) name: String,
    /// Newest record of each bench, by the bench's name.
    pub(crate) benches: BTreeMap<String, Record>,
    /// The hand-written part, empty where there is none.
    pub(crate) commentary: String,
}

/// One CSV with its text.
pub(crate) struct Record {
    pub(crate) date: String,
    /// Lines `name: value`.
    pub(crate) text: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// Columns of a record that `bloomrf_bench::rounds::Row` wrote.
const ROW_HEADER: [&str; 7] = ["section", "case", "variant", "measure", "unit", "quiet", "median"];

/// One row of such a record.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) section: String,
    pub(crate) case: String,
    pub(crate) variant: String,
    pub(crate) measure: String,
    pub(crate) unit: String,
    pub(crate) quiet: f64,
    pub(crate) median: f64,
}

impl Record {
    /// A value of the text, e.g. `command`.
    pub(crate) fn note(&self, name: &str) -> Option<&str> {
        let line = self.text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.map(str::trim)
    }

    /// A line of `lscpu` in the text.
    pub(crate) fn lscpu(&self, name: &str) -> Option<&str> {
        let lines = self.text.lines().filter_map(|line| line.strip_prefix("lscpu: "));
        lines.filter_map(|line| line.split_once(": ")).find(|(n, _)| *n == name).map(|(_, v)| v)
    }

    /// Its rows, where they have the common columns.
    pub(crate) fn rows(&self) -> Vec<Row> {
        if self.header != ROW_HEADER {
            return Vec::new();
        }
        let row = |fields: &Vec<String>| {
            let [section, case, variant, measure, unit, quiet, median] = fields.as_slice() else {
                return None;
            };
            Some(Row {
                section: section.clone(),
                case: case.clone(),
                variant: variant.clone(),
                measure: measure.clone(),
                unit: unit.clone(),
                quiet: quiet.parse().ok()?,
                median: median.parse().ok()?,
            })
        };
        self.rows.iter().filter_map(row).collect()
    }
}

/// The CPUs that have a folder, in the order of their names.
pub(crate) fn read(root: &Path) -> Result<Vec<Cpu>, String> {
    let folder = root.join("bench/record");
    let mut cpus = Vec::new();
    for name in names(&folder)? {
        let path = folder.join(&name);
        if path.is_dir() {
            cpus.push(cpu(&path, name)?);
        }
    }
    Ok(cpus)
}

fn cpu(folder: &Path, name: String) -> Result<Cpu, String> {
    let mut benches = BTreeMap::new();
    let mut commentary = String::new();
    // Sorted by date first, so that the newest comes last and stays.
    for file in names(folder)? {
        let path = folder.join(&file);
        if file == "commentary.md" {
            commentary = text(&path)?;
        }
        let Some(stem) = file.strip_suffix(".csv") else { continue };
        let (Some(date), Some(bench)) = (stem.get(..10), stem.get(11..)) else {
            return Err(format!("{}: expected <date>-<bench>.csv", path.display()));
        };
        let note = folder.join(format!("{stem}.txt"));
        benches.insert(bench.to_owned(), parse(date, &text(&path)?, text(&note)?)?);
    }
    Ok(Cpu { name, benches, commentary })
}

/// Reads a record.
pub(crate) fn parse(date: &str, csv: &str, text: String) -> Result<Record, String> {
    let mut lines = csv.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty());
    let header = fields(lines.next().ok_or_else(|| format!("{date}: an empty record"))?);
    let rows: Vec<_> = lines.map(fields).collect();
    if let Some(row) = rows.iter().find(|row| row.len() != header.len()) {
        return Err(format!(
            "{date}: {} fields where {} were expected: {row:?}",
            row.len(),
            header.len()
        ));
    }
    Ok(Record { date: date.to_owned(), text, header, rows })
}

/// The fields of a line; one in quotes may hold commas.
fn fields(line: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => all.push(String::new()),
            _ => all.last_mut().into_iter().for_each(|field| field.push(c)),
        }
    }
    all.into_iter().map(|field| field.trim().to_owned()).collect()
}

fn names(folder: &Path) -> Result<Vec<String>, String> {
    let error = |why: std::io::Error| format!("{}: {why}", folder.display());
    let entries: Result<Vec<_>, _> = fs::read_dir(folder).map_err(error)?.collect();
    let mut names: Vec<String> = entries
        .map_err(error)?
        .iter()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_notes_and_foreign_columns_are_read() {
        let csv = "# remark\nsection,case,variant,measure,unit,quiet,median\na,b,c,d,ns,1.5,2\n";
        let text = "command: x y\nlscpu: L2 cache: 2 MiB\n".to_owned();
        let record = parse("2026-02-01", csv, text).expect("a record");
        assert_eq!(record.rows().len(), 1);
        assert_eq!((record.rows()[0].quiet, record.rows()[0].median), (1.5, 2.0));
        assert_eq!(record.note("command"), Some("x y"));
        assert_eq!(record.lscpu("L2 cache"), Some("2 MiB"));
        let csv = "stage,ns\n\"a, b\",1\n";
        let foreign = parse("2026-02-01", csv, String::new()).expect("a record");
        assert!(foreign.rows().is_empty());
        assert_eq!(foreign.rows, [["a, b", "1"]]);
    }

    #[test]
    fn a_row_with_a_field_too_few_is_refused() {
        let refused = parse("2026-02-01", "stage,ns\na\n", String::new()).err();
        assert!(refused.is_some_and(|why| why.contains("1 fields where 2 were expected")));
    }
}
