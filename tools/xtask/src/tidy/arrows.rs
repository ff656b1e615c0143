//! Who may import whom. An arrow that is not listed here is a finding: change the design first.

use cargo_metadata::{DependencyKind, Metadata};

/// Crate, and the workspace crates that it may import.
const ARROWS: &[(&str, &[&str])] = &[
    ("bloomrf-kernels", &[]),
    ("bloomrf-engine", &["bloomrf-kernels"]),
    ("bloomrf-filter", &["bloomrf-engine", "bloomrf-kernels"]),
    ("bloomrf-dpdk", &[]),
    ("bloomrf-netio", &["bloomrf-dpdk"]),
    ("bloomrf-node", &["bloomrf-engine", "bloomrf-kernels", "bloomrf-netio"]),
    ("bloomrf-oracle", &[]),
    ("bloomrf-refcluster", &["bloomrf-engine", "bloomrf-netio", "bloomrf-oracle"]),
    (
        "bloomrf",
        &[
            "bloomrf-engine",
            "bloomrf-filter",
            "bloomrf-kernels",
            "bloomrf-netio",
            "bloomrf-node",
            "bloomrf-oracle",
            "bloomrf-refcluster",
        ],
    ),
    (
        "bloomrf-bench",
        &[
            "bloomrf-dpdk",
            "bloomrf-engine",
            "bloomrf-filter",
            "bloomrf-kernels",
            "bloomrf-lab",
            "bloomrf-netio",
            "bloomrf-node",
            "bloomrf-refcluster",
            "bloomrf-report",
        ],
    ),
    ("bloomrf-report", &[]),
    ("bloomrf-lab", &[]),
    (
        "bloomrf-sim",
        &[
            "bloomrf-engine",
            "bloomrf-filter",
            "bloomrf-kernels",
            "bloomrf-oracle",
            "bloomrf-report",
        ],
    ),
    (
        "bloomrf-crash",
        &["bloomrf-engine", "bloomrf-filter", "bloomrf-kernels", "bloomrf-node", "bloomrf-report"],
    ),
    (
        "bloomrf-faults",
        &[
            "bloomrf-engine",
            "bloomrf-kernels",
            "bloomrf-netio",
            "bloomrf-node",
            "bloomrf-refcluster",
            "bloomrf-report",
        ],
    ),
    (
        "bloomrf-fuzz",
        &["bloomrf-engine", "bloomrf-filter", "bloomrf-kernels", "bloomrf-netio", "bloomrf-report"],
    ),
    ("bloomrf-models", &[]),
    ("xtask", &[]),
];

/// What tests may import besides: the oracle everywhere, and the node where a cluster is tested.
const TEST_ARROWS: &[(&str, &[&str])] = &[
    ("bloomrf-engine", &["bloomrf-oracle"]),
    ("bloomrf-netio", &["bloomrf-lab"]),
    ("bloomrf-node", &["bloomrf-lab", "bloomrf-oracle"]),
    ("bloomrf-refcluster", &["bloomrf-lab", "bloomrf-node"]),
    ("bloomrf", &["bloomrf-lab"]),
];

pub(super) fn check(metadata: &Metadata) -> Vec<String> {
    let packages = metadata.workspace_packages();
    let is_ours = |name: &str| packages.iter().any(|p| p.name.as_str() == name);
    let mut findings = Vec::new();
    for package in &packages {
        let name = package.name.as_str();
        let Some(allowed) = listed(ARROWS, name) else {
            findings.push(format!("{name}: a new crate; add its arrows to tidy/arrows.rs"));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|d| is_ours(&d.name)) {
            let target = dependency.name.as_str();
            let test_only = dependency.kind == DependencyKind::Development;
            let also = if test_only { listed(TEST_ARROWS, name).unwrap_or(&[]) } else { &[] };
            if !allowed.contains(&target) && !also.contains(&target) {
                findings.push(format!("{name} -> {target}: this arrow is not in the design"));
            }
        }
    }
    findings
}

fn listed<'a>(table: &'a [(&str, &'a [&'a str])], name: &str) -> Option<&'a [&'a str]> {
    table.iter().find(|(from, _)| *from == name).map(|(_, to)| *to)
}
