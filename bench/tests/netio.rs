//! The bench of the links works on this machine: a run of seconds in which everything that can be
//! measured here has its rows, and everything else says why not.

use std::path::PathBuf;
use std::process::Command;

use bloomrf_bench::rounds::CSV_HEADER;

/// Rows and remarks of a quick run.
struct Ran {
    rows: Vec<Vec<String>>,
    remarks: Vec<String>,
}

impl Ran {
    fn only(part: &str) -> Ran {
        let csv: PathBuf =
            [env!("CARGO_TARGET_TMPDIR"), &format!("netio-{part}.csv")].iter().collect();
        let output = Command::new(env!("CARGO_BIN_EXE_netio"))
            .args(["--quick", "--only", part, "--csv"])
            .arg(&csv)
            .output()
            .expect("cargo has built the program");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {printed}", output.status);
        let text = std::fs::read_to_string(&csv).expect("the program wrote its record");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(CSV_HEADER));
        let (remarks, rows) = lines.partition::<Vec<_>, _>(|line| line.starts_with('#'));
        let fields = |row: &&str| row.split(',').map(str::to_owned).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(fields).collect();
        assert!(rows.iter().all(|row| row.len() == CSV_HEADER.split(',').count()));
        Ran { rows, remarks: remarks.into_iter().map(str::to_owned).collect() }
    }

    fn value(&self, case: &str, variant: &str, measure: &str) -> f64 {
        let is_it = |row: &&Vec<String>| row[1] == case && row[2] == variant && row[3] == measure;
        let row = self.rows.iter().find(is_it);
        let row = row.unwrap_or_else(|| panic!("no {measure} of {variant} in {case}"));
        row[5].parse().expect("a number")
    }

    /// Whether it was skipped, which is printed.
    fn skips(&self, part: &str) -> bool {
        let word = format!("# skipped: {part}");
        let skipped = self.remarks.iter().find(|remark| remark.starts_with(&word));
        skipped.inspect(|remark| println!("{}", remark.trim_start_matches("# "))).is_some()
    }
}

#[test]
fn links_without_a_kernel_are_measured_everywhere() {
    let ran = Ran::only("memory");
    for case in ["memory 64 B", "memory full frames"] {
        for variant in ["pcap looped", "mem"] {
            assert!(ran.value(case, variant, "cost") > 0.0);
            assert!(ran.value(case, variant, "rate") > 0.0);
        }
        assert_eq!(ran.value(case, "mem", "lost").to_bits(), 0.0_f64.to_bits());
    }
    assert_eq!(ran.remarks, Vec::<String>::new());
}

/// The program itself fails where a record is not ingested.
#[test]
fn the_whole_node_is_measured_stage_by_stage() {
    let ran = Ran::only("pipeline");
    let mut variants = vec!["frames in memory", "pcap"];
    if cfg!(feature = "dpdk") {
        variants.push("dpdk net_pcap");
    }
    for variant in variants {
        let cost = ran.value("pipeline", variant, "cost");
        let stages = ["receive", "sort", "ingest"]
            .map(|stage| ran.value("pipeline", variant, &format!("stage {stage}")));
        assert!(cost > 0.0 && stages.iter().all(|&ns| ns > 0.0), "{cost} {stages:?}");
    }
}

#[test]
fn a_pair_of_interfaces_is_measured_or_its_absence_explained() {
    let ran = Ran::only("veth");
    if ran.skips("veth") {
        return;
    }
    for case in ["veth 64 B", "veth full frames"] {
        for variant in ["recv", "udp recvmmsg", "af_packet", "af_packet host_stack=0"] {
            assert!(ran.value(case, variant, "cost") > 0.0);
            assert!(ran.value(case, variant, "thread") > 0.0);
            assert!(ran.value(case, variant, "kernel") >= 0.0);
            // A busy machine may lose some, but hardly all.
            assert!(ran.value(case, variant, "lost") < 0.9);
        }
    }
}

#[test]
fn dpdk_is_measured_or_its_absence_explained() {
    let ran = Ran::only("dpdk");
    if ran.skips("dpdk:") {
        return;
    }
    for case in ["dpdk net_null 64 B", "dpdk net_null full frames"] {
        assert!(ran.value(case, "dpdk link", "rate") > 0.0);
        if !ran.skips(&format!("{case} testpmd")) {
            assert!(ran.value(case, "dpdk-testpmd rxonly", "rate") > 0.0);
        }
    }
}
