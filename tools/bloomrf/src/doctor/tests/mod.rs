//! Every check on a machine where it is content, and on one where it is not.

mod machine;
mod spoilt;

use std::collections::BTreeSet;

use bloomrf_kernels::Kernel;
use serde_json::Value;

use super::cpu::best_set;
use super::examine;
use super::host::Host;
use super::report::Level;
use machine::{Machine, wanted};

#[test]
fn a_good_machine_has_nothing_to_better() {
    let (machine, mut wanted) = (Machine::good(), wanted(true));
    wanted.config.cores = vec![2, 3];
    wanted.config.link.spec = "af_packet:eth1".parse().unwrap();
    wanted.config.chain_hash = bloomrf_engine::verify::HashAlgorithm::Blake3;
    let report = examine(&machine.host(), &wanted);
    let bad: Vec<_> = report.findings().filter(|(_, f)| f.level != Level::Ok).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    assert!(report.findings().all(|(_, f)| f.mend.is_none()));
}

#[test]
fn a_machine_of_which_nothing_can_be_read_is_described_without_a_failure() {
    let report = examine(&Machine::empty().host(), &wanted(false));
    assert!(!report.fails() && report.findings().count() > 20, "{}", report.to_text());
}

#[test]
fn this_machine_has_no_failure_under_the_default_settings() {
    let report = examine(&Host::of_this_machine(), &wanted(false));
    assert!(!report.fails(), "{}", report.to_text());
}

#[test]
fn the_kernel_set_that_flags_promise_is_the_one_that_runs() {
    if let Some(text) = Host::of_this_machine().field("/proc/cpuinfo", "flags") {
        let flags: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(best_set(&flags).0, Kernel::best().name());
    }
}

#[test]
fn json_is_one_object_whose_keys_and_names_are_stable() {
    let report = examine(&Machine::good().host(), &wanted(true));
    let object: Value = serde_json::from_str(&report.to_json()).unwrap();
    let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["checks", "fail", "format", "ok", "stated", "version", "warn"]);
    assert_eq!(object["format"], 1);
    let checks = object["checks"].as_array().unwrap();
    for check in checks {
        let keys: Vec<&String> = check.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["check", "group", "level", "mend", "says", "subject"]);
        assert!(["ok", "warn", "fail"].contains(&check["level"].as_str().unwrap()));
    }
    let count = |level: &str| checks.iter().filter(|check| check["level"] == level).count();
    assert_eq!(object["ok"], count("ok"));
    assert_eq!(object["warn"], count("warn"));
    let name = |check: &Value| {
        format!("{}/{}", check["group"].as_str().unwrap(), check["check"].as_str().unwrap())
    };
    let names: BTreeSet<String> = checks.iter().map(name).collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>().join(" "), NAMES);
}

/// Of a machine with a card; others follow where a setting asks for them.
const NAMES: &str = "cores/cores cores/irqbalance cores/isolcpus cores/nohz_full cores/rcu_nocbs \
    cpu/clock_source cpu/governor cpu/kernel_set cpu/turbo \
    dpdk/dpdk_built dpdk/dpdk_library dpdk/iommu dpdk/vfio \
    memory/damon memory/huge_pages_1g memory/huge_pages_2m memory/huge_pages_transparent \
    memory/memlock memory/memory memory/numa \
    network/interface network/receive_buffer ports/port rights/capability settings/settings \
    storage/data_folder storage/disk \
    system/kernel system/landlock system/open_files system/packet_sockets system/seccomp";

#[test]
fn text_has_a_line_for_each_finding_and_the_sum_at_the_end() {
    let machine = Machine::good();
    machine.file("/proc/sys/net/core/rmem_max", "212992");
    machine.file("/proc/self/status", "CapEff:\t0\n");
    let text = examine(&machine.host(), &wanted(true)).to_text();
    assert!(text.contains("\n  warn  receive_buffer: 16777216 B are asked for"), "{text}");
    assert!(text.contains("\n        -> sysctl -w net.core.rmem_max=16777216\n"), "{text}");
    assert!(
        text.contains("\n  ok    interface eth1: up, driver ice, 25000 Mb/s, 2 receive"),
        "{text}"
    );
    assert!(text.ends_with(" 0 to mend for these settings\n"), "{text}");
}
