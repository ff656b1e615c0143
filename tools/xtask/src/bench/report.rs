//! Makes `docs/PERFORMANCE.md` from the records; `cargo xtask tidy` makes it again and compares.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::figures;
use super::links;
use super::records::{self, Cpu, Record};
use super::tables::{self, Rows};

const DOCUMENT: &str = "docs/PERFORMANCE.md";

const INTRODUCTION: &str = "\
# Performance

Made by `cargo xtask bench report` from `bench/record/`. The commentary is `commentary.md` in a
CPU's folder there: edit that and not this file (`cargo xtask tidy` compares).

How it was measured: everything that is compared ran interleaved in one process on the same keys,
in shuffled turns, round by round; every result is consumed and checked. Times are ns a key, one
thread, and the mean of the quietest quarter of the rounds (the records hold the medians too), so
that strangers on the machine disturb little; ratios under 1.2 are ties. Numbers of two runs are
never compared. Filters take 10 bits a key (point filters) or 16 (bloomRF), calls 4,096 keys. Peers
that take a hash get the finaliser of murmur3, computed while the clock runs, as our own hash is.
*Huge* is 2 MiB pages for everybody (ours by the arena, peers by
`GLIBC_TUNABLES=glibc.malloc.hugetlb=1`), *small* 4 KiB for everybody. The *limit* is a loop of
independent, prefetched accesses to random lines of as much memory, the best of several look-ahead
depths: no filter that reads one line a key can be faster. Kernel sets: `scalar` is portable code,
`avx512` has VBMI, `avx512-no-vbmi` is what other AVX-512 machines run.
";

/// Writes the document.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    let path = root.join(DOCUMENT);
    fs::write(&path, make(root)?).map_err(|why| format!("{}: {why}", path.display()))?;
    println!("wrote {DOCUMENT}");
    Ok(())
}

/// Whether the document is what the records say.
pub(crate) fn findings(root: &Path) -> Result<Vec<String>, String> {
    let path = root.join(DOCUMENT);
    let text = fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(if text == make(root)? {
        Vec::new()
    } else {
        vec![format!("{DOCUMENT}: not what bench/record/ says: run `cargo xtask bench report`")]
    })
}

fn make(root: &Path) -> Result<String, String> {
    let mut text = INTRODUCTION.to_owned();
    for cpu in records::read(root)? {
        describe(&mut text, &cpu);
    }
    Ok(text)
}

fn describe(text: &mut String, cpu: &Cpu) {
    let rows = Rows(cpu.benches.values().flat_map(Record::rows).collect());
    let _ = writeln!(text, "\n## {}\n", cpu.name);
    machine(text, cpu);
    let _ = writeln!(text, "### Figures\n\n{}", figures::table(&rows));
    if !cpu.commentary.is_empty() {
        let _ = writeln!(text, "### Commentary\n\n{}\n", cpu.commentary.trim());
    }
    if rows.section("blocked").next().is_some() {
        let _ = writeln!(text, "### Point filters, ns a key\n{}", tables::points(&rows));
    }
    if rows.section("limit").next().is_some() {
        let _ = writeln!(text, "### Random lines: the limit\n{}", tables::limits(&rows));
    }
    if rows.section("bloomrf").next().is_some() {
        let _ = writeln!(
            text,
            "### bloomRF, inserts and points, ns a key\n\n{}",
            tables::bloomrf_points(&rows)
        );
        let _ = writeln!(
            text,
            "### bloomRF, empty ranges, ns a range\n\n{}",
            tables::bloomrf_ranges(&rows)
        );
    }
    if rows.section("netio").next().is_some() {
        let _ = writeln!(text, "### Links, and the whole node\n\n{}", links::tables(&rows));
    }
    let has_tables = |bench: &str| ["kernels", "netio"].contains(&bench);
    for (bench, record) in cpu.benches.iter().filter(|(bench, _)| !has_tables(bench)) {
        let _ = writeln!(text, "### Bench `{bench}`\n\n{}", tables::plain(record));
    }
    // Exactly one line end at the end of the document.
    text.truncate(text.trim_end().len());
    text.push('\n');
}

/// What was run, where and when.
fn machine(text: &mut String, cpu: &Cpu) {
    if let Some(record) = cpu.benches.values().next() {
        let of_cpu = |name| record.lscpu(name).unwrap_or("not known");
        let _ = writeln!(
            text,
            "{} (family {}, model {}), {} CPUs{}; L1d {}, L2 {}, L3 {}.\n",
            of_cpu("Model name"),
            of_cpu("CPU family"),
            of_cpu("Model"),
            of_cpu("CPU(s)"),
            record
                .lscpu("Hypervisor vendor")
                .map(|h| format!(", a guest of {h}"))
                .unwrap_or_default(),
            of_cpu("L1d cache"),
            of_cpu("L2 cache"),
            of_cpu("L3 cache"),
        );
    }
    text.push_str("| bench | date | commit | command | load before and after |\n");
    text.push_str("| --- | --- | --- | --- | --- |\n");
    for (bench, record) in &cpu.benches {
        let note = |name| record.note(name).unwrap_or("not known");
        let _ = writeln!(
            text,
            "| {bench} | {} | {} | `{}` | {}; {} |",
            record.date,
            note("commit"),
            note("command"),
            note("load before"),
            note("load after"),
        );
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small tree with one record.
    fn tree(name: &str) -> std::path::PathBuf {
        let root = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        let folder = root.join("bench/record/some-cpu");
        fs::create_dir_all(&folder).expect("a temporary folder");
        fs::create_dir_all(root.join("docs")).expect("a temporary folder");
        let rows = "section,case,variant,measure,unit,quiet,median\n\
                    blocked,1 MiB huge,ours blocked k=6 scalar,hit,ns,2.0,2.5\n";
        for (file, text) in [
            ("2026-01-01-kernels.csv", "section,case,variant,measure,unit,quiet,median\n"),
            ("2026-01-01-kernels.txt", "command: old\n"),
            ("2026-02-01-kernels.csv", rows),
            ("2026-02-01-kernels.txt", "command: cargo xtask bench kernels\nlscpu: Model: 17\n"),
            ("commentary.md", "Where we lose.\n"),
        ] {
            fs::write(folder.join(file), text).expect("a temporary file");
        }
        root
    }

    #[test]
    fn the_document_tells_the_newest_record_and_the_commentary() {
        let root = tree("newest");
        let text = make(&root).expect("a document");
        assert!(
            text.contains("| kernels | 2026-02-01 | not known | `cargo xtask bench kernels` |")
        );
        assert!(text.contains("| ours blocked k=6 scalar | - | - | 2.00 |"), "{text}");
        assert!(text.contains("Where we lose."));
        assert!(!text.contains("`old`"));
        fs::remove_dir_all(root).expect("it is ours");
    }

    #[test]
    fn a_document_that_the_records_do_not_make_is_found() {
        let root = tree("stale");
        write(&root).expect("it is written");
        assert_eq!(findings(&root), Ok(Vec::new()));
        let csv = root.join("bench/record/some-cpu/2026-02-01-kernels.csv");
        let rows = fs::read_to_string(&csv).expect("a record").replace("2.0,", "1.9,");
        fs::write(&csv, rows).expect("a temporary file");
        assert_eq!(findings(&root).map(|found| found.len()), Ok(1));
        fs::remove_dir_all(root).expect("it is ours");
    }
}
