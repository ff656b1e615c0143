//! The contest of `cargo xtask bench kernels` works on this machine: a run of seconds in which
//! every filter that is built in has zero false negatives on every kernel set. With the feature
//! `peers` that includes theirs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use bloomrf_bench::rounds::CSV_HEADER;
use bloomrf_kernels::Kernel;

/// Runs the program and returns the rows that it recorded.
fn rows(pages: &str, only: &str) -> Vec<Vec<String>> {
    let name = format!("quick-{pages}-{only}.csv");
    let csv: PathBuf = [env!("CARGO_TARGET_TMPDIR"), &name].iter().collect();
    let output = Command::new(env!("CARGO_BIN_EXE_kernels"))
        .args(["--quick", "--pages", pages, "--only", only, "--csv"])
        .arg(&csv)
        .output()
        .expect("cargo has built the program");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {printed}", output.status);
    let text = std::fs::read_to_string(&csv).expect("the program wrote its record");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(CSV_HEADER));
    let rows: Vec<Vec<String>> =
        lines.map(|line| line.split(',').map(str::to_owned).collect()).collect();
    assert!(rows.iter().all(|row| row.len() == CSV_HEADER.split(',').count()));
    rows
}

#[test]
fn no_point_filter_has_a_false_negative_on_any_kernel_set() {
    for pages in ["huge", "small"] {
        let rows = rows(pages, "blocked");
        let counted: Vec<_> = rows.iter().filter(|row| row[3] == "false negatives").collect();
        let variants: BTreeSet<_> = counted.iter().map(|row| row[2].as_str()).collect();
        for kernel in Kernel::all() {
            for form in ["blocked k=6", "blocked k=8", "split-block"] {
                let ours = format!("ours {form} {kernel}");
                assert!(variants.contains(ours.as_str()), "{ours} did not run");
            }
        }
        for row in counted {
            assert_eq!(row[5].parse(), Ok(0.0), "{row:?}");
        }
        assert!(rows.iter().any(|row| row[0] == "limit" && row[2] == "best"));
    }
}

#[test]
fn bloomrf_is_measured_on_every_kernel_set_and_beside_its_model() {
    let rows = rows("huge", "bloomrf");
    for kernel in Kernel::all() {
        for measure in ["insert", "hit", "miss", "range"] {
            let is_row = |row: &&Vec<String>| row[2] == kernel.name() && row[3] == measure;
            assert!(rows.iter().any(|row| is_row(&row)), "no {measure} on {kernel}");
        }
    }
    assert!(rows.iter().any(|row| row[3] == "fpr model"));
    assert!(rows.iter().any(|row| row[1].contains("correlated")));
}
