//! The files under `deploy/` agree with the node.

use std::path::{Path, PathBuf};
use std::process::Command;

fn unit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/bloomrf-node.service")
}

#[test]
fn the_unit_lets_the_node_write_its_data_folder_and_read_drop_counts() {
    let text = std::fs::read_to_string(unit()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let folder = bloomrf_node::Config::default().data_dir;
    let state = folder.strip_prefix("/var/lib").unwrap().display();
    assert!(lines.contains(&format!("StateDirectory={state}").as_str()));
    assert!(lines.contains(&"ProcSubset=all"));
    assert!(lines.contains(&"NoNewPrivileges=yes") && lines.contains(&"CapabilityBoundingSet="));
}

#[test]
fn the_unit_is_exposed_by_two_points_at_most() {
    let analysed = Command::new("systemd-analyze")
        .args(["security", "--offline=yes", "--threshold=20", "--no-pager"])
        .arg(unit())
        .output();
    match analysed {
        Ok(output) if output.status.success() => {}
        Ok(output) if String::from_utf8_lossy(&output.stdout).contains("exposure level") => {
            panic!("{}", String::from_utf8_lossy(&output.stdout))
        }
        _ => println!("skipped: no systemd-analyze that works here"),
    }
}
